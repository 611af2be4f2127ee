"""What a service costs: parts add up, nobody pays twice, and what is missing stays missing."""

import json
import math
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferecon import cli, costs
from inferecon import symbols as s
from inferecon.book import Case
from inferecon.costing.facts import NEEDS, OPTIONS, gather, offered, recorded, rented
from inferecon.costing.reckon import ITEMS, reckon
from inferecon.costing.words import as_data
from inferecon.costing.work import Work, served
from inferecon.errors import BadInput
from inferecon.laws.catalogue import BY_ID
from inferecon.planner.ask import Ask
from inferecon.planner.choose import plan
from inferecon.regions import MONTH
from inferecon.scenario import opened
from inferecon.service.promise import promise as limits
from inferecon.simulate.arrivals import Lengths
from inferecon.simulate.plan import Load, Service

close = pytest.approx
CASE = opened(model="llama-3.1-8b", hardware="h100-sxm", batch=1, grid="usa")
# two replicas of four devices; 10 requests a second take 20 ms of prefill and 60 ms of decode
WORK = Work(10.0, 2, 4.0, 100.0, 50.0, (0.02, 0.06), (30.0, 50.0), 400.0, 3.0)
STATED = {
    "storage-price": 0.0,
    "host-power": 100.0,
    "pue": 1.5,
    "embodied": 100.0,
    "lifetime": 1.0,
    "wue": 0.2,
    "grid-water": 2.0,
}
OWN = {"capex": 8765.82, "electricity": 0.1, "staff": 0.5, "wage": 8765.82}
AWAY = {"preemptions": 0.5, "restart": 897.0, "work-lost": 3.0}


def billed(hold="on-demand", work=WORK, price=2.0, case=CASE, **stated):
    facts, lacking = gather(case, hold, STATED | stated)
    paid = rented(case, "spot" if hold == "spot" else "on-demand", price)
    return reckon(case, hold, work, facts, lacking, paid)


def per(bill, name):
    return [bill.quantities[name].amounts[item] for item in ITEMS]


# By hand -----------------------------------------------------------------------------------------


def test_a_rented_service_by_hand():
    """8 devices at 2 USD are 16 an hour; a quarter of it is for 3.6 million prompt tokens."""
    assert per(billed(), "usd") == close([16, 16 * MONTH, 16 / 36000, 4 / 3.6, 12 / 1.8])


def test_energy_emissions_and_water_by_hand():
    """Busy 40 %: 300 W of prefill, 500 W of decode, 480 W of waiting, 800 W of hosts.

    Prompts: 300 + (480 + 800) / 4 = 620 W; a facility of 1.5; 3.6 million of them in an hour.
    """
    bill = billed()
    assert WORK.busy == close(0.4) and WORK.draw == close(1280 / 8)
    node = 0.3 + 0.5 + 0.48 + 0.8  # kWh in an hour
    assert per(bill, "kwh") == close(
        [1.5 * node, 1.5 * node * MONTH, 1.5 * node / 36000, 0.93 / 3.6, 1.5 * 1.46 / 1.8]
    )
    assert bill.quantities["kwh"].parts == close(
        {"prefill": 0.45, "decode": 0.75, "waiting": 0.72, "hosts": 1.2}
    )
    grid = CASE.given()[s.grid_intensity] * 3.6e6 / 1e3  # kg a kWh
    made = 8 * 100 / (12 * MONTH)  # 100 kg a device and year
    assert bill.quantities["kg"].parts == close({"use": 1.5 * node * grid, "making": made})
    assert per(bill, "litres")[0] == close(node * (0.2 + 1.5 * 2))


def test_an_own_device_by_hand():
    """A year's price in a year is a dollar an hour, half a person of the same pay half a dollar.

    A node draws 160 + 100 W; 0.1 USD a kWh at a PUE of 1.5 make 0.039 USD an hour.
    """
    bill = billed("owned", **OWN)
    assert bill.device_hour == close(1 + 0.5 + 0.039)
    assert bill.quantities["usd"].parts == close({"capital": 8, "electricity": 0.312, "staff": 4})


def test_interest_is_paid_on_half_of_the_capital():
    bill = billed("owned", **OWN, interest=0.1)
    assert bill.quantities["usd"].parts["capital"] == close(8 * 1.05)


def test_a_spot_device_by_hand():
    """Every second hour held ends in 900 s lost: an eighth, so 2 USD buy seven eighths."""
    bill = billed("spot", **AWAY)
    assert bill.lost_share == close(1 / 8)
    assert bill.device_hour == close(2 / (7 / 8))


