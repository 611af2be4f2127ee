"""Claims as the command line prints them: chosen, as rows of text, as data."""

from collections import Counter
from collections.abc import Sequence

from ..errors import BadInput, nearest
from .register import DOCUMENTS, TOPICS
from .verdicts import VERDICTS, Judged, Outcome, judged


def one(id: str) -> Judged:
    """Return a claim by its id.  Raises BadInput, with the nearest ids, for an unknown one."""
    known = {item.claim.id: item for item in judged()}
    if id not in known:
        raise BadInput(f"no claim {id!r}{nearest(id, known)}")
    return known[id]


def selected(document: int | None, verdict: str, topic: str) -> list[Judged]:
    """Return the claims of a document, verdict and topic.  Raises BadInput for an unknown one."""
    if document is not None and document not in DOCUMENTS:
        raise BadInput(f"no document {document}; known: {', '.join(map(str, DOCUMENTS))}")
    for what, name, known in (("verdict", verdict, VERDICTS), ("topic", topic, TOPICS)):
        if name and name not in known:
            raise BadInput(f"no {what} {name!r}{nearest(name, known)}")
    return [
        item
        for item in judged()
        if (document is None or item.document == document)
        and (not verdict or item.verdict == verdict)
        and (not topic or topic in item.claim.topics)
    ]


def as_text(found: Sequence[Judged], *, rows: bool = True) -> str:
    """One line a claim with the comparison that decided, and the count of each verdict."""
    lines = []
    if rows and found:
        width = max(len(item.claim.id) for item in found)
        longest = max(map(len, VERDICTS))
        lines = [
            f"{item.claim.id:<{width}}  {item.verdict:<{longest}}  {_decided(item)}".rstrip()
            for item in found
        ]
    counts = Counter(item.verdict for item in found)
    told = ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v])
    total = f"{len(found)} claim{'' if len(found) == 1 else 's'}"
    return "\n".join([*lines, total + (f": {told}" if told else "")])


def _decided(item: Judged) -> str:
    if item.deciding is None:
        return "read, not computed"
    check, claimed, ours, _ = item.deciding
    unit = f" {check.unit}" if check.unit else ""
    return f"document {_side(claimed)}, here {_side(ours)}{unit}: {check.label}"


def _side(value: float | bool | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:,.5g}"


def as_data(item: Judged) -> dict:
    """A claim with everything that was computed about it."""
    stated = item.claim.model_dump(exclude={"checks", "backed"}, exclude_none=True)
    outcomes = [_outcome(outcome) for outcome in item.outcomes]
    return {
        "document": item.document,
        **stated,
        "verdict": item.verdict,
        "computed": item.claim.computed,
        "outcomes": outcomes,
    }


def _outcome(outcome: Outcome) -> dict:
    check = outcome.check
    return {
        "kind": check.kind,
        "label": check.label,
        "document": outcome.claimed,
        "here": outcome.ours,
        "unit": check.unit,
        "relation": check.relation,
        "passes": outcome.passes,
        "decides": check.decides,
    }
