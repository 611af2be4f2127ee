"""Sourced facts: ``data/<kind>/<id>.yaml`` read into frozen records.

A fact's key is a symbol of the report, so its unit is already known: a value
that does not convert to the symbol's unit is rejected when the file is read.
A folder named by INFERECON_DATA is searched before the report's own records,
so a reader's model or card is one more file there.
"""

import fnmatch
import hashlib
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import sympy as sp
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from .errors import BadInput, nearest
from .files import DATA
from .symbols import GLOSSARY, PARTS, SYMBOLS
from .units import quantity

KINDS = ("models", "hardware", "formats", "prices", "grids", "assumptions", "constants")
UNVERIFIED = "unsourced"
ID = re.compile(r"[a-z0-9][a-z0-9.-]*")

ABOUT = {
    "models": "hf_id family release licence modality native_dtype checkpoint_dtype attention_kind "
    "norm_type activation status published_scope published_exact label layer_pattern local_kind "
    "positions",
    "hardware": "vendor kind form_factor status release process scale_up_name memory_type",
    "formats": "role formula applies_to weight_only block peak compute",
    "prices": "device",
    "grids": "zone country year",
    "assumptions": "device",
    "constants": "",
}

REQUIRED = {
    "models": ("native_dtype", "published_scope", "published_exact"),
    "hardware": ("vendor",),
    "formats": ("role", "applies_to", "weight_only"),
}
POSITIVE = {"hidden_size", "n_layers", "vocab_size", "n_heads", "max_context"}
MOST = 1e15  # no count of an architecture comes near


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(Strict):
    """An entry of ``data/sources.yaml``."""

    what: str
    where: str | None = None
    url: str | None = None
    licence: str | None = None
    read: str | None = None


class Fact(Strict):
    """One value as a reader would check it.

    ``where`` is the place in the source.  ``printed`` keeps the source's own
    words when they differ.  ``low``, ``high`` and ``why`` belong to assumptions.
    """

    value: int | float | str
    source: list[str]
    where: str
    printed: str | None = None
    date: str | None = None
    low: int | float | str | None = None
    high: int | float | str | None = None
    why: str | None = None

    @property
    def verified(self) -> bool:
        return UNVERIFIED not in self.source


class Dispute(Strict):
    """Another value for a fact, and who states it."""

    fact: str
    value: str
    says: str


class Offer(Strict):
    """One price on one day, or a range of prices."""

    provider: str
    price: str | None = None
    low: str | None = None
    high: str | None = None
    date: str
    source: str
    kind: str
    note: str | None = None

    @property
    def usd_per_second(self) -> float | None:
        return convert(self.price, SYMBOLS["price"]) if self.price else None


class Record(Strict):
    kind: str
    id: str
    name: str
    about: dict[str, Any] = {}
    facts: dict[str, Fact] = {}
    notes: list[str] = []
    disputes: list[Dispute] = []
    offers: list[Offer] = []

    @model_validator(mode="after")
    def _check(self):
        for key in set(self.about) - set(ABOUT[self.kind].split()):
            raise ValueError(f"about.{key} is unknown{nearest(key, ABOUT[self.kind].split())}")
        for key in REQUIRED.get(self.kind, ()):
            if key not in self.about:
                raise ValueError(f"about.{key} is missing")
        registry = sources()
        for key, fact in self.facts.items():
            if not re.fullmatch(r"\w+(@[a-z0-9_]+)?", key):
                raise ValueError(f"facts.{key!r}: write a symbol, or symbol@case in lower case")
            if key.partition("@")[0] not in SYMBOLS:
                raise ValueError(f"facts.{key} is no symbol{nearest(key, SYMBOLS)}")
            for source in fact.source:
                if source not in registry:
                    raise ValueError(
                        f"facts.{key}: no source {source!r} in sources.yaml"
                        f"{nearest(source, registry)}"
                    )
            value = self[key]
            if not math.isfinite(value) or (value < 0 and key != "published_adjust"):
                raise ValueError(f"facts.{key} must be a number of at least 0, not {fact.value}")
            part = GLOSSARY[SYMBOLS[key.partition("@")[0]]].part
            if part and (value != int(value) or value > MOST):
                raise ValueError(f"facts.{key} must be a whole number, not {fact.value}")
        for key in POSITIVE & self.facts.keys():
            if self[key] < 1:
                raise ValueError(f"facts.{key} must be at least 1, not {self.facts[key].value}")
        for offer in self.offers:
            if offer.source not in registry:
                raise ValueError(
                    f"offer of {offer.provider}: no source {offer.source!r} in sources.yaml"
                    f"{nearest(offer.source, registry)}"
                )
        return self

    def __getitem__(self, key: str) -> float:
        """Value of one fact in base units.  ``symbol@case`` names one of several."""
        return convert(self.facts[key].value, SYMBOLS[key.partition("@")[0]])

    def get(self, key: str) -> float:
        """Value of a fact, NaN if the record does not state it."""
        return self[key] if key in self.facts else math.nan

    @cached_property
    def path(self) -> str:
        return f"{self.kind}/{self.id}.yaml"

    @cached_property
    def hash(self) -> str:
        """Hash of the content, the same whatever the order of keys or the layout of the file."""
        return hashlib.sha256(self.model_dump_json(exclude_none=True).encode()).hexdigest()[:16]

    @cached_property
    def given(self) -> dict[sp.Symbol, float]:
        """All facts as values for the laws; a part a model lacks is zero."""
        values = {SYMBOLS[key]: self[key] for key in self.facts if "@" not in key}
        if self.kind == "models":
            for symbols in PARTS.values():
                if values.keys().isdisjoint(symbols):
                    values |= dict.fromkeys(symbols, 0.0)
        return values

    @cached_property
    def lacks(self) -> list[str]:
        """Facts that a model states in part only: its counts cannot be computed."""
        return [s.name for part in PARTS.values() for s in part if s not in self.given]


