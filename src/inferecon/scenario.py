"""A scenario: the records and workload choices that turn laws into numbers.

Mathematics does not know files and files do not know mathematics; here they
meet.  A scenario collects the given values, says which record each came from,
and lists what keeps the combination from running.
"""

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from numbers import Integral, Real

import numpy as np
import sympy as sp

from . import fitting
from . import symbols as s
from .errors import BadInput, nearest
from .givens import (
    ENERGY_OF,
    Origin,
    Peak,
    chosen_offer,
    component_formats,
    native_format,
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
    usd_per_hour: float | None = None  # for a device, instead of a price on record

    def __post_init__(self):
        if (price := self.usd_per_hour) is not None and not 0 <= price <= 1e6:
            raise BadInput(f"a price must be from 0 to 1e6 USD an hour, not {price:g}")
        for name in ("tp", "ep", "batch", "isl", "osl"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        for name, kind in (("model", "models"), ("hardware", "hardware"), ("grid", "grids")):
            load(kind, getattr(self, name))
        for role in ("weights", "activations", "kv"):
            if mistake := _role_mistake(role, getattr(self, role)):
                raise BadInput(mistake)
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
        formats = component_formats(self.weights, self.activations, self.kv, self.native)
        found = [
            load("constants", "counting"),
            self.model_record,
            self.device,
            load("grids", self.grid),
            *(load("assumptions", id) for id in self._assumptions),
            *(load("formats", id) for id in sorted(set(formats.values()))),
        ]
        if self.hardware in ids("prices"):
            found.append(load("prices", self.hardware))
        return sorted(found, key=lambda record: record.path)

    @property
    def _assumptions(self) -> list[str]:
        measured = f"energy-{self.hardware}"
        always = ["collective", "memory-fraction", "pue"]
        return [*always, measured] if measured in ids("assumptions") else always

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
        return [
            load("constants", "counting"),
            self.model_record,
            self.device,
            load("grids", self.grid),
            *(load("assumptions", id) for id in self._assumptions),
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
        if self.usd_per_hour is not None:
            values[s.price] = self.usd_per_hour / 3600
            origins[s.price] = Origin(choice=f"usd_per_hour = {self.usd_per_hour:g}")
        elif self.offer is not None:
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
        return fitting.rates(self.hardware, self.weights, self.activations, self.native, row)

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
        needed = SERVICE.inputs_of(symbol)
        beside = needed.difference(SERVICE.inputs, self._given[0])  # no law of a service uses it
        return sorted(needed & self._unstated | beside, key=NAME)

    @cached_property
    def _unstated(self) -> frozenset[sp.Symbol]:
        given = self._given[0]
        return frozenset(g for g in SERVICE.inputs if math.isnan(given.get(g, math.nan)))

    @cached_property
    def obstacles(self) -> list[str]:
        """What keeps this combination from running, each with the numbers that clash."""
        return fitting.obstacles(self._load, self.hardware, self.tp, self.ep, self.peaks)

    @property
    def _load(self) -> fitting.Load:
        return fitting.Load(*(getattr(self, name) for name in fitting.Load._fields))


def whole(name: str, value) -> int:
    """Return a count, refusing what only looks like one."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadInput(f"{name} must be a whole number of at least 1, not {value!r}")
    if not math.isfinite(value) or value != int(value) or value < 1:
        raise BadInput(f"{name} must be a whole number of at least 1, not {value}")
    if value > 10**9:
        raise BadInput(f"{name} must be at most 1,000,000,000, not {value}")
    return int(value) if isinstance(value, Integral) or float(value).is_integer() else value


@cache
def _role_mistake(role: str, id: str) -> str:
    """Say that a format is not for this role; empty if it is."""
    record = load("formats", id)
    wanted = {"weights": "weight", "activations": "activation", "kv": "kv"}[role]
    if wanted in record.about["role"]:
        return ""
    fitting = [id for id in ids("formats") if wanted in load("formats", id).about["role"]]
    return f"{role}: {id} is a format for {record.about['role']}{nearest(id, fitting)}"


def opened(*, model: str, hardware: str, tp=None, ep=None, **choices) -> Scenario:
    """Return the scenario of a notebook's choices; without ``tp`` the devices are chosen.

    Without ``ep`` the experts are spread over the devices of a tensor-parallel group.
    """
    if tp is None and ep is None:
        return choose_devices(model, hardware, **choices)
    if tp is None:
        raise BadInput(f"ep {ep} is given without tp: give both, or neither")
    if ep is None:
        ep = fitting.experts_over(model, whole("tp", tp))
    return Scenario(model, hardware, tp=tp, ep=ep, **choices)


def choose_devices(model: str, hardware: str, **choices) -> Scenario:
    """Return the scenario on the fewest devices that hold it, or on the largest domain there is.

    Tensor parallelism goes over powers of two that divide the heads; experts
    are spread over the same devices.
    """
    case = Scenario(model, hardware, **choices)  # states what is wrong, if anything is
    tp, ep = fitting.fewest(case._load, hardware)
    return replace(case, tp=tp, ep=ep)
