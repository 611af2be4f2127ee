"""One picture for each chapter of the derivations: its point, drawn from the chapter's laws.

A picture is made when the book is built, from laws and records alone, and its title says what
these give, so it cannot disagree with the chapter.
"""

from .machine import communication, edge, latency, load, memory
from .model import arithmetic, cache, parameters, traffic
from .service import calibration, cost, energy, quantisation, speculation

PICTURES = {
    draw.__name__: draw
    for draw in (
        parameters,
        cache,
        arithmetic,
        traffic,
        communication,
        latency,
        memory,
        load,
        speculation,
        quantisation,
        energy,
        cost,
        edge,
        calibration,
    )
}
