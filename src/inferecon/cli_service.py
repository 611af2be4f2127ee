"""Commands about a service of many requests: what its log says, and what it would do."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from .options import Activations, Engine, Ep, Grid, Json, Kv, Provider, Tp

app = typer.Typer()
Slo = Annotated[
    str, typer.Option(help="what each request must keep: ttft=500ms,itl=50ms,gap=1s,e2e=30s")
]


@app.command()
def metrics(
    log: Annotated[
        Path,
        typer.Argument(
            help="CSV of requests, vLLM or SGLang benchmark with details, AIPerf profile_export"
        ),
    ],
    slo: Slo = "",
    run: Annotated[
        int, typer.Option(min=0, help="which run of a file that has several, the first is 1")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Say what a log of requests holds: latencies, rates, goodput, and what cannot be.

    Exit code 1 if the log contradicts itself.
    """
    from .service.metrics import measured
    from .service.promise import promise
    from .service.read import read_log
    from .service.words import as_text, broken

    limits = promise(slo)
    found = measured(read_log(log, run), limits)
    print(json.dumps(found, ensure_ascii=False) if as_json else as_text(found))
    if found["violations"]:
        print(broken(found["violations"]), file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def simulate(
    context: typer.Context,
    model: str,
    hardware: str,
    format: str,
    rate: Annotated[float, typer.Option(help="requests a second that arrive")] = 0.0,
    clients: Annotated[
        int, typer.Option(help="or so many clients, each with one request at a time")
    ] = 0,
    trace: Annotated[
        Path, typer.Option(help="or the arrivals and lengths of an Azure or BurstGPT trace")
    ] = None,
    isl: Annotated[int, typer.Option(help="input tokens, mean")] = 1024,
    osl: Annotated[int, typer.Option(help="output tokens, mean")] = 256,
    spread: Annotated[
        float, typer.Option(help="standard deviation of the lengths over their mean; 0: all equal")
    ] = 0.0,
    lengths: Annotated[Path, typer.Option(help="or lengths drawn from a CSV of requests")] = None,
    burst: Annotated[
        float, typer.Option(help="the same of the times between arrivals; 1: Poisson")
    ] = 1.0,
    speed: Annotated[float, typer.Option(help="so many times as fast as the trace")] = 1.0,
    requests: Annotated[
        int, typer.Option(help="how many; default: 10,000, or all of a trace")
    ] = None,
    warm: Annotated[
        float, typer.Option(help="share of them served before anything is measured")
    ] = 0.1,
    slo: Slo = "",
    policy: Annotated[
        str, typer.Option(help="continuous, chunked, static, dynamic or inverted")
    ] = "continuous",
    batch: Annotated[int, typer.Option(help="most sequences of a replica")] = 256,
    chunk: Annotated[int, typer.Option(help="most tokens of a step with prefill")] = 8192,
    delay: Annotated[float, typer.Option(help="seconds that a dynamic batch waits")] = 0.05,
    reserve: Annotated[
        bool, typer.Option("--reserve", help="admit only what fits to its last token")
    ] = False,
    prefix: Annotated[float, typer.Option(help="share of each prompt in the cache")] = 0.0,
    drafts: Annotated[int, typer.Option(help="tokens drafted for each step")] = 0,
    acceptance: Annotated[float, typer.Option(help="how often a draft is kept")] = 0.0,
    draft_cost: Annotated[float, typer.Option(help="time of a draft over that of a step")] = 0.0,
    replicas: Annotated[int, typer.Option(help="beside each other")] = 1,
    route: Annotated[str, typer.Option(help="round-robin or least-loaded")] = "round-robin",
    alike: Annotated[
        bool,
        typer.Option("--alike", help="serve with one of the replicas, which stands for all"),
    ] = False,
    prefill_workers: Annotated[int, typer.Option(help="replicas that only prefill")] = 0,
    decode_workers: Annotated[int, typer.Option(help="replicas that only decode")] = 0,
    link: Annotated[
        float,
        typer.Option(help="GB/s of each worker, one cache after the other; default: its devices'"),
    ] = 0.0,
    engine: Engine = "vllm",
    activations: Activations = None,
    kv: Kv = "bf16",
    tp: Tp = None,
    ep: Ep = None,
    grid: Grid = "world",
    provider: Provider = "",
    seed: Annotated[int, typer.Option(min=0, help="the same seed gives the same requests")] = 1,
    log: Annotated[
        Path, typer.Option(help="write each request to a CSV that inferecon metrics reads")
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a service under load, step by step in calibrated times.

    Exit code 1 if more arrives than can be served.
    """
    from .matrix import activations_for
    from .regions import grid as grid_of
    from .simulate.command import fitting, simulated
    from .simulate.run import report
    from .simulate.words import as_text

    values = context.params
    said = {name for name in values if context.get_parameter_source(name).name == "COMMANDLINE"}
    fitting(said, values)
    found = simulated(
        model,
        hardware,
        format,
        isl=isl,
        osl=osl,
        spread=spread,
        lengths=lengths,
        slo=slo,
        load=dict(
            rate=rate,
            clients=clients,
            trace=trace,
            variation=burst,
            speed=speed,
            count=requests,
            warm=warm,
            seed=seed,
        ),
        service=dict(
            policy=policy,
            batch=batch,
            chunk=chunk,
            delay=delay,
            reserve=reserve,
            prefix=prefix,
            replicas=replicas,
            route=route,
            prefill_workers=prefill_workers,
            decode_workers=decode_workers,
            link=link * 1e9,
            alike=alike,
            engine=engine,
        ),
        spec=dict(drafts=drafts, acceptance=acceptance, draft_cost=draft_cost),
        combination=dict(
            activations=activations or activations_for(format),
            kv=kv,
            tp=tp,
            ep=ep,
            grid=grid_of(grid),
            provider=provider,
        ),
        log=log,
    )
    print(json.dumps(report(found), ensure_ascii=False) if as_json else as_text(found))
    if found.saturated:
        raise typer.Exit(1)
