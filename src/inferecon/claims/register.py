"""What ``data/claims/`` holds: the claims of a document, read into frozen records."""

from functools import cache
from typing import Literal

import yaml
from pydantic import ValidationError, model_validator

from ..errors import BadInput
from ..files import DATA
from ..records import Strict

FOLDER = DATA / "claims"
DOCUMENTS = (1, 2, 3)
KINDS = (
    "formula",
    "derived_number",
    "measured_claim",
    "constant",
    "table",
    "code",
    "feature",
    "recommendation",
    "qualitative",
)
TOPICS = (
    "arithmetic",
    "cache",
    "carbon",
    "code",
    "communication",
    "cost",
    "distillation",
    "edge",
    "energy",
    "hardware",
    "latency",
    "measurement",
    "memory",
    "models",
    "moe",
    "outlook",
    "quantisation",
    "serving",
    "throughput",
)
Verdict = Literal[
    "reproduces",
    "correct_with_caveat",
    "contradicted",
    "arithmetic_error",
    "dimensional_error",
    "unverifiable",
]


class Check(Strict):
    """One comparison of what a document states with what this project computes.

    ``claimed`` and ``ours`` are expressions.  ``relation`` says how ours may
    stand to the claimed value; ``tolerance`` is relative.  ``fails`` names the
    verdict of a failure where the kind alone would name the wrong one.  A check
    that does not decide stands beside the others, to show what is true instead,
    and needs no claimed value: a document may be silent where we have a number.
    """

    kind: Literal["arithmetic", "law", "record", "dimension", "simulation", "reading"]
    label: str = ""
    claimed: float | bool | str | None = None
    ours: float | bool | str | None = None
    unit: str = ""
    tolerance: float = 0.01
    relation: Literal["equal", "at_most", "at_least"] = "equal"
    fails: Verdict | None = None
    decides: bool = True
    equation: str | None = None
    units: dict[str, str] = {}
    verdict: Verdict | None = None
    read: str | None = None

    @model_validator(mode="after")
    def _check(self):
        given = {
            "dimension": self.equation is not None,
            "reading": self.verdict is not None and self.read is not None,
        }.get(
            self.kind,
            self.ours is not None and (self.claimed is not None or not self.decides),
        )
        if not given:
            needs = {"dimension": "equation and units", "reading": "verdict and read"}
            raise ValueError(f"a {self.kind} needs {needs.get(self.kind, 'claimed and ours')}")
        if self.verdict and self.kind != "reading":
            raise ValueError(f"the verdict of a {self.kind} is computed, not typed")
        return self


class Claim(Strict):
    """One claim: what is said where, what it would need, how it is checked, what follows.

    ``correction`` says what is true instead, ``caveat`` what must be added,
    ``remark`` what is worth knowing about a claim that is right.  ``lacks``
    names the conditions a claim leaves out, so that a passed check settles
    nothing.  ``backed`` holds comparisons behind the numbers in those texts.
    """

    id: str
    lines: list[int]
    section: str
    kind: Literal[KINDS]
    topics: list[Literal[TOPICS]]
    claim: str
    would_need: str
    checks: list[Check]
    lacks: list[str] = []
    correction: str | None = None
    caveat: str | None = None
    remark: str | None = None
    backed: list[str] = []
    consequence: str
    measure: str | None = None
    links: list[str] = []
    expected: Verdict
    note: str | None = None

    @model_validator(mode="after")
    def _check(self):
        if not self.lines or not self.topics or not self.checks:
            raise ValueError(f"{self.id}: lines, topics and checks must not be empty")
        if sum(text is not None for text in (self.correction, self.caveat, self.remark)) > 1:
            raise ValueError(f"{self.id}: one of correction, caveat and remark, not several")
        if any(c.kind == "reading" for c in self.checks) and len(self.checks) > 1:
            raise ValueError(f"{self.id}: a reading stands alone, what is computed needs none")
        return self

    @property
    def anchor(self) -> str:
        return f"claim-{self.id}"

    @property
    def computed(self) -> bool:
        return self.checks[0].kind != "reading"


class Part(Strict):
    """What a document builds or describes as a system, and where this project provides it.

    ``links`` are written as those of a claim, ``commands`` as a reader types them.
    ``missing`` says what is not provided; the links then lead to what is nearest.
    """

    lines: list[int]
    builds: str
    links: list[str]
    commands: list[str] = []
    missing: str | None = None


class Document(Strict):
    """One source document: its lines and the blank ones, what it builds, what it claims."""

    document: int
    title: str
    subject: str
    lines: int
    blank: list[int]
    parts: list[Part]
    claims: list[Claim]


@cache
def documents() -> tuple[Document, ...]:
    """Return the three documents in their order.  Raises BadInput for a file that is none."""
    return tuple(_read(number) for number in DOCUMENTS)


def _read(number: int) -> Document:
    path = FOLDER / f"document-{number}.yaml"
    place = f"claims/{path.name}"
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return Document.model_validate(raw)
    except (OSError, yaml.YAMLError) as error:
        raise BadInput(f"{place} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{place}: {where}: {first['msg']}") from error
