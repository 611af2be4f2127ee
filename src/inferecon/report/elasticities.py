"""Two pages of what SymPy finds in the laws: elasticities with inverses, and limits."""

from ..analysis import Row, results, rows
from ..anchors import slug
from ..edition import pages
from ..law import Law, latex
from ..laws.catalogue import CHAPTERS
from ..limits import Limit, limits
from ..stored import code, kept
from ..symbols import GLOSSARY
from .text import table

LONG = 12  # operations beyond which a solved equation is no help
WIDE = 40  # operations beyond which an elasticity is none either

HEAD = """\
# Elasticities and inverses

How does a law answer when one of its inputs moves, and which input would give a result that is \
wanted?
Everything on this page is worked out from the laws by SymPy each time the report is built.
For the numbers of one combination see {doc}`../chapters/sensitivity`.

## How to read the tables

The *elasticity* of a result $y$ to an input $x$ is $\\varepsilon = \\partial \\ln y / \
\\partial \\ln x$: one percent more of $x$ gives $\\varepsilon$ percent more of $y$.
The other inputs *of the law* stand still; through several laws elasticities multiply along \
each path, and paths add.

- Where a law is a sum, the elasticity is the share of the term.
- A maximum, a minimum or a case distinction has a formula for each *regime*; at the border \
between two regimes there is a kink and no elasticity.
- A whole number, $\\lceil x \\rceil$ or $\\lfloor x \\rfloor$, follows its trend, that of \
$x$: between two steps it stands still, and at a step it jumps.
- The structure of a model (layers, heads, experts) and numbers of devices are left out: \
there is no percent of a layer.

A formula of more than forty operations is left out; `inferecon.analysis.rows` has it, and \
{doc}`../chapters/sensitivity` its numbers.
*Solved* is the law turned round for the input, where the input stands in one place of it.
"""
ELSEWHERE = """\
## Limits

What is left of a law when something becomes very small or very large: {doc}`limits`.
"""
LIMITS = """\
# Limits of the laws

What is left of a law when something becomes very small or very large?
Everything on this page is worked out from the laws by SymPy each time the report is built.

A *dense model* has attention with KV heads in every layer and no experts; like every other \
limit here it stands on one device.
Where nothing bounds a quantity, the table has what it grows by for each unit.
A maximum has a limit in each regime; which regime it ends in depends on the numbers.
"""


def elasticities() -> str:
    """Return the page; it depends on code and on where laws stand, so it is kept on file."""
    return kept(["elasticities", code(), sorted(pages().items())], answers)


def limits_page() -> str:
    """Return the page of limits, kept on file too."""
    return kept(["limits page", code()], ends)


def answers() -> str:
    """Work out from the laws how they answer, and turn them round."""
    text = [HEAD]
    shown = {law.id: law for law in results()}
    for chapter, laws in CHAPTERS.items():
        if members := [law for law in laws if law.id in shown]:
            text += [f"## {chapter.replace('_', ' ').capitalize()}", ""]
            for law in members:
                text += _law(law)
    return "\n".join([*text, ELSEWHERE])


def ends() -> str:
    """Work out from the laws what they tend to."""
    head = ["quantity", "limit", "case", "regime", "tends to"]
    rows = table(head, [_limit(dense, found) for dense, found in limits()], 5)
    return "\n".join([LIMITS, *rows])


def _law(law: Law) -> list[str]:
    name = f"{{ref}}`{law.id} <law-{law.id.lower()}>`" if law.id in pages() else f"`{law.id}`"
    head = ["input", "elasticity", "solved", "regime"]
    body = [_row(row) for row in rows(law) if row.elasticity != 0]
    said = [i for i in range(len(head)) if any(line[i] != "–" for line in body)]
    head, body = [head[i] for i in said], [[line[i] for i in said] for line in body]
    return [
        f"(elasticity-{slug(law.id)})=",
        f"{name}: ${_cell(latex(law.symbol))}$, {GLOSSARY[law.symbol].meaning}",
        "",
        *table(head, body, 4),
    ]


def _row(row: Row) -> list[str]:
    short = row.inverse is not None and row.inverse.count_ops() <= LONG
    wide = row.elasticity.count_ops() > WIDE
    return [
        f"${_cell(latex(row.input))}$",
        "a long formula" if wide else f"${_cell(latex(row.elasticity))}$",
        f"${_cell(latex(row.inverse))}$" if short else "–",
        " or ".join(_regime(holds) for holds in row.regimes) or "–",
    ]


def _regime(holds) -> str:
    return "; ".join(f"${_cell(latex(condition))}$" for condition in holds)


def _limit(dense: bool, found: Limit) -> list[str]:
    value = f"${_cell(latex(found.value))}$"
    if found.slope is not None:
        unit = latex(found.variable)
        value = f"$\\infty$, by ${_cell(latex(found.slope))}$ for each unit of ${unit}$"
    return [
        f"${latex(found.symbol)}$",
        f"${latex(found.variable)} \\to {latex(found.point)}$",
        "dense model" if dense else "–",
        _regime(found.holds) or "–",
        value,
    ]


def _cell(text: str) -> str:
    return text.replace("|", r"\vert ")
