"""Pages of results: one a model over all hardware, one a device over all models, the summary."""

from collections.abc import Iterable

from .. import figures
from ..matrix import FORMATS, HARDWARE, MODELS, WORKLOAD
from ..records import ids, load
from .text import fact_text, facts_section, plain, quoted, table

COLUMNS = (
    ("n_devices", "devices"),
    ("ttft", "TTFT, ms"),
    ("itl", "ITL, ms"),
    ("throughput_device", "tok/s a device"),
    ("device_time", "device-s/Mtok"),
    ("energy_per_token", "kWh/Mtok"),
    ("carbon_per_token", "kg CO2e/Mtok"),
    ("cost_per_token", "USD/Mtok"),
    ("largest_batch", "largest batch"),
    ("@full:cost_per_token", "USD/Mtok there"),
)
COMPONENTS = (
    ("params_attention", "sequence mixers"),
    ("params_dense", "dense MLPs and shared experts"),
    ("params_experts", "routed experts"),
    ("params_router", "routers"),
    ("params_embedding", "embedding"),
    ("params_head", "LM head"),
    ("params_vectors", "norms, biases, others"),
    ("params_total", "**language model**"),
    ("params_active", "used by one token"),
    ("params_mtp", "MTP modules, kept apart"),
    ("params_vision", "vision tower, kept apart"),
)
DEVICE_TIME = {"value": figures.Column("device_time", "s/Mtoken")}  # a bar, in a saved table
# Where no constants were measured: time at the power limit, marked, for it bounds nothing.
INSTEAD = {"energy_per_token": "energy_at_limit", "carbon_per_token": "carbon_at_limit"}
AT_LIMIT = "ᵀ"


def result_cell(numbers: dict, id: str, symbol: str) -> str:
    """Quote a result, or the marked stand-in where a constant was never measured."""
    text = quoted(numbers, f"{id}{symbol}" if symbol.startswith("@") else f"{id}:{symbol}")
    if text == "–" and symbol in INSTEAD:
        other = quoted(numbers, f"{id}:{INSTEAD[symbol]}")
        return other if other == "–" else f"{other} {AT_LIMIT}"
    return text


def result_rows(combinations: Iterable[tuple[str, str]], found, numbers) -> tuple[list, list]:
    """Return table rows for combinations that run, and sentences for those that do not."""
    rows, refused = [], []
    for label, id in combinations:
        obstacles = found[id].get("obstacles", [])
        if obstacles:
            refused.append(f"- {label}: {plain('; '.join(obstacles))}")
        else:
            cells = " | ".join(result_cell(numbers, id, symbol) for symbol, _ in COLUMNS)
            rows.append(f"| {label} | {cells} |")
    return rows, refused


def result_section(title: str, first: str, combinations, found, numbers) -> list[str]:
    rows, refused = result_rows(combinations, found, numbers)
    text = ["", f"### {title}", ""]
    if rows:
        head = " | ".join([first, *(name for _, name in COLUMNS)])
        text += [
            ":::{div} wide-table",
            f"| {head} |",
            "|---|" + "---:|" * len(COLUMNS),
            *rows,
            ":::",
            "",
        ]
    if refused:
        text += ["Does not run:", "", *refused, ""]
    return text


def time_chart(combinations: list[tuple[str, str, str]], numbers: dict, subject: str) -> list[str]:
    """Draw device time per million tokens, best first, for combinations (label, group, id)."""
    rows = [
        {"name": label, "group": group, "value": numbers[f"{id}:device_time"][0]}
        for label, group, id in combinations
        if numbers.get(f"{id}:device_time", (None,))[0] is not None
    ]
    if not rows:
        return ["", f"{subject} runs on none of these combinations.", ""]
    rows.sort(key=lambda row: row["value"])
    best = rows[0]
    title = f"Least device time: {best['name']}"
    subtitle = [f"{subject}, best twelve", "rooflines at datasheet peak rates"]
    chart = figures.bars(rows[:12], "device-seconds per million tokens", title, subtitle)
    chart = figures.renamed(chart, f"device time {subject}", DEVICE_TIME)
    return ["", "```{raw} html", figures.figure(chart.to_dict()), "```", ""]


