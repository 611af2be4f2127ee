"""Page of the planner: a plan worked out, who lost and why."""

from .. import figures
from ..figures.meaning import short_device
from ..numbers import digits
from ..planner.ask import Ask
from ..planner.choose import Plan, plan
from ..planner.report import report
from ..planner.trial import LONGEST, SETTLED
from ..planner.words import changed, where
from ..records import load
from ..regions import MONTH
from ..service.promise import promise
from .marks import percent
from .text import boxed, table

DEVICES = ("a100-80gb-sxm", "h100-sxm", "h200-sxm", "mi300x", "b200-sxm")
FORMATS = ("bf16", "fp8")
BATCHES = (16, 64, 128, 256)
EXAMPLE = dict(model="llama-3.1-70b", rps=20.0, isl=1024, osl=256, slo="ttft=500ms,itl=50ms")
SPLIT = "split: prefill and decode on devices of their own"
HEAD = """\
# Which service keeps a promise for the least?

So many requests a second, so long, and a promise: the first token within a time \
({{term}}`TTFT`), each further one within another ({{term}}`ITL`).
Which device, in which number format, on how many of them, in batches of what size, keeps it, and \
what does it cost?

## What is asked, and what is free

A **load** is a rate of requests with so many tokens in and out.
A **promise**, an {{term}}`SLO`, is a set of limits, and the share of the requests that keep all \
of them: an average request is nobody's.
Free are the device, the format of the weights, how many devices share a {{term}}`replica`, \
the most sequences that it serves at once, its {{term}}`batch`, how many replicas there are, and \
whether {{term}}`prefill` and {{term}}`decode` are on devices of their own.

**Ask for the share that keeps the promise; a mean that keeps it says nothing of the \
requests beyond it.**

## From the load to the number of replicas

{{ref}}`Little's law <law-little>` ties the load of a replica to its batch: who arrives stays for \
an answer, one step a token.
Steps are those of {{doc}}`../calibration`, with the prefills of others in them, so a batch has \
one load and one gap between tokens.
A prompt waits for those before it, like a customer of {{ref}}`one server <law-wait-md1>`.
The largest batch that keeps both limits has the largest load; the replicas are the load over that.

No fewer replicas can do than those that keep the promise if no request ever waits for another.
So a candidate has a least price, and one whose least is above the best found so far is out \
without a simulation; energy has a least as well, that of each token in the batch that makes it \
for the fewest joules.
The others are simulated, request by request ({{doc}}`serving`), until no least is below the best.

Near the most that a service can serve a queue takes long to show.
In a time in which $n$ requests arrive, their number strays by $\\sqrt{{n}}$ or so, and \
$n (1 - \\rho)$ more could be served, with $\\rho$ the load over that most.
The two meet at $n = 1 / (1 - \\rho)^2$, and a run has {settled} times that many requests; where \
that is more than {longest}, the load is refused and another replica is tried.

**Read the load before the latencies: near 100 % a short run shows a queue that has yet to form.**

**A closed form says what cannot win; only a simulation says what keeps the promise.**
"""
EXAMPLE_HEAD = """\
## One plan worked out

{model}, {rps} requests a second of {isl} tokens in and {osl} out, {share} of them within \
{slo}, on five devices in two formats: {count} candidates.
"""
LOST_HEAD = """\
## Why the others lost

Every candidate is in the table above or in this one.
"""
CHANGES = """\
## Would another win?

Each is moved in turn: a price by a fifth, the load by a half, step times to the ends of their \
90 % interval.
"""
CHANGES_RULE = """\
**A winner that another overtakes within its own interval is a measurement to be made, not a \
result.**
"""
TIERS = """\
## Tiers

The second source document deals requests out to three tiers: online below 200 ms, batch work \
near the line, and the edge ({doc}`../claims/document-2`).
Of an answer of hundreds of tokens only the first can come in 200 ms, so that is what the \
preset `--tier online` promises; `--tier near-line` promises nothing, and `--tier edge` asks for \
ten tokens a second, the reader's speed that the claim is checked against.
A preset says what the document says; {doc}`../chapters/tiers` plans each, and the models that \
the third document chooses, and judges the advice.
"""
WAITING = """\
## Work that can wait

What is due in some hours may run in the one whose electricity emits least.
If an hour of intensity $g_t$ takes $x_t$, the emissions are $\\sum_t g_t x_t$; all work is done \
in its time, and no hour holds more than the devices can do.
Hours filled one after the other, the cleanest first and each as full as is still possible, are \
the optimum: what hours can do together is a polymatroid, and over one the greedy is exact.

`inferecon shift LOAD.csv CURVE.csv --deadline 6h` does that, and says how many kilograms it \
saves against work done as it comes.
The curve is a file of yours: no hourly intensity is on record here, and none is made up from a \
yearly mean.

**Shifting saves what the curve varies within the deadline, and nothing where it is flat.**

## What would change this

- **Commitments.** Prices are the lowest on demand; a reservation or an owned card has another.
- **Lengths that vary.** All requests of a plan are alike; `inferecon simulate` takes spreads and \
traces.
- **What was never measured** is no candidate: a format without a measured row, a device whose \
record lacks a fact.

## Problems

**1.** A promise is kept by 95 of 100 requests on two replicas of a card, and by all of them on \
three.
Which plan does the planner choose, and what would change that?

```{admonition} Answer
:class: dropdown
The one with two, if the share asked for is 95 of 100 or less: a promise that is kept better than \
was asked costs more and earns nothing.
A share of 99 of 100 makes it three.
```

**2.** One device takes 1.2 times the dollars of the winner, and the interval of its steps begins \
at 0.6 of their predicted time.
Is the winner safe?

```{admonition} Answer
:class: dropdown
No.
At the fast end it needs at most as many replicas as 0.6 of its time asks for, so it costs about \
$1.2 \\cdot 0.6 = 0.72$ of the winner.
Measure one decode step on it before anything is bought.
```

**3.** Half of a day's work may wait six hours, and the grid is twice as clean for four of them.
What is saved at most?

```{admonition} Answer
:class: dropdown
If the devices can do it all in those four hours, half of the work at half of the emissions: a \
quarter.
Every hour of it that finds no room there saves nothing.
```
"""


