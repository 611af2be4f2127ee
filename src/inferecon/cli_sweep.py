"""Commands about many combinations: run them, and ask what came out."""

import json
import os
import sys
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from .errors import BadInput
from .options import Batch, Isl, Json, Osl

app = typer.Typer()


@app.command()
def sweep(
    models: Annotated[
        str, typer.Option(help="ids, * for any letters, commas between; or all")
    ] = "deepseek-v3",
    hardware: Annotated[str, typer.Option(help="as for models")] = "all",
    formats: Annotated[str, typer.Option(help="weight formats, as for models")] = "bf16,fp8",
    batch: Batch = 32,
    isl: Isl = 1024,
    osl: Osl = 1024,
    out: Annotated[
        str, typer.Option(help="folder, or address such as s3://…, for all that is written")
    ] = "sweep",
    jobs: Annotated[
        int, typer.Option(min=1, help="notebooks at a time; default: one a core")
    ] = None,
    scheduler: Annotated[
        str, typer.Option(help="address of a Dask cluster to run on, such as tcp://…:8786")
    ] = "",
    resume: Annotated[
        bool, typer.Option(help="keep results whose inputs are the same; or run all again")
    ] = True,
    as_json: Json = False,
) -> None:
    """Run every combination of models, hardware and formats through papermill."""
    from . import store
    from .campaign import Campaign
    from .cluster import Cluster
    from .sweep import Interrupted

    if jobs and scheduler:
        raise BadInput("--jobs is for this machine; on a cluster its workers say how many run")
    place = store.place(out)
    asked = Campaign(place, models, hardware, formats, batch=batch, isl=isl, osl=osl)
    with closing(Cluster(scheduler)) if scheduler else nullcontext() as cluster:
        try:
            asked.run(workers=jobs or os.cpu_count() or 1, cluster=cluster, resume=resume)
        except Interrupted:
            code = 130
        else:
            code = 1 if asked.failed else 0
    summary = asked.summary
    print(json.dumps(summary) if as_json else "  ".join(f"{k} {v}" for k, v in summary.items()))
    for outcome in asked.failed[:5]:
        print(f"failed: {outcome.target}: {outcome.reason}", file=sys.stderr)
    for sentence in asked.refused[:5]:
        print(f"left out: {sentence}", file=sys.stderr)
    if code:
        raise typer.Exit(code)


@app.command()
def query(
    sql: Annotated[str, typer.Argument(help="SELECT … FROM results")],
    data: Annotated[Path, typer.Option(help="Parquet file; default: the report's")] = None,
    as_json: Json = False,
) -> None:
    """Answer SQL on the dataset; the table is called results."""
    from .query import answer

    frame = answer(sql, data)
    if as_json:
        print(frame.to_json(orient="records", default_handler=str))
    else:
        print(frame.to_string(index=False) if len(frame) else "no rows")