def test_memory_and_storage_are_rented_for_each_replica():
    """500 GB at 1.461 USD a GB and month are 1 USD an hour; at 0.73 a GB is 0.001 an hour."""
    facts, lacking = gather(CASE, "on-demand", STATED | {"storage-price": MONTH / 1000})
    paid, memory = rented(CASE, "on-demand", 2.0), (500e9, 1.0 / 500e9 / 3600)
    bill = reckon(CASE, "on-demand", WORK, facts, lacking, paid, memory=memory)
    stored = 2 * float(CASE.values[s.weight_bytes]) / 1e9 / 1000
    parts = {"devices": 16, "memory": 2, "storage": stored}
    assert bill.quantities["usd"].parts == close(parts)


# Promises ----------------------------------------------------------------------------------------

some = st.floats(1e-3, 1e3)
works = st.builds(
    Work,
    rps=st.floats(0.1, 50),
    replicas=st.integers(50, 200),
    devices=st.integers(1, 16).map(float),
    isl=st.floats(1, 1e5),
    osl=st.floats(1, 1e5),
    seconds=st.tuples(st.floats(1e-4, 0.5), st.floats(1e-4, 0.5)),
    joules=st.tuples(some, some),
    resting=some,
    stay=some,
)
WAYS = {"on-demand": {}, "spot": AWAY, "owned": OWN | {"interest": 0.08}}
every_way = pytest.mark.parametrize("hold", WAYS)


@every_way
@settings(max_examples=25, deadline=None)
@given(work=works, grid_water=some, host=some)
def test_parts_add_up_and_every_token_pays_once(hold, work, grid_water, host):
    more = WAYS[hold] | {"grid-water": grid_water, "host-power": host, "storage-price": 0.02}
    bill = billed(hold, work, **more)
    month = {"request": work.rps * MONTH * 3600}
    month["million_input_tokens"] = month["request"] * work.isl / 1e6
    month["million_output_tokens"] = month["request"] * work.osl / 1e6
    for quantity in bill.quantities.values():
        amounts, parts = quantity.amounts, quantity.parts
        assert not quantity.missing
        assert math.fsum(parts.values()) == close(amounts["hour"])
        assert amounts["hour"] * MONTH == close(amounts["month"])
        assert amounts["request"] * month["request"] == close(amounts["month"])
        tokens = [amounts[x] * month[x] for x in month if x != "request"]
        assert sum(tokens) == close(amounts["month"])


@settings(max_examples=25, deadline=None)
@given(price=st.floats(0.01, 100), restart=some, rate=st.floats(1e-4, 1))
def test_a_device_never_taken_away_costs_its_price_and_others_more(price, restart, rate):
    calm = billed("spot", price=price, preemptions=0.0, restart=restart)
    assert calm.device_hour == close(price) and calm.lost_share == 0
    found = billed("spot", price=price, preemptions=rate, restart=restart)
    # both forms of the law: paid seconds over those kept, and a useful second with its losses
    assert found.device_hour == close(price / (1 - found.lost_share))
    useful = BY_ID["INTERRUPTION-RATE"](
        {s.preemption_rate: rate / 3600, s.lost_share: found.lost_share}
    )
    spot = {s.spot_price: price, s.interruption_time: restart + 1.5, s.interruption_rate: useful}
    assert found.device_hour == close(float(BY_ID["SPOT-COST"](spot)))
    assert found.device_hour > price


@settings(max_examples=25, deadline=None)
@given(idle=st.integers(2, 40))
def test_what_does_not_depend_on_work_goes_with_one_over_the_use(idle):
    """Twice as many own devices for the same requests: twice the capital and staff for each."""
    full, empty = (
        billed("owned", Work(10.0, n, *WORK_REST), **OWN).quantities["usd"].parts
        for n in (2, 2 * idle)
    )
    for part in ("capital", "staff"):
        assert empty[part] == close(idle * full[part])
    assert full["electricity"] < empty["electricity"] < idle * full["electricity"]


WORK_REST = (4.0, 100.0, 50.0, (0.02, 0.06), (30.0, 50.0), 400.0, 3.0)


def test_owning_and_renting_by_need_are_equal_where_the_law_says():
    """At that share of the hours rent equals capital, staff and power, at rest and at work."""
    bill = billed("owned", price=2.5, **OWN)
    fixed = 1 + 0.5 + 0.1 * 1.5 * (0.1 + 0.1)  # USD an hour: 400 W at rest on 4 devices, hosts
    running = 0.1 * 1.5 * (0.16 - 0.1)
    assert bill.even * 2.5 == close(fixed + bill.even * running)
    assert billed("owned", price=1.0, **OWN).even == math.inf
    assert billed("on-demand", price=2.5, **OWN).even == close(bill.even)
    assert billed("on-demand").even is None  # nobody says what staff is


