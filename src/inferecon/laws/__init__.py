"""The mathematics, one module per chapter, imported only downwards.

``SERVICE`` is the system of a scenario.  Some questions need what no scenario states (an
arrival rate, an acceptance, a battery, a lifetime), and a format's width is solved for each
of its uses: those laws stand beside it.  ``catalogue`` lists all laws with what proves them;
it takes half a second more to import, which a scenario need not wait for.
"""

from ..uncollected import uncollected

with uncollected():  # an eighth of the import: no expression is garbage
    from ..law import System
    from . import (
        arithmetic,
        cache,
        communication,
        economics,
        latency,
        memory,
        mixers,
        parameters,
        phases,
        traffic,
        weights,
    )

SERVICE = System(
    [
        *mixers.LAWS,
        *parameters.LAWS,
        *weights.LAWS,
        *cache.LAWS,
        *arithmetic.LAWS,
        *traffic.LAWS,
        *communication.LAWS,
        *latency.LAWS,
        *memory.LAWS,
        *economics.LAWS,
        *phases.PHASES,
    ]
)
