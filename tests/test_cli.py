"""The command line answers, resumes, and says each mistake in one sentence with exit code 2."""

import fcntl
import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from inferecon import build, cli
from inferecon.files import DATA
from inferecon.matrix import NOTEBOOKS

MAIN = "from inferecon.cli import main; main()"
SMALL = ("deepseek-r1-distill-qwen-1.5b", "h200-sxm", "bf16")


def inferecon(*arguments, cwd=None):
    """Run the command in a process of its own."""
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["inferecon", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        shown = capsys.readouterr()
        return end.value.code, shown.out, shown.err

    return run


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep of one combination: the folder, and what the command printed."""
    folder = tmp_path_factory.mktemp("sweep")
    options = ["--models", SMALL[0], "--hardware", SMALL[1], "--formats", SMALL[2], "--jobs", 1]
    done = inferecon("sweep", *options, "--out", "out", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out", json.loads(done.stdout), options


# Answers ---------------------------------------------------------------------------------------


def test_list_names_every_record():
    done = inferecon("list", "hardware")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 70 and any(line.split() == ["a10", "A10"] for line in lines)


def test_list_prints_json(here):
    code, out, _ = here("list", "formats", "--json")
    rows = json.loads(out)
    assert code == 0 and len(rows) == 47 and rows[0].keys() == {"id", "name"}


def test_trace_walks_from_a_number_to_its_sources(here):
    code, out, err = here("trace", *SMALL, "itl", "--batch", 1)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("itl = ") and "[ITL]" in lines[0]
    assert any("data/hardware/h200-sxm.yaml, hbm_bandwidth = 4800 GB/s" in line for line in lines)
    assert any(line.strip() == "from choice: batch = 1" for line in lines)


def test_trace_stops_at_the_depth_asked_for(here):
    _, out, _ = here("trace", *SMALL, "itl", "--depth", 2)
    assert max(len(line) - len(line.lstrip()) for line in out.splitlines()) <= 2 + 4


def test_trace_prints_the_same_tree_as_json(here):
    code, out, _ = here("trace", *SMALL, "kv_bytes_per_token", "--json")
    tree = json.loads(out)
    assert code == 0 and tree["law"] == "KV-BYTES-PER-TOKEN"
    # 28 layers x 2 heads x (128 + 128) x 2 B
    assert tree["value"] == 28 * 2 * 256 * 2 and tree["unit"] == "B / token"
    growing, width = (
        next(part for part in tree["inputs"] if part["symbol"] == name)
        for name in ("kv_growing", "kv_width")
    )
    assert growing["value"] == 28 * 2 * 256
    assert "data/formats/bf16.yaml" in width["source"]


def test_a_missing_fact_is_traced_as_missing(here):
    code, out, _ = here("trace", SMALL[0], "h20", "bf16", "cost_per_token")
    assert code == 0 and "from missing: no record states price" in out


# Sweep and query -------------------------------------------------------------------------------


def test_a_sweep_leaves_notebooks_and_one_dataset(swept):
    out, summary, _ = swept
    assert summary | {"rows": 0, "dataset": ""} == {
        "combinations": 1,
        "run": 1,
        "cannot_run": 0,
        "failed": 0,
        "refused": 0,
        "rows": 0,
        "dataset": "",
    }
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert files == [
        "notebooks/" + SMALL[0] + "/h200-sxm--bf16.ipynb",
        "notebooks/index.json",
        "results.parquet",
    ]


def test_the_dataset_says_its_units_and_what_it_rests_on(swept):
    table = pq.read_table(swept[0] / "results.parquet")
    assert table.num_rows == swept[1]["rows"] > 0
    assert table.schema.field("itl").metadata[b"unit"] == b"ms"
    assert b"edition" in table.schema.metadata
    assert "hardware/h200-sxm.yaml" in json.loads(table["records"][0].as_py())


def test_a_sweep_run_again_keeps_what_is_done(swept):
    out, _, options = swept
    files = [*out.rglob("*.ipynb"), out / "results.parquet"]
    before = {path: path.stat().st_mtime_ns for path in files if path.suffix == ".ipynb"}
    done = inferecon("sweep", *options, "--out", out.name, cwd=out.parent)
    assert done.returncode == 0 and "1 kept" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_query_answers_from_the_dataset(here, swept):
    sql = "SELECT batch, itl FROM results WHERE isl = 1024 ORDER BY batch"
    code, out, _ = here("query", sql, "--data", swept[0] / "results.parquet", "--json")
    rows = json.loads(out)
    assert code == 0 and [row["batch"] for row in rows] == sorted(row["batch"] for row in rows)
    assert all(row["itl"] > 0 for row in rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "COPY results TO 'out.csv'",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "DROP TABLE results",
        "SELECT 1; SELECT 2",
        "SELEC 1",
        "SELECT * FROM nothing",
        "",
    ],
)
def test_a_query_reads_the_dataset_and_nothing_else(here, swept, tmp_path, sql):
    code, out, err = here("query", sql, "--data", swept[0] / "results.parquet")
    assert (code, out) == (2, "")
    assert one_sentence(err) and "root:" not in err
    assert not list(tmp_path.iterdir())


# Mistakes --------------------------------------------------------------------------------------


def one_sentence(err):
    return err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err


MISTAKES = [
    (["list", "nothing"], "no kind of record 'nothing'; known: assumptions"),
    (["list", "models", "--jsn"], "No such option: --jsn"),
    (["lst", "models"], "No such command 'lst'"),
    (["trace", "deepseek-v3"], "Missing argument 'hardware'"),
    (["trace", "deepseek-v33", *SMALL[1:], "itl"], "did you mean deepseek-v3"),
    (["trace", SMALL[0], "h200", "bf16", "itl"], "did you mean"),
    (["trace", *SMALL, "itll"], "no published quantity 'itll'; did you mean itl?"),
    (["trace", *SMALL, "itl", "--batch", "0"], "batch must be a whole number of at least 1, not 0"),
    (["trace", *SMALL, "itl", "--batch", "x"], "Invalid value for '--batch'"),
    (["trace", *SMALL, "itl", "--isl", "999999999"], "exceeds the context of"),
    (["trace", "../../etc/passwd", *SMALL[1:], "itl"], "is not a record id"),
    (["sweep", "--models", "nothing"], "no record 'nothing' in models"),
    (["sweep", "--models", SMALL[0], "--batch", "-1"], "none of the combinations can be stated"),
    (["sweep", "--models", SMALL[0], "--formats", "kv-int4"], "is a format for kv"),
    (["run", "out.ipynb", "-p", "modle=x"], "no parameter 'modle'; the nearest it declares is 'mo"),
    (["run", "out.ipynb", "-p", "batch=x"], "parameter 'batch' is int, but 'x' is str"),
    (["run", "out.ipynb", "-p", "batch=0"], "batch must be a whole number of at least 1, not 0"),
    (["run", "out.ipynb", "-p", "model=nothing"], "no record 'nothing' in models"),
    (["run", "out.ipynb", "-p", "provider=nobody"], "no offer of 'nobody'"),
    (["run", "out.ipynb", "-p", "batch"], "-p batch: write NAME=VALUE"),
    (["run", "out.ipynb", "--notebook", "no.ipynb"], "no notebook no.ipynb"),
    (["run", "out.ipynb", "--engine", "other"], "no engine 'other'; known: inferecon, stock"),
    (["query", "SELECT 1", "--data", "no.parquet"], "no.parquet does not exist"),
]


@pytest.mark.parametrize(
    ("arguments", "sentence"), MISTAKES, ids=[" ".join(said) for said, _ in MISTAKES]
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(here, tmp_path, arguments, sentence):
    code, out, err = here(*arguments)
    assert (code, out) == (2, "")
    assert one_sentence(err) and sentence in err
    assert not list(tmp_path.iterdir())


def test_a_mistake_ends_the_real_command_the_same_way(tmp_path):
    done = inferecon("list", "nothing", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert one_sentence(done.stderr)
    assert not list(tmp_path.iterdir())


def test_no_arguments_print_the_help(here):
    code, out, err = here()
    assert (code, err) == (0, "")
    assert all(command in out for command in ("build", "sweep", "run", "query", "trace", "list"))


def test_a_file_that_is_no_dataset_is_refused(here, tmp_path):
    (tmp_path / "data.parquet").write_text("no")
    code, _, err = here("query", "SELECT 1", "--data", "data.parquet")
    assert code == 2 and one_sentence(err)


# The user's own files --------------------------------------------------------------------------


def test_a_result_never_replaces_what_no_run_has_written(here, tmp_path):
    own = tmp_path / "precious.ipynb"
    own.write_text('{"cells": []}')
    code, _, err = here("run", own, "-p", "batch=8")
    assert code == 2 and "is no result of a run" in err
    assert own.read_text() == '{"cells": []}'


@pytest.mark.parametrize("target", ["notes.txt", "README.md"])
def test_a_result_is_a_notebook(here, target):
    code, _, err = here("run", target)
    assert code == 2 and "must end in .ipynb" in err


def test_a_notebook_is_not_overwritten_by_its_own_result(here):
    template = NOTEBOOKS / "scenario.ipynb"
    before = template.read_bytes()
    code, _, err = here("run", template, "-p", "batch=8")
    assert code == 2 and "write its result elsewhere" in err
    assert template.read_bytes() == before


@pytest.mark.parametrize("values", ['["a"]', "[]", "[[1]]", "[null]", "[-1]", "[1.5]", "8"])
def test_a_grid_is_checked_before_anything_runs(here, tmp_path, values):
    code, _, err = here("run", "out.ipynb", "-p", f"batches={values}")
    assert code == 2 and one_sentence(err) and "batches" in err
    assert not list(tmp_path.iterdir())


def test_a_trace_of_what_cannot_run_says_so_first(here):
    code, out, _ = here("trace", "deepseek-v3", "l40s", "bf16", "itl", "--depth", "1")
    assert code == 0 and out.startswith("Does not run: ")
    _, out, _ = here("trace", "deepseek-v3", "l40s", "bf16", "itl", "--json")
    assert json.loads(out)["obstacles"]


def test_an_own_folder_that_is_none_is_refused(here, monkeypatch):
    monkeypatch.setenv("INFERECON_DATA", "/nowhere")
    code, _, err = here("trace", "deepseek-v3", "h200-sxm", "fp8", "itl")
    assert code == 2 and "INFERECON_DATA names /nowhere, which is no folder" in err


def test_a_folder_that_cannot_be_written_is_one_sentence(here, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, _, err = here("run", tmp_path / "file" / "out.ipynb")
    assert code == 2 and one_sentence(err)


def test_two_builds_do_not_write_the_same_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "BUILD", tmp_path)
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(build.BuildFailed, match="another build of this report is running"):
            build.build()


# A service ---------------------------------------------------------------------------------------

SERVED = ("simulate", "llama-3.1-8b", "h100-sxm", "bf16", "--requests", 300, "--osl", 32)


def test_simulate_prints_latencies_batches_and_what_it_took(here):
    code, out, err = here(*SERVED, "--rate", 5, "--slo", "ttft=500ms,itl=50ms")
    assert (code, err) == (0, "")
    for word in (
        "TTFT",
        "ITL, gap by gap",
        "goodput",
        "kg CO2e",
        "USD",
        "a step runs",
        "load",
        "idle",
    ):
        assert word in out
    code, out, _ = here(*SERVED, "--rate", 5, "--json")
    found = json.loads(out)
    assert code == 0 and found["requests"]["completed"] == 300 and found["saturated"] is None


def test_a_simulated_log_says_what_the_simulation_did(here, tmp_path):
    options = ("--rate", 5, "--slo", "ttft=90ms,itl=9ms,gap=30ms", "--warm", 0, "--spread", 0.5)
    code, out, _ = here(*SERVED, *options, "--log", "run.csv", "--json")
    told = json.loads(out)
    code, out, err = here("metrics", "run.csv", "--slo", "ttft=90ms,itl=9ms,gap=30ms", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and not (tmp_path / "run.csv.part").exists()
    assert found["requests"] == told["requests"]["completed"] == 300
    assert found["output_tokens"] == told["tokens"]["out"]
    for name in ("tps", "rps", "goodput_rps"):
        assert found[name] == pytest.approx(told[name], rel=1e-3)
    for name in ("ttft", "itl", "e2e"):
        for what in ("mean", "p50", "p99", "max"):  # percentiles to half a percent of their bins
            expected = told["latency_s"][name][what]
            assert found["latency_s"][name][what] == pytest.approx(expected, rel=0.02)


def test_memory_bounds_the_batch_and_not_the_question(here):
    case = ("simulate", "llama-3.1-8b", "l40s", "bf16", "--isl", 8000, "--osl", 100)
    code, out, _ = here(*case, "--clients", 64, "--requests", 128, "--reserve", "--json")
    found = json.loads(out)
    # 64 sequences of 8,100 tokens x 131,072 B are 68 GB beside 16 GB of weights, of 43.5 GB
    assert code == 0 and found["requests"]["completed"] == 128
    assert 20 < max(map(int, found["batch"]["seconds"])) < 30


def test_a_saturated_service_prints_no_latency(here):
    code, out, err = here(*SERVED, "--rate", 10_000)
    assert (code, err) == (1, "") and "TTFT" not in out
    assert "saturated: 1e+04 requests arrive a second and at most" in out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "one of --rate, --clients and --trace"),
        (["--rate", 4, "--engine", "vlm"], "no engine 'vlm'; did you mean vllm"),
        (["--rate", 4, "--policy", "greedy"], "no policy 'greedy'; known"),
        (["--rate", 4, "--isl", 200_000], "exceeds the context of llama-3.1-8b"),
        (["--trace", "none.csv"], "no file 'none.csv'"),
        (["--rate", 4, "--slo", "ttft"], "'ttft' is no limit"),
        (["--rate", 4, "--spread", -1], "--spread must be 0"),
    ],
)
def test_a_simulation_that_cannot_be_is_one_sentence(here, options, says):
    served = SERVED[:4] if "--trace" in options else SERVED
    code, out, err = here(*served, *options)
    assert (code, out) == (2, "") and says in err and err.count("\n") == 1


# A card of one's own ------------------------------------------------------------------------------


@pytest.fixture
def card(tmp_path, monkeypatch):
    """Return a function that puts an H100 into a folder of one's own, without some of its facts."""

    def write(*without, vendor="nvidia"):
        text = (DATA / "hardware" / "h100-sxm.yaml").read_text("utf-8")
        lines = [x for x in text.splitlines() if x.strip().partition(":")[0] not in without]
        text = "\n".join(lines).replace("id: h100-sxm", "id: my-card")
        (tmp_path / "hardware").mkdir()
        path = tmp_path / "hardware" / "my-card.yaml"
        path.write_text(text.replace("vendor: nvidia", f"vendor: {vendor}"), "utf-8")
        monkeypatch.setenv("INFERECON_DATA", str(tmp_path))

    return write


def test_a_prediction_that_is_missing_says_which_fact_no_record_states(card):
    card("hbm_bandwidth", "board_power")
    out = inferecon("predict", "llama-3.1-8b", "my-card", "bf16").stdout
    assert out.count("missing\n") == 9 and out.count("hardware/my-card.yaml states no ") == 3
    assert "missing: hardware/my-card.yaml states no hbm_bandwidth\n" in out
    assert "states no board_power, hbm_bandwidth\n" in out
    assert "states no hbm_bandwidth and no on-demand price of my-card is on record" in out
    rows = json.loads(inferecon("predict", "llama-3.1-8b", "my-card", "bf16", "--json").stdout)
    assert all(row["why"] and row["predicted"] is None for row in rows)


def test_a_card_of_an_unknown_vendor_says_which_are_known(card):
    card(vendor="acme")
    err = inferecon("predict", "llama-3.1-8b", "my-card", "fp8").stderr
    assert "acme devices have no unit for fp8; data/formats names units of amd, aws, " in err


def test_a_format_that_nobody_measured_lists_those_that_were(here):
    code, _, err = here("predict", "llama-3.2-1b", "h100-sxm", "gguf-q2-k")
    assert code == 2 and "was measured; measured: bf16, fp16, fp32, fp8, fp8-block128, int4" in err


def test_energy_a_token_is_power_over_the_rate_at_which_steps_make_tokens(here):
    code, out, _ = here("predict", "llama-3.1-8b", "h100-sxm", "bf16", "--json")
    rows = {row["metric"]: row["predicted"] for row in json.loads(out)}
    # 582 W x 11.0 ms / 32 = 0.200 J
    each = rows["avg_power_W"] * rows["tpot_ms"] / 1e3 / 32
    assert rows["energy_per_output_token_J"] == pytest.approx(each, rel=1e-6)
    text = here("predict", "llama-3.1-8b", "h100-sxm", "bf16")[1]
    assert "energy a token is power times the time per output token over the batch" in text


def test_a_combination_that_cannot_run_is_written_and_ends_with_one(here):
    cannot = ("model=llama-3.1-405b", "hardware=l4", "weights=bf16", "activations=bf16")
    code, out, err = here("run", "out.ipynb", *(x for pair in cannot for x in ("-p", pair)))
    assert (code, out) == (1, "out.ipynb\n")
    assert err.startswith("error: it cannot run, which is what out.ipynb says: 845.5 GB are needed")


def test_a_config_that_is_none_is_named(here, tmp_path):
    (tmp_path / "mine.json").write_text("{}")
    code, _, err = here("model", "mine.json")
    assert code == 2 and err.startswith("error: mine.json: config.json states no architectures")
