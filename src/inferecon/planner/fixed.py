"""Size one service whose device, format and batch limit are chosen already.

The same bound, prediction and simulations as in a search, of a single candidate.
"""

from dataclasses import replace

from ..errors import BadInput
from ..scenario import Scenario
from .ask import BATCHES, Ask
from .confirm import confirm
from .curves import curves
from .sizing import size
from .space import Option


def replicas(ask: Ask, case: Scenario, batch: int) -> int:
    """Return the fewest replicas of a combination that keep the promise of a question.

    Raises BadInput if no number does, or more than one run can tell.
    """
    if not 1 <= batch <= BATCHES[-1]:
        raise BadInput(f"--slo: replicas are sized for batches of 1 to {BATCHES[-1]}, not {batch}")
    at = min(x for x in BATCHES if x >= batch)  # where batches are sized; a larger limit does more
    ask = replace(ask, modes=("together",), batches=(at,))
    option = Option(case.hardware, case.weights, case.tp, case.ep, case)
    (one,) = size(ask, curves(ask, [option]))
    promise = ", ".join(limit.written_out for limit in ask.limits)
    other = "inferecon plan looks for a service that does"
    if one.reason[0]:
        raise BadInput(
            f"no number of replicas of {case.name} keeps {promise}: it {one.reason[0]}, "
            f"{one.reason[1]}; {other}"
        )
    found = confirm(ask, replace(one, batch=batch))
    if not found.keeps:
        raise BadInput(
            f"{found.replicas[1]:,} replicas of {case.name} keep {promise} for {found.good:.1%} "
            f"of the requests, {ask.share:.0%} are asked for, and no more were tried; {other}"
        )
    return found.replicas[1]
