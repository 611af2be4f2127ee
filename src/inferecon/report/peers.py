"""Section of the validation: what other tools predict of the same rows."""

from ..calibration import peers
from ..escape import plain
from .marks import percent
from .text import METRICS, boxed, table

FEWEST = 20  # rows below which an error says little; those lines stand in the file


def section() -> list[str]:
    """Return a table, one line a tool and metric, and who is nearer in words."""
    lines = [line for line in peers.table() if line["n"] >= FEWEST]
    rows = [
        [
            f"{plain(line['name'])} {plain(str(line['version']))}",
            METRICS.get(line["metric"], plain(line["metric"])),
            f"{line['n']:,}",
            *(percent(line[key]) for key in ("median", "mape", "row_median", "row_mape")),
            *(percent(line[key]) for key in ("cell_median", "cell_mape")),
        ]
        for line in lines
    ]
    head = ["tool", "metric", "n", "its median", "its MAPE"]
    head += ["ours, row", "MAPE", "ours, cell", "MAPE"]
    return [
        "## Other tools on the same rows",
        "",
        "Each tool was run with its own defaults on rows it covers; how a row became its options, "
        "its version and its command stand in `data/calibration/peers/`.",
        "It saw no rows of ours; ours are those held out.",
        "",
        *table(head, rows, 2),
        *boxed(*(nearer(line) for line in lines if line["median"] < line["cell_median"])),
    ]


def nearer(line: dict) -> str:
    """Say where a tool is nearer than predictions for combinations that were held out."""
    metric = METRICS.get(line["metric"], plain(line["metric"]))
    return (
        f"- {plain(line['name'])} is nearer in the median of {metric} "
        f"({percent(line['median'])}) than ours where the whole combination was held out "
        f"({percent(line['cell_median'])})."
    )