def test_the_chart_crosses_where_the_law_says():
    case, work = Case(CASE), Work(10.0, 2, *WORK_REST)
    stated = STATED | OWN | {"restart": 60}
    even = billed("owned", work, price=None, **OWN).even
    chart = costs.own_or_rent(case, work, stated, [even / 2, even, 1.0]).to_dict()
    assert chart["title"]["text"][0].startswith(f"Owning pays from {even:.0%}")
    (band,) = [layer for layer in chart["layer"] if "area" in str(layer.get("mark"))]
    marks = chart["data"]["values"]
    own, rent = (
        [row["y"] for row in marks if (row["group"] == "owned") is owned] for owned in (True, False)
    )
    assert own[1] == close(rent[1]) and own[0] > rent[0] and own[2] < rent[2]
    assert band["encoding"]["y2"] == {"field": "high"}
    assert all(row["low"] <= row["y"] <= row["high"] for row in marks)
    nothing = costs.own_or_rent(case, work, STATED, [0.5, 1.0])
    assert "staff" in nothing.data  # nobody says what it is, so nothing is drawn


# Missing stays missing -------------------------------------------------------------------------


def test_what_nobody_states_is_missing_and_named():
    bill = billed("owned", embodied=None, **{"grid-water": None})
    data = as_data(bill, TOLD)
    hour = data["per"]["hour"]
    assert hour["usd"] is None and hour["kwh"] is not None
    assert {one["what"] for one in data["missing"]} == {"staff"}  # an H100 has records of the rest
    assert data["known_part"]["hour"]["usd"] > 0 and data["usd_per_device_hour"] is None
    whole = as_data(billed("owned", staff=0.02), TOLD)
    assert (
        whole["missing"] == [] and whole["per"]["hour"]["usd"] > data["known_part"]["hour"]["usd"]
    )


TOLD = {
    "good_share": None,
    "latency_s": {"ttft": {"p95": 0.1}},
    "known": "calibrated",
    "most_rps": 20.0,
}


def test_a_device_without_records_has_no_total_until_they_are_stated():
    case = opened(model="llama-3.1-8b", hardware="l40s", batch=1, grid="fra")
    stated = {"staff": 0.0, "electricity": 0.1}
    facts, lacking = gather(case, "owned", stated)
    bill = reckon(case, "owned", WORK, facts, lacking, None)
    missing = {one.says: one.touches for one in bill.lacking}
    assert missing["capital"] == ("usd",) and missing["hosts"] == ("usd", "kwh", "kg", "litres")
    assert "pay of the staff" not in missing  # nobody is employed
    for name in ("usd", "kwh", "kg", "litres"):
        assert bill.quantities[name].total("hour") is None
    more = {"capex": 9000, "host-power": 100, "embodied": 80, "grid-water": 3}
    facts, lacking = gather(case, "owned", stated | more)
    bill = reckon(case, "owned", WORK, facts, lacking, None)
    assert not bill.lacking
    assert all(one.total("hour") is not None for one in bill.quantities.values())


def test_a_device_without_a_price_has_none():
    case = opened(model="llama-3.1-8b", hardware="h20", batch=1, grid="usa")
    facts, lacking = gather(case, "on-demand", STATED)
    bill = reckon(case, "on-demand", WORK, facts, lacking, rented(case, "on-demand", None))
    assert bill.quantities["usd"].missing == ["devices"]
    assert "state it with --price" in bill.lacking[-1].why


def test_each_option_has_one_fact_and_records_bring_their_date_and_range():
    assert len(OPTIONS) == len(NEEDS) == len({need.symbol for need in NEEDS})
    host = recorded(s.host_power, "h100-sxm", "world")
    assert (host.value, host.low, host.high, host.date) == (350, 269, 575, "2025")
    assert recorded(s.grid_water, "h100-sxm", "usa-camx").source == "assumptions/grid-water-usa"
    assert recorded(s.grid_water, "h100-sxm", "fra") is None
    lowest = offered("h100-sxm", "on-demand")
    assert lowest[0].provider == "Verda" and lowest[0].usd_per_second < lowest[-1].usd_per_second
    assert offered("h20", "spot") == []


# From the simulation -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run():
    load = Load(Lengths(512, 64), count=3000, rate=1.5)
    return served(Service(CASE, batch=64), load)


