"""Write the generated pages: one a model, one a device, and the tables of the data.

A page holds no number of its own: computed ones are quoted by id, recorded ones
stand with their source.  Records are data, so their text is escaped.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from ..files import BOOK, FOLDERS, replace_text
from ..matrix import HARDWARE, MODELS
from ..records import ids
from .claims import claims_pages
from .data import (
    data_assumptions,
    data_formats,
    data_hardware,
    data_models,
    data_sources,
    record_page,
)
from .elasticities import elasticities, limits_page
from .noticed import remembered
from .planning import planning_page
from .results import device_page, model_page
from .serving import serving_page
from .speed import RESULTS, speed_page
from .summary import chart, hardware_index, models_index, summary
from .validation import validation_page


def write_pages(found: dict[str, dict], numbers: dict) -> int:
    """Write all generated pages; return how many changed."""
    # Three pages rest on no notebook and take longer than all others together.
    apart = {"mp_context": get_context("spawn"), "max_tasks_per_child": 1}
    with ProcessPoolExecutor(2, **apart) as beside:
        slow = {
            name: beside.submit(remembered, name, make)
            for name, make in (
                ("reference/serving", serving_page),
                ("reference/validation", validation_page),
                ("reference/planning", planning_page),
            )
        }
        pages = others(found, numbers)
        pages |= {name: page.result() for name, page in slow.items()}
    for path in written():  # of a model that got, or lost, a page of its own
        if path.relative_to(BOOK).with_suffix("").as_posix() not in pages:
            path.unlink()
    return sum(replace_text(BOOK / f"{name}.md", text) for name, text in pages.items())


def others(found: dict[str, dict], numbers: dict) -> dict[str, str]:
    """Return the text of all generated pages but those of measured rows, by name."""
    pages = {
        "models/index": models_index(numbers),
        "hardware/index": hardware_index(numbers),
        "data/models": data_models(),
        "data/hardware": data_hardware(),
        "data/formats": data_formats(),
        "data/assumptions": data_assumptions(),
        "data/sources": data_sources(),
        "data/chart": chart(numbers),
        "data/summary": summary(found, numbers),
        "reference/elasticities": elasticities(),
        "reference/limits": limits_page(),
        "reference/speed": speed_page(),
    }
    pages |= {f"models/{id}": model_page(id, found, numbers) for id in MODELS}
    pages |= {f"hardware/{id}": device_page(id, found, numbers) for id in HARDWARE}
    for kind, swept in (("models", MODELS), ("hardware", HARDWARE)):
        others = [id for id in ids(kind) if id not in swept]
        pages |= {f"data/{kind}/{id}": record_page(kind, id) for id in others}
    pages |= claims_pages()
    return pages


def written() -> list[Path]:
    """Return the generated pages that there are."""
    return [path for name in FOLDERS for path in (BOOK / name).rglob("*.md")]


def inputs() -> list[Path]:
    """Return the files that the pages are made of, beside records and results."""
    return [BOOK / "examples.yaml", *RESULTS.glob("*.json")]
