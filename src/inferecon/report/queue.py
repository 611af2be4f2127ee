"""Of the page of the simulator: the queue that laws know, and how the page ends."""

import math

import numpy as np

from .. import figures
from .. import symbols as s
from ..laws import queueing
from ..numbers import digits
from ..scenario import Scenario
from ..simulate.arrivals import Lengths
from ..simulate.plan import Load, Service
from ..simulate.run import simulate
from ..simulate.steps import line
from .marks import percent
from .text import table

RHO = (0.3, 0.5, 0.7, 0.8)
SEEDS, COUNT = 4, 6000
TWO_SIDED = 5.84  # deviations of a mean of four runs that hold 99 % of them
LAW = """\
## Against the queue of one server

Let a replica serve one prompt at a time, with one token out, so that it is the server of \
{doc}`../load`.
Prompts that are all alike make services that are all alike, and the mean wait is \
{ref}`WAIT-MD1 <law-wait-md1>`; lengths that differ make it {ref}`WAIT-MG1 <law-wait-mg1>`.
"""
END = """\
## What would change this

- **How a burst is worked off.** An engine's own order and pieces, put on record, would move the \
first tokens of closed loops and nothing else.
- **Rows of open loops.** There are few; each further one moves the errors above.
- **Lengths as they were.** Sources give means; the lengths of each request would take the guess \
out of the spread.
- **Steps.** A new fit of the constants moves every simulated time with it ({doc}`../calibration`).

## Problems

**1.** A queue at a utilisation of one half is simulated for 100 requests, and the mean wait is \
20 % off the law.
Is the simulator wrong?

```{admonition} Answer
:class: dropdown
Not shown.
Waits that follow each other are alike, so 100 of them say as little as a few independent ones; \
the runs above have thousands, with several seeds, for that reason.
```

**2.** The simulator says that more arrives than can be served, and the service was measured all \
the same.
What did the measurement show?

```{admonition} Answer
:class: dropdown
A queue that grew for as long as the run lasted: its latencies are those of that length of run, \
and twice the requests would have given others.
```

**3.** First tokens of a closed loop come too early by a third, those of an open loop are right.
What does a planner lose who has only open loops?

```{admonition} Answer
:class: dropdown
Nothing: arrivals that come by themselves are what a plan asks for.
A batch job that sends everything at once is a closed loop, and its first tokens should not be \
promised by this simulator.
```
"""


def against_laws() -> list[str]:
    """Return the mean wait of one server by law and by simulation."""
    case = Scenario("llama-3.1-8b", "h100-sxm")
    tables = line(floor=1.0, prefill=1e-4, context=20_000)
    kinds = {
        "equal": (Lengths(1000, 1), queueing.WAIT_FIXED, {}),
        "log-normal": (
            Lengths(1000, 1, isl_variation=0.7, most=20_000),
            queueing.WAIT,
            {s.service_variation: 0.49},
        ),
    }
    body, rows = [], []
    for name, (lengths, law, more) in kinds.items():
        for rho in RHO:
            expected = float(law({s.utilisation: rho, s.service_time: 0.1, **more}))
            waits = [
                simulate(
                    Service(case, batch=1),
                    Load(lengths, rate=rho / 0.1, count=COUNT, seed=seed),
                    tables=tables,
                )
                .tally.latency["wait"]
                .mean
                for seed in range(SEEDS)
            ]
            off = TWO_SIDED * np.std(waits, ddof=1) / math.sqrt(SEEDS)
            mean = float(np.mean(waits))
            rows += [
                {"x": rho, "y": 1e3 * expected, "group": f"{name}, by law"},
                {
                    "x": rho,
                    "y": 1e3 * mean,
                    "low": 1e3 * (mean - off),
                    "high": 1e3 * (mean + off),
                    "group": f"{name}, simulated",
                },
            ]
            body.append(
                [
                    name,
                    f"{rho:g}",
                    digits(1e3 * expected),
                    digits(1e3 * mean),
                    f"± {digits(1e3 * off)}",
                ]
            )
    head = ["services", "utilisation", "wait by law, ms", "simulated, ms", "99 % interval"]
    return [
        LAW,
        *table(head, body, 1),
        f"Each of {SEEDS} seeds serves {COUNT:,} requests.",
        "",
        "```{raw} html",
        figures.figure(chart(rows).to_dict()),
        "```",
        "",
    ]


def chart(rows: list[dict]):
    """Draw the waits of laws and of simulations over the utilisation."""
    rows = sorted(rows, key=lambda row: row["group"])
    pairs = {(row["group"].partition(",")[0], row["x"]): row["y"] for row in rows if "low" in row}
    off = [
        abs(pairs[row["group"].partition(",")[0], row["x"]] / row["y"] - 1)
        for row in rows
        if "low" not in row
    ]
    drawn = figures.lines(
        rows,
        "utilisation",
        "mean wait (ms)",
        f"Simulated waits are within {percent(max(off))} of those of the law",
        [f"one server, services of 100 ms; band: 99 % interval of {SEEDS} seeds"],
        floor=True,
    )
    named = {"group": figures.Column("services"), "x": figures.Column("utilisation")}
    named |= {"y": figures.Column("wait", "ms"), "low": figures.Column("low", "ms")}
    named["high"] = figures.Column("high", "ms")
    return figures.renamed(drawn, "waits by law and by simulation", named)
