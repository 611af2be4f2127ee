"""A bill is the report's own numbers times tokens, whoever's model it is."""

import json

import pytest
from test_configs import FILES, THEIRS

from inferecon import symbols as s
from inferecon.bill import as_data, as_text, bill, own_model
from inferecon.cli import main
from inferecon.errors import BadInput
from inferecon.files import LEDGER
from inferecon.records import ids
from inferecon.results import read_numbers
from inferecon.scenario import opened

CASE = dict(hardware="h200-sxm", weights="fp8", activations="fp8", batch=32)
V3 = "deepseek-v3/h200-sxm/fp8"


def figures(found):
    return {line.says: line for line in found.lines}


def test_a_million_tokens_are_what_the_report_publishes():
    """Published per million tokens: seconds, kWh, kg, USD; hours are seconds over 3,600."""
    found = figures(bill(opened(model="deepseek-v3", **CASE), 1e6))
    numbers = read_numbers(LEDGER)
    published = {
        "device time": numbers[f"{V3}:device_time"].value / 3600,
        "energy of the devices": numbers[f"{V3}:energy_per_token"].value,
        "operational emissions": numbers[f"{V3}:carbon_per_token"].value,
        "price": numbers[f"{V3}:cost_per_token"].value,
    }
    for says, value in published.items():
        assert found[says].derived == pytest.approx(value, rel=1e-9)
    cost = numbers[f"{V3}@vllm:cost_per_token"]
    line = found["price"]
    assert [line.predicted, line.low, line.high] == pytest.approx(
        [cost.value, cost.low, cost.high], rel=1e-6
    )
    time = found["device time"]
    assert time.low < time.predicted < time.high


def test_by_hand():
    """3,682 s/Mtok on record: two million tokens take 2 x 3,682 / 3,600 = 2.046 device hours.

    At 1.80 USD an hour that is 2.046 x 1.80 = 3.682 USD; the facility takes PUE times the energy.
    """
    case = opened(model="deepseek-v3", **CASE, usd_per_hour=1.80)
    found = figures(bill(case, 2e6))
    assert found["device time"].derived == pytest.approx(2.046, abs=0.0005)
    assert found["price"].derived == pytest.approx(3.682, abs=0.0005)
    ratio = found["energy of the facility"].derived / found["energy of the devices"].derived
    assert ratio == pytest.approx(float(case.values[s.pue]))


def test_a_model_of_ones_own_is_billed_as_the_one_on_record(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(FILES["llama-3.1-8b"]), encoding="utf-8")
    before = ids("models")
    with own_model(path) as (id, format, says):
        own = bill(opened(model=id, **CASE), 1e6)
    assert format in says and format == "bf16" and ids("models") == before
    known = bill(opened(model="llama-3.1-8b", **CASE), 1e6)
    assert [line.derived for line in own.lines] == [line.derived for line in known.lines]


def command(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["inferecon", "energy", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, *capsys.readouterr()


def test_a_file_of_deepseeks_own_code_is_billed(tmp_path, monkeypatch, capsys):
    path = tmp_path / "config_671B.json"
    path.write_text(json.dumps(THEIRS["deepseek-v3"]), encoding="utf-8")
    code, out, _ = command(monkeypatch, capsys, "--config", path, "--tokens", "1e6", "--json")
    found = json.loads(out)
    assert code == 0 and found["weights"] == "fp8" and found["devices"] == 8
    time = {line["says"]: line["derived"] for line in found["figures"]}["device time"]
    published = read_numbers(LEDGER)[f"{V3}:device_time"].value / 3600
    assert time == pytest.approx(published, rel=0.01), "the same but for multi-token prediction"
    code, out, _ = command(monkeypatch, capsys, "--config", path, "--price", "2.5")
    assert code == 0 and "2.5 USD an hour and device, as stated" in out


WRONG = {
    (): "state a model",
    ("--model", "deepseek-v3", "--config", "x.json"): "state a model",
    ("--model", "deepsek-v3"): "did you mean deepseek-v3",
    ("--model", "llama-3.1-8b", "--tokens", "-1"): "--tokens must be from 1 to 1e+18, not -1",
    ("--model", "llama-3.1-8b", "--tokens", "nan"): "--tokens must be from 1 to 1e+18, not nan",
    ("--model", "llama-3.1-8b", "--price", "-1"): "a price must be from 0 to 1e6",
    ("--model", "llama-3.1-8b", "--batch", "-3"): "batch must be a whole number of at least 1",
    ("--model", "llama-3.1-405b", "--tp", "1"): "cannot run",
    ("--config", "absent.json"): "absent.json: No such file",
}


@pytest.mark.parametrize(("words", "says"), WRONG.items(), ids=[" ".join(w) for w in WRONG])
def test_a_mistake_is_one_sentence(words, says, monkeypatch, capsys):
    code, out, err = command(monkeypatch, capsys, *words)
    assert code == 2 and out == "" and says in err and err.count("\n") == 1


def test_a_damaged_file_is_named(tmp_path, monkeypatch, capsys):
    path = tmp_path / "config.json"
    path.write_text('{"architectures": ["LlamaForCaus', encoding="utf-8")
    code, _, err = command(monkeypatch, capsys, "--config", path)
    assert code == 2 and f"{path}: this is not JSON" in err


def test_what_is_not_known_is_said():
    found = bill(opened(model="llama-3.1-8b", hardware="h20", weights="bf16", batch=8), 1e6)
    assert figures(found)["price"].derived is None
    text = as_text(found)
    assert "no price of h20 is on record" in text and "at their power limit" in text
    assert as_data(found)["price"] == "none on record"


def test_a_bad_number_of_tokens_is_refused():
    with pytest.raises(BadInput, match="--tokens"):
        bill(opened(model="llama-3.1-8b", **CASE), float("inf"))


def test_a_grid_is_named_as_elsewhere_and_hosts_are_said_to_be_left_out(monkeypatch, capsys):
    shown = []
    for grid in ("SE", "swe", "Sweden"):
        words = ["inferecon", "energy", "--model", "llama-3.1-8b", "--grid", grid]
        monkeypatch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
        shown.append(capsys.readouterr().out)
    assert "hosts, fans and switches are left out" in shown[0]
    assert shown[0] == shown[1] == shown[2]
