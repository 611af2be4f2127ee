"""What the notebook of tiers calls: presets of the source documents, planned, and their advice.

A preset says only what its document says; the rest of a plan is asked here, as
``inferecon plan --tier`` and ``--use`` would.
"""

from IPython.display import Markdown

from .escape import plain
from .numbers import digits
from .planner import ask as asking
from .planner import presets
from .planner.choose import Plan, plan
from .planner.presets import Preset
from .planner.report import report
from .planner.words import where
from .records import load
from .regions import grid as region
from .service.promise import promise
from .tables import lines

HEAD = ("model", "requests/s", "promise", "the best", "USD/Mtok", "kWh/Mtok")
HEAD += ("TTFT p95, ms", "ITL p95, ms")


def planned(
    kind: str,
    loads: list[list],
    isl: int,
    osl: int,
    slo: list[list[str]],
    hardware: list[str],
    edge: list[str],
    grid: str,
    seed: int,
) -> dict[str, Plan]:
    """Plan for each preset of a kind, "tier" or "use", in a search over some devices.

    ``edge`` are the devices where a preset names kinds of its own.
    ``loads`` are a preset, the model that is served, "" for that of the preset, and requests a
    second; ``slo`` is promised beside what a preset promises.  Raises BadInput for what cannot
    be asked.
    """
    return {
        name: plan(ask(kind, name, model, rps, isl, osl, slo, hardware, edge, grid, seed))
        for name, model, rps in loads
    }


def ask(kind, name, model, rps, isl, osl, slo, hardware, edge, grid, seed) -> asking.Ask:
    """Return what is asked for one preset.  Raises BadInput for what cannot be asked."""
    own = presets.chosen(**{"tier": "", "use": "", kind: name})
    written = ",".join(f"{limit}={most}".replace(" ", "") for limit, most in slo)

    def filled(field: str, asked: str, otherwise: str) -> str:
        return presets.filled(own, field, asked, otherwise)

    return asking.Ask(
        filled("model", model, ""),
        rps,
        isl,
        osl,
        tuple(promise(presets.promised(own, written))),
        hardware=asking.hardware(",".join(edge if own[0].hardware else hardware)),
        formats=asking.formats(filled("formats", "", "default")),
        modes=asking.modes(filled("modes", "", "together,apart")),
        grid=region(grid),
        by=filled("by", "", "usd"),
        seed=seed,
    )


def best(found: dict[str, Plan]) -> Markdown:
    """Show the best service of each preset, and what it promises and takes."""
    return Markdown("\n".join(lines(["", *HEAD], map(_row, found, found.values()), 5)))


def _row(name: str, one: Plan) -> list[str]:
    wanted = one.ask
    told = report(one)
    limits = (
        ", ".join(f"{limit.name.upper()} {limit.written}" for limit in wanted.limits) or "nothing"
    )
    cells = [name, plain(load("models", wanted.model).name), digits(wanted.rps), limits]
    if not told["ranked"]:
        return [*cells, "nothing keeps it", *4 * ["–"]]
    first = told["ranked"][0]
    figures = [first["usd_per_million_output"], first["kwh_per_million_output"]]
    times = [first["latency_s"][latency]["p95"] for latency in ("ttft", "itl")]
    shown = ["missing" if x is None else digits(x) for x in figures]
    return [*cells, plain(where(first)), *shown, *(digits(1e3 * x) for x in times)]


def advised(kind: str, found: dict[str, Plan]) -> Markdown:
    """Show what the documents advise for each preset, and how it compares with the best."""
    known: dict[str, Preset] = {"tier": presets.TIERS, "use": presets.USES}[kind]
    rows = []
    for name, one in found.items():
        said = presets.advice(one, known[name])
        judged = said.partition(": ")[2] if said else "names a model, and no choice to compare"
        rows.append([name, plain(known[name].says), plain(judged)])
    return Markdown("\n".join(lines(["", "the document advises", "the planner finds"], rows, 3)))
