"""What the box says of recorded values; ``numberbox`` puts it beside what it says of numbers.

A recorded value is a number whose kind has the shape ``FACT``: it has no law, and instead the
sources that it was read in, and what else is on record of it.
"""

from collections.abc import Iterable

from . import facts, naming
from .provenance import MARKS

FACT = "fact"


def told(ids: Iterable[str], first: int = 0) -> dict:
    """Return the parts of a page's data that recorded values add; ``first`` is their first kind.

    ``details[owner][key]`` is [places in ``read``, what else is on record by its words].
    """
    kinds: dict[tuple, int] = {}
    cases, values, details = {}, {}, {}
    read: dict[tuple, int] = {}
    for id in ids:
        found = facts.recorded(id)
        own, key = naming.split(id)
        place = kinds.setdefault((found.symbol, found.says, found.known), first + len(kinds))
        if own not in cases:
            cases[own] = _case(found)
        values.setdefault(own, {})[key] = [place, found.value, None]
        places = [read.setdefault(tuple(facts.source(one)), len(read)) for one in found.sources]
        details.setdefault(own, {})[key] = [places, found.details]
    return {
        "kinds": [_kind(*kind) for kind in kinds],
        "cases": cases,
        "numbers": values,
        "details": details,
        "read": [list(one) for one in read],
    }


def _kind(symbol: str, says: str, known: str) -> dict:
    mark, how = MARKS[known]
    kind = {"symbol": symbol, "says": says, "how": how, "unit": "", "shape": FACT}
    added = {"mark": mark, "claim": facts.claim(known)}
    return kind | {name: text for name, text in added.items() if text}


def _case(found: facts.Recorded) -> dict:
    record, page = found.record, facts.page(found.id)
    pages = [[record.name, f"{page}.html"]]
    if record.kind == "prices":  # the record stands in a list, and its device has a page
        device = naming.page_of("hardware", record.id)
        pages = [[naming.title(device), f"{device}.html"], ["all prices", f"{page}.html"]]
    command = facts.command(f"{facts.owner(record)}:SYMBOL")
    return {"of": record.name, "command": command, "pages": pages, "page": page}
