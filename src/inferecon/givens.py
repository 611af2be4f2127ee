"""Where given values come from: widths of components, peak rates, the price.

Each function answers one question about records and choices; ``scenario`` puts
the answers together and adds the workload.
"""

from dataclasses import dataclass
from functools import cache

from . import symbols as s
from .errors import BadInput, nearest
from .laws.weights import FORMAT_WIDTH
from .records import Offer, Record, ids, load

SIXTEEN_BIT = ("bf16", "fp16", "fp32")  # formats a matrix unit takes without a scale


# An operator's energy per FLOP was measured in the format that sets its peak rate.
ENERGY_OF = {
    s.peak_linear: s.energy_linear,
    s.peak_expert: s.energy_expert,
    s.peak_native: s.energy_native,
}


@dataclass(frozen=True)
class Origin:
    """Where a given value came from: a record's fact, a format's width, or a choice."""

    record: Record | None = None
    fact: str | None = None
    choice: str | None = None


@dataclass(frozen=True)
class Peak:
    """Peak rate an operator may use: the record's case and FLOP/s, or the reason why none."""

    case: str | None = None
    rate: float | None = None
    reason: str = ""


def native_format(model: Record, activations: str) -> str:
    """Number format of everything that a weight format leaves alone."""
    return activations if activations in SIXTEEN_BIT else model.about["native_dtype"]


@cache
def width(format_id: str, row: int) -> float:
    """Bytes per element of a format, scales included; ``row`` elements share a row's scale."""
    return float(FORMAT_WIDTH(format_facts(format_id, row)))


def format_facts(format_id: str, row: int) -> dict:
    """Bytes and sizes of a format's blocks; a whole row is the block of some."""
    record = load("formats", format_id)
    given = dict(record.given)
    if record.about.get("block") == "row":
        given[s.block_size] = row
    return given


def component_formats(weights: str, activations: str, kv: str, native: str) -> dict:
    """Number format of each component: what a weight format shrinks, and what it leaves."""
    scope = load("formats", weights).about["applies_to"]
    everything = weights if scope == "all" else native
    return {
        s.linear_width: native if scope == "experts" else weights,
        s.expert_byte_width: weights,
        s.table_width: everything,
        s.vector_width: everything,
        s.activation_width: activations,
        s.reduce_width: native,
        s.kv_width: kv,
        s.state_width: native,
    }


def peaks(device: Record, weights: str, activations: str, native: str, row: int) -> dict:
    """Peak rate of each operator.

    A weight-only format computes at the rate of the activations; of two narrow
    operands the wider one sets the rate.
    """
    outside = peak(device, native)
    if load("formats", weights).about["weight_only"]:
        linear = peak(device, activations)
    else:
        linear = peak(device, max((weights, activations), key=lambda id: width(id, row)))
    untouched = load("formats", weights).about["applies_to"] == "experts"
    return {
        s.peak_native: outside,
        s.peak_linear: outside if untouched else linear,
        s.peak_expert: linear,
    }


def peak(device: Record, format_id: str) -> Peak:
    """Peak rate of a device for operands in a format; never that of another format."""
    by_vendor = load("formats", format_id).about.get("peak", {})
    vendor = device.about["vendor"]
    case = by_vendor.get(vendor, by_vendor.get("all"))
    if case is None:
        return Peak(reason=f"{vendor} devices have no unit for {format_id}")
    if f"peak_flops@{case}" not in device.facts:
        return Peak(reason=f"{device.path} states no {case} rate")
    return Peak(case, device[f"peak_flops@{case}"])


def chosen_offer(hardware: str, provider: str) -> Offer | None:
    """The named provider's offer, else the lowest on-demand offer on record, else None.

    The lowest price goes with the shortest time: both are what a token costs at least.
    """
    if hardware not in ids("prices"):
        return None
    offers = [offer for offer in load("prices", hardware).offers if offer.price]
    if provider:
        for offer in offers:
            if offer.provider == provider:
                return offer
        known = [offer.provider for offer in offers]
        raise BadInput(
            f"no offer of {provider!r} in prices/{hardware}.yaml{nearest(provider, known)}"
        )
    plain = [offer for offer in offers if offer.kind == "on-demand"]
    return min(plain, key=lambda offer: offer.usd_per_second, default=None)
