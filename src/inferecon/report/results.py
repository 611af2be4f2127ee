"""Pages of results: one a model over all hardware, one a device over all models."""

from collections.abc import Iterable
from html import escape

from .. import numberbox
from ..figures.meaning import short_device, short_model
from ..matrix import FORMATS, HARDWARE, MODELS, WORKLOAD
from ..numbers import KNOWN
from ..predictions import ENGINES
from ..records import ids, load
from ..rowbox import figures
from .bounds import ENGINE, best_device, price_chart, what_fits
from .recorded import facts_section, offers_table
from .text import has, plain, quoted

COLUMNS = (
    ("n_devices", "devices"),
    ("ttft", "TTFT, ms"),
    ("itl", "ITL, ms"),
    ("throughput_device", "tok/s a device"),
    ("cost_per_token", "USD/Mtok"),
    ("energy_per_token", "kWh/Mtok"),
    ("carbon_per_token", "kg CO2e/Mtok"),
    ("largest_batch", "largest batch"),
    ("@full:cost_per_token", "USD/Mtok there"),
)
# Tables of nine columns need the room that a list of headings would take.
WIDE = ("---", "html_theme.sidebar_secondary.remove: true", "---", "")
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
# Where no constants were measured: time at the power limit, marked, for it bounds nothing.
INSTEAD = {"energy_per_token": "energy_at_limit", "carbon_per_token": "carbon_at_limit"}
AT_LIMIT = "ᵀ"


def result_cell(numbers: dict, id: str, symbol: str) -> str:
    """Quote a result in HTML, and under it what an engine is predicted to do."""
    predicted = f"{id}@{ENGINE}:{symbol}"
    below = f" {figure_of(numbers, predicted)}" if has(numbers, predicted) else ""
    return bound_cell(numbers, id, symbol) + below


def bound_cell(numbers: dict, id: str, symbol: str) -> str:
    """Quote a bound, or the marked stand-in where a constant was never measured."""
    text = figure_of(numbers, f"{id}{symbol}" if symbol.startswith("@") else f"{id}:{symbol}")
    if text == "–" and symbol in INSTEAD:
        other = figure_of(numbers, f"{id}:{INSTEAD[symbol]}")
        return other if other == "–" else f"{other} {AT_LIMIT}"
    return text


def figure_of(numbers: dict, id: str) -> str:
    """Quote a published number in HTML, digits alone; a missing one is a dash."""
    return numberbox.quoted(id, numbers[id], with_unit=False) if has(numbers, id) else "–"


def unpredicted(combinations: Iterable[tuple[str, str]], found: dict) -> list[str]:
    """Return one sentence for each reason why combinations that run have no prediction."""
    why: dict[str, list[str]] = {}
    for label, id in combinations:
        if reason := found[id].get("predicted", {}).get("reason"):
            why.setdefault(reason, []).append(label)
    every = sum(not found[id].get("obstacles") for _, id in combinations)
    return [
        f"Not predicted{'' if len(labels) == every else ' on ' + ', '.join(labels)}: "
        f"{plain(reason)}."
        for reason, labels in why.items()
    ]


def result_section(title: str, first: str, combinations, found, numbers) -> list[str]:
    """Return a table of the combinations that run, and a sentence for each that does not.

    ``combinations`` are (name, address of its page, id).  The table is HTML as it is, because
    Markdown would make several nodes of each of its thousand cells.
    """
    rows, refused = [], []
    for label, address, id in combinations:
        obstacles = found[id].get("obstacles", [])
        if obstacles:
            said = figures("; ".join(obstacles), "refused", id.replace("/", " "))
            refused.append(f"- [{plain(label)}]({address}): {said}")
        else:
            rows.append((label, address, id))
    text = ["", f"### {title}", ""]
    if rows:
        text += ["```{raw} html", result_table(first, rows, numbers), "```", ""]
        text += [*unpredicted([(f"[{plain(n)}]({at})", id) for n, at, id in rows], found), ""]
    if refused:
        text += ["Does not run:", "", *refused, ""]
    return text


