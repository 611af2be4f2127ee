"""A page is made again exactly when code or a file that it read has changed."""

import subprocess
import sys
from pathlib import Path

MAKE = """
import sys
from pathlib import Path
from inferecon.report import noticed as module
module.DATA = Path(sys.argv[1]) / "data"
made = []
def make():
    made.append(1)
    return "text " + (module.DATA / "a.yaml").read_text()
print(module.remembered("a/page", make, Path(sys.argv[1]) / "kept"), bool(made))
"""


def page(folder: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", MAKE, folder], capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def test_only_what_was_read_makes_a_page_again(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.yaml").write_text("1")
    (data / "b.yaml").write_text("1")
    assert page(tmp_path) == "text 1 True"
    assert page(tmp_path) == "text 1 False"
    (data / "b.yaml").write_text("2")
    assert page(tmp_path) == "text 1 False", "the page never read it"
    (data / "a.yaml").write_text("2")
    assert page(tmp_path) == "text 2 True"
    (data / "c.yaml").write_text("1")
    assert page(tmp_path) == "text 2 True", "a new record may be one that it would read"
    (tmp_path / "kept" / "a-page.json").write_text("{")
    assert page(tmp_path) == "text 2 True"
