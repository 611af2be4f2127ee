"""The files of other projects are those their packages ship, and fit the locked ones."""

import hashlib
from pathlib import Path

import altair
import pytest
import yaml
from sphinxcontrib import katex

ASSETS = Path(__file__).parents[1] / "book" / "assets"
AXE = Path(__file__).parent / "pages" / "axe"
PACKAGES = yaml.safe_load((ASSETS / "VENDORED.yaml").read_text())
OF_TESTS = yaml.safe_load((AXE / "VENDORED.yaml").read_text())
ALL = [(ASSETS, one) for one in PACKAGES] + [(AXE, one) for one in OF_TESTS]


@pytest.mark.parametrize(("folder", "package"), ALL, ids=[one["package"] for _, one in ALL])
def test_files_are_unchanged_and_licensed(folder, package):
    assert (folder / package["licence_file"]).read_text().strip()
    for name, digest in package["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_every_vendored_file_is_listed():
    listed = {name for package in PACKAGES for name in package["files"]}
    listed |= {package["licence_file"] for package in PACKAGES}
    found = {
        str(path.relative_to(ASSETS))
        for folder in ("katex", "vega")
        for path in (ASSETS / folder).rglob("*")
        if path.is_file()
    }
    assert found == listed


def test_versions_fit_the_locked_packages():
    version = {package["package"]: package["version"] for package in PACKAGES}
    assert version["katex"] == katex.katex_version
    drawn = tuple(map(int, version["vega-lite"].split(".")))
    written = tuple(map(int, altair.SCHEMA_VERSION.removeprefix("v").split(".")))
    assert drawn[0] == written[0] and drawn >= written
