"""Recorded values on a page: each opens the box that says who states it, and where."""

from collections.abc import Iterable

from .. import facts
from ..numberbox import link
from ..records import Dispute, Offer, Record
from ..rowbox import figures
from ..symbols import GLOSSARY, SYMBOLS
from ..units import ureg
from .text import cited, plain, table

UNVERIFIED = "?"  # stands behind a value that nobody verified


def fact_text(record: Record, key: str) -> str:
    """A recorded value as written, marked if nobody verified it; a dash if it is missing."""
    if key not in record.facts:
        return "–"
    return _linked(record, key, facts.recorded(facts.of_fact(record, key)).value)


def fact_in(record: Record, key: str, unit: str) -> str:
    """A recorded value as a bare number in the unit of its column."""
    if key not in record.facts:
        return "–"
    base = GLOSSARY[SYMBOLS[key.partition("@")[0]]].unit
    value = ureg.Quantity(record[key], base).to(unit).m
    return _linked(record, key, f"{value:,.5g}", unit)


def _linked(record: Record, key: str, text: str, unit: str = "") -> str:
    doubt = "" if record.facts[key].verified else f" {UNVERIFIED}"
    here = f"{text} {unit}".strip() if unit else ""
    id = facts.of_fact(record, key)
    same = here.replace(",", "") == facts.recorded(id).value.replace(",", "")
    return f"{link(id, '' if same else here)}{plain(text)}</a>{doubt}"


def disputed(record: Record, one: Dispute) -> str:
    """Another value in circulation, and who says it."""
    said = figures(f"{one.value}, says {one.says}", "note", f"{record.kind}/{record.id}")
    return f"`{one.fact}`: {said}"


def facts_section(record: Record) -> list[str]:
    rows = []
    for key, fact in record.facts.items():
        if fact.value == 0:
            continue
        says = facts.recorded(facts.of_fact(record, key)).says
        place = plain(fact.where) + (f" (printed: {plain(fact.printed)})" if fact.printed else "")
        rows.append([f"`{key}`", says, fact_text(record, key), cited(fact.source), place])
    zeros = [key for key, fact in record.facts.items() if fact.value == 0]
    text = [
        "## What is on record",
        "",
        *table(["fact", "meaning", "value", "source", "place"], rows, 2, 3),
    ]
    if zeros:
        named = (f"`{key}` = {fact_text(record, key)}" for key in zeros)
        text += [f"Stated to be zero: {', '.join(named)}.", ""]
    text += [
        f"`data/{record.path}` · {UNVERIFIED} marks a value that nobody verified; "
        "select a value to see who states it.",
        "",
    ]
    if record.disputes:
        text += ["**Other values in circulation**", ""]
        text += [f"- {disputed(record, one)}" for one in record.disputes]
    if record.notes:
        name = f"{record.kind}/{record.id}"
        text += ["", "**Notes**", "", *(f"- {figures(n, 'note', name)}" for n in record.notes)]
    return [*text, ""]


def offers_table(records: Iterable[Record], named: bool) -> list[str]:
    """Return a table of all offers of some records; ``named`` says of which device each is."""
    rows = [
        [*([plain(record.id)] if named else []), *_offer(id, offer)]
        for record in records
        for id, offer in facts.offers(record).items()
    ]
    head = [*(["device"] if named else []), "provider", "price", "kind", "date", "source"]
    price = head.index("price")
    return table(head, rows, price, price + 1)


def _offer(id: str, offer: Offer) -> list[str]:
    price = f"{link(id)}{plain(facts.recorded(id).value)}</a>"
    texts = (offer.provider, offer.kind, offer.date)
    provider, kind, date = map(plain, texts)
    return [provider, price, kind, date, cited([offer.source])]
