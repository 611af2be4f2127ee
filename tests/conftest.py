"""What several files of tests share."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from inferecon import book, chromium, predicting
from inferecon.calculator import bundle
from inferecon.citing import FORMS
from inferecon.dataset import write_dataset
from inferecon.errors import BadInput
from inferecon.files import BOOK
from inferecon.matrix import WORKLOAD, combinations, parameters_of
from inferecon.numbers import PUBLISHED
from inferecon.pages.katex_node import node

HERE = Path(__file__).parent / "calculator"
# A shell that starts tests in the background has them, and what they start, ignore an interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def browser():
    """A Chromium, one for all tests of a process; without one they are skipped, or fail."""
    try:
        with chromium.browser() as running:
            yield running
    except BadInput as error:
        required = os.environ.get("INFERECON_BROWSER") == "required"
        (pytest.fail if required else pytest.skip)(
            f"the pages were not tested in a browser: {error}"
        )


@pytest.fixture(scope="session")
def filled():
    """Return what the script of the box writes: the citations of ids, form by form."""
    script = (BOOK / "assets" / "js" / "numbers.js").read_text(encoding="utf-8")

    def citations(data, ids):
        asked = json.dumps({"data": data, "ids": ids, "forms": FORMS})
        code = f"""{script};
            const {{data, ids, forms}} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
            const texts = ids.map(id => forms.map(form => citedNumber(data, id, form)));
            process.stdout.write(JSON.stringify(texts));"""
        done = subprocess.run(
            [node(), "-e", code], input=asked, capture_output=True, text=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return citations


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """A folder with the modules of the calculator, and those of the tests beside them."""
    folder = tmp_path_factory.mktemp("modules")
    bundle.write_modules(folder)
    for path in HERE.glob("*.mjs"):
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


@pytest.fixture
def node_test(tmp_path):
    """Run the tests of a file in Node on some data; they import from a folder of modules."""

    def run(file, modules, data):
        (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
        places = {"MODULES": str(modules), "DATA": str(tmp_path / "data.json")}
        ran = subprocess.run(
            [node(), "--test", file],
            env={**os.environ, **places},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]

    return run


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """A dataset of some combinations, as their notebooks would publish it."""
    path, found = tmp_path_factory.mktemp("dataset") / "results.parquet", {}
    models = "llama-3.1-8b,llama-3.1-70b,qwen3-30b-a3b,deepseek-v3"
    for one in combinations(
        models, "h200-sxm,mi300x,l40s,gaudi3", "bf16,fp8,int8-w8a8,int4-awq", **WORKLOAD
    ):
        found[one.name] = {"parameters": parameters_of(one.case), **_published(one.case)}
    write_dataset(path, found)
    return path


def _published(case):
    if case.obstacles:
        return book.impossible(case)
    shown, content, grid = book.Case(case), {}, ([1, 16, 256], [1024, 8192])
    with pytest.MonkeyPatch.context() as patch:
        for module in (book, predicting):
            patch.setattr(
                module, "display", lambda _, metadata: content.update(metadata[PUBLISHED])
            )
        shown.publish()
        predicting.predicted(shown, "vllm", *grid)
        shown.grid(*grid)
    return content
