"""What is read first: the summary of all models, its chart, the lists of models and devices."""

from .. import figures
from ..matrix import FORMATS, HARDWARE, MODELS, OF_DOCUMENTS, WORKLOAD
from ..numbers import digits
from ..records import load
from .results import ENGINE, result_cell, short_name
from .text import fact_text, has, plain, quoted, table


def best(id: str, numbers: dict) -> tuple[str, str] | None:
    """Hardware and format with the least device time per token for a model."""
    times = {
        (hw, fmt): numbers[f"{id}/{hw}/{fmt}:device_time"].value
        for hw in HARDWARE
        for fmt in FORMATS
        if f"{id}/{hw}/{fmt}:device_time" in numbers
    }
    return min(times, key=times.get) if times else None


def summary(found: dict, numbers: dict) -> str:
    """What a million tokens cost on the hardware and format that are fastest."""
    shown = ("cost_per_token", "device_time", "energy_per_token", "carbon_per_token")
    shown += ("largest_batch", "@full:device_time", "@full:cost_per_token")
    rows = []
    for id in OF_DOCUMENTS:
        hw, fmt = best(id, numbers)
        cells = [result_cell(numbers, f"{id}/{hw}/{fmt}", symbol) for symbol in shown]
        model = short_name(id)
        where = f"[{hw}](hardware/{hw}), {fmt}"
        rows.append([f"[{plain(model)}](models/{id})", where, *cells])
    head = ["model", "least device time on", "USD", "device-s", "kWh", "kg CO2e"]
    head += ["largest batch", "device-s there", "USD there"]
    return "\n".join([*table(head, rows, 2), ""])


def chart(numbers: dict) -> str:
    """The answer at a glance, for the first page."""
    drawn = figures.figure(summary_chart(numbers).to_dict())
    return "\n".join(["```{raw} html", drawn, "```", ""])


def summary_chart(numbers: dict):
    """Price of the models of the source documents on the H200: bounds, and what is predicted."""
    batch = WORKLOAD["batch"]
    groups = {
        "": f"derived, batch {batch}",
        f"@{ENGINE}": f"predicted for vLLM, batch {batch}, with 90 % interval",
        "@full": "derived, as many as fit into memory",
    }
    rows, served = [], []
    for id in OF_DOCUMENTS:
        for of, says in groups.items():
            key = f"{id}/h200-sxm/fp8{of}:cost_per_token"
            if not has(numbers, key):
                continue
            one = numbers[key]
            ends = {"low": one.low, "high": one.high} if one.known else {}
            rows.append({"name": short_name(id), "group": says, "value": one.value, **ends})
            served += [one.value] if ends else []
    drawn = figures.grouped(
        rows,
        "USD per million tokens",
        f"A million tokens on the H200: {digits(min(served))} to {digits(max(served))} USD on vLLM",
        [
            "fp8 weights, {isl:,} tokens in, {osl:,} out".format(**WORKLOAD),
            "lowest rental price on record",
        ],
    )
    return figures.renamed(drawn, "price h200-sxm fp8")


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