def model_page(id: str, found: dict, numbers: dict) -> str:
    record = load("models", id)
    combos = [(f"{hw}, {fmt}", fmt, f"{id}/{hw}/{fmt}") for hw in HARDWARE for fmt in FORMATS]
    text = [
        f"# {plain(record.name)}",
        "",
        f"What does {plain(record.name)} weigh, where does it run, "
        "and what does a million of its tokens cost?",
        "",
        f"{plain(record.about.get('label', ''))} · `{plain(record.about['hf_id'])}` · "
        f"released {plain(record.about['release'])} · licence {plain(record.about['licence'])}",
        "",
        "## Where it runs, and how fast at best",
        "",
        _workload_note(),
        *time_chart(combos, numbers, record.name),
    ]
    for fmt in FORMATS:
        rows = [
            (f"[{plain(load('hardware', hw).name)}](../hardware/{hw})", f"{id}/{hw}/{fmt}")
            for hw in HARDWARE
        ]
        text += result_section(
            f"{plain(load('formats', fmt).name)} weights", "hardware", rows, found, numbers
        )
    text += ["## What it weighs", "", "| part | weights |", "|---|---:|"]
    text += [
        f"| {label} | {quoted(numbers, f'counts/{id}:{symbol}', 'num')} |"
        for symbol, label in COMPONENTS
        if (numbers.get(f"counts/{id}:{symbol}", (0,))[0] or 0) > 0
    ]
    text += ["", *facts_section(record), *_reproduce(found, id=f"{id}/{HARDWARE[2]}/{FORMATS[0]}")]
    return "\n".join(text) + "\n"


def device_page(id: str, found: dict, numbers: dict) -> str:
    record = load("hardware", id)
    combos = [
        (f"{short_name(m)}, {fmt}", fmt, f"{m}/{id}/{fmt}") for m in MODELS for fmt in FORMATS
    ]
    text = [
        f"# {plain(record.name)}",
        "",
        f"Which models run on {plain(record.name)}, and how fast at best?",
        "",
        "## Models on it",
        "",
        _workload_note(),
        *time_chart(combos, numbers, record.name),
    ]
    for fmt in FORMATS:
        rows = [
            (f"[{plain(load('models', m).name)}](../models/{m})", f"{m}/{id}/{fmt}") for m in MODELS
        ]
        text += result_section(
            f"{plain(load('formats', fmt).name)} weights", "model", rows, found, numbers
        )
    text += [
        *facts_section(record),
        *price_section(id),
        *_reproduce(found, id=f"{MODELS[1]}/{id}/{FORMATS[0]}"),
    ]
    return "\n".join(text) + "\n"


def price_section(id: str) -> list[str]:
    if id not in ids("prices"):
        return ["## Prices", "", "No price is on record, so no cost is computed.", ""]
    text = [
        "## Prices",
        "",
        "| provider | price | kind | date | source |",
        "|---|---:|---|---|---|",
    ]
    for offer in load("prices", id).offers:
        price = offer.price or f"{offer.low} to {offer.high}"
        text.append(
            "| "
            + " | ".join(map(plain, (offer.provider, price, offer.kind, offer.date, offer.source)))
            + " |"
        )
    return [*text, "", "Costs use the lowest on-demand offer.", ""]


def _workload_note() -> str:
    return (
        "Batch {batch}, {isl:,} prompt and {osl:,} answer tokens, ".format(**WORKLOAD)
        + "on the fewest devices of one scale-up domain that hold it. "
        "Times are {ref}`rooflines <law-itl>` at datasheet peak rates, "
        "with experts drawn uniformly: on one device no kernel is faster; "
        "on several, plain {ref}`ring collectives <law-comm-decode>` that wait are added. "
        "The constants of {ref}`energy <law-energy-step>` were measured on the H200 alone, "
        "in bf16 and fp8; where they imply more than the power limit, "
        "the limit binds before the roofline. "
        f"{AT_LIMIT} marks the same time multiplied by the power limit, "
        "an estimate that bounds nothing. "
        "Emissions take the world's mean grid, costs the lowest on-demand offer on record."
    )


