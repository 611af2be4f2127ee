"""The command that answers what a service costs, however its devices are held: cost."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .options import Activations, Engine, Ep, Json, Kv, Provider, Tp

app = typer.Typer()


@app.command()
def cost(
    model: Annotated[str, typer.Option(help="id of a model")],
    rps: Annotated[float, typer.Option(help="requests a second")],
    hardware: Annotated[str, typer.Option(help="device")] = "h100-sxm",
    format: Annotated[str, typer.Option(help="number format of the weights")] = "bf16",
    isl: Annotated[int, typer.Option(help="input tokens of a request")] = 1024,
    osl: Annotated[int, typer.Option(help="output tokens of a request")] = 256,
    hold: Annotated[str, typer.Option(help="on-demand, spot or owned")] = "on-demand",
    price: Annotated[
        float,
        typer.Option(help="USD an hour and device rented; default: the lowest offer on record"),
    ] = None,
    preemptions: Annotated[
        float, typer.Option(help="spot: interruptions in an hour that a device is held")
    ] = None,
    restart: Annotated[
        float, typer.Option(help="spot: seconds until another replica serves")
    ] = None,
    work_lost: Annotated[
        float,
        typer.Option(help="spot: seconds of work undone; default: half the stay of a request"),
    ] = None,
    capex: Annotated[
        float, typer.Option(help="owned: USD a device, its share of the node included")
    ] = None,
    lifetime: Annotated[float, typer.Option(help="years that a device is in service")] = None,
    interest: Annotated[
        float, typer.Option(help="owned: share a year, 0.08; default: none")
    ] = None,
    electricity: Annotated[float, typer.Option(help="owned: USD a kWh")] = None,
    staff: Annotated[float, typer.Option(help="owned: persons for each device, 0.01")] = None,
    wage: Annotated[float, typer.Option(help="owned: USD a person and year")] = None,
    host_power: Annotated[
        float, typer.Option(help="watts of host, network and fans, a device's share")
    ] = None,
    pue: Annotated[float, typer.Option(help="facility energy over that of the nodes")] = None,
    embodied: Annotated[float, typer.Option(help="kg CO2e of making one device")] = None,
    wue: Annotated[float, typer.Option(help="litres of the site for a kWh of its nodes")] = None,
    grid_water: Annotated[float, typer.Option(help="litres of the grid for a kWh")] = None,
    storage_price: Annotated[
        float, typer.Option(help="USD a GB and month, for the weights of each replica")
    ] = None,
    memory: Annotated[float, typer.Option(help="GB rented apart, a replica")] = 0.0,
    memory_price: Annotated[float, typer.Option(help="USD a GB and month for it")] = None,
    grid: Annotated[str, typer.Option(help="id, country or its two letters: SE")] = "world",
    curve: Annotated[
        Path, typer.Option(help="CSV of hours and gco2e_per_kwh, in place of the grid's mean")
    ] = None,
    replicas: Annotated[
        int, typer.Option(help="so many; default: as few as serve the load and keep --slo")
    ] = 0,
    slo: Annotated[
        str, typer.Option(help="what a share of the requests must keep: ttft=500ms,itl=50ms")
    ] = "",
    share: Annotated[
        float, typer.Option(help="that share; default: 0.95, as inferecon plan has it")
    ] = None,
    policy: Annotated[str, typer.Option(help="continuous or chunked")] = "continuous",
    batch: Annotated[int, typer.Option(help="most sequences of a replica")] = 256,
    burst: Annotated[
        float, typer.Option(help="deviation of the times between arrivals; 1: Poisson")
    ] = 1.0,
    requests: Annotated[
        int,
        typer.Option(help="how many are simulated; default: 4,000, or more where they stay long"),
    ] = None,
    engine: Engine = "vllm",
    activations: Activations = None,
    kv: Kv = "bf16",
    tp: Tp = None,
    ep: Ep = None,
    provider: Provider = "",
    seed: Annotated[int, typer.Option(min=0, help="of the simulation")] = 1,
    as_json: Json = False,
) -> None:
    """Say what a service takes in USD, kWh, kg CO2e and litres: an hour, a request, a token.

    Its devices are rented on demand, rented as spot devices that may be taken away, or owned.
    """
    from functools import partial

    from .costing.command import asked
    from .costing.words import as_data, as_text
    from .errors import BadInput
    from .matrix import activations_for
    from .regions import grid as region

    if share is not None and (not slo or replicas):
        raise BadInput("--share says nothing without --slo, or with --replicas: leave it out")
    sizing = dict(slo=slo, share=share, policy=policy, batch=batch)
    load = dict(model=model, rps=rps, isl=isl, osl=osl, burst=burst, seed=seed)
    size = partial(_sized, **sizing, **load, engine=engine, kv=kv, grid=region(grid))
    bill, told = asked(
        model,
        hardware,
        format,
        rps=rps,
        isl=isl,
        osl=osl,
        slo=slo,
        hold=hold,
        price=price,
        replicas=replicas,
        stated={
            "capex": capex,
            "lifetime": lifetime,
            "electricity": electricity,
            "staff": staff,
            "wage": wage,
            "interest": interest,
            "work-lost": work_lost,
            "preemptions": preemptions,
            "restart": restart,
            "storage-price": storage_price,
            "host-power": host_power,
            "pue": pue,
            "embodied": embodied,
            "wue": wue,
            "grid-water": grid_water,
        },
        memory=memory,
        memory_price=memory_price,
        curve=curve,
        load=dict(count=requests, variation=burst, seed=seed),
        service=dict(policy=policy, batch=batch, engine=engine),
        combination=dict(
            activations=activations or activations_for(format),
            kv=kv,
            tp=tp,
            ep=ep,
            grid=region(grid),
            provider=provider,
        ),
        size=size,
    )
    print(json.dumps(as_data(bill, told), ensure_ascii=False) if as_json else as_text(bill, told))


def _sized(case, *, slo, share, policy, batch, **question) -> int:
    """Return the fewest replicas of a combination that keep a promise, as a plan finds them."""
    from .errors import BadInput
    from .planner.ask import Ask
    from .planner.fixed import replicas as fewest
    from .service.promise import promise

    if policy != "continuous":
        raise BadInput(
            f"--slo: replicas are sized for --policy continuous, not {policy}; say --replicas, or "
            "ask inferecon plan"
        )
    limits = {} if share is None else dict(share=share)
    ask = Ask(
        limits=tuple(promise(slo)),
        hardware=(case.hardware,),
        formats=(case.weights,),
        **limits,
        **question,
    )
    return fewest(ask, case, batch)
