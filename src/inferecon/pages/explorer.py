"""The explorer: ``{explorer}`` writes form and places, and its page loads points and script."""

from pathlib import Path

from docutils import nodes
from markupsafe import Markup
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ..calculator import bundle, records
from ..explorer import columns
from ..files import DATASET
from ..matrix import OF_DOCUMENTS
from ..predictions import ENGINES
from . import calculator
from .scripts import load, place

MARK = '<div class="calculator explorer">'
DATA_SCRIPT, SCRIPT = "js/points.js", "js/explorer.js"
STYLE = "css/explorer.css"
ENTRY = "explorer.mjs"
MODULES = Path(columns.__file__).parent / "modules"
CHAT = {"model": ["llama-3.1-70b"], "itl": 20, "ttft": 500}
# The chart that the third source document promises; two of its models have the shape of a third.
OVER_BATCH = {
    "x": "batch",
    "y": "energy_per_token",
    "batch": "all",
    "device": ["h200-sxm"],
    "weights": ["bf16", "fp8"],
    "model": [id for id in OF_DOCUMENTS if id not in ("deepseek-r1", "deepseek-v3.1")],
}
PRESETS = (
    ("DeepSeek-V3: ITL against price", {}),
    ("DeepSeek-V3 at its derived bounds", {"basis": "bound"}),
    ("A chat with Llama-3.1-70B: 20 ms a token, 500 ms to the first", CHAT),
    ("Every model: TTFT against price", {"model": [], "x": "ttft"}),
    ("ITL against energy, by constants measured on the H200", {"y": "energy_per_token"}),
    ("Energy against batch, per model and format", OVER_BATCH),
)


def html() -> str:
    """Return the form and the empty places for chart, table and point."""
    return calculator.ENVIRONMENT.get_template("explorer.html").render(
        tool="explorer",
        engine=ENGINES["vllm"],
        links=calculator.anchors(columns.addresses()),
        presets=[("", "…"), *((n, title) for n, (title, _) in enumerate(PRESETS))],
        presets_json=Markup(records.written([{"choices": choices} for _, choices in PRESETS])),
    )


class ExplorerDirective(SphinxDirective):
    """The explorer; its page is written again when the dataset is another one."""

    def run(self):
        dataset = dataset_of(self.env.app)
        if dataset.exists():
            self.env.note_dependency(str(dataset))
        # the width of the page goes to chart and table, not to a list of two headings
        self.env.metadata[self.env.docname]["html_theme.sidebar_secondary.remove"] = "true"
        return [nodes.raw("", html(), format="html")]


def dataset_of(app: Sphinx) -> Path:
    """Return where the dataset of the book that is printed stands: beside its folder."""
    return Path(app.outdir).parent / DATASET.name


def scripts(dataset: Path) -> dict[str, str]:
    """Return both scripts by file name: the points, and what ranks and draws them."""
    return {
        DATA_SCRIPT: f"const explorerData = {records.written(columns.data(dataset))};\n",
        SCRIPT: bundle.bundled(ENTRY, bundle.texts(bundle.MODULES, MODULES)),
    }


def write_scripts(app: Sphinx, env, pages: list[str]) -> None:
    dataset = dataset_of(app)
    modules = [path for folder in (bundle.MODULES, MODULES) for path in folder.glob("*.mjs")]
    place(app, "explorer", (DATA_SCRIPT, SCRIPT), lambda: scripts(dataset), [dataset, *modules])


def add_scripts(app: Sphinx, pagename: str, template: str, context: dict, doctree) -> None:
    load(app, context, MARK, (calculator.STYLE, STYLE), (DATA_SCRIPT, SCRIPT))


def setup(app: Sphinx) -> None:
    app.add_directive("explorer", ExplorerDirective)
    app.connect("env-before-read-docs", write_scripts)
    app.connect("html-page-context", add_scripts)
