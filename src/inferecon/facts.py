"""Recorded values as numbers: what the id of one says, where it stands, and who says it.

An id is ``data/KIND/RECORD:fact``, the record's file and the key of the fact in it; a price is
``data/prices/DEVICE:offer@PROVIDER``.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from . import naming, provenance
from .errors import BadInput, nearest
from .records import KINDS, Fact, Offer, Record, ids, load, sources
from .symbols import GLOSSARY, SYMBOLS

START = "data/"
OFFER = "offer@"
INDEX = "data/assumptions"  # the page of records that have none of their own
PAGES = {"formats": "data/formats"}


class Recorded(NamedTuple):
    """One value as it stands in a record; ``known`` is a word of ``provenance.MARKS``."""

    id: str
    symbol: str
    says: str
    record: Record
    value: str
    sources: tuple[str, ...]
    known: str
    details: dict[str, str]  # what else is on record, by the words before it


def is_fact(id: str) -> bool:
    """Say whether an id is of a recorded value; others are of published numbers."""
    return id.startswith(START)


def of_fact(record: Record, key: str) -> str:
    """Return the id of a fact."""
    return f"{owner(record)}:{key}"


def owner(record: Record) -> str:
    """Return what the ids of a record's values start with."""
    return f"{START}{record.kind}/{record.id}"


def offers(record: Record) -> dict[str, Offer]:
    """Return the offers of a record by id; a provider's second one has a number."""
    found: dict[str, Offer] = {}
    for offer in record.offers:
        name = re.sub(r"[^a-z0-9]+", "_", offer.provider.lower()).strip("_")
        same = sum(id == name or id.startswith(f"{name}__") for id in map(_provider, found))
        found[f"{owner(record)}:{OFFER}{name}" + (f"__{same + 1}" if same else "")] = offer
    return found


def _provider(id: str) -> str:
    return id.partition(OFFER)[2]


def all_ids() -> Iterator[str]:
    """Return the ids of everything on record."""
    for kind in KINDS:
        for id in ids(kind):
            record = load(kind, id)
            yield from (of_fact(record, key) for key in record.facts)
            yield from offers(record)


def recorded(id: str) -> Recorded:
    """Return the value that an id stands for.  Raises BadInput, with the nearest ids."""
    name, _, key = id.partition(":")
    record = record_of(name)
    if key in record.facts:
        return _fact(id, record, key, record.facts[key])
    known = offers(record)
    if id in known:
        return _offer(id, record, known[id])
    keys = [*record.facts, *(one.partition(":")[2] for one in known)]
    raise BadInput(f"{name} has no {key!r}{nearest(key, keys)}")


def record_of(name: str) -> Record:
    """Return the record that a name such as ``hardware/h200-sxm`` stands for."""
    kind, _, id = name.removeprefix(START).partition("/")
    if kind not in KINDS:
        raise BadInput(f"no kind of record {kind!r}{nearest(kind, KINDS)}")
    return load(kind, id)


def _fact(id: str, record: Record, key: str, fact: Fact) -> Recorded:
    name, _, case = key.partition("@")
    says = GLOSSARY[SYMBOLS[name]].meaning + (f", {case}" if case else "")
    between = f"{fact.low} to {fact.high}" if fact.low is not None else ""
    others = "; ".join(f"{d.value}, says {d.says}" for d in record.disputes if d.fact == key)
    details = {
        "Place": fact.where,
        "Printed": fact.printed,
        "Date": fact.date,
        "Range": between,
        "Why": fact.why,
        "Others say": others,
    }
    value = f"{fact.value:,}" if isinstance(fact.value, int) else str(fact.value)
    return Recorded(
        id,
        name,
        says,
        record,
        value,
        tuple(fact.source),
        provenance.known(record, key),
        {words: text for words, text in details.items() if text},
    )


def _offer(id: str, record: Record, offer: Offer) -> Recorded:
    details = {"Kind": offer.kind, "Date": offer.date, "Note": offer.note}
    return Recorded(
        id,
        "price",
        f"{GLOSSARY[SYMBOLS['price']].meaning}: {offer.provider}",
        record,
        offer.price or f"{offer.low} to {offer.high}",
        (offer.source,),
        provenance.known_offer(record, offer),
        {words: text for words, text in details.items() if text},
    )


# Places ----------------------------------------------------------------------------------------


def page(id: str) -> str:
    """Return the page on which a recorded value has its place, without the ending."""
    kind, name = id.removeprefix(START).partition(":")[0].split("/")
    return naming.page_of(kind, name) if kind in ("models", "hardware") else PAGES.get(kind, INDEX)


def anchor(id: str) -> str:
    """Return the anchor of a recorded value."""
    return naming.slug(f"fact-{id.removeprefix(START)}")


def command(id: str) -> str:
    """Return the command that prints a value with all that is on record of it."""
    return f"inferecon show {id}"


# Sources ---------------------------------------------------------------------------------------


class Read(NamedTuple):
    """A source as a reader sees it: ``rest`` is where in it, its licence, and when it was read."""

    what: str
    rest: str
    url: str


def source(key: str) -> Read:
    """Return a source in full."""
    one = sources()[key]
    licence, read = one.licence and f"licence: {one.licence}", one.read and f"read {one.read}"
    return Read(one.what, "; ".join(filter(None, (one.where, licence, read))), one.url or "")


def claim(known: str) -> str:
    """Return what a citation adds to a value: how it is known, where the sources say so."""
    mark, says = provenance.MARKS[known]
    return says if mark else ""


def said(found: Recorded) -> str:
    """Return the value with how it is known, for a citation."""
    return ", ".join(filter(None, (found.value, claim(found.known))))


def cited(found: Recorded) -> str:
    """Return the sources of a value, for a citation."""
    return "; ".join(sources()[key].what for key in found.sources)


# In words --------------------------------------------------------------------------------------


def shown(name: str) -> list[dict]:
    """Return everything on record of an id, or of a whole record, as data."""
    if ":" in name:
        return [_data(recorded(START + name.removeprefix(START)))]
    record = record_of(name)
    found = [*(of_fact(record, key) for key in record.facts), *offers(record)]
    return [_data(recorded(id)) for id in found]


def _data(found: Recorded) -> dict:
    mark, says = provenance.MARKS[found.known]
    return {
        "id": found.id,
        "of": found.record.name,
        "says": found.says,
        "value": found.value,
        "known": f"{mark} {says}".strip(),
        **{words.lower(): text for words, text in found.details.items()},
        "sources": ["; ".join(filter(None, source(key))) for key in found.sources],
    }


def as_text(rows: list[dict]) -> str:
    """Return the same for a terminal."""
    lines = []
    for row in rows:
        lines += [f"{row['id']} = {row['value']}"]
        rest = {key: text for key, text in row.items() if key not in ("id", "value", "sources")}
        lines += [f"    {key}: {text}" for key, text in rest.items()]
        lines += [f"    source: {text}" for text in row["sources"]]
    return "\n".join(lines)
