"""What the box of a claim's check says: its expressions, what is put in, the laws and the verdict.

The texts are those that ``inferecon claims --claim ID`` prints.
"""

from .cite import url
from .claims import judged, working

PAGE = "claims/document-"


def of_page(page: str) -> dict[str, list[dict]]:
    """Return the checks of each claim on a page, in the order of its table, by its anchor.

    The last entry of a claim is of its sentences: the comparisons that back their figures.
    """
    document = page.removeprefix(PAGE) if page.startswith(PAGE) else ""
    return {
        item.claim.anchor: [*map(_check, item.outcomes), _sentences(item.claim.backed)]
        for item in judged()
        if str(item.document) == document
    }


def _check(outcome) -> dict:
    found = working(outcome)
    first = found.laws[:1]
    more = [["Law", [law, url(law)]] for law in found.laws[1:]]
    said = {"lines": [*more, *map(list, found.lines)]}
    return said | ({"law": first[0], "place": url(first[0])} if first else {})


def _sentences(backed: list[str]) -> dict:
    return {"lines": [["Holds", text] for text in backed]}
