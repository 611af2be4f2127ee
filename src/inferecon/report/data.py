"""Pages of data: every record with its source, and what nobody verified or disputes."""

from ..matrix import HARDWARE, MODELS
from ..records import Record, ids, load, sources
from .recorded import UNVERIFIED, disputed, fact_in, fact_text, facts_section, offers_table
from .text import cited, plain, table


def data_models() -> str:
    shown = (
        ("n_layers", "layers"),
        ("hidden_size", "width"),
        ("n_heads", "heads"),
        ("n_experts", "experts"),
        ("top_k", "used"),
        ("vocab_size", "vocabulary"),
        ("max_context", "context"),
        ("published_total", "published weights"),
    )
    head = ["model", "attention", *(label for _, label in shown), "licence"]
    rows = []
    for id in ids("models"):
        record = load("models", id)
        facts = (fact_text(record, key) for key, _ in shown)
        about = record.about
        kind, licence = plain(about["attention_kind"]), plain(about["licence"])
        rows.append([page_link("models", id), kind, *facts, licence])
    text = [
        "# Model records",
        "",
        "Every model on record; its page has every fact with source and place.",
        "The computed counts are in {doc}`../chapters/counts`.",
        "",
    ]
    return "\n".join([*text, *table(head, rows, 2)])


def data_hardware() -> str:
    rates = [
        (f"peak_flops@{c}", f"{c}, TFLOP/s", "TFLOP/s")
        for c in ("bf16", "fp16", "fp8", "int8", "fp4")
    ]
    others = [
        ("hbm_bandwidth", "memory, TB/s", "TB/s"),
        ("memory_capacity", "memory, GB", "GB"),
        ("link_bandwidth", "link, GB/s", "GB/s"),
        ("scale_up_size", "domain, devices", ""),
        ("board_power", "limit, W", "W"),
    ]
    head = ["device", "status", *(label for _, label, _ in rates + others)]
    rows, disputes = [], []
    for id in ids("hardware"):
        record = load("hardware", id)
        facts = (fact_in(record, key, unit) for key, _, unit in rates + others)
        rows.append([page_link("hardware", id), plain(record.about["status"]), *facts])
        disputes += [f"- {plain(record.name)}, {disputed(record, one)}" for one in record.disputes]
    text = [
        "# Hardware records",
        "",
        "Dense peak rates in TFLOP/s of every device on record; "
        "its page has every fact with source and place.",
        "A dash is a rate the device lacks or nobody published; it is never replaced.",
        f"{UNVERIFIED} marks a value that nobody verified.",
        "",
    ]
    kept = ["## Disagreements", "", "The value kept is in the table; these are the others.", ""]
    return "\n".join([*text, *table(head, rows, 2), *kept, *disputes, ""])


def record_page(kind: str, id: str) -> str:
    """Page of a model or device outside the default sweep: its facts, and how to run it."""
    record = load(kind, id)
    option = {"models": "models", "hardware": "hardware"}[kind]
    text = [
        f"# {plain(record.name)}",
        "",
        "On record, and not in the default sweep: run it with the command below.",
        "",
        *facts_section(record),
        "## Compute it yourself",
        "",
        "```sh",
        f"inferecon sweep --{option} {id} --formats bf16,fp8 --out my-sweep",
        "```",
        "",
    ]
    return "\n".join(text)


def page_link(kind: str, id: str) -> str:
    """Link to the page of a record from a page in ``data/``."""
    folder = f"../{kind}" if id in (*MODELS, *HARDWARE) else kind
    return f"[{plain(load(kind, id).name)}]({folder}/{id})"


def data_formats() -> str:
    shown = (
        ("element_width", "element"),
        ("block_size", "block"),
        ("block_overhead", "scales of a block"),
        ("super_overhead", "second level"),
        ("super_size", "blocks in it"),
    )
    rows = []
    for id in ids("formats"):
        record = load("formats", id)
        by_vendor = record.about.get("peak", {}).items()
        rate = "; ".join(f"{plain(case)}: {plain(vendor)}" for vendor, case in by_vendor)
        facts = (fact_text(record, key) for key, _ in shown)
        name, role = plain(record.name), plain(record.about["role"])
        rate = rate or "that of the activations"
        rows.append([plain(id), name, role, rate, *facts, cited(sorted_sources(record))])
    head = ["format", "name", "role", "peak rate", *(label for _, label in shown), "source"]
    text = [
        "# Number formats",
        "",
        "How wide a format is follows from its block.",
        "Which rate it computes at depends on the vendor's matrix units;",
        "a weight-only format computes at the rate of the activations.",
        "",
    ]
    return "\n".join([*text, *table(head, rows, 4)])


def sorted_sources(record: Record) -> list[str]:
    """Sources of all facts of a record, in the order they first appear."""
    return list(dict.fromkeys(key for fact in record.facts.values() for key in fact.source))


def data_assumptions() -> str:
    text = [
        "# Assumptions, grids and prices",
        "",
        "What is no datasheet fact: each value with the range it may have and the reason.",
        "",
    ]
    rows = []
    for id in ids("assumptions"):
        for key, fact in load("assumptions", id).facts.items():
            value, why = fact_text(load("assumptions", id), key), plain(fact.why)
            ends = plain(fact.low), plain(fact.high)
            rows.append([plain(id), plain(key), value, *ends, why, cited(fact.source)])
    text += table(["record", "symbol", "value", "low", "high", "why", "source"], rows, 7)
    says = "The carbon intensity of electricity, of a country, a grid or the world: g CO2e a kWh."
    text += ["## Grids", "", says, ""]
    grids = [load("grids", id) for id in ids("grids")]
    rows = [
        [
            plain(g.id),
            plain(g.name),
            fact_text(g, "grid_intensity"),
            plain(g.facts["grid_intensity"].date or ""),
            cited(g.facts["grid_intensity"].source),
        ]
        for g in grids
    ]
    text += table(["id", "zone", "emissions", "year", "source"], rows, 2)
    prices = [load("prices", id) for id in ids("prices")]
    text += ["## Prices", "", *offers_table(prices, named=True)]
    others = [*prices, *(load("constants", id) for id in ids("constants"))]
    rows = [
        [plain(one.id), plain(key), fact_text(one, key), plain(fact.where), cited(fact.source)]
        for one in others
        for key, fact in one.facts.items()
    ]
    text += ["## Power with a share of the server, and what is counted", ""]
    return "\n".join([*text, *table(["record", "symbol", "value", "place", "source"], rows, 2, 3)])


def data_sources() -> str:
    text = ["# Sources", "", "Everything that was read, by the key that the records cite.", ""]
    for key, source in sources().items():
        extra = [plain(x) for x in (source.where, source.url, source.licence) if x]
        text += [
            f"(source-{key.lower()})=",
            f"`{key}`: {plain(source.what)}" + "".join(f"; {x}" for x in extra),
            "",
        ]
    return "\n".join(text)
