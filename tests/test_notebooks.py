"""Notebooks are thin: they choose, call and show; stock papermill runs them as they are."""

import ast
import json
import re
import sys
from pathlib import Path

import nbformat
import papermill
import pytest

from inferecon import cli
from inferecon.numbers import SERVICE, STRUCTURE
from inferecon.parameters import validated
from inferecon.publication import published

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
FORBIDDEN = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.For,
    ast.While,
    ast.If,
    ast.IfExp,
    ast.comprehension,
    ast.BinOp,
    ast.Try,
)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


@every_notebook
def test_a_notebook_computes_nothing_itself(path):
    for cell in code_cells(path):
        found = [n for n in ast.walk(ast.parse(cell.source)) if isinstance(n, FORBIDDEN)]
        assert not found, f"{path.name}: move to src/: {ast.unparse(found[0])}"


@every_notebook
def test_a_notebook_is_kept_without_outputs(path):
    for cell in code_cells(path):
        assert cell.outputs == [] and cell.execution_count is None
        assert "papermill" not in cell.metadata and "execution" not in cell.metadata
    assert "papermill" not in read(path).metadata


@every_notebook
def test_cells_have_names_that_stay(path):
    names = [cell["id"] for cell in json.loads(path.read_text())["cells"]]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z][a-z-]*", name) for name in names), names


@every_notebook
def test_the_first_code_cell_holds_the_parameters(path):
    first, *others = code_cells(path)
    assert first.metadata["tags"] == ["parameters"]
    for line in ast.parse(first.source).body:
        assert isinstance(line, ast.Assign)
        ast.literal_eval(line.value)  # raises for anything but a literal
    assert not any("parameters" in cell.metadata.get("tags", []) for cell in others)


@every_notebook
def test_imports_stand_in_the_second_code_cell_and_come_from_the_package(path):
    _, second, *others = code_cells(path)
    for cell in others:
        assert "import" not in cell.source
    imports = [n for n in ast.parse(second.source).body if isinstance(n, ast.ImportFrom)]
    assert {line.module for line in imports} <= {
        "inferecon.book",
        "inferecon.costs",
        "inferecon.counting",
        "inferecon.gallery",
        "inferecon.planned",
        "inferecon.predicting",
        "inferecon.sensitivity",
        "inferecon.serving",
        "inferecon.tiers",
    }


# Execution -------------------------------------------------------------------------------------

# One run of stock papermill each: smaller than the defaults, otherwise as a reader would do it.
RUNS = {
    "costs": {"rps": 4, "rates": [1, 4], "requests": 300},
    "counts": {"models": "deepseek-v3,llama-3*"},
    "figures": {"model": "deepseek-r1-distill-qwen-1.5b", "weights": "bf16"}
    | {"activations": "bf16", "batches": [1, 8], "energy_batches": [1, 8], "cost_batches": [1, 8]},
    "plan": {
        "model": "llama-3.1-8b",
        "rps": 4,
        "hardware": ["h100-sxm", "l40s"],
        "formats": ["fp8"],
    },
    "scenario": {"model": "deepseek-r1-distill-qwen-1.5b", "weights": "bf16", "activations": "bf16"}
    | {"tp": 1, "ep": 1, "batch": 1, "batches": [1, 8], "contexts": [1024, 500_000]},
    "serving": {"rates": [1, 40], "requests": 100, "shown": 3},
    "disaggregation": {"rates": [1, 60], "requests": 100, "shown": 3},
    "improvement": {"tried": [["as it is", {}], ["pieces", {"policy": "chunked", "chunk": 512}]]},
    "tiers": {
        "tiers": [["online", "llama-3.1-8b", 4], ["edge", "deepseek-r1-distill-qwen-1.5b", 0.2]],
        "uses": [["enterprise", "deepseek-v2", 1]],
        "hardware": ["h100-sxm", "l40s"],
    },
    "sensitivity": {"model": "deepseek-r1-distill-qwen-1.5b", "weights": "bf16"}
    | {
        "activations": "bf16",
        "goals": [["itl", "1 ms", "hbm_bandwidth"], ["itl", "1 ns", "batch"]],
    },
}


