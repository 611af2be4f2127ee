"""What several files of tests share."""

import os
from pathlib import Path

import pytest

from inferecon import chromium
from inferecon.calculator import bundle
from inferecon.errors import BadInput

HERE = Path(__file__).parent / "calculator"


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
def modules(tmp_path_factory):
    """A folder with the modules of the calculator, and those of the tests beside them."""
    folder = tmp_path_factory.mktemp("modules")
    bundle.write_modules(folder)
    for path in HERE.glob("*.mjs"):
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return folder