def test_utilisation_is_the_simulators(run):
    work, told = run
    assert work.replicas == 1 and work.rps == 1.5
    assert 0.2 < told["utilisation"] < 0.9
    assert work.busy == close(told["utilisation"], rel=0.02)
    assert work.seconds[0] / sum(work.seconds) == close(told["prefill_share"])
    assert (work.isl, work.osl) == (512, 64)
    # all the energy of the run, but for its two ends
    whole = (work.powers.sum() + work.rest) * told["seconds"] * CASE.given()[s.pue] / 3.6e6
    assert whole == close(told["spent"]["kWh"], rel=0.02)


def test_as_few_replicas_as_serve_the_load():
    load = Load(Lengths(512, 64), count=1000, rate=150.0)
    work, told = served(Service(CASE, batch=64), load)
    assert work.replicas > 1 and work.rps == close(150)
    assert (work.replicas - 1) * told["most_rps"] <= 150 < work.replicas * told["most_rps"]


def test_a_run_too_short_to_say_what_one_of_many_takes_is_refused_or_made_longer():
    """One request alone takes the steps of a batch of thirty: 28 kWh an hour of two devices."""
    load = Load(Lengths(1024, 256), count=1, rate=30.0)
    with pytest.raises(BadInput, match=r"--requests 1 end before .* simulate \d+ or more"):
        served(Service(CASE), load)
    long, _ = served(Service(CASE), load, longer=True)
    longer, _ = served(Service(CASE), replace(load, count=20_000))
    assert long.draw == close(longer.draw, rel=0.1)


@pytest.mark.parametrize("count", [150, 400, 1500])
@pytest.mark.parametrize("rate", [2.0, 12.0, 19.0])
def test_no_device_draws_more_than_its_limit(rate, count):
    """The steps of a run cannot take more time than there is, whatever the ends add to it."""
    try:
        work, _ = served(Service(CASE), Load(Lengths(1024, 256), count=count, rate=rate), 1)
    except BadInput:
        return  # too short to tell
    assert sum(work.seconds) * work.rps <= 1 + 1e-9
    assert work.draw <= CASE.given()[s.board_power] * 1.05


# The command -------------------------------------------------------------------------------------