def asked(model: str, rps: float, isl: int, osl: int, slo: str, **more) -> Ask:
    return Ask(model, rps, isl, osl, tuple(promise(slo)), **({"batches": BATCHES} | more))


def planning_page() -> str:
    """Return the page; what it plans is planned anew, from a fixed seed."""
    found = plan(asked(**EXAMPLE, hardware=DEVICES, formats=FORMATS))
    told = report(found)
    head = HEAD.format(settled=SETTLED, longest=f"{LONGEST:,}")
    text = [head, *example(found, told), *losers(told), CHANGES]
    text += boxed(*(f"- {changed(one).strip()}" for one in told["sensitivity"]))
    text += [CHANGES_RULE, TIERS, WAITING]
    return "\n".join(text)


def example(found: Plan, told: dict) -> list[str]:
    """Return the table of what was simulated, and the winner's price worked out."""
    ask = found.ask
    body = [
        [
            where(row).replace("×", "times"),
            str(row["devices"]),
            digits(row["usd_per_hour"]),
            digits(row["usd_per_million_output"]),
            digits(row["kwh_per_million_output"]),
            digits(row["kg_per_million_output"]),
            digits(row["latency_s"]["ttft"]["p95"] * 1e3),
            digits(row["latency_s"]["itl"]["p95"] * 1e3),
            percent(row["load"]),
            percent(row["good_share"]),
        ]
        for row in told["ranked"]
    ]
    head = ["service", "devices", "USD/h", "USD/Mtok", "kWh/Mtok", "kg/Mtok"]
    head += ["TTFT p95, ms", "ITL p95, ms", "load", "kept"]
    first = told["ranked"][0]
    drawn = figures.figure(chart(ask, told["ranked"]).to_dict())
    return [
        EXAMPLE_HEAD.format(
            model=load("models", ask.model).name,
            rps=digits(ask.rps),
            isl=f"{ask.isl:,}",
            osl=f"{ask.osl:,}",
            share=percent(ask.share),
            slo=" and ".join(x.written_out for x in ask.limits),
            count=f"{told['enumerated']:,}",
        ),
        *table(head, body),
        "```{raw} html",
        drawn,
        "```",
        "",
        *boxed(*_price(ask, first)),
        "Energy and emissions are those of the devices, with the facility's share; their hosts are "
        "left out here, and `inferecon cost` counts them ({doc}`../service`).",
        *boxed(*_frontier(told["frontier"])),
    ]


