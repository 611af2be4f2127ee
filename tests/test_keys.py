"""What a notebook uses is found by reading code; here it is compared with what running it reads."""

import ast
import json
import subprocess
import sys

import pytest

from inferecon import keys, uses
from inferecon.files import ROOT
from inferecon.laws.catalogue import LAWS
from inferecon.making import PAGES
from inferecon.matrix import NOTEBOOKS, WORKLOAD, chapter_job, job_for
from inferecon.scenario import choose_devices

# Runs the cells of a notebook in a fresh process and prints the laws and records that were read.
WATCHED = """
import json, sys
from inferecon import law, records

read, files = set(), set()

class Watched(dict):
    def __getitem__(self, key):
        read.add(key)
        return super().__getitem__(key)
    def get(self, key, default=None):
        read.add(key)
        return super().get(key, default)

solve, parse = law.System.solve, records._parse
law.System.solve = lambda self, given: Watched(solve(self, given))

def parsed(path):
    files.add(f"data/{path.parent.name}/{path.name}")
    return parse(path)

records._parse = parsed
cells = json.load(open(sys.argv[1]))["cells"]
sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
space = {"In": ["", *sources]}
out, sys.stdout = sys.stdout, sys.stderr
for source in sources:
    exec(source, space)
from inferecon.laws import SERVICE
print(json.dumps([sorted(SERVICE.laws[x].id for x in read if x in SERVICE.laws), sorted(files)]),
      file=out, flush=True)
"""


@pytest.fixture(scope="module", params=PAGES)
def page(request):
    """A notebook: its name, the laws it reads, and the files of records."""
    source = NOTEBOOKS / f"{request.param}.ipynb"
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED, source], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return request.param, *map(set, json.loads(ran.stdout))


def test_every_law_a_notebook_reads_is_in_its_key(page):
    name, laws, _ = page
    assert laws and laws <= chapter_job(name).parts["law"].items.keys()


def test_every_record_a_notebook_reads_is_in_its_key(page):
    name, _, files = page
    read = {file for file in files if file != "data/data/sources.yaml"}
    assert read and read <= chapter_job(name).parts["record"].items.keys()


def test_a_notebook_rests_on_its_own_laws_only():
    used = uses.of(NOTEBOOKS / "scenario.ipynb")
    others = {law.id for law in LAWS} - used.law.keys()
    assert {"KV-GROWING", "ITL", "MEMORY-NEEDED"} <= used.law.keys()
    assert {"SPOT-COST", "RIDGE-BATCH"} <= others and len(others) > 50
    assert len(uses.of(NOTEBOOKS / "counts.ipynb").law) < len(used.law)


def test_modules_count_and_those_of_laws_do_not():
    used = uses.of(NOTEBOOKS / "scenario.ipynb").module
    assert {"inferecon.book", "inferecon.engine.notebook", "inferecon.figures.rates"} <= set(used)
    assert not [name for name in used if name.startswith("inferecon.laws")]
    others = ("inferecon.cli", "inferecon.build", "inferecon.making", "inferecon.sweep")
    assert not set(others) & set(used)


def test_distributions_are_those_imported(monkeypatch):
    used = uses.of(NOTEBOOKS / "scenario.ipynb").distribution
    assert {"numpy", "sympy", "altair", "papermill", "PyYAML", "python"} <= set(used)
    assert not {"sphinx", "pytest", "duckdb", "pyarrow"} & {name.lower() for name in used}


def test_a_sentence_changes_no_hash(monkeypatch):
    tree = uses.tree_of("inferecon.errors")
    text = uses.file_of("inferecon.errors").read_text()
    told = text.replace('"""', '"""Another sentence. ', 1) + "\n# a comment\n"
    assert told != text
    monkeypatch.setattr(uses, "file_of", lambda module: Text(told))
    assert ast.dump(uses.tree_of.__wrapped__("inferecon.errors")) == ast.dump(tree)
    monkeypatch.setattr(uses, "file_of", lambda module: Text(told + "x = 1\n"))
    assert ast.dump(uses.tree_of.__wrapped__("inferecon.errors")) != ast.dump(tree)


class Text(str):
    def read_text(self, encoding=None):
        return str(self)


def test_the_key_of_a_combination_has_its_records_and_those_that_may_appear():
    case = choose_devices("phi-2", "h20", **WORKLOAD)
    records = job_for(case).parts["record"].items
    assert records["data/hardware/h20.yaml"] == case.device.hash
    assert records["data/prices/h20.yaml"] == keys.ABSENT
    assert not [name for name in records if "h200" in name or "deepseek" in name]


@pytest.mark.parametrize(
    ("kind", "before", "after", "said"),
    [
        ("record", {"data/a.yaml": "1"}, {"data/a.yaml": "2"}, "data/a.yaml changed"),
        ("record", {"data/a.yaml": "absent"}, {"data/a.yaml": "2"}, "data/a.yaml is new"),
        ("record", {"data/a.yaml": "1"}, {}, "data/a.yaml is gone"),
        ("law", {"KV-MLA": "1", "ITL": "2"}, {"KV-MLA": "3", "ITL": "2"}, "law KV-MLA changed"),
        ("law", {"KV-MLA": "1"}, {}, "law KV-MLA is no longer used"),
        ("distribution", {"numpy": "2.1"}, {"numpy": "2.2"}, "numpy 2.1 → 2.2"),
        ("parameter", {"batch": "32"}, {"batch": "64"}, "batch 32 → 64"),
        ("law", dict.fromkeys("abcde", "1"), dict.fromkeys("abcde", "2"),
         "law a changed; law b changed; law c changed; 2 more of kind law changed"),
    ],
)  # fmt: skip
def test_a_change_is_said_in_words(kind, before, after, said):
    assert keys.changes({kind: before}, {kind: keys.group(after)}) == said


def test_a_file_that_is_no_record_can_be_a_part():
    group = keys.files([ROOT / "data/calibration/none.json", ROOT / "pyproject.toml"])
    assert group.items["data/calibration/none.json"] == keys.ABSENT
    assert keys.differences({"file": group}) == ""
    other = keys.group({**group.items, "pyproject.toml": "0"})
    assert keys.differences({"file": other}) == "pyproject.toml changed"


def test_this_checkout_agrees_with_itself_and_says_where_another_does_not():
    parts = dict(job_for(choose_devices("phi-2", "h20", **WORKLOAD)).parts)
    assert keys.differences(parts) == ""
    other = keys.group({**parts["law"].items, "ITL": "0"})
    assert keys.differences({**parts, "law": other}) == "law ITL changed"