def _reproduce(found: dict, id: str) -> list[str]:
    parameters = found[id]["parameters"]
    arguments = " ".join(f"-p {name} {value}" for name, value in parameters.items())
    return [
        "## Compute it yourself",
        "",
        "```sh",
        f"papermill notebooks/scenario.ipynb out.ipynb {arguments}",
        "inferecon trace {model} {hardware} {weights} itl".format(**parameters),
        "```",
        "",
    ]


def short_name(id: str) -> str:
    """Name of a model without what all distilled models share, for charts and narrow tables."""
    return load("models", id).name.replace("DeepSeek-R1-Distill-", "R1-")


def best(id: str, numbers: dict) -> tuple[str, str] | None:
    """Hardware and format with the least device time per token for a model."""
    times = {
        (hw, fmt): numbers[f"{id}/{hw}/{fmt}:device_time"][0]
        for hw in HARDWARE
        for fmt in FORMATS
        if f"{id}/{hw}/{fmt}:device_time" in numbers
    }
    return min(times, key=times.get) if times else None


def summary(found: dict, numbers: dict) -> str:
    """The answer first: what a million tokens cost on the hardware and format that are fastest."""
    shown = ("cost_per_token", "device_time", "energy_per_token", "carbon_per_token")
    shown += ("largest_batch", "@full:device_time", "@full:cost_per_token")
    rows = []
    for id in MODELS:
        hw, fmt = best(id, numbers)
        cells = [result_cell(numbers, f"{id}/{hw}/{fmt}", symbol) for symbol in shown]
        model = short_name(id)
        where = f"[{hw}](hardware/{hw}), {fmt}"
        rows.append([f"[{plain(model)}](models/{id})", where, *cells])
    head = ["model", "least device time on", "USD", "device-s", "kWh", "kg CO2e"]
    head += ["largest batch", "device-s there", "USD there"]
    chart = summary_chart(numbers).to_dict()
    return "\n".join([*table(head, rows, 2), "```{raw} html", figures.figure(chart), "```", ""])


def summary_chart(numbers: dict):
    """Device time of every model on the H200, in the two formats it was built for."""
    rows = []
    for id in MODELS:
        for fmt in ("fp8", "bf16"):
            value = numbers.get(f"{id}/h200-sxm/{fmt}:device_time", (None,))[0]
            if value is not None:
                rows.append({"name": short_name(id), "group": f"{fmt} weights", "value": value})
    chart = figures.grouped(
        rows,
        "device-seconds per million tokens",
        "A million tokens on the H200",
        [
            "batch {batch}, {isl:,} tokens in, {osl:,} out".format(**WORKLOAD),
            "rooflines at datasheet peak rates",
        ],
    )
    return figures.renamed(chart, "device time h200-sxm", DEVICE_TIME)


def models_index(numbers: dict) -> str:
    rows = [
        f"| [{plain(load('models', id).name)}]({id}) "
        f"| {quoted(numbers, f'counts/{id}:params_total', 'num')} "
        f"| {quoted(numbers, f'counts/{id}:params_active', 'num')} |"
        for id in MODELS
    ]
    head = ["| model | weights | used by one token |", "|---|---:|---:|"]
    return "\n".join(
        [
            "# Models",
            "",
            "One page a model: every hardware and number format of the default sweep.",
            "",
            *head,
            *rows,
            "",
        ]
    )


def hardware_index(numbers: dict) -> str:
    shown = (
        ("peak_flops@bf16", "bf16"),
        ("hbm_bandwidth", "memory bandwidth"),
        ("memory_capacity", "memory"),
        ("board_power", "power limit"),
    )
    head = [
        "| device | " + " | ".join(label for _, label in shown) + " |",
        "|---|" + "---:|" * len(shown),
    ]
    rows = []
    for id in HARDWARE:
        record = load("hardware", id)
        cells = " | ".join(fact_text(record, key) for key, _ in shown)
        rows.append(f"| [{plain(record.name)}]({id}) | {cells} |")
    return "\n".join(
        [
            "# Hardware",
            "",
            "One page a device: every model and number format of the default sweep.",
            "",
            *head,
            *rows,
            "",
        ]
    )