@pytest.fixture
def command(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["inferecon", "cost", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, *capsys.readouterr()

    return run


ASKS = ("--model", "llama-3.1-8b", "--rps", 2, "--requests", 300, "--osl", 32)


def test_the_command_prints_the_same_in_words_and_as_data(command):
    words = (*ASKS, "--grid", "US", "--hold", "owned", "--staff", 0.01)
    code, out, _ = command(*words, "--json")
    data = json.loads(out)
    assert code == 0 and data["missing"] == [] and data["grid"] == "usa"
    assert set(data["per"]["request"]) == {"usd", "kwh", "kg", "litres"}
    assert {fact["from"] for fact in data["facts"]} >= {"assumptions/capex-h100-sxm", "grids/usa"}
    code, out, _ = command(*words)
    assert code == 0 and "an own device costs" in out and "assumptions/capex-h100-sxm" in out
    code, out, _ = command(*ASKS, "--hold", "spot", "--grid", "SE")
    assert code == 0 and "≥" in out and "state it with --restart" in out


def test_a_curve_of_hours_takes_the_place_of_the_mean(command, tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("hour,gco2e_per_kwh\n0,100\n1,300\n")
    _, flat, _ = command(*ASKS, "--grid", "usa", "--json")
    _, out, _ = command(*ASKS, "--grid", "usa", "--curve", curve, "--json")
    one, two = (json.loads(text)["parts_of_an_hour"] for text in (flat, out))
    assert two["kg"]["use"] == close(
        two["kwh"]["prefill"] * 0.2
        + 0.2 * (two["kwh"]["decode"] + two["kwh"]["waiting"] + two["kwh"]["hosts"])
    )
    assert one["kwh"] == two["kwh"] and one["kg"]["making"] == two["kg"]["making"]


WRONG = {
    ("--hold", "spott"): "--hold: no way 'spott'; did you mean spot?",
    ("--hold", "owned", "--capex", "-3"): "--capex must be from 0 to",
    ("--lifetime", "0"): "--lifetime must be from 0.001",
    ("--pue", "0.9"): "--pue must be from 1 to",
    ("--electricity", "nan"): "--electricity must be from 0",
    ("--restart", "60"): "--restart goes with --hold spot, not on-demand",
    ("--hold", "spot", "--restart", "20000"): "leaves no time to serve",
    ("--grid", "atlantis"): "--grid: no grid 'atlantis'",
    ("--rps", "-1"): "--rps must be more than 0",
    ("--price", "-1"): "--price must be from 0",
    ("--provider", "Verrda"): "did you mean Verda",
    ("--memory", "500"): "--memory needs --memory-price",
    ("--hardware", "h100"): "no record 'h100' in hardware",
    ("--replicas", "-2"): "--replicas must be 0",
    ("--rps", "900", "--replicas", "1"): "cannot serve 900 requests a second",
    ("--curve", "absent.csv"): "no file 'absent.csv'",
    ("--hold", "owned", "--interest", "inf"): "--interest must be from 0",
    ("--wage", "5"): "--wage goes with --hold owned, not on-demand; to compare",
    ("--hold", "spot", "--capex", "5"): "--capex goes with --hold owned, not spot",
    ("--policy", "static"): "--policy: a cost is asked of continuous or chunked, not of static",
    ("--memory-price", "3"): "--memory-price goes with --memory",
    ("--requests", "1", "--rps", "30"): "--requests 1 end before they say",
    ("--replicas", "100000000"): "--replicas must be 0",
    ("--rps", "1e9"): "at most 1,000,000 are billed",
    ("--slo", "ttft=1ms"): "keeps ttft=1ms: it misses ttft, ",
    ("--slo", "ttft=1s", "--policy", "chunked"): "sized for --policy continuous, not chunked",
    ("--slo", "ttft=1s", "--batch", "600"): "sized for batches of 1 to 512, not 600",
    ("--share", "0.9"): "--share says nothing without --slo",
}


@pytest.mark.parametrize(("words", "says"), WRONG.items(), ids=[" ".join(x) for x in WRONG])
def test_a_mistake_is_one_sentence(words, says, command):
    code, out, err = command(*ASKS, *words)
    assert code == 2 and out == "" and says in err and err.count("\n") == 1


def test_a_bill_of_so_many_replicas_says_what_becomes_of_a_promise(command):
    code, out, _ = command(*ASKS, "--replicas", 1, "--slo", "ttft=1ms")
    assert code == 0 and "were asked for, and no request keeps it; without --replicas" in out
    _, out, _ = command(*ASKS, "--replicas", 1, "--slo", "ttft=100s")
    assert "were asked for, and every request keeps it" in out
    assert "promise" not in command(*ASKS)[1]


def test_a_bill_with_a_promise_is_sized_for_it_as_a_plan_is(command):
    words = ("--model", "llama-3.1-8b", "--rps", 30, "--isl", 1024, "--osl", 128)
    promise = ("--slo", "ttft=400ms,itl=12ms")
    bare = json.loads(command(*words, "--json")[1])
    code, out, _ = command(*words, *promise, "--json")
    bill = json.loads(out)
    ask = Ask(
        "llama-3.1-8b",
        30.0,
        1024,
        128,
        tuple(limits("ttft=400ms,itl=12ms")),
        hardware=("h100-sxm",),
        formats=("bf16",),
        modes=("together",),
        batches=(256,),
    )
    one = next(x for x in plan(ask).ranked if x.candidate.option.tp == 1)
    assert code == 0 and bill["sized_for_promise"] and not bare["sized_for_promise"]
    assert bill["replicas"] == one.replicas[1] > bare["replicas"]
    assert bill["good_share"] >= 0.95
    share = json.loads(command(*words, *promise, "--share", 0.6, "--json")[1])
    assert share["replicas"] <= bill["replicas"] and share["good_share"] >= 0.6
    assert "as few replicas as keep the promise, which" in command(*words, *promise)[1]


def test_facts_of_an_own_device_beside_a_rented_one_are_used_or_refused(command):
    own = ("--staff", 0.01, "--wage", 60000, "--capex", 30000, "--electricity", 0.1)
    code, out, _ = command(*ASKS, *own)
    assert code == 0 and "an own device costs" in out


def test_a_sum_without_the_price_of_its_devices_is_missing(command):
    code, out, _ = command(*ASKS, "--hardware", "h20")
    usd = next(line for line in out.splitlines() if line.startswith("USD"))
    assert code == 0 and usd.split() == ["USD", *["missing"] * 5]
    data = json.loads(command(*ASKS, "--hardware", "h20", "--json")[1])
    assert data["known_part"]["hour"]["usd"] is None and data["known_part"]["hour"]["kwh"] > 0


def test_columns_of_large_amounts_stand_apart(command):
    out = command(*ASKS, "--replicas", 900_000)[1].splitlines()
    head = next(line for line in out if "an hour" in line)
    usd = next(line for line in out if line.startswith("USD"))
    assert len(head) == len(usd) and len(usd.split()) == 6
    assert "  " in usd[usd.index(usd.split()[1]) :]
