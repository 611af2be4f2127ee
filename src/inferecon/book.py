"""What a notebook may call: open a case, show it, publish its numbers."""

import ast
import math
from dataclasses import replace
from typing import Any

from IPython.display import Markdown, Math, display

from . import figures
from . import symbols as s
from .errors import BadInput, nearest
from .escape import plain
from .laws import SERVICE as LAWS
from .numbers import FULL, GRID, PUBLISHED, SERVICE, SHOWN, STRUCTURE, digits, number
from .publication import as_json, null
from .records import ids, load
from .scenario import Scenario, opened, whole
from .substitution import substituted


class Case:
    """One combination of model, hardware, formats and workload, as a notebook sees it."""

    def __init__(self, scenario: Scenario | None = None, **choices):
        self.scenario = scenario or opened(**choices)
        self._points: dict[tuple, list[list]] = {}

    @property
    def runs(self) -> bool:
        return not self.scenario.obstacles

    def fit(self) -> Markdown:
        """State whether the combination runs, and if not which number exceeds which."""
        case = self.scenario
        if not self.runs:
            reasons = plain("; ".join(case.obstacles))
            return Markdown(f"**Does not run:** {reasons}.")
        needed = number(s.memory_needed, case.values[s.memory_needed]).text
        available = number(s.memory_available, case.values[s.memory_available]).text
        devices = max(case.tp, case.ep)
        name = plain(case.device.name)
        on = name if devices == 1 else f"{devices} × {name}"
        return Markdown(
            f"**Runs on {on}:** {needed} of {available} are needed on each device; "
            f"up to {case.values[s.largest_batch]:,.0f} sequences of this length fit."
        )

    def publish(self) -> None:
        """Show the numbers of this case as a table and publish them."""
        shown = STRUCTURE + (SERVICE if self.runs else ())
        numbers = self.numbers(shown)
        rows = [
            f"| {s.GLOSSARY[symbol].meaning} | ${s.GLOSSARY[symbol].latex}$ | {n.text}"
            f"{self._missing(symbol)} |"
            for symbol, n in numbers.items()
        ]
        table = "\n".join(["| quantity | symbol | value |", "|---|---|---:|", *rows])
        display(Markdown(table), metadata={PUBLISHED: self.content(numbers)})

    def numbers(self, shown: tuple) -> dict:
        return {symbol: number(symbol, self.scenario.values[symbol]) for symbol in shown}

    def content(self, numbers: dict) -> dict:
        """Return what is published of this case: numbers, obstacles, and the records behind."""
        return {
            "numbers": as_json(numbers),
            "full": as_json(self.at_largest_batch()),
            "obstacles": self.scenario.obstacles,
            "records": {record.path: record.hash for record in self.scenario.records()},
        }

    def at_largest_batch(self) -> dict:
        """Return the numbers of the same case with as many sequences as fit; none if it is idle."""
        if not self.runs:
            return {}
        most = int(self.scenario.values[s.largest_batch])
        full = replace(self.scenario, batch=most)
        return {symbol: number(symbol, full.values[symbol]) for symbol in FULL}

    def grid(self, batches: list[int], contexts: list[int]) -> None:
        """Publish the numbers over batches and prompt lengths, and show the latencies.

        Points beyond the model's context are left out; points that do not fit
        into memory carry no value.
        """
        batches = [whole("batches", b) for b in batches]
        contexts = [whole("contexts", c) for c in contexts]
        columns, rows = self.points(batches, contexts)
        content = {"columns": columns, "units": self._units(), "rows": rows}
        text = self._grid_table(batches, columns, rows)
        display(Markdown(text), metadata={PUBLISHED: {"grid": content}})

    def points(self, batches: list[int], contexts: list[int]) -> tuple[list[str], list[list]]:
        """Return names and rows (batch, isl, then the symbols of GRID in shown units)."""
        columns = ["batch", "isl", *(symbol.name for symbol in GRID)]
        asked = tuple(batches), tuple(contexts)
        if asked not in self._points:  # a curve and a grid ask for the same
            self._points[asked] = self._rows(batches, contexts)
        return columns, self._points[asked]

    def _rows(self, batches: list[int], contexts: list[int]) -> list[list]:
        usable = self._usable(contexts)
        if not self.runs or not usable:
            return []
        values = self.scenario.sweep(batches, usable)
        rows = []
        for i, context in enumerate(usable):
            for j, batch in enumerate(batches):
                fits = values[s.memory_needed][i, j] <= values[s.memory_available]
                shown = [
                    number(symbol, _at(values[symbol], i, j)).value
                    if fits or symbol not in SERVICE
                    else math.nan
                    for symbol in GRID
                ]
                rows.append([batch, context, *(null(v) for v in shown)])
        return rows

    def fitting(self, batches: list[int], contexts: list[int]) -> list[tuple[int, int]]:
        """Return the points (batch, prompt) of a grid that the model takes and memory holds."""
        usable = self._usable(contexts)
        if not usable:
            return []
        needed = self.scenario.sweep(batches, usable)[s.memory_needed]
        room = self.scenario.values[s.memory_available]
        return [
            (batch, context)
            for i, context in enumerate(usable)
            for j, batch in enumerate(batches)
            if needed[i, j] <= room
        ]

    def _usable(self, contexts: list[int]) -> list[int]:
        limit = self.scenario.model_record["max_context"] - self.scenario.osl
        return [context for context in contexts if context <= limit]

    def roofline(self):
        """Draw where prefill and decode stand under the roofline of one device."""
        if not self.runs:
            return self.fit()
        v, case = self.scenario.values, self.scenario
        peak, bandwidth = v[s.peak_linear], v[s.hbm_bandwidth]
        ridge = v[s.ridge_intensity]
        roof = [
            {"intensity": x, "rate": min(peak, bandwidth * x) / 1e12}
            for x in (ridge / 1000, ridge, ridge * 30)
        ]
        steps = {
            "decode": (s.decode_flop_device, s.decode_bytes_device),
            "prefill": (s.prefill_flop_device, s.prefill_bytes_device),
        }
        points = []
        for phase, (flop, traffic) in steps.items():
            x = float(v[flop] / v[traffic])
            label = f"{phase}, batch {case.batch}"
            points.append(
                {
                    "intensity": x,
                    "rate": min(peak, bandwidth * x) / 1e12,
                    "phase": phase,
                    "label": label,
                }
            )
        side = "memory" if points[0]["intensity"] < ridge else "compute"
        subtitle = [
            f"{digits(points[0]['intensity'])} FLOP/B, the ridge is at {digits(ridge)}",
            f"{case.model} on {case.hardware}, {case.weights}",
        ]
        chart = figures.roofline(roof, points, f"Decode is {side}-bound", subtitle)
        return figures.renamed(chart, f"roofline {case.name} batch {case.batch}")

    def curve(self, batches: list[int], contexts: list[int]):
        """Draw throughput of a device against the speed one reader sees."""
        columns, rows = self.points(batches, contexts)
        at = {name: i for i, name in enumerate(columns)}
        data = [
            {
                "batch": row[0],
                "isl": row[1],
                "context": f"{row[1]:,}",
                "interactivity": row[at["interactivity"]],
                "throughput": row[at["throughput_device"]],
            }
            for row in rows
            if row[at["interactivity"]] is not None
        ]
        if not data:
            return self.fit()
        best = max(data, key=lambda row: row["throughput"])
        title = f"Batching: up to {digits(best['throughput'])} tok/s a device"
        subtitle = [
            f"one reader sees {digits(best['interactivity'])} tok/s at batch {best['batch']:,}",
            "rooflines at datasheet peak rates",
        ]
        chart = figures.latency_throughput(data, title, subtitle)
        return figures.renamed(chart, f"throughput {self.scenario.name}")

    def worked(self, name: str) -> Math | Markdown:
        """Show a law, the numbers put in, and the result in the unit of the report."""
        symbol = symbol_named(name)
        try:
            return Math(substituted(self.scenario, LAWS.laws[symbol].eq))
        except BadInput as missing:
            return Markdown(f"{name} has no value here: {missing}.")

    def _missing(self, symbol) -> str:
        missing = self.scenario.missing(symbol)
        return f" (no record states {', '.join(x.name for x in missing)})" if missing else ""

    def _units(self) -> dict[str, str]:
        return {"batch": "", "isl": "token"} | {symbol.name: SHOWN[symbol] for symbol in GRID}

    def _grid_table(self, batches, columns, rows) -> str:
        if not rows:
            return "No point of the grid can run."
        itl = columns.index("itl")
        table = {(row[1], row[0]): row[itl] for row in rows}
        contexts = sorted({row[1] for row in rows})
        head = "| prompt | " + " | ".join(f"batch {b:,}" for b in batches) + " |"
        lines = [head, "|---:|" + "---:|" * len(batches)]
        for context in contexts:
            cells = (table[context, b] for b in batches)
            lines.append(
                f"| {context:,} | "
                + " | ".join("does not fit" if c is None else f"{digits(c)} ms" for c in cells)
                + " |"
            )
        return "ITL over batch and prompt length:\n\n" + "\n".join(lines)


