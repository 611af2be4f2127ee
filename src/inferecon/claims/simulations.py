"""Small deterministic simulations of what the documents describe; no clock and no chance."""

import math
from collections import deque


def batcher_served(interval: float, limit: float = 50, gap: float = 10, end: float = 60000):
    """Share of requests served by a batcher that takes only those *younger* than a limit.

    Requests come every ``gap`` milliseconds and the queue is asked every
    ``interval``; one that was too old once is never young again.
    """
    served = total = 0
    queue: deque[float] = deque()
    arrival, poll = gap / 2, interval
    while poll <= end:
        while arrival <= poll:
            queue.append(arrival)
            arrival += gap
            total += 1
        young = [born for born in queue if poll - born < limit]
        served += len(young)
        queue.clear()  # the rest is older than the limit, now and at every later poll
        poll += interval
    return served / total


def oldest_first_served(interval: float, limit: float = 50, gap: float = 10, end: float = 60000):
    """Share served if a batch leaves once its oldest request has waited as long as the limit."""
    served = total = 0
    queue: deque[float] = deque()
    arrival, poll = gap / 2, interval
    while poll <= end + limit + interval:
        while arrival <= min(poll, end):
            queue.append(arrival)
            arrival += gap
            total += 1
        if queue and poll - queue[0] >= limit:
            served += len(queue)
            queue.clear()
        poll += interval
    return served / total


def cache_writes(prompt: float, answer: float) -> int:
    """How often the cache of one sequence is written: once in prefill, once a later step."""
    length, writes = int(prompt), 1
    while length < prompt + answer - 1:  # the last token is never fed back
        length += 1
        writes += 1
    return writes


def passes_without_cache(prompt: float, answer: float) -> int:
    """Tokens run through the model if every step reads the whole sequence again."""
    return sum(int(prompt) + step for step in range(int(answer)))


def passes_with_cache(prompt: float, answer: float) -> int:
    """Tokens run through the model if keys and values are kept."""
    return int(prompt) + int(answer) - 1


def gap_mean(ttft: float, answer: float, first: float, growth: float) -> float:
    """Mean gap between tokens of one request, from its clock: gaps grow with the context."""
    clock, arrivals = ttft, [ttft]
    for step in range(int(answer) - 1):
        clock += first + growth * step
        arrivals.append(clock)
    gaps = [b - a for a, b in zip(arrivals, arrivals[1:], strict=False)]
    return math.fsum(gaps) / len(gaps)


def gap_from_ends(ttft: float, answer: float, first: float, growth: float) -> float:
    """The same from the two ends alone: (E2E - TTFT) / (tokens - 1)."""
    end = ttft + math.fsum(first + growth * step for step in range(int(answer) - 1))
    return (end - ttft) / (answer - 1)


def samples_beyond(runs: float, quantile: float) -> int:
    """How many of a number of runs lie beyond a quantile."""
    rank = math.ceil(quantile * int(runs))
    return sum(position > rank for position in range(1, int(runs) + 1))


SIMULATIONS = {
    simulation.__name__: simulation
    for simulation in (
        batcher_served,
        oldest_first_served,
        cache_writes,
        passes_without_cache,
        passes_with_cache,
        gap_mean,
        gap_from_ends,
        samples_beyond,
    )
}
