"""The records behind a number, in words: each with the values used of it and their sources."""

from functools import cache

import sympy as sp

from . import naming, provenance
from .givens import Origin
from .records import Offer, Record, load, sources
from .scenario import Scenario

MANY = 6  # facts of one record that are named; of more the number is
PAGES = {"formats": "data/formats", "constants": "data/sources"}


@cache
def records(case: Scenario, inputs: frozenset[sp.Symbol]) -> list[tuple]:
    """Return record, facts used of it, and the offer, of everything that some inputs come from."""
    origins = _origins(case)
    used: dict[str, tuple[str, str, set[str], str]] = {}
    for symbol in inputs:
        origin = origins.get(symbol)
        if origin is None or origin.record is None:
            continue
        kind, id = origin.record.kind, origin.record.id
        facts = used.setdefault(origin.record.path, (kind, id, set(), origin.choice or ""))[2]
        if origin.fact:
            facts.add(origin.fact)
    found = (used[path] for path in sorted(used))
    return [(kind, id, tuple(sorted(facts)), offer) for kind, id, facts, offer in found]


@cache
def _origins(case: Scenario) -> dict[sp.Symbol, Origin]:
    return case.origins_of_given()


@cache
def told(kind: str, id: str, facts: tuple[str, ...], provider: str) -> dict:
    """Return name, place, values and sources of a record, of which some facts are used."""
    record = load(kind, id)
    found = [record.facts[fact] for fact in facts]
    if provider:
        offer = next(one for one in record.offers if one.provider == provider and one.price)
        return _entry(record, [_offered(record, offer)], [offer.source])
    words = [provenance.known(record, fact) for fact in facts]
    said = [
        f"{fact} = {provenance.described(one, word)}"
        for fact, one, word in zip(facts, found, words, strict=True)
    ]
    if len(said) > MANY:
        said = [", ".join([f"{len(said)} facts", *provenance.counted(words)])]
    if kind == "formats":
        said.append(record.about["formula"])
    return _entry(record, said, [key for one in found for key in one.source])


def _offered(record: Record, offer: Offer) -> str:
    mark = provenance.marked(provenance.known_offer(record, offer))
    said = [offer.price, offer.provider, offer.kind, f"date: {offer.date}", mark]
    return ", ".join(filter(None, said))


def _entry(record: Record, said: list[str], keys: list[str]) -> dict:
    texts = []
    for key in dict.fromkeys(keys):
        source = sources()[key]
        texts.append(source.what + (f", read {source.read}" if source.read else ""))
    return {"name": record.name, "at": f"{_page(record)}.html", "says": said, "sources": texts}


def _page(record: Record) -> str:
    if record.kind == "prices":
        return _page(load("hardware", record.id))
    if record.kind in ("models", "hardware"):
        return naming.page_of(record.kind, record.id)
    return PAGES.get(record.kind, "data/assumptions")
