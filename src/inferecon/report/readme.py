"""Keep the README's figure and numbers those of the ledger."""

import re

from .. import figures
from ..files import ROOT, replace_text
from .summary import summary_chart

README = ROOT / "README.md"
FIGURE = ROOT / "book" / "assets" / "summary.svg"
MARK = re.compile(r"<!-- num (?P<id>\S+) -->.*?<!-- /num -->", re.DOTALL)


def text(readme: str, numbers: dict) -> str:
    """Return the README with each marked number as it is published now."""

    def written(match: re.Match) -> str:
        id = match["id"]
        return f"<!-- num {id} -->{numbers[id].text}<!-- /num -->"

    return MARK.sub(written, readme)


def update(numbers: dict) -> None:
    """Write the numbers into the README and draw its figure."""
    replace_text(README, text(README.read_text(encoding="utf-8"), numbers))
    replace_text(FIGURE, figures.still(summary_chart(numbers).to_dict()) + "\n")
