"""Several replicas behind a router, under one load."""

import math
from collections.abc import Callable, Iterator

from .arrivals import Piece
from .replica import Replica
from .tally import Request, Tally

ROUTES = ("round-robin", "least-loaded")
Server = Replica  # or a BatchServer: the same calls


def requests(pieces: Iterator[Piece]) -> Iterator[list[Request]]:
    """Yield requests, some thousands at a time, numbered."""
    number = 0
    for arrival, isl, osl in pieces:
        made = []
        for one in zip(arrival.tolist(), isl.tolist(), osl.tolist(), strict=True):
            made.append(Request(number, *one))
            number += 1
        yield made


def offer(server: Server, request: Request, visible: float) -> bool:
    """Give a server a request that it sees at a time, not before that of the one before.

    Return whether its memory could ever hold it; if not, it is refused.
    """
    if server.steps.bytes(request.isl + request.osl) > server.steps.room:
        server.tally.refused += 1
        return False
    server.pending.append((visible, request))
    return True


def router(servers: list[Server], route: str) -> Callable[[float], Server]:
    """Return who chooses a server for a request that arrives at a time."""
    turn = 0

    def in_turn(_: float) -> Server:
        nonlocal turn
        turn += 1
        return servers[(turn - 1) % len(servers)]

    def idlest(time: float) -> Server:
        for server in servers:
            server.run(time)
        return min(servers, key=lambda server: server.load)

    return in_turn if route == "round-robin" or len(servers) == 1 else idlest


def open_loop(
    servers: list[Server], route: str, pieces: Iterator[Piece], gap: float, tally: Tally
) -> None:
    """Let requests arrive by themselves, whatever becomes of the others."""
    choose = router(servers, route)
    for some in requests(pieces):
        tally.sent += len(some)
        for request in some:
            offer(choose(request.arrival), request, request.arrival + gap)
        for server in servers:
            server.run(some[-1].arrival)
    finish(servers)


def finish(servers: list[Server]) -> None:
    """Serve what is there, and let all rest until the last has ended."""
    for server in servers:
        server.closed = True
        server.run(math.inf)
    last = max(server.clock for server in servers)
    for server in servers:
        if server.clock < last:
            server.tally.rested(last - server.clock, server.steps.idle_power)
            server.clock = last


class Clients:
    """A closed loop: each client sends its next request when it has the answer to the last.

    Clients are dealt out to the servers, and stay with theirs.
    """

    def __init__(self, pieces: Iterator[Piece], gap: float, tally: Tally):
        self.source = (request for some in requests(pieces) for request in some)
        self.gap, self.tally = gap, tally

    def serve(self, servers: list[Server], clients: int) -> None:
        """Run until every request is answered."""
        for server in servers:
            server.leaves = self._again(server)
        for number in range(clients):
            self._send(servers[number % len(servers)], 0.0)
        while any(server.load for server in servers):
            least = min((server for server in servers if server.load), key=lambda one: one.clock)
            least.run(least.clock + 1.0)
        finish(servers)

    def _send(self, server: Server, time: float) -> None:
        for request in self.source:
            self.tally.sent += 1
            request.arrival = time
            if offer(server, request, time + self.gap):
                return  # one that no memory holds is answered at once
        server.closed = True  # its last batch need not be full

    def _again(self, server: Server) -> Callable[[Request, float], None]:
        def leaves(request: Request, time: float) -> None:
            self.tally.finished(request, time)
            self._send(server, time)

        return leaves
