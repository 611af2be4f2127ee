"""Pages of the source documents: the score of each, and where every claim stands."""

import math
from collections import Counter
from collections.abc import Iterable

from .. import figures
from ..claims import DOCUMENTS, TOPICS, VERDICTS, Judged, documents, exhibits, judged
from ..rowbox import figures as told
from .claim_blocks import badge, document_page, quantity, quoted, shown, slug, times
from .text import boxed, cited, plain, table

WRONG = ("contradicted", "arithmetic_error", "dimensional_error")
WORST = 12  # rows of the table of factors


def claims_pages() -> dict[str, str]:
    """Return the generated pages by name."""
    pages = {"claims/index": index_page()}
    return pages | {f"claims/document-{d.document}": document_page(d) for d in documents()}


def index_page() -> str:
    """The score: verdicts by document, what is right, the worst factors, what to measure."""
    found = judged()
    read = sum(not item.claim.computed for item in found)
    text = [
        "# What the source documents claim",
        "",
        "**How much of three published texts on the cost of inference is true?**",
        *boxed(
            f"They make {len(found)} claims; each is listed with what it would need to be true, "
            "what this report computes in its place, and what follows for a decision.",
            f"{len(found) - read} verdicts are computed when the page is built; "
            f"the other {read} concern what cannot be computed, and are marked as read.",
        ),
        "A build in which a verdict changes fails.",
        "",
        *scores(found),
        "```{raw} html",
        figures.figure(score_chart(found).to_dict()),
        "```",
        "",
        "## What a verdict means",
        "",
        f"{badge('reproduces')} The check passes and nothing need be added.",
        "",
        f"{badge('correct_with_caveat')} The check passes, and the claim misleads without what is "
        "added.",
        "",
        f"{badge('contradicted')} A law, a record or a simulation says otherwise.",
        "",
        f"{badge('arithmetic_error')} The document's own sum does not come out.",
        "",
        f"{badge('dimensional_error')} The two sides of an equation have different units.",
        "",
        f"{badge('unverifiable')} No check refutes it, and the conditions that would let anyone "
        "confirm it are left out.",
        "",
        "## Farthest from what is computed",
        "",
        *worst(found),
        "## What the documents get right",
        "",
        *right(found),
        "## By topic",
        "",
        *topics(found),
        "## What only a measurement can settle",
        "",
        *measurements(found),
        "## What was looked up",
        "",
        "Some claims are about files and reports. "
        "What was found there stands here with the command or the place that shows it; "
        "the checks compare with these values.",
        "",
        *looked_up(),
        "## Where the register was corrected",
        "",
        "The claims were first listed in a register, with a value and a verdict for each. "
        "Where its value, or the reason it gave, did not stand up, the claim says so:",
        "",
        *corrected(found),
    ]
    return "\n".join([*text, ""])


def scores(found: Iterable[Judged]) -> list[str]:
    """Counts by verdict and document; each leads to those claims."""
    counts = Counter((item.document, item.verdict) for item in found)
    rows = []
    for verdict in VERDICTS:
        cells = [counts[number, verdict] for number in DOCUMENTS]
        linked = [
            f'<a href="document-{number}.html?verdict={slug(verdict)}">{count}</a>'
            if count
            else "0"
            for number, count in zip(DOCUMENTS, cells, strict=True)
        ]
        rows.append([badge(verdict), *linked, str(sum(cells))])
    sums = [sum(counts[number, v] for v in VERDICTS) for number in DOCUMENTS]
    rows.append(["claims", *map(str, sums), str(sum(sums))])
    head = [f"[document {number}](document-{number})" for number in DOCUMENTS]
    return table(["verdict", *head, "all"], rows)


def score_chart(found: Iterable[Judged]):
    """Claims by verdict, one bar a document."""
    counts = Counter((item.document, item.verdict) for item in found)
    rows = [
        {"name": VERDICTS[v][2:], "group": f"doc. {number}", "value": counts[number, v]}
        for v in VERDICTS
        for number in DOCUMENTS
        if counts[number, v]
    ]
    wrong = sum(count for (_, verdict), count in counts.items() if verdict in WRONG)
    title = f"{wrong} of {counts.total()} claims are wrong"
    chart = figures.bars(rows, "claims", title, ["by verdict and source document"])
    named = {"name": "verdict", "group": "document", "value": "claims"}
    columns = {old: figures.Column(new) for old, new in named.items()}
    return figures.renamed(chart, "claims by verdict", columns)


def worst(found: Iterable[Judged]) -> list[str]:
    """The largest factors between what a document states and what is computed."""
    apart = []
    for item in found:
        outcome = item.deciding
        if item.verdict in WRONG and outcome and outcome.check.relation == "equal":
            if outcome.factor:
                apart.append((abs(math.log(outcome.factor)), item, outcome))
    apart.sort(key=lambda entry: -entry[0])
    rows = [
        [
            f"{{ref}}`{item.claim.id} <{item.claim.anchor}>`",
            quantity(outcome.check),
            plain(shown(outcome.claimed)),
            plain(shown(outcome.ours)),
            times(outcome.factor),
        ]
        for _, item, outcome in apart[:WORST]
    ]
    lines = table(["claim", "quantity", "document", "here", ""], rows, 2)
    return [lines[0] + " claims-worst", *lines[1:]]


def right(found: Iterable[Judged]) -> list[str]:
    text = []
    for item in found:
        if item.verdict == "reproduces":
            reference = f"{{ref}}`{item.claim.id} <{item.claim.anchor}>`"
            text.append(f"- {reference}: {quoted(item.claim.claim)}")
    return [*text, ""]


def topics(found: tuple[Judged, ...]) -> list[str]:
    rows = []
    for topic in TOPICS:
        about = [item for item in found if topic in item.claim.topics]
        wrong = sum(item.verdict in WRONG for item in about)
        places = " ".join(
            f'<a href="document-{n}.html?topic={topic}">document {n}</a>'
            for n in DOCUMENTS
            if any(item.document == n for item in about)
        )
        rows.append([topic, places, str(len(about)), str(wrong)])
    return table(["topic", "where", "claims", "wrong"], rows, 2)


def measurements(found: Iterable[Judged]) -> list[str]:
    rows = [
        [
            f"{{ref}}`{item.claim.id} <{item.claim.anchor}>`",
            badge(item.verdict),
            plain(item.claim.measure),
        ]
        for item in found
        if item.claim.measure
    ]
    return table(["claim", "verdict", "measurement"], rows, 3)


def looked_up() -> list[str]:
    """What was found in files outside, how, and in which source."""
    rows = [
        [
            plain(exhibit.name),
            plain(shown(finding.value)),
            plain(finding.how),
            cited([exhibit.source]),
        ]
        for exhibit in exhibits().values()
        for finding in exhibit.facts.values()
    ]
    return table(["where", "found", "how", "source"], rows, 4)


def corrected(found: Iterable[Judged]) -> list[str]:
    text = [
        f"- {{ref}}`{item.claim.id} <{item.claim.anchor}>`: "
        + told(item.claim.note, "judged", item.claim.id)
        for item in found
        if item.claim.note
    ]
    return [*text, ""]