@lru_cache(maxsize=65536, typed=True)  # pint takes a millisecond; 1 and 1.0 are equal, and differ
def convert(value: int | float | str, symbol: sp.Symbol) -> float:
    """Convert a written value to the base unit of a symbol."""
    unit = GLOSSARY[symbol].unit
    if not isinstance(value, str):
        if unit.dimensionality:
            raise ValueError(f"{symbol} needs a unit such as {unit:~}, {value} has none")
        return value
    try:
        return quantity(value).to(unit).m
    except Exception as error:
        raise ValueError(f"{value!r} does not convert to {unit:~}, the unit of {symbol}") from error


@cache
def sources() -> dict[str, Source]:
    """Return the registry of everything that was read."""
    entries = _parse(DATA / "sources.yaml")
    for own in reversed(own_folders()):
        if (own / "sources.yaml").is_file():
            entries |= _parse(own / "sources.yaml")
    try:
        return {key: Source.model_validate(entry) for key, entry in entries.items()}
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"sources.yaml: {first['loc'][0]}: {first['msg']}") from error


_beside: list[Path] = []  # folders that a command adds while it runs, the newest last


@contextmanager
def also(folder: Path) -> Iterator[None]:
    """Look for records in this folder, too, and first."""
    _beside.append(folder)
    _forget()
    try:
        yield
    finally:
        _beside.remove(folder)
        _forget()


def _forget() -> None:
    for kept in (sources, ids, load):
        kept.cache_clear()


def own_folders() -> list[Path]:
    """Return the reader's own folders of records, the one to be searched first in front."""
    named = os.environ.get("INFERECON_DATA")
    if named and not Path(named).is_dir():
        raise BadInput(f"INFERECON_DATA names {named}, which is no folder")
    return [*reversed(_beside), *([Path(named)] if named else [])]


def folders(kind: str) -> list[Path]:
    """Return where records of a kind are looked for, the reader's own first."""
    return [folder / kind for folder in (*own_folders(), DATA)]


def file_of(record: Record) -> str:
    """Return where a record stands: in a folder of the reader, or in the report's data."""
    for own in own_folders():
        if (own / record.path).is_file():
            return str(own / record.path)
    return f"data/{record.path}"


@cache
def ids(kind: str) -> tuple[str, ...]:
    """Return the ids of all records of a kind, sorted."""
    files = (path for folder in folders(kind) for path in folder.glob("*.yaml"))
    return tuple(
        sorted({path.stem for path in files if ID.fullmatch(path.stem) and path.is_file()})
    )


def matching(kind: str, pattern: str) -> list[str]:
    """Return the ids that fit names with * for any letters, separated by commas; "all" is "*"."""
    known, found = ids(kind), []
    for part in pattern.split(","):
        name = "*" if part.strip() == "all" else part.strip()
        fitting = fnmatch.filter(known, name)
        if not fitting:
            raise BadInput(f"no record {name!r} in {kind}{nearest(name, known)}")
        found += [id for id in fitting if id not in found]
    return found


@cache
def load(kind: str, id: str) -> Record:
    """Read one record.  Raises BadInput for an unknown id or a file that is no record."""
    # The id comes from a stranger's command line or notebook: it names a record, never a path.
    if not isinstance(id, str) or not ID.fullmatch(id):
        raise BadInput(f"{kind}: {id!r} is not a record id{nearest(id, ids(kind))}")
    for folder in folders(kind):
        path = folder / f"{id}.yaml"
        if path.is_file():
            return _read(kind, path)
    raise BadInput(f"no record {id!r} in {kind}{nearest(id, ids(kind))}")


def _read(kind: str, path: Path) -> Record:
    raw = _parse(path)
    place = f"{kind}/{path.name}"
    if raw.get("id") != path.stem:
        raise BadInput(f"{place} says its id is {raw.get('id')!r}; file name and id must agree")
    try:
        return Record.model_validate({**raw, "kind": kind})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            f"{place}: {where + ': ' if where else ''}{first['msg'].removeprefix('Value error, ')}"
        ) from error


def _parse(path: Path) -> dict:
    place = f"{path.parent.name}/{path.name}"
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{place} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        raise BadInput(f"{place} is not YAML{line}: {getattr(error, 'problem', error)}") from error
    if not isinstance(raw, dict):
        raise BadInput(f"{place} holds no record: expected keys such as id, name, facts")
    return raw