def impossible(scenario: Scenario) -> dict[str, Any]:
    """Return what the notebook of a combination that cannot run would publish."""
    case = Case(scenario)
    columns, rows = case.points([], [])
    grid = {"columns": columns, "units": case._units(), "rows": rows}
    return {**case.content(case.numbers(STRUCTURE)), "grid": grid}


def refuse_undeclared(cells: list[str]) -> None:
    """Raise BadInput if papermill injected a parameter that the notebook does not declare.

    ``cells`` is the notebook's ``In``; papermill itself only warns, and then runs the default.
    """
    injected = [cell for cell in cells if cell.startswith("# Parameters\n")]
    first = next(cell for cell in cells if cell.strip())
    declared = _assigned(first)
    for name in (name for cell in injected if cell is not first for name in _assigned(cell)):
        if name not in declared:
            raise BadInput(f"the notebook has no parameter {name!r}{nearest(name, declared)}")


def _assigned(source: str) -> list[str]:
    statements = ast.parse(source).body
    targets = (t for node in statements if isinstance(node, ast.Assign) for t in node.targets)
    return [target.id for target in targets if isinstance(target, ast.Name)]


def warm() -> None:
    """Do once, in the parent of all notebooks, what each of them would do first."""
    case = Case(model="deepseek-v2-lite", hardware="h200-sxm")
    case.worked("itl")
    for chart in (case.roofline(), case.curve([1, 2], [1024])):
        chart.to_dict()
    for symbol in SHOWN:
        number(symbol, 1.0)
    for kind in ("models", "hardware", "formats", "prices", "grids", "assumptions"):
        for id in ids(kind):
            record = load(kind, id)
            record.given, record.hash  # noqa: B018  a record keeps both
            for offer in record.offers:
                offer.usd_per_second  # noqa: B018


def symbol_named(name: str):
    """Return the symbol that a law defines under this name."""
    known = {symbol.name: symbol for symbol in LAWS.laws if symbol in SHOWN}
    if name not in known:
        raise BadInput(f"no published quantity {name!r}{nearest(name, known)}")
    return known[name]


def _at(array, i, j):
    return array[i, j] if getattr(array, "ndim", 0) == 2 else array
