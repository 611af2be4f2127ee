"""Every way to place a model: device, format and parallelism, and why some cannot be."""

from dataclasses import dataclass

from .. import fitting
from ..calibration import rows as measured
from ..errors import BadInput
from ..matrix import activations_for
from ..records import load
from ..scenario import Scenario
from .ask import Ask

UNIT, MEMORY, DOMAIN, UNMEASURED, OTHER = (
    "cannot be computed",
    "does not fit",
    "is beyond one domain",
    "was never measured",
    "is not known",
)


@dataclass(frozen=True)
class Option:
    """One replica: a case that can run, or ``refused``: a kind of reason and its numbers."""

    hardware: str
    weights: str
    tp: int
    ep: int
    case: Scenario | None = None
    refused: tuple[str, str] = ("", "")

    @property
    def devices(self) -> int:
        return max(self.tp, self.ep)

    @property
    def price(self) -> float | None:
        """USD an hour of a device: the lowest on-demand price on record, None without one."""
        offer = self.case.offer if self.case else None
        return None if offer is None else offer.usd_per_second * 3600


def askable(ask: Ask) -> None:
    """Raise BadInput for an unknown model, or a length that it cannot take."""
    Scenario(ask.model, ask.hardware[0], kv=ask.kv, isl=ask.isl, osl=ask.osl, grid=ask.grid)
    for format in ask.formats:
        load("formats", format)


def options(ask: Ask) -> list[Option]:
    """Return all options of a question.  Raises BadInput as ``askable`` does."""
    askable(ask)
    return [
        _option(ask, device, format, *pair)
        for device in ask.hardware
        for format in ask.formats
        for pair in fitting.shares(ask.model)
    ]


def _option(ask: Ask, device: str, format: str, tp: int, ep: int) -> Option:
    joined = fitting.domain(device)
    if tp > (1 if joined != joined else joined):
        said = f"{device} joins {1 if joined != joined else joined:.0f}"
        return Option(device, format, tp, ep, refused=(DOMAIN, said))
    try:
        case = Scenario(
            ask.model,
            device,
            weights=format,
            activations=activations_for(format),
            kv=ask.kv,
            tp=tp,
            ep=ep,
            isl=ask.isl,
            osl=ask.osl,
            grid=ask.grid,
        )
    except BadInput as mistake:
        return Option(device, format, tp, ep, refused=(OTHER, str(mistake)))
    if any(rate.case is None for rate in case.peaks.values()):
        return Option(device, format, tp, ep, refused=(UNIT, case.obstacles[0]))
    if case.obstacles:
        kind = MEMORY if "GB are needed" in case.obstacles[0] else OTHER
        return Option(device, format, tp, ep, refused=(kind, case.obstacles[0]))
    if case.weights not in measured.WEIGHTS:
        said = f"no row with weights in {case.weights} was measured"
        return Option(device, format, tp, ep, refused=(UNMEASURED, said))
    return Option(device, format, tp, ep, case)
