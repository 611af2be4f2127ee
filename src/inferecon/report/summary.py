"""What is read first: the summary of all models, its chart, the lists of models and devices."""

from .. import figures
from ..errors import BuildFailed
from ..figures.meaning import short_model
from ..matrix import FORMATS, HARDWARE, MODELS, OF_DOCUMENTS, WORKLOAD
from ..numbers import digits
from ..records import load
from .bounds import ENGINE, MARKS, bounded_row
from .recorded import fact_in
from .results import result_cell
from .text import has, plain, quoted, table


def best(id: str, numbers: dict) -> tuple[str, str]:
    """Hardware and format on which an engine is predicted to need the least device time.

    A bound is no promise of any software, so it decides only where nothing is predicted.
    """
    for owner in ("{}/{}/{}@" + ENGINE, "{}/{}/{}"):
        rates = {
            (hw, fmt): numbers[name].value
            for hw in HARDWARE
            for fmt in FORMATS
            if has(numbers, name := f"{owner.format(id, hw, fmt)}:throughput_device")
        }
        if rates:
            return max(rates, key=rates.get)
    raise BuildFailed(f"{id} runs on no hardware of the sweep")


def summary(found: dict, numbers: dict) -> str:
    """What a million tokens cost where a device is predicted to make most of them."""
    shown = ("throughput_device", "cost_per_token", "energy_per_token", "carbon_per_token")
    shown += ("largest_batch", "@full:throughput_device", "@full:cost_per_token")
    rows = []
    for id in OF_DOCUMENTS:
        hw, fmt = best(id, numbers)
        cells = [result_cell(numbers, f"{id}/{hw}/{fmt}", symbol) for symbol in shown]
        model = short_model(id)
        where = f"[{hw}](hardware/{hw}), {fmt}"
        rows.append([f"[{plain(model)}](models/{id})", where, *cells])
    head = ["model", "most tokens a device on", "tok/s a device", "USD", "kWh", "kg CO2e"]
    head += ["largest batch", "tok/s there", "USD there"]
    return "\n".join([*table(head, rows, 2), ""])


def chart(numbers: dict) -> str:
    """The answer at a glance, for the first page."""
    drawn = figures.figure(summary_chart(numbers).to_dict())
    return "\n".join(["```{raw} html", drawn, "```", ""])


def summary_chart(numbers: dict):
    """Price of the models of the source documents on the H200: bounds, and what is predicted."""
    rows, served = [], []
    for id in OF_DOCUMENTS:
        row = bounded_row(numbers, f"{id}/h200-sxm/fp8", "cost_per_token")
        if not row:
            continue
        full = f"{id}/h200-sxm/fp8@full:cost_per_token"
        row |= {"full": numbers[full].value} if has(numbers, full) else {}
        rows.append({"name": short_model(id), **row})
        served += [row["predicted"]] if "predicted" in row else []
    drawn = figures.bounds(
        rows,
        "USD per million tokens (logarithmic)",
        f"A million tokens on the H200: {digits(min(served))} to {digits(max(served))} USD on vLLM",
        [
            "fp8 weights, batch {batch}, {isl:,} tokens in, {osl:,} out".format(**WORKLOAD),
            "lowest rental price on record",
            MARKS,
            "double stroke: the bound with as many as fit into memory",
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
        ("peak_flops@bf16", "bf16", "TFLOP/s"),
        ("hbm_bandwidth", "memory bandwidth", "TB/s"),
        ("memory_capacity", "memory", "GB"),
        ("board_power", "power limit", "W"),
    )
    head = [
        "| device | " + " | ".join(f"{label}, {unit}" for _, label, unit in shown) + " |",
        "|---|" + "---:|" * len(shown),
    ]
    rows = []
    for id in HARDWARE:
        record = load("hardware", id)
        cells = " | ".join(fact_in(record, key, unit) for key, _, unit in shown)
        rows.append(f"| [{plain(record.name)}]({id}) | {cells} |")
    return "\n".join(
        [
            "# Hardware",
            "",
            "One page a device: every model and number format of the default sweep.",
            "Its page has each value as the vendor states it; a GB is 10⁹ bytes.",
            "",
            *head,
            *rows,
            "",
        ]
    )
