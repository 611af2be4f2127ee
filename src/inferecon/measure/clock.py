"""Where a point runs and how it is timed: a CUDA device, or the CPU for tests of the code."""

import statistics
import time
from collections.abc import Callable

import torch

from ..errors import BadInput
from .energy import Moves, counter, idle
from .layers import grouped
from .rows import Reading

PACE = 0.005  # seconds of work queued between two looks at the energy counter
FEWEST = 3  # runs of a point, however long one takes
ARCHITECTURES = (9, 10)  # CUDA capabilities whose grouped product needs nothing of the host


class Card:
    """The first CUDA device that PyTorch sees."""

    device = "cuda"

    def __init__(self):
        if not torch.cuda.is_available():
            raise BadInput(
                "inferecon measure needs a CUDA device: this PyTorch"
                f" ({torch.__version__}) sees none"
            )
        about = torch.cuda.get_device_properties(0)
        torch.cuda.init()
        torch.zeros(1, device="cuda")  # opens the context, whose power is part of idle
        self.name = about.name
        self.cache = getattr(about, "L2_cache_size", 0)
        uuid = getattr(about, "uuid", None)
        self.joules, self.unsaid = counter(f"GPU-{uuid}" if uuid else None)
        self.fused = bool(grouped()) and about.major in ARCHITECTURES
        self.idle = idle(self.joules)

    def free(self) -> int:
        """Bytes that are free, those that PyTorch keeps for itself included."""
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    def time(self, step: Callable, graph: bool, hold: float) -> Reading:
        """Run for at least ``hold`` seconds, replayed as one CUDA graph or launched each time."""
        run = self._captured(step) if graph else step
        for _ in range(2):
            run()
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        many = max(1, int(PACE / max(time.perf_counter() - start, 1e-6)))
        moves, marks = Moves(self.joules, time.perf_counter), [self._mark()]
        start = time.perf_counter()
        while time.perf_counter() - start < hold or len(marks) <= FEWEST:
            for _ in range(many):
                run()
                marks.append(self._mark())
            # One batch of runs stays queued, so that the device never waits for the look.
            before = marks[max(0, len(marks) - 1 - many)]
            while not before.query():
                moves.look()
                time.sleep(1e-4)
            moves.look()
        torch.cuda.synchronize()
        took = [a.elapsed_time(b) / 1e3 for a, b in zip(marks[:-1], marks[1:], strict=True)]
        return Reading(statistics.median(took), statistics.fmean(took), moves.watt(), len(took))

    @staticmethod
    def _captured(step: Callable) -> Callable:
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):  # libraries choose kernels and workspaces before a capture
                step()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph.replay

    @staticmethod
    def _mark() -> torch.cuda.Event:
        mark = torch.cuda.Event(enable_timing=True)
        mark.record()
        return mark


class Processor:
    """The CPU: for tests of the code, not for measurements; no graph and no energy."""

    device, name, cache, joules, idle = "cpu", "cpu", 0, None, float("nan")
    unsaid = "no energy: a test on the CPU"

    def __init__(self, held: int = 1 << 32, fused: bool = False):
        self.held, self.fused = held, fused

    def free(self) -> int:
        return self.held

    def time(self, step: Callable, graph: bool, hold: float) -> Reading:
        took = []
        while len(took) < FEWEST:
            start = time.perf_counter()
            step()
            took.append(time.perf_counter() - start)
        return Reading(statistics.median(took), statistics.fmean(took), float("nan"), len(took))
