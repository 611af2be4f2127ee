"""The command that answers for a number of tokens: energy."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .errors import BadInput
from .options import Activations, Batch, Engine, Ep, Isl, Json, Kv, Osl, Tp

app = typer.Typer()


@app.command()
def energy(
    config: Annotated[
        Path, typer.Option(help="config.json of a model, or DeepSeek's inference/configs")
    ] = None,
    model: Annotated[str, typer.Option(help="a model on record, instead of --config")] = None,
    tokens: Annotated[float, typer.Option(help="output tokens")] = 1e6,
    hardware: Annotated[str, typer.Option(help="device")] = "h200-sxm",
    format: Annotated[
        str, typer.Option(help="format of the weights; default: that of the file, or bf16")
    ] = None,
    activations: Activations = None,
    kv: Kv = "bf16",
    tp: Tp = None,
    ep: Ep = None,
    batch: Batch = 32,
    isl: Isl = 1024,
    osl: Osl = 1024,
    grid: Annotated[
        str, typer.Option(help="electricity grid, or its country: world, swe, SE, Sweden")
    ] = "world",
    price: Annotated[
        float, typer.Option(help="USD an hour and device; default: the lowest offer on record")
    ] = None,
    engine: Engine = "vllm",
    as_json: Json = False,
) -> None:
    """Say what a number of tokens takes: device hours, kWh, kg CO2e and USD."""
    from contextlib import nullcontext

    from .bill import as_data, as_text, bill, own_model
    from .matrix import activations_for
    from .regions import grid as grid_of
    from .scenario import opened

    if (config is None) == (model is None):
        raise BadInput("state a model: --config with its config.json, or --model with an id")
    named = own_model(config) if config is not None else nullcontext((model, "bf16", ""))
    with named as (id, stored, says):
        weights = format or stored
        case = opened(
            model=id,
            hardware=hardware,
            weights=weights,
            activations=activations or activations_for(weights),
            kv=kv,
            tp=tp,
            ep=ep,
            batch=batch,
            isl=isl,
            osl=osl,
            grid=grid_of(grid),
            usd_per_hour=price,
        )
        found = bill(case, tokens, engine)
        if says and not format:
            found.remarks.append(says)
        print(json.dumps(as_data(found), ensure_ascii=False) if as_json else as_text(found))