def _price(ask: Ask, first: dict) -> list[str]:
    """Work out what the first service costs."""
    paid, tokens = first["price"], ask.rps * ask.osl * 3600 / 1e6
    return [
        f"The first has {first['devices']} devices at {digits(paid['usd_per_device_hour'])} USD/h "
        f"({paid['of']}), {digits(first['usd_per_hour'])} USD/h together.",
        f"The load is {digits(ask.rps)} × {ask.osl} × 3,600 = {digits(tokens)} million output "
        f"tokens an hour, so a million costs {digits(first['usd_per_hour'])} / {digits(tokens)} = "
        f"{digits(first['usd_per_million_output'])} USD; a month of {digits(MONTH)} hours, "
        f"{digits(first['usd_per_month'])} USD, {digits(first['kwh_per_month'])} kWh and "
        f"{digits(first['kg_per_month'])} kg CO2e on the grid of the world.",
    ]


def _frontier(found: list[dict]) -> list[str]:
    """Say how many plans no other beats, and how they are known."""
    return [
        "Of those that keep the promise by prediction and that no simulation refuted, "
        f"{len(found)} are on the frontier: no other takes less or as much in USD, kWh, "
        "kg, first token and gap at once.",
        f"{sum(one['confirmed'] for one in found)} of them were simulated and stand there "
        "as they were; the others are predictions.",
    ]


def chart(ask: Ask, ranked: list[dict]):
    """Draw what a million tokens cost in each service that keeps the promise, cheapest first."""
    rows = [
        {"name": _service(row), "group": "", "value": row["usd_per_million_output"]}
        for row in ranked
    ]
    first, last = rows[0], rows[-1]
    title = f"{first['name']}, keep the promise for {digits(first['value'])} USD/Mtok"
    if last is not first:
        title += f", and {last['name']}, for {digits(last['value'])}"
    chart = figures.bars(
        rows,
        "USD per million output tokens",
        title,
        [
            f"{load('models', ask.model).name}, {digits(ask.rps)} requests/s; each as simulated",
            SPLIT,
        ],
    )
    named = {"name": figures.Column("service")}
    named["value"] = figures.Column("usd_per_million_output", "USD/Mtoken", "cost")
    return figures.renamed(chart, "what keeping the promise costs", named)


def _service(row: dict) -> str:
    """Name a service by its devices, for a chart."""
    apart = ", split" if row["prefill_workers"] else ""
    return f"{row['devices']} × {short_device(row['hardware'])}, {row['weights']}{apart}"


def losers(told: dict) -> list[str]:
    """Return reasons with their counts and the nearest candidate."""
    body = [
        [
            one["reason"],
            f"{one['count']:,}",
            one["nearest"],
            one["said"] + ("" if one["by"] is None else f", by {percent(one['by'])}"),
        ]
        for one in told["lost"]
    ]
    return [LOST_HEAD, *table(["it", "candidates", "the nearest, or one of them", ""], body, 1, 2)]