def result_table(first: str, rows: list[tuple[str, str, str]], numbers: dict) -> str:
    """Return the HTML of a table with a line a combination."""
    head = "".join(f'<th class="head text-right">{name}</th>' for _, name in COLUMNS)
    body = [
        f'<tr><td><a class="reference internal" href="{address}.html">{escape(label)}</a></td>'
        + "".join(f"<td>{result_cell(numbers, id, symbol)}</td>" for symbol, _ in COLUMNS)
        + "</tr>"
        for label, address, id in rows
    ]
    return "\n".join(
        [
            '<div class="wide-table results"><div class="pst-scrollable-table-container">'
            f'<table class="table"><thead><tr><th class="head">{first}</th>{head}</tr></thead>',
            "<tbody>",
            *body,
            "</tbody></table></div></div>",
        ]
    )


def model_page(id: str, found: dict, numbers: dict) -> str:
    record = load("models", id)
    combos = {short_device(hw): [(fmt, f"{id}/{hw}/{fmt}") for fmt in FORMATS] for hw in HARDWARE}
    text = [
        *WIDE,
        f"# {plain(record.name)}",
        "",
        f"What does {plain(record.name)} weigh, where does it run, "
        "and what does a million of its tokens cost?",
        "",
        f"{plain(record.about.get('label', ''))} · `{plain(record.about['hf_id'])}` · "
        f"released {plain(record.about['release'])} · licence {plain(record.about['licence'])}",
        "",
        "## Where it runs, and how fast",
        "",
        _workload_note(),
        *price_chart(record.name, combos, numbers, best_device),
    ]
    for fmt in FORMATS:
        rows = [
            (load("hardware", hw).name, f"../hardware/{hw}", f"{id}/{hw}/{fmt}") for hw in HARDWARE
        ]
        text += result_section(
            f"{plain(load('formats', fmt).name)} weights", "hardware", rows, found, numbers
        )
    text += ["## What it weighs", "", "| part | weights |", "|---|---:|"]
    text += [
        f"| {label} | {quoted(numbers, f'counts/{id}:{symbol}', 'num')} |"
        for symbol, label in COMPONENTS
        if has(numbers, f"counts/{id}:{symbol}") and numbers[f"counts/{id}:{symbol}"].value > 0
    ]
    text += ["", *facts_section(record), *_reproduce(found, id=f"{id}/{HARDWARE[2]}/{FORMATS[0]}")]
    return "\n".join(text) + "\n"


def device_page(id: str, found: dict, numbers: dict) -> str:
    record = load("hardware", id)
    combos = {short_model(m): [(fmt, f"{m}/{id}/{fmt}") for fmt in FORMATS] for m in MODELS}
    text = [
        *WIDE,
        f"# {plain(record.name)}",
        "",
        f"Which models run on {plain(record.name)}, and how fast?",
        "",
        "## Models on it",
        "",
        _workload_note(),
        *price_chart(record.name, combos, numbers, what_fits(short_device(id), combos, numbers)),
    ]
    for fmt in FORMATS:
        rows = [(load("models", m).name, f"../models/{m}", f"{m}/{id}/{fmt}") for m in MODELS]
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
    table = offers_table([load("prices", id)], named=False)
    return ["## Prices", "", *table, "Costs use the lowest on-demand offer.", ""]


def _workload_note() -> str:
    marks = ", ".join(f"{mark} {word}" for word, (mark, _) in KNOWN.items())
    return (
        "Batch {batch}, {isl:,} prompt and {osl:,} answer tokens, ".format(**WORKLOAD)
        + "on the fewest devices of one {term}`scale-up domain` that hold it.\n\n"
        "Of two figures in a cell the first is *derived*: "
        "{ref}`rooflines <law-itl>` at datasheet {term}`peak rates <dense peak>`, "
        "with experts drawn uniformly. On one device no kernel is faster; "
        "on several, plain {ref}`ring collectives <law-comm-decode>` that wait are added.\n\n"
        f"The second is *predicted* for {ENGINES[ENGINE]}, kept full by requests that come and go, "
        f"with its 90 % interval: {marks} ({{doc}}`how that is known <../calibration>`, "
        "{doc}`how far off it is <../reference/validation>`). "
        "A derived {term}`TTFT` is of a batch that starts together, a predicted one of a request; "
        "{term}`ITL` is the time between two tokens.\n\n"
        "The constants of derived {ref}`energy <law-energy-step>` were measured on the H200 alone, "
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
