"""Ask, run and build the report.

A mistake of the user's ends in one sentence and exit code 2; nothing is left
half-written.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from .cli_bill import app as billed
from .cli_cost import app as costed
from .cli_measured import app as measured
from .cli_plan import app as planned
from .cli_service import app as served
from .cli_sweep import app as swept
from .errors import BadInput
from .options import Activations, Batch, Ep, Grid, Isl, Json, Kv, Osl, Provider, Tp

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help=__doc__.splitlines()[0],
    pretty_exceptions_enable=False,
)
INTERRUPTED = 130  # exit code
UsageError = typer.BadParameter.__base__  # its public name has moved between releases
for part in (measured, swept, billed, costed, served, planned):
    app.registered_commands += part.registered_commands


@app.command()
def build(
    accept: Annotated[
        bool, typer.Option("--accept", help="write the new numbers into the ledger")
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, help="notebooks at a time; default: one a core")
    ] = None,
) -> None:
    """Run the notebooks, check every number against the ledger, write the HTML."""
    from .build import BuildFailed
    from .build import build as run_build

    try:
        run_build(accept=accept, jobs=jobs)
    except BuildFailed as failure:
        print(f"error: {failure}", file=sys.stderr)
        raise typer.Exit(1) from None


@app.command()
def pdf(
    out: Annotated[Path, typer.Argument(help="file to write")] = None,
) -> None:
    """Print the built report as one PDF, by Chromium."""
    from .build import BUILD
    from .files import BOOK
    from .html import HTML
    from .pdf import write

    target = out or BUILD / "inferecon.pdf"
    write(HTML, BOOK / "_toc.yml", target)
    print(target)


@app.command()
def run(
    out: Annotated[Path, typer.Argument(help="executed notebook to write")],
    parameter: Annotated[list[str], typer.Option("-p", help="NAME=VALUE, as often as needed")] = [],  # noqa: B006
    notebook: Annotated[Path, typer.Option(help="notebook to run")] = None,
    engine: Annotated[str, typer.Option(help="inferecon or stock")] = "inferecon",
) -> None:
    """Run one notebook with checked parameters.

    Exit code 1 if it ends with an error, or if its combination cannot run.
    """
    from .matrix import NOTEBOOKS
    from .parameters import checked_target, parse, validated

    if engine not in ("inferecon", "stock"):
        raise BadInput(f"no engine {engine!r}; known: inferecon, stock")
    source = notebook or NOTEBOOKS / "scenario.ipynb"
    parameters = validated(source, parse(parameter))
    checked_target(out, source, NOTEBOOKS)
    from .engine import run_notebook

    outcome = run_notebook(source, out, parameters, engine=engine)
    if outcome.status != "ok":
        print(f"error: {outcome.reason}", file=sys.stderr)
        raise typer.Exit(1)
    print(out)
    if kept := obstacles(out):
        print(f"error: it cannot run, which is what {out} says: {kept[0]}", file=sys.stderr)
        raise typer.Exit(1)


def obstacles(notebook: Path) -> list[str]:
    """Return what keeps the combination of an executed notebook from running."""
    import nbformat

    from .publication import published

    return published(nbformat.read(notebook, as_version=4)).get("obstacles", [])


@app.command()
def trace(
    model: str,
    hardware: str,
    format: str,
    symbol: str,
    batch: Batch = 32,
    isl: Isl = 1024,
    osl: Osl = 1024,
    activations: Activations = None,
    kv: Kv = "bf16",
    tp: Tp = None,
    ep: Ep = None,
    grid: Grid = "world",
    provider: Provider = "",
    engine: Annotated[
        str, typer.Option(help="trace what is predicted for vllm, sglang, trtllm, ...")
    ] = "",
    depth: Annotated[int, typer.Option(min=1, help="levels of the tree")] = 99,
    as_json: Json = False,
) -> None:
    """Print the tree of laws and records behind a number, down to each source."""
    from .regions import grid as grid_of
    from .trace import as_text, traced

    tree = traced(
        model,
        hardware,
        format,
        symbol,
        engine=engine,
        batch=batch,
        isl=isl,
        osl=osl,
        activations=activations,
        kv=kv,
        tp=tp,
        ep=ep,
        grid=grid_of(grid),
        provider=provider,
    )
    print(json.dumps(tree, ensure_ascii=False) if as_json else as_text(tree, depth))


@app.command()
def show(
    id: Annotated[
        str,
        typer.Argument(help="hardware/h200-sxm, one value (...:hbm_bandwidth), or a measured row"),
    ],
    as_json: Json = False,
) -> None:
    """Print a record, one of its values or a measured row, with its source and how it is known."""
    from . import facts, truth

    of = facts if "/" in id else truth
    rows = of.shown(id)
    print(json.dumps(rows, ensure_ascii=False) if as_json else of.as_text(rows))


@app.command()
def table(
    page: Annotated[str, typer.Argument(help="reference/validation, or a chapter such as load")],
    section: Annotated[str, typer.Argument(help="the section's anchor; default: all")] = "",
) -> None:
    """Make the tables and charts of one page again, and print them."""
    from .report.printed import printed

    print(printed(page, section))


@app.command()
def cite(
    id: Annotated[
        str, typer.Argument(help="ITL, 'BATCH-FIT/step 2', the id of a number, a fact or a claim")
    ],
    form: Annotated[str, typer.Option("--as", help="markdown, latex, bibtex or json")] = "markdown",
    scenario: Annotated[str, typer.Option(help="MODEL/HARDWARE/FORMAT: put its numbers in")] = "",
) -> None:
    """Print a law, derivation, step, number, fact or claim as a citation, with its edition."""
    from .cite import entry, in_scenario
    from .citing import written
    from .edition import commit

    found = entry(id).model_copy(update={"commit": commit()})
    print(written(in_scenario(found, scenario) if scenario else found, form))


@app.command()
def solve(
    model: str,
    hardware: str,
    format: str,
    goal: Annotated[str, typer.Argument(help="a quantity and its value: itl=20ms")],
    by: Annotated[str, typer.Option(help="the input to find: hbm_bandwidth, batch, price ...")],
    batch: Batch = 32,
    isl: Isl = 1024,
    osl: Osl = 1024,
    as_json: Json = False,
) -> None:
    """Find the value of one input that gives a quantity the value asked for."""
    from .matrix import activations_for
    from .response import solution
    from .scenario import choose_devices

    case = choose_devices(
        model,
        hardware,
        weights=format,
        activations=activations_for(format),
        batch=batch,
        isl=isl,
        osl=osl,
    )
    found, said = solution(case, goal, by)
    print(json.dumps(found, ensure_ascii=False) if as_json else said)


@app.command()
def claims(
    check: Annotated[
        bool, typer.Option("--check", help="fail if a verdict is not the expected one")
    ] = False,
    document: Annotated[int, typer.Option(help="1, 2 or 3; default: all")] = None,
    verdict: Annotated[str, typer.Option(help="such as contradicted; default: all")] = "",
    topic: Annotated[str, typer.Option(help="such as moe; default: all")] = "",
    claim: Annotated[str, typer.Option(help="one claim, with how each check is computed")] = "",
    as_json: Json = False,
) -> None:
    """Judge the claims of the source documents: each verdict is computed anew."""
    from .claims import as_data, as_text, differences, one, selected, worked_out

    if claim:
        if check or document or verdict or topic:
            raise BadInput("--claim names one claim; the other options choose among all")
        item = one(claim)
        print(json.dumps(as_data(item), ensure_ascii=False) if as_json else worked_out(item))
        return
    found = selected(document, verdict, topic)
    changed = differences() if check else []
    if changed:
        print(*changed, sep="\n")
        raise typer.Exit(1)
    if as_json:
        print(json.dumps([as_data(item) for item in found], ensure_ascii=False))
    else:
        print(as_text(found, rows=not check))


@app.command()
def model(
    config: Annotated[Path, typer.Argument(help="config.json of a model")],
    id: Annotated[str, typer.Argument(help="what the record is called, in lower case")] = "own",
) -> None:
    """Print the record of a model from its config.json, for a folder of your own."""
    from .configs import record

    text = config.read_text(encoding="utf-8", errors="replace")
    try:
        print(record(text, id), end="")
    except BadInput as mistake:
        raise BadInput(f"{config}: {mistake}") from None


@app.command("list")
def list_(kind: str, as_json: Json = False) -> None:
    """List models, hardware, formats, or another kind of record."""
    from .errors import nearest
    from .records import KINDS, ids, load

    if kind not in KINDS:
        raise BadInput(f"no kind of record {kind!r}{nearest(kind, KINDS)}")
    rows = [{"id": id, "name": load(kind, id).name} for id in ids(kind)]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
    else:
        width = max(len(row["id"]) for row in rows)
        print(*(f"{row['id']:<{width}}  {row['name']}" for row in rows), sep="\n")


def _printable(text: str) -> str:
    """Return a text that a terminal shows and does not obey: what a file says may be in it."""
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except (BadInput, UsageError) as mistake:
        said = mistake.format_message() if isinstance(mistake, UsageError) else str(mistake)
        print(f"error: {_printable(' '.join(said.split()))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        place = f"{_printable(str(error.filename))}: " if error.filename else ""
        print(f"error: {place}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer itself turns an interrupt into this code
        print(
            "Interrupted: whole files are kept, none is left half-written; run the same command "
            "again.",
            file=sys.stderr,
        )
    sys.exit(code or 0)
