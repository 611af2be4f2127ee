"""The commands about measured machines: predict, validate, calibrate, measure."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .errors import BadInput
from .options import Activations, Batch, Engine, Ep, Isl, Json, Kv, Osl, Tp

app = typer.Typer()


@app.command("predict")
def predict_(
    model: str,
    hardware: str,
    format: str,
    engine: Engine = "vllm",
    batch: Batch = 32,
    isl: Isl = 1024,
    osl: Osl = 1024,
    activations: Activations = None,
    kv: Kv = "bf16",
    tp: Tp = None,
    ep: Ep = None,
    as_json: Json = False,
) -> None:
    """Say what an engine will do, each figure with its 90 % interval and its bound."""
    from .forecast import as_text, forecast
    from .matrix import activations_for
    from .scenario import opened

    case = opened(
        model=model,
        hardware=hardware,
        weights=format,
        activations=activations or activations_for(format),
        kv=kv,
        tp=tp,
        ep=ep,
        batch=batch,
        isl=isl,
        osl=osl,
    )
    found = forecast(case, engine)
    if as_json:
        rows = [one._asdict() for one in found]
        rows = [{k: None if v != v else v for k, v in row.items()} for row in rows]  # NaN: missing
        print(json.dumps(rows, ensure_ascii=False))
    else:
        print(as_text(case, engine, found))


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(help="CSV of measured rows, columns as in data/truth")],
    out: Annotated[Path, typer.Option(help="write one line a row: predicted, interval, error")] = (
        None
    ),
    as_json: Json = False,
) -> None:
    """Predict every measured row of a file, and say how far off the predictions are."""
    from .calibration.validate import summary, validated
    from .calibration.words import as_text, finite, writable, write_rows

    if out is not None:
        writable(out, file)  # before time is spent
    rows = validated(file)
    if out is not None:
        write_rows(rows, out, file)
    found = summary(rows)
    print(json.dumps(finite(found), ensure_ascii=False) if as_json else as_text(found))


@app.command()
def calibrate(
    file: Annotated[
        Path, typer.Argument(help="your own measured rows; default: fit the report's anew")
    ] = None,
    hardware: Annotated[str, typer.Option(help="the card your rows were measured on")] = "",
    out: Annotated[Path, typer.Option(help="folder for your constants")] = Path("calibration"),
    judge: Annotated[
        bool, typer.Option(help="also fit without each part of the rows, for the intervals")
    ] = True,
) -> None:
    """Fit the constants of the laws to measured rows."""
    if file is None:
        from .calibration.calibrate import calibrate as fit_report

        fit_report(judge, say=lambda text: print(text, flush=True))
        return
    if not hardware:
        raise BadInput("name the card of your rows: --hardware my-card")
    from .calibration.calibrate import own
    from .calibration.words import before_and_after
    from .files import DATA

    if out.exists() and not out.is_dir():
        raise BadInput(f"--out: {out} is no folder; name another")
    if out.resolve() == (DATA / "calibration").resolve():
        raise BadInput(f"--out: {out} holds the report's own constants; name another")
    table, path = own(file, hardware, out)
    print(before_and_after(table), f"constants: {path}", sep="\n")
    print(f"to predict with them: INFERECON_CALIBRATION={path.parent} inferecon predict ...")


@app.command()
def measure(
    model: Annotated[str, typer.Argument(help="record whose shapes are run")],
    hardware: Annotated[str, typer.Option(help="record of the card; default: by its name")] = "",
    formats: Annotated[str, typer.Option(help="bf16, fp16, fp8, commas between")] = "bf16",
    batches: Annotated[str, typer.Option(help="sequences of a decode step, commas between")] = "",
    contexts: Annotated[
        str, typer.Option(help="cached tokens of a step, and lengths of a prompt")
    ] = "",
    quick: Annotated[bool, typer.Option("--quick", help="few points, under five minutes")] = False,
    layers: Annotated[
        int, typer.Option(min=0, help="so many layers and no head; default: all that fit")
    ] = 0,
    minutes: Annotated[
        float, typer.Option(min=0, help="time for the whole run; default: 4.5 with --quick")
    ] = 0,
    out: Annotated[Path, typer.Option(help="rows are added to this file")] = Path("rows.csv"),
) -> None:
    """Time a model's shapes on your own GPU, and write rows for validate and calibrate."""
    from .measure.command import measured

    print(
        measured(
            model,
            hardware=hardware,
            formats=formats,
            batches=batches,
            contexts=contexts,
            quick=quick,
            layers=layers,
            minutes=minutes,
            out=out,
        )
    )
