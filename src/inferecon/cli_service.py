"""Commands about a service of many requests: what a log says."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from .cli_measured import Json

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
