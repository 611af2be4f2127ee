"""A scenario: the records and workload choices that turn laws into numbers.

Mathematics does not know files and files do not know mathematics; here they
meet.  A scenario collects the given values, says which record each came from,
and lists what keeps the combination from running.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real

import numpy as np
import sympy as sp

from . import symbols as s
from .errors import BadInput, nearest
from .givens import (
    ENERGY_OF,
    Origin,
    Peak,
    chosen_offer,
    component_formats,
    native_format,
    peaks,
    width,
)
from .law import NAME
from .laws import SERVICE
from .records import Offer, Record, ids, load
from .units import ureg


@dataclass(frozen=True)
class Scenario:
    """Model x hardware x formats x workload, by record id.

    ``weights``, ``activations`` and ``kv`` are number formats; ``tp`` devices
    share each matrix and ``ep`` devices the experts; ``batch`` sequences of
    ``isl`` prompt tokens and ``osl`` answer tokens are served together.  Raises
    BadInput for an unknown name or an impossible number.
    """

    model: str
    hardware: str
    weights: str = "bf16"
    activations: str = "bf16"
    kv: str = "bf16"
    tp: int = 1
    ep: int = 1
    batch: int = 1
    isl: int = 1024
    osl: int = 1024
    grid: str = "world"
    provider: str = ""

    def __post_init__(self):
        for name in ("tp", "ep", "batch", "isl", "osl"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        for name, kind in (("model", "models"), ("hardware", "hardware"), ("grid", "grids")):
            load(kind, getattr(self, name))
        for role in ("weights", "activations", "kv"):
            _check_role(role, load("formats", getattr(self, role)))
        if lacking := self.model_record.lacks:
            raise BadInput(
                f"models/{self.model}.yaml states no {', '.join(lacking[:3])}, "
                "so nothing can be computed for it"
            )
        self._check_shape()

    def _check_shape(self):
        model = self.model_record.given
        limit = model[s.max_context]
        if self.isl + self.osl > limit:
            raise BadInput(
                f"isl {self.isl} + osl {self.osl} exceeds the context of {self.model}, "
                f"{limit:,.0f} tokens"
            )
        heads, experts = int(model[s.n_heads]), int(model[s.n_experts])
        if heads % self.tp:
            allowed = [n for n in range(1, min(heads, 64) + 1) if heads % n == 0]
            raise BadInput(
                f"tp {self.tp} does not divide the {heads} heads of {self.model}; allowed: "
                f"{', '.join(map(str, allowed))}"
            )
        if self.ep > 1 and not experts:
            raise BadInput(f"ep {self.ep}: {self.model} has no experts, so ep must be 1")
        if self.ep > 1 and experts % self.ep:
            allowed = [n for n in range(1, min(experts, 64) + 1) if experts % n == 0]
            raise BadInput(
                f"ep {self.ep} does not divide the {experts} experts of {self.model}; allowed: "
                f"{', '.join(map(str, allowed))}"
            )
        if max(self.tp, self.ep) % min(self.tp, self.ep) or 1 < self.ep < self.tp:
            raise BadInput(f"ep {self.ep} must be 1, tp ({self.tp}) or a multiple of tp")

    # Records -------------------------------------------------------------------------------

    @property
    def model_record(self) -> Record:
        return load("models", self.model)

    @property
    def device(self) -> Record:
        return load("hardware", self.hardware)

    @property
    def name(self) -> str:
        """Id of the combination, without the workload."""
        return f"{self.model}/{self.hardware}/{self.weights}"

    @cached_property
    def offer(self) -> Offer | None:
        """The price used: the named provider's, else the lowest on-demand offer on record."""
        return chosen_offer(self.hardware, self.provider)

    def records(self) -> list[Record]:
        """All records that the values of this scenario rest on."""
        found = {o.record.path: o.record for o in self.origins_of_given().values() if o.record}
        if self.hardware in ids("prices"):
            found[f"prices/{self.hardware}.yaml"] = load("prices", self.hardware)
        return [found[path] for path in sorted(found)]

    # Given values --------------------------------------------------------------------------

    def given(self) -> dict[sp.Symbol, float]:
        """Every given symbol in base units; a missing fact is absent."""
        return dict(self._given[0])

    def origins_of_given(self) -> dict[sp.Symbol, Origin]:
        stated = {
            symbol: Origin(record, symbol.name if symbol.name in record.facts else None)
            for record in self._stating
            for symbol in record.given
        }
        return stated | self._given[1]

    @cached_property
    def _stating(self) -> list[Record]:
        """Records whose facts are given values as they stand, a later one before an earlier."""
        assumed = ["collective", "memory-fraction", "pue"]
        if f"energy-{self.hardware}" in ids("assumptions"):
            assumed.append(f"energy-{self.hardware}")
        return [
            load("constants", "counting"),
            self.model_record,
            self.device,
            load("grids", self.grid),
            *(load("assumptions", id) for id in assumed),
        ]

    @cached_property
    def _given(self):
        """Every given value, and the origins of those that no record states as they stand."""
        values: dict[sp.Symbol, float] = {}
        origins: dict[sp.Symbol, Origin] = {}
        for record in self._stating:
            values |= record.given
        assumed = [record for record in self._stating if record.kind == "assumptions"]
        row = int(self.model_record["hidden_size"])
        formats = component_formats(self.weights, self.activations, self.kv, self.native)
        for symbol, id in formats.items():
            values[symbol], origins[symbol] = width(id, row), Origin(load("formats", id))
        for symbol, found in self.peaks.items():
            if found.case is not None:
                values[symbol] = found.rate
                origins[symbol] = Origin(self.device, f"peak_flops@{found.case}")
                for record in assumed:
                    if (fact := f"energy_per_flop@{found.case}") in record.facts:
                        values[ENERGY_OF[symbol]] = record[fact]
                        origins[ENERGY_OF[symbol]] = Origin(record, fact)
        if self.offer is not None:
            values[s.price] = self.offer.usd_per_second
            origins[s.price] = Origin(load("prices", self.hardware), choice=self.offer.provider)
        for name in ("tp", "ep", "batch", "isl", "osl"):
            values[s.SYMBOLS[name]] = float(getattr(self, name))
            origins[s.SYMBOLS[name]] = Origin(choice=f"{name} = {getattr(self, name)}")
        return values, origins

    @property
    def native(self) -> str:
        """Number format of everything a weight format leaves alone."""
        return native_format(self.model_record, self.activations)

    @cached_property
    def peaks(self) -> dict[sp.Symbol, Peak]:
        """Peak rate of each operator, or the reason why there is none."""
        row = int(self.model_record["hidden_size"])
        return peaks(self.device, self.weights, self.activations, self.native, row)

    # Results -------------------------------------------------------------------------------

    @cached_property
    def values(self) -> dict[sp.Symbol, float]:
        """Every symbol of the report in this scenario, base units, NaN where a fact is missing."""
        return SERVICE.solve(self.given())

    def value(self, symbol: sp.Symbol):
        """Value of one symbol as a quantity."""
        return ureg.Quantity(float(self.values.get(symbol, math.nan)), s.GLOSSARY[symbol].unit)

    def sweep(self, batches, contexts) -> dict[sp.Symbol, np.ndarray]:
        """Every symbol over batches x prompt lengths, as arrays of shape (contexts, batches)."""
        isl, batch = np.meshgrid(np.float64(contexts), np.float64(batches), indexing="ij")
        return SERVICE.solve({**self.given(), s.batch: batch, s.isl: isl})

    def missing(self, symbol: sp.Symbol) -> list[sp.Symbol]:
        """Given symbols that no record states and the value would need."""
        return sorted(self._unstated & SERVICE.inputs_of(symbol), key=NAME)

    @cached_property
    def _unstated(self) -> frozenset[sp.Symbol]:
        given = self._given[0]
        return frozenset(g for g in SERVICE.inputs if math.isnan(given.get(g, math.nan)))

    @cached_property
    def obstacles(self) -> list[str]:
        """What keeps this combination from running, each with the numbers that clash."""
        found = []
        for symbol, rate in self.peaks.items():
            if rate.case is None:
                found.append(f"{self._pair(symbol)} cannot be computed: {rate.reason}")
        devices = max(self.tp, self.ep)
        domain = self.device.get("scale_up_size")
        if devices > (1 if math.isnan(domain) else domain):
            has = "no scale-up link" if math.isnan(domain) else f"a scale-up domain of {domain:.0f}"
            found.append(f"{devices} devices are asked for, {self.device.name} has {has}")
        needed, available = self.value(s.memory_needed), self.value(s.memory_available)
        if math.isnan(available.m):
            found.append(f"hardware/{self.hardware}.yaml states no memory capacity")
        elif needed > available:
            found.append(
                f"{needed.to('GB').m:,.1f} GB are needed on each of {devices} device"
                f"{'s' if devices > 1 else ''}, {available.to('GB').m:,.1f} GB are available"
                + self._smaller_batch()
            )
        return list(dict.fromkeys(found))

    def _smaller_batch(self) -> str:
        """Say which batch would fit, if any does."""
        most = self.values[s.largest_batch]
        return f"; batch {most:,.0f} would fit" if most >= 1 else ""

    def _pair(self, symbol):
        if symbol is s.peak_native:
            return f"attention in {self.native}"
        return f"{self.weights} weights with {self.activations} activations"