@pytest.mark.parametrize(
    ("notebook", "parameter", "said"),
    [
        ("plan", "rps=-1", "--rps must be more than 0"),
        ("plan", 'hardware=["h1000"]', "no record 'h1000'"),
        ("plan", "hardware=[]", "hardware"),
        ("plan", "hardware=[1]", "hardware must be a list of texts"),
        ("plan", 'slo=[["ttft", "5"]]', "no time above zero"),
        ("plan", "slo=[5]", "slo must be a list of pairs"),
        ("plan", 'modes=["aside"]', "no mode 'aside'"),
        ("plan", "isl=999999", "exceeds the context"),
        ("plan", "model=llama-9", "no record 'llama-9'"),
        ("plan", "seed=-1", "seed"),
        ("serving", "rates=[]", "rates must be a list of numbers"),
        ("serving", "rates=[0]", "rates must be more than 0"),
        ("serving", "requests=-1", "--requests must be"),
        ("improvement", "log=/nope", "no file '/nope'"),
        ("serving", 'slo=[["ttfx", "500 ms"]]', "no latency 'ttfx'"),
        ("improvement", 'promised=[["ttft", "500"]]', "no time above zero"),
        ("serving", 'policies=[["one", {"polcy": "chunked"}]]', "did you mean policy"),
        ("improvement", 'tried=[["one", {"replicas": "two"}]]', "tried: 'one'"),
        ("serving", 'drawn=["continuous"]', "drawn must name two"),
        ("disaggregation", 'tight=[["gap", "5"]]', "no time above zero"),
        ("disaggregation", 'arrangements=[["one", {"link": "x"}]]', "arrangements: 'one'"),
        ("tiers", 'tiers=[["onlin", "phi-4", 1]]', "did you mean online"),
        ("tiers", 'uses=[["edge", "", 0]]', "uses must be more than 0"),
        ("tiers", 'uses=[["edge"]]', "uses must be lists of use, model and rate"),
        ("serving", "shown=0", "shown must be a whole number"),
        ("costs", "rps=0", "rps must be more than 0"),
        ("costs", "requests=0", "--requests must be"),
        ("costs", "shares=[2]", "shares must be more than 0 and at most 1"),
        ("costs", 'stated={"stuff": 1}', "did you mean staff"),
        ("costs", 'stated={"pue": 0.5}', "--pue must be from 1"),
        ("costs", "grid=atlantis", "no record 'atlantis'"),
        ("scenario", "batches=[0]", "batches must be a whole number"),
        ("scenario", "hardware=h1000", "no record 'h1000'"),
    ],
)
def test_a_parameter_that_cannot_be_is_one_sentence_and_nothing_is_written(
    notebook, parameter, said, tmp_path, monkeypatch, capsys
):
    out = tmp_path / "out.ipynb"
    source = NOTEBOOKS[0].with_stem(notebook)
    words = ["inferecon", "run", str(out), "--notebook", str(source), "-p", parameter]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    error = capsys.readouterr().err
    assert ended.value.code == 2 and said in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@every_notebook
def test_what_a_notebook_declares_passes_its_own_check(path):
    assert validated(path, {}) == {}


def executed(path, parameters, folder):
    target = folder / f"{path.stem}.ipynb"
    papermill.execute_notebook(path, target, parameters, progress_bar=False)
    return read(target)


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def run(request, tmp_path_factory):
    path = request.param
    return path.stem, executed(path, RUNS[path.stem], tmp_path_factory.mktemp(path.stem))


def text_of(notebook):
    return "\n".join(
        str(output.get("data", {}).get("text/markdown", ""))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )


def test_stock_papermill_runs_every_notebook(run):
    _, notebook = run
    kinds = [o.output_type for cell in notebook.cells for o in cell.get("outputs", [])]
    assert kinds and "error" not in kinds and "stream" not in kinds


def test_a_run_publishes_numbers_with_units(run):
    name, notebook = run
    found = published(notebook)
    if name == "counts":
        assert found["named"]["counts/deepseek-v3:params_total"] == [671.0264192, "Gelem"]
        return
    if name not in ("counts", "sensitivity", "scenario"):  # they draw or simulate
        assert found == {}
        return
    if name == "sensitivity":
        case = "sensitivity/deepseek-r1-distill-qwen-1.5b/h200-sxm/bf16"
        # one device, memory-bound: one percent more bandwidth, one percent less latency
        assert found["named"][f"{case}/itl:hbm_bandwidth"] == [-1, ""]
        assert found["named"][f"{case}/itl/doubled:hbm_bandwidth"] == [0.5, ""]
        assert found["named"][f"{case}/itl=1ms:hbm_bandwidth"][1] == "TB/s"
        assert "no batch gives this itl" in text_of(notebook)
        return
    assert found["obstacles"] == []
    symbols = [symbol for symbol, _, _ in found["numbers"]]
    assert symbols == [symbol.name for symbol in STRUCTURE + SERVICE]
    # prompts beyond the model's context are left out
    assert [row[:2] for row in found["grid"]["rows"]] == [[1, 1024], [8, 1024]]
    assert found["grid"]["units"]["itl"] == "ms"
    assert "models/deepseek-r1-distill-qwen-1.5b.yaml" in found["records"]


@pytest.fixture(scope="module")
def impossible(tmp_path_factory):
    path = next(path for path in NOTEBOOKS if path.stem == "scenario")
    one_device = {
        "model": "deepseek-v3",
        "weights": "bf16",
        "activations": "bf16",
        "tp": 1,
        "ep": 1,
    }
    return executed(path, one_device, tmp_path_factory.mktemp("impossible"))


def test_an_impossible_combination_says_which_number_exceeds_which(impossible):
    # 671,026,419,200 x 2 B and 32 caches of 2,048 x 70,272 B
    needed = (671_026_419_200 * 2 + 32 * 2048 * 70_272) / 1e9
    sentence = f"{needed:,.1f} GB are needed on each of 1 device, 136.3 GB are available"
    assert f"**Does not run:** {sentence}." in text_of(impossible)
    assert published(impossible)["obstacles"] == [sentence]


def test_an_impossible_combination_publishes_what_it_would_need_and_no_service(impossible):
    found = published(impossible)
    symbols = [symbol for symbol, _, _ in found["numbers"]]
    assert symbols == [symbol.name for symbol in STRUCTURE]
    assert found["grid"]["rows"] == [] and "No point of the grid can run." in text_of(impossible)
