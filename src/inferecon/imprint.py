"""What every file that leaves the report says of itself, and where the report stands."""

import os
import re
from functools import cache

import yaml

from .errors import BadInput
from .files import CITATION

EDITION = "2026.12"
TITLE = "The economics of LLM inference"
AUTHORS = "The inferecon authors"
LICENCE = "CC BY 4.0"  # of text, figures and data
GIVEN = {"url": "INFERECON_URL", "repository-code": "INFERECON_REPOSITORY"}
ADDRESS = re.compile(r"https?://[^\s\"'<>]+")


@cache
def declared(key: str) -> str:
    """Return an address, without a slash at its end; empty if nobody gave one.

    Raises BadInput if the environment gives what is no address.
    """
    if given := os.environ.get(GIVEN[key], "").strip():
        if not ADDRESS.fullmatch(given):
            raise BadInput(f"{GIVEN[key]}={given!r} is no address; give one as https://example.org")
        return given.rstrip("/")
    return str(yaml.safe_load(CITATION.read_text(encoding="utf-8")).get(key, "")).rstrip("/")
