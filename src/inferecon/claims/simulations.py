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


def step_of_lanes(host: float, device: float, steps: float = 1000) -> float:
    """Mean time of a step if the host prepares the next one while the device runs this one."""
    host_free = device_free = 0.0
    for _ in range(int(steps)):
        host_free += host
        device_free = max(device_free, host_free) + device
    return device_free / steps


def clock_of_runs(runs: float, launch: float, work: float, waits: bool) -> float:
    """Time a run that a clock around a loop of runs reads, with or without a wait for the device.

    Each run takes the host ``launch`` and the device ``work``; without a wait
    the clock stops when the last run is handed over.
    """
    host = device = 0.0
    for _ in range(int(runs)):
        host += launch
        device = max(device, host) + work
        if waits:
            host = device
    return host / runs


def mean_after_warm_up(warm: float, runs: float, slow: float, factor: float) -> float:
    """Mean of timed runs over a steady one, if the first ``slow`` runs take ``factor`` as long."""
    times = [factor if run < slow else 1.0 for run in range(int(warm + runs))]
    return math.fsum(times[int(warm) :]) / runs


def age_by_wall_clock(waited: float, correction: float) -> float:
    """Age that a batcher sees if the time of day is corrected while a request waits."""
    stamped, waiting = 0.0, waited
    return stamped + waiting + correction - stamped


def kept_in_order(requests: float) -> bool:
    """Say whether a queue filled at its end holds all requests, in the order of their times."""
    queue: list[tuple[float, int]] = []
    for number in range(int(requests)):
        queue.append((number * 0.5, number))
    return queue == sorted(queue) and len(queue) == requests


def slots_used(batch: float, longest: float = 2048, batches: float = 64) -> float:
    """Share of the steps of a batch's slots that make a token, if a batch leaves as a whole.

    Answers are evenly spread up to the longest, taken by a fixed stride.
    """
    made = held = 0
    for number in range(int(batches)):
        lengths = [1 + (number * int(batch) + i) * 617 % int(longest) for i in range(int(batch))]
        made += sum(lengths)
        held += len(lengths) * max(lengths)
    return made / held


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
        step_of_lanes,
        clock_of_runs,
        mean_after_warm_up,
        age_by_wall_clock,
        kept_in_order,
        slots_used,
    )
}
