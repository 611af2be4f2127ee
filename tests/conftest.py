"""What several files of tests share."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from inferecon.calculator import bundle

HERE = Path(__file__).parent / "calculator"


@pytest.fixture(scope="session")
def browser():
    """A Chromium: the machine's own, else Playwright's."""
    with sync_playwright() as playwright:
        names = ("chromium", "chromium-browser", "google-chrome")
        own = next(filter(None, map(shutil.which, names)), None)
        if own is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no Chromium: install one, or run playwright install chromium")
        chromium = playwright.chromium.launch(executable_path=own, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """A folder with the modules of the calculator, and those of the tests beside them."""
    folder = tmp_path_factory.mktemp("modules")
    bundle.write_modules(folder)
    for path in HERE.glob("*.mjs"):
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return folder
