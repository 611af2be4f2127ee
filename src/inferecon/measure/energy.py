"""Power of a board from NVML's energy counter.

The counter moves about ten times a second.  Reading it at the start and the end
of a run would be off by up to one move at either end, so power is taken between
two moves: both are seen while the device is busy.
"""

import math
import os
import time
from collections.abc import Callable

IDLE = 1.5  # seconds that a board is watched at rest


class Moves:
    """Watches a counter, joules at any time, and keeps when it moved."""

    def __init__(self, joules: Callable[[], float] | None, now: Callable[[], float]):
        self.joules, self.now = joules, now
        self.last = joules() if joules else math.nan
        self.seen: list[tuple[float, float]] = []

    def look(self) -> None:
        """Read the counter; to be called every few milliseconds."""
        if self.joules is None:
            return
        value = self.joules()
        if value != self.last:
            self.last = value
            self.seen.append((self.now(), value))

    def watt(self) -> float:
        """Return mean power between first and last move; NaN with fewer than three."""
        if len(self.seen) < 3:
            return math.nan
        (start, first), (end, last) = self.seen[0], self.seen[-1]
        return (last - first) / (end - start) if end > start else math.nan


def counter(uuid: str | None) -> tuple[Callable[[], float] | None, str]:
    """Return a function that reads joules, or None and why energy is not measured."""
    try:
        import pynvml
    except ImportError:
        return None, "no energy: install nvidia-ml-py to read the board's counter"
    try:
        pynvml.nvmlInit()
        if uuid:
            board = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        elif "CUDA_VISIBLE_DEVICES" in os.environ:
            return None, "no energy: this PyTorch does not say which board it runs on"
        else:
            board = pynvml.nvmlDeviceGetHandleByIndex(0)
        pynvml.nvmlDeviceGetTotalEnergyConsumption(board)
    except pynvml.NVMLError as error:
        return None, f"no energy: NVML says {error}"
    return lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(board) / 1e3, ""  # counts in mJ


def idle(joules: Callable[[], float] | None, seconds: float = IDLE) -> float:
    """Return the power of a board at rest in watt, its context open; NaN without a counter."""
    if joules is None:
        return math.nan
    moves, end = Moves(joules, time.perf_counter), time.perf_counter() + seconds
    while time.perf_counter() < end:
        moves.look()
        time.sleep(0.002)
    return moves.watt()
