"""What was found outside for the claims about files: ``data/claims/exhibits.yaml``.

A claim that a file holds a line, or that a report names two stages, is decided
by looking there once.  What was found is kept with the command or the place
that shows it, so that the check compares values and the reader can look again.
"""

from functools import cache

import yaml
from pydantic import ValidationError, field_validator

from ..errors import BadInput, nearest
from ..records import Strict, sources
from .register import FOLDER

PLACE = "claims/exhibits.yaml"


class Finding(Strict):
    """One value and how it was found: a command on the exhibit, or a place in it."""

    value: float | str
    how: str


class Exhibit(Strict):
    """A public file or repository at a named version, and what was found in it."""

    name: str
    source: str
    facts: dict[str, Finding]

    @field_validator("source")
    @classmethod
    def _known(cls, key: str) -> str:
        if key not in sources():
            raise ValueError(f"no source {key!r}{nearest(key, sources())}")
        return key


@cache
def exhibits() -> dict[str, Exhibit]:
    """Return the exhibits by id.  Raises BadInput for a file that holds none."""
    try:
        text = (FOLDER / "exhibits.yaml").read_text(encoding="utf-8")
        raw = yaml.load(text, Loader=yaml.CSafeLoader)
        return {id: Exhibit.model_validate(entry) for id, entry in raw.items()}
    except (OSError, yaml.YAMLError) as error:
        raise BadInput(f"{PLACE} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{PLACE}: {first['loc'][-1]}: {first['msg']}") from error


def found(exhibit: str, fact: str) -> float | str:
    """What was found in an exhibit.  Raises BadInput for an unknown name."""
    known = exhibits()
    if exhibit not in known:
        raise BadInput(f"no exhibit {exhibit!r}{nearest(exhibit, known)}")
    facts = known[exhibit].facts
    if fact not in facts:
        raise BadInput(f"exhibit {exhibit} has no {fact!r}{nearest(fact, facts)}")
    return facts[fact].value
