"""Commands that plan: which service keeps a promise, and when its load should run."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from .cli_service import Slo
from .options import Engine, Json, Kv

app = typer.Typer()


@app.command()
def plan(
    rps: Annotated[float, typer.Option(help="requests a second")],
    model: Annotated[str, typer.Option(help="id of a model")] = "",
    isl: Annotated[int, typer.Option(help="input tokens of a request")] = 1024,
    osl: Annotated[int, typer.Option(help="output tokens of a request")] = 256,
    slo: Slo = "",
    share: Annotated[float, typer.Option(help="share of the requests that keep it")] = 0.95,
    hardware: Annotated[
        str, typer.Option(help="ids, * for any letters, commas between; or all")
    ] = "",
    formats: Annotated[str, typer.Option(help="weight formats, as for hardware")] = "",
    modes: Annotated[
        str, typer.Option(help="together, apart (prefill and decode on their own devices), or both")
    ] = "",
    tier: Annotated[str, typer.Option(help="limits and devices of: online, near-line, edge")] = "",
    use: Annotated[
        str, typer.Option(help="model and devices for: edge, enterprise, hyperscale")
    ] = "",
    grid: Annotated[str, typer.Option(help="id, country or its two letters: SE")] = "world",
    budget: Annotated[str, typer.Option(help="at most: 12 USD/h (or 12) or 9000 USD/month")] = "",
    carbon_budget: Annotated[
        str, typer.Option(help="at most, of use: 500 kg/month, 0.7 kg/h or 0.05 kg/Mtok put out")
    ] = "",
    host_power: Annotated[
        float, typer.Option(help="watts of a host, a device's share, to count with each device")
    ] = 0.0,
    devices: Annotated[int, typer.Option(min=0, help="at most so many; 0: any number")] = 0,
    by: Annotated[str, typer.Option(help="what is to be least: usd, kwh or kg; default: usd")] = "",
    engine: Engine = "vllm",
    kv: Kv = "bf16",
    burst: Annotated[
        float, typer.Option(help="deviation of the times between arrivals; 1: Poisson")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="of the simulations")] = 1,
    as_json: Json = False,
) -> None:
    """Find the service that keeps a promise for the least, and say why the others lost.

    Exit code 1 if none does.
    """
    from .errors import BadInput
    from .planner import ask as asking
    from .planner import presets as preset
    from .planner.choose import plan as search
    from .planner.report import report
    from .planner.words import as_text
    from .regions import grid as region
    from .service.promise import promise

    chosen = preset.chosen(tier, use)

    def filled(field: str, asked: str, otherwise: str) -> str:
        return preset.filled(chosen, field, asked, otherwise)

    named = filled("model", model, "")
    if not named:
        raise BadInput("say which --model, or what --use it is for")
    found = search(
        asking.Ask(
            named,
            rps,
            isl,
            osl,
            tuple(promise(preset.promised(chosen, slo))),
            share,
            asking.hardware(filled("hardware", hardware, "default")),
            asking.formats(filled("formats", formats, "default")),
            asking.modes(filled("modes", modes, "together,apart")),
            engine=engine,
            kv=kv,
            grid=region(grid),
            budget=asking.budget(budget),
            carbon=asking.carbon(carbon_budget, rps, osl),
            devices=devices,
            burst=burst,
            by=filled("by", by, "usd"),
            seed=seed,
            host=host_power,
        ),
        processes=os.cpu_count() or 1,
    )
    told = report(found) | {"advice": [x for p in chosen if (x := preset.advice(found, p))]}
    print(json.dumps(told, ensure_ascii=False) if as_json else as_text(found, told))
    if found.winner is None:
        raise typer.Exit(1)


@app.command()
def shift(
    load: Annotated[Path, typer.Argument(help="CSV: hour, and kwh or tokens of each")],
    curve: Annotated[
        Path, typer.Argument(help="CSV: hour and gco2e_per_kwh, or an export of Electricity Maps")
    ],
    deadline: Annotated[str, typer.Option(help="how long work may wait: 6h")],
    capacity: Annotated[
        float, typer.Option(min=0, help="kWh an hour at most; default: the load's fullest hour")
    ] = 0.0,
    joules_per_token: Annotated[
        float, typer.Option(min=0, help="for a load in tokens, PUE included")
    ] = 0.0,
    out: Annotated[Path, typer.Option(help="write the work of each hour to a CSV")] = None,
    as_json: Json = False,
) -> None:
    """Move work that can wait to the hours of least emissions, and say what that saves."""
    from .planner import shift as shifting

    found = shifting.shift(load, curve, deadline, capacity, joules_per_token)
    if out is not None:
        shifting.write(found, out)
    told = shifting.report(found)
    print(json.dumps(told, ensure_ascii=False) if as_json else shifting.as_text(found))
