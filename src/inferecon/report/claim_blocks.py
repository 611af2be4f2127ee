"""Blocks of the claim pages: one claim with its check, and all claims of a document."""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from ..cite import of_claim
from ..citebox import box
from ..claims import VERDICTS, Check, Document, Judged, Outcome, Part, judged
from ..numbers import digits
from ..rowbox import figures
from .text import plain, table

BOUND = {"equal": "", "at_most": "at most ", "at_least": "at least "}
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
APART = 1.01  # a ratio nearer to one is not worth a cell


def shown(value: float | bool | str | None) -> str:
    """A side of a comparison as a reader sees it."""
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    size = abs(value)
    if value and not 1e-3 <= size < 1e6:
        power = math.floor(math.log10(size))
        text = f"{value / 10**power:.3g} × 10{str(power).translate(SUPERSCRIPT)}"
    else:
        whole = float(value).is_integer()
        text = f"{value:,.0f}".replace("-", "−") if whole else digits(value, 5)
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text


def times(factor: float) -> str:
    """How far the document is from ours: ``24.9 × too high``."""
    if 1 / APART < factor < APART:
        return ""
    way = "high" if factor > 1 else "low"
    return f"{digits(max(factor, 1 / factor))} × too {way}"


def badge(verdict: str) -> str:
    return f"[{VERDICTS[verdict]}]{{.verdict}}"


def slug(verdict: str) -> str:
    """A verdict as part of a class name, which has no underscores on a page."""
    return verdict.replace("_", "-")


def place(lines: list[int]) -> str:
    """Line numbers as short as they go: ``lines 3 to 5, 9``."""
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(parts)}"


def link(target: str) -> str:
    """Link to what provides the thing: a law, a derivation, a page, another claim."""
    kind, _, name = target.partition(":")
    return {
        "law": f"law {{ref}}`{name} <law-{name.lower()}>`",
        "derivation": f"derivation {{ref}}`{name} <derivation-{name.lower()}>`",
        "doc": f"{{doc}}`/{name}`",
        "claim": f"claim {{ref}}`{name} <claim-{name}>`",
    }[kind]


def document_page(document: Document) -> str:
    """All claims of one document, in its order."""
    found = [item for item in judged() if item.document == document.document]
    counts = Counter(item.verdict for item in found)
    told = ", ".join(f"{counts[v]} {VERDICTS[v][2:]}" for v in VERDICTS if counts[v])
    text = [
        f"# Document {document.document}: {plain(document.title)}",
        "",
        plain(document.subject),
        figures(
            f"Its {document.lines} lines make {len(found)} claims: {told}.",
            "counted",
            str(document.document),
        ),
        "What is called the document's is in our words; what stands under *here* is computed "
        "when this page is built, and the verdict follows from the comparison.",
        "",
        "## What the document builds, and where it is here",
        "",
        *parts_table(document.parts),
        "## Claim by claim",
        "",
        ":::{div} claim-filter",
        "All claims, in the order of the document.",
        ":::",
        "",
    ]
    for section, items in groupby(found, lambda item: item.claim.section):
        text += [f"## {plain(section)}", ""]
        for item in items:
            text += claim_block(item)
    return "\n".join(text)


def parts_table(parts: Iterable[Part]) -> list[str]:
    """Each thing that a document describes as a system beside what this project has for it."""
    rows = []
    for part in parts:
        here = [f"Not provided: {plain(part.missing)} Nearest:"] if part.missing else []
        here += [", ".join(map(link, part.links))]
        here += [f"`{command}`" for command in part.commands]
        lines = [*range(min(part.lines), max(part.lines) + 1)]  # blank ones between do not matter
        rows.append([f"{plain(part.builds)} ({place(lines)})", "<br>".join(here)])
    return table(["the document", "here"], rows, 2)


def claim_block(item: Judged) -> list[str]:
    """One claim: what it says, what it needs, what we find, what follows."""
    claim = item.claim
    classes = " ".join(
        ["claim", f"verdict-{slug(item.verdict)}", *(f"topic-{t}" for t in claim.topics)]
    )
    text = [
        f"({claim.anchor})=",
        f"::::{{div}} {classes}",
        f"{badge(item.verdict)} `{claim.id}` · {place(claim.lines)} · "
        f"{claim.kind.replace('_', ' ')} · {', '.join(claim.topics)}",
        "",
        f"**Claim.** {quoted(claim.claim)}",
        "",
        f"**To be true it would need:** {quoted(claim.would_need)}",
        "",
    ]
    if claim.computed:
        text += comparison(item.outcomes)
    else:
        text += [f"**Read, not computed.** {figures(claim.checks[0].read, 'judged')}", ""]
    for title, words in (
        ("Left out", ", ".join(claim.lacks)),
        ("Instead", claim.correction),
        ("Caveat", claim.caveat),
        ("Remark", claim.remark),
        ("For a decision", claim.consequence),
        ("A measurement that would settle it", claim.measure),
        ("Note on the check", claim.note),
    ):
        if words:
            text += [f"**{title}.** {figures(words, 'judged')}", ""]
    if claim.links:
        text += [f"See {', '.join(map(link, claim.links))}.", ""]
    return [*text, *box(of_claim(item)), "::::", ""]


def quoted(text: str) -> str:
    """What a document says, or would have to: its figures are not ours and open no box."""
    return f"[{plain(text)}]{{.quoted}}"


def comparison(outcomes: Iterable[Outcome]) -> list[str]:
    """What the document says beside what is computed here."""
    rows = []
    for outcome in outcomes:
        check = outcome.check
        factor = outcome.factor if check.relation == "equal" else None
        bound = "" if outcome.claimed is None else BOUND[check.relation]
        rows.append(
            [
                quantity(check) + ("" if check.decides else " (beside)"),
                bound + plain(shown(outcome.claimed)),
                plain(shown(outcome.ours)),
                times(factor) if factor else "" if outcome.passes else "disagree",
                check.kind,
            ]
        )
    # the kind stands last: a phone shows the two numbers first
    return table(["quantity", "document", "here", "", "check"], rows)


def quantity(check: Check) -> str:
    """What is compared, with its unit."""
    return plain(check.label or check.kind) + (f", in {plain(check.unit)}" if check.unit else "")
