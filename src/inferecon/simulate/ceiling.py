"""The most that a service can do: requests a second when it is full to its limit."""

import math
from collections.abc import Callable

from .. import symbols as s
from ..errors import BadInput
from ..laws import speculation
from .plan import CONTINUOUS, Load, Service
from .steps import Steps


def ceiling(service: Service, load: Load, tables: Steps) -> float:
    """Return requests a second that a service full to its limit completes, mean lengths.

    A request takes its prefill, and its share of each step of a full batch; where phases are
    apart, its cache takes a link as well.  NaN for a trace.
    """
    if load.trace is not None:
        return math.nan
    return min(ceilings(service, load, tables).values())


def ceilings(service: Service, load: Load, tables: Steps) -> dict[str, float]:
    """Return the same of prefill, link and decode, where they are apart; else of all."""
    isl, osl = load.lengths.means
    fresh = max(isl * (1 - service.prefix), 1)
    prefill = tables.prefill([(fresh, isl - fresh)]) if tables.groups == 1 else math.nan
    if math.isnan(prefill):
        prefill = tables.prefill([(fresh, isl - fresh)] * int(tables.groups)) / tables.groups
    held = tables.bytes(isl + (osl if service.reserve else osl / 2))
    fit = math.inf if held == 0 else tables.room / held
    batch = max(int(min(service.batch, fit, tables.most_batch)), 1)
    spec = service.speculation
    tokens = 1.0
    if spec.drafts:
        given = {s.acceptance: spec.acceptance, s.draft_tokens: float(spec.drafts)}
        tokens = float(speculation.TOKENS(given))
    decode = max(osl - 1, 0) / tokens * tables.decode(batch, isl + osl / 2) / batch
    if service.apart:
        return {
            "prefill": service.prefill_workers / prefill,
            "link": carried(service, load),
            "decode": _over(service.decode_workers, decode),
        }
    waited = tables.interleave if service.policy in CONTINUOUS and osl > 1 and batch > 1 else 1.0
    return {"all": service.replicas / (waited * prefill + decode)}


def carried(service: Service, load: Load) -> float:
    """Return requests a second whose caches the links carry: each worker has one of its own."""
    isl, osl = load.lengths.means
    pairs = min(service.prefill_workers, service.decode_workers)
    return _over(pairs, transfer(service)(isl) if osl > 1 else 0.0)


def transfer(service: Service) -> Callable[[float], float]:
    """Return what gives the seconds in which the cache of so many tokens crosses a link."""
    given = {
        s.kv_bytes_per_token: service.case.value(s.kv_bytes_per_token).m,
        s.transfer_bandwidth: service.link or _link(service),
    }
    return lambda tokens: float(speculation.KV_TRANSFER(given | {s.isl: float(tokens)}))


def _link(service: Service) -> float:
    """Return the bandwidth between workers: each device's own link out."""
    out = service.case.device.get("scale_out_bandwidth")
    if math.isnan(out):
        raise BadInput(
            f"hardware/{service.case.hardware}.yaml states no link between nodes: give --link"
        )
    return out * float(service.case.values[s.n_devices])


def _over(count: float, seconds: float) -> float:
    return count / seconds if seconds else math.inf
