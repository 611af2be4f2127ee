"""Commands that plan: which service keeps a promise, and when its load should run."""

import json
from typing import Annotated

import typer

from .cli_measured import Json
from .cli_service import Slo

app = typer.Typer()


@app.command()
def plan(
    model: Annotated[str, typer.Option(help="id of a model")],
    rps: Annotated[float, typer.Option(help="requests a second")],
    isl: Annotated[int, typer.Option(help="input tokens of a request")] = 1024,
    osl: Annotated[int, typer.Option(help="output tokens of a request")] = 256,
    slo: Slo = "",
    share: Annotated[float, typer.Option(help="share of the requests that keep it")] = 0.95,
    hardware: Annotated[
        str, typer.Option(help="ids, * for any letters, commas between; or all")
    ] = "default",
    formats: Annotated[str, typer.Option(help="weight formats, as for hardware")] = "default",
    modes: Annotated[
        str, typer.Option(help="together, apart (prefill and decode on their own devices), or both")
    ] = "together,apart",
    grid: Annotated[str, typer.Option(help="id, country or its two letters: SE")] = "world",
    budget: Annotated[str, typer.Option(help="at most: 12 USD/h or 9000 USD/month")] = "",
    devices: Annotated[int, typer.Option(min=0, help="at most so many; 0: any number")] = 0,
    by: Annotated[str, typer.Option(help="what is to be least: usd, kwh or kg")] = "usd",
    engine: Annotated[
        str, typer.Option(help="vllm, sglang, trtllm, llama.cpp or transformers")
    ] = "vllm",
    kv: Annotated[str, typer.Option(help="number format of the KV cache")] = "bf16",
    burst: Annotated[
        float, typer.Option(help="deviation of the times between arrivals; 1: Poisson")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="of the simulations")] = 1,
    as_json: Json = False,
) -> None:
    """Find the service that keeps a promise for the least, and say why the others lost.

    Exit code 1 if none does.
    """
    from .planner import ask as asking
    from .planner.choose import plan as search
    from .planner.report import report
    from .planner.words import as_text
    from .service.promise import promise

    found = search(
        asking.Ask(
            model,
            rps,
            isl,
            osl,
            tuple(promise(slo)),
            share,
            asking.hardware(hardware),
            asking.formats(formats),
            tuple(part.strip() for part in modes.split(",") if part.strip()),
            engine=engine,
            kv=kv,
            grid=asking.grid(grid),
            budget=asking.budget(budget),
            devices=devices,
            burst=burst,
            by=by,
            seed=seed,
        )
    )
    print(json.dumps(report(found), ensure_ascii=False) if as_json else as_text(found))
    if found.winner is None:
        raise typer.Exit(1)
