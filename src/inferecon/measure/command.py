"""What `inferecon measure` does: check what was asked, run it with progress, say what came out."""

import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..errors import BadInput
from ..records import load
from . import plan, rows, run, shapes

PLAIN = {"highlight": False, "markup": False, "soft_wrap": True}


def measured(
    model: str,
    *,
    hardware: str = "",
    formats: str = "bf16",
    batches: str = "",
    contexts: str = "",
    quick: bool = False,
    layers: int = 0,
    minutes: float = 0,
    out: Path = Path("rows.csv"),
    card=None,
    hold: float | None = None,
) -> str:
    """Run and return a summary.  Raises BadInput before anything runs or is written.

    ``card`` stands in for the CUDA device in tests.
    """
    begun = time.perf_counter()
    whole = shapes.model(load("models", model))
    if layers > len(whole.layers):
        raise BadInput(f"--layers {layers}: {model} has {len(whole.layers)}")
    points, left = plan.points(whole, plan.formats(formats), batches, contexts, quick)
    if not points:
        raise BadInput(f"nothing to measure: {left[0]}")
    if hardware:
        hardware = run.whose(hardware, "")
    found = rows.read(out)
    card = card or run.machine()
    version = _version(card)
    where = rows.Where(whole, run.whose(hardware, card.name), version, run.today(), layers)
    said = Console(stderr=True)
    rest = f"at rest {card.idle:.1f} W" if card.idle == card.idle else card.unsaid
    said.print(f"{card.name}: PyTorch {version}, {rest}", **PLAIN)
    for sentence in left:
        said.print(f"left out: {sentence}", **PLAIN)
    budget = minutes or (plan.QUICK_MINUTES if quick else 0)
    if budget:  # starting PyTorch and watching the card at rest are part of it
        budget = max(budget - (time.perf_counter() - begun) / 60, 1e-9)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=said) as bar:
        task = bar.add_task(f"measuring {model}", total=len(points))
        kept = run.measure(
            whole,
            points,
            card,
            where,
            out,
            hold=hold if hold is not None else (run.QUICK_HOLD if quick else run.HOLD),
            minutes=budget,
            say=lambda text: bar.console.print(text, **PLAIN),
            tick=lambda point: bar.update(task, advance=1, description=point.name),
        )
    ours = sum(rows.done(kept, where, point) for point in points)
    if not kept:
        raise BadInput("no point could be measured: the reasons are above")
    return (
        f"{ours} of {len(points)} points are in {out}: {len(kept) - len(found)} rows added,"
        f" {len(kept)} in all"
    )


def _version(card) -> str:
    """Return the release of PyTorch, without its build."""
    import torch

    return ".".join(torch.__version__.split("+")[0].split(".")[:2])