def whole(name: str, value) -> int:
    """Return a count, refusing what only looks like one."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadInput(f"{name} must be a whole number of at least 1, not {value!r}")
    if not math.isfinite(value) or value != int(value) or value < 1:
        raise BadInput(f"{name} must be a whole number of at least 1, not {value}")
    if value > 10**9:
        raise BadInput(f"{name} must be at most 1,000,000,000, not {value}")
    return int(value) if isinstance(value, Integral) or float(value).is_integer() else value


def _check_role(role: str, record: Record):
    wanted = {"weights": "weight", "activations": "activation", "kv": "kv"}[role]
    if wanted not in record.about["role"]:
        fitting = [id for id in ids("formats") if wanted in load("formats", id).about["role"]]
        raise BadInput(
            f"{role}: {record.id} is a format for {record.about['role']}"
            f"{nearest(record.id, fitting)}"
        )


def opened(*, model: str, hardware: str, tp=None, ep=None, **choices) -> Scenario:
    """Return the scenario of a notebook's choices; without ``tp`` the devices are chosen.

    Without ``ep`` the experts are spread over the devices of a tensor-parallel group.
    """
    if tp is None and ep is None:
        return choose_devices(model, hardware, **choices)
    if tp is None:
        raise BadInput(f"ep {ep} is given without tp: give both, or neither")
    if ep is None:
        ep = _experts_over(load("models", model), whole("tp", tp))
    return Scenario(model, hardware, tp=tp, ep=ep, **choices)


def choose_devices(model: str, hardware: str, **choices) -> Scenario:
    """Return the scenario on the fewest devices that hold it, or on the largest domain there is.

    Tensor parallelism goes over powers of two that divide the heads; experts
    are spread over the same devices.
    """
    case = Scenario(model, hardware, **choices)  # states what is wrong, if anything is
    record = case.model_record
    domain = case.device.get("scale_up_size")
    largest = 1 if math.isnan(domain) else int(min(domain, 64))
    for n in (1, 2, 4, 8, 16, 32, 64):
        if n > largest or int(record["n_heads"]) % n:
            continue
        case = replace(case, tp=n, ep=_experts_over(record, n))
        if case.values[s.memory_needed] <= case.values[s.memory_available]:
            break
    return case


def _experts_over(record: Record, devices: int) -> int:
    """Expert parallelism that goes with ``devices`` sharing each matrix."""
    experts = record.given.get(s.n_experts, 0)
    return devices if experts and experts % devices == 0 else 1
