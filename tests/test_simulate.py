"""The simulator: queues whose answer a law has, what must be conserved, and each way to batch.

Times come from straight lines where a law has the answer in closed form, else from the calibrated
laws of a small model on the H100.
"""

import gzip
import json
import math
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferecon import cli
from inferecon import symbols as s
from inferecon.claims.simulations import batcher_served
from inferecon.errors import BadInput
from inferecon.forecast import forecast
from inferecon.laws import queueing
from inferecon.scenario import opened
from inferecon.service.promise import promise
from inferecon.simulate import apart
from inferecon.simulate.arrivals import Lengths, arriving, rows_of, traced
from inferecon.simulate.histogram import ERROR, Histogram
from inferecon.simulate.notes import notes
from inferecon.simulate.plan import POLICIES, Load, Service
from inferecon.simulate.replica import Replica, steps_until
from inferecon.simulate.run import report, simulate
from inferecon.simulate.sequences import Policy
from inferecon.simulate.steps import Speculation, line, steps
from inferecon.simulate.tally import Tally

CASE = opened(model="llama-3.1-8b", hardware="h100-sxm", weights="bf16", isl=512, osl=128)
SEEDS = range(8)


@pytest.fixture
def told(monkeypatch, capsys):
    """Return a function that runs the command on a small model: exit code, output, complaints."""

    def run(*arguments):
        words = ["inferecon", "simulate", "llama-3.1-8b", "h100-sxm", "bf16"]
        monkeypatch.setattr(sys, "argv", [*words, *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        shown = capsys.readouterr()
        return end.value.code, shown.out, shown.err

    return run


@pytest.fixture
def trace(tmp_path):
    """Return a function that writes a trace of as many requests a second."""

    def write(count, rate, tokens="1000,250"):
        path = tmp_path / "trace.csv"
        rows = "".join(f"{i / rate},{tokens}\n" for i in range(count))
        path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows)
        return path

    return write


def wait(service, load, tables):
    """Mean wait over seeds, and how far off it may be: the 99.9 % interval of eight runs."""
    means = [
        simulate(service, replace(load, seed=seed), tables=tables).tally.latency["wait"].mean
        for seed in SEEDS
    ]
    return np.mean(means), 5.4 * np.std(means, ddof=1) / math.sqrt(len(means))  # t of 7 degrees


# Queues that laws know ---------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_one_prompt_at_a_time_is_the_queue_of_equal_services(rho):
    # one token out: a service is a prefill of 100 tokens of 1 ms each
    tables = line(floor=1.0, prefill=1e-3)
    load = Load(Lengths(100, 1), count=10_000, rate=rho / 0.1)
    found, off = wait(Service(CASE, batch=1), load, tables)
    law = queueing.WAIT_FIXED({s.utilisation: rho, s.service_time: 0.1})
    assert found == pytest.approx(law, abs=off)
    assert off < 0.2 * law


@pytest.mark.parametrize("policy", ["continuous", "dynamic"])
def test_unequal_prompts_wait_as_pollaczek_and_khinchine_say(policy):
    tables = line(floor=1.0, prefill=1e-3, context=20_000)
    lengths = Lengths(1000, 1, isl_variation=0.7, most=20_000)
    load = Load(lengths, count=8_000, rate=0.5)
    found, off = wait(Service(CASE, policy=policy, batch=1, delay=0.0), load, tables)
    values = {s.utilisation: 0.5, s.service_time: 1.0, s.service_variation: 0.49}
    law = queueing.WAIT(values)
    assert found == pytest.approx(law, abs=off)
    assert off < 0.2 * law


def test_a_whole_answer_alone_is_one_long_service():
    # 100 ms of prefill, then 9 steps of 11 ms: a service of 199 ms, equal for all
    tables = line(floor=0.010, slope=0.001, prefill=1e-3)
    load = Load(Lengths(100, 10), count=6_000, rate=0.5 / 0.199)
    found, off = wait(Service(CASE, batch=1), load, tables)
    law = queueing.WAIT_FIXED({s.utilisation: 0.5, s.service_time: 0.199})
    assert found == pytest.approx(law, abs=off)


def test_a_batch_that_depends_on_itself_is_that_of_littles_law():
    # no prefill; a step of 5 ms and 0.1 ms a sequence; 40 requests a second of 100 tokens
    tables = line(floor=5e-3, slope=1e-4)
    load = Load(Lengths(1, 101), count=10_000, rate=40.0)
    found = simulate(Service(CASE), load, tables=tables)
    values = {
        s.itl_floor: 5e-3,
        s.itl_slope: 1e-4,
        s.token_rate: 4000.0,
        s.one_token: 1.0,
    }
    law = queueing.ITL_LOADED(values)  # 5.1 / (1 - 0.4) = 8.5 ms
    assert law == pytest.approx(8.5e-3)
    # whoever joins waits for the step under way: a sequence is there for half a step more
    assert found.tally.latency["itl"].mean == pytest.approx(law, rel=0.02)
    inside = sum(b * t for b, t in found.tally.batches.items()) / found.seconds
    by_little = queueing.LITTLE(
        {s.arrival_rate: 40.0, s.residence: found.tally.latency["itl"].mean * 100}
    )
    assert inside == pytest.approx(by_little, rel=0.02)


def test_more_than_can_be_served_is_said_and_not_averaged():
    found = simulate(Service(CASE), Load(Lengths(512, 128), count=3000, rate=1e3))
    assert "at most" in found.saturated and "grows without end" in found.saturated
    told = report(found)
    assert all(value is None for value in told["latency_s"].values()) and told["rps"] is None
    assert told["most_rps"] < 1e3


def test_a_queue_that_grows_is_seen_without_a_formula(tmp_path):
    tables = line(floor=1.0, prefill=1e-3)
    load = Load(Lengths(100, 1), count=2000, rate=9.0)
    found = simulate(Service(CASE, policy="static", batch=1), load, tables=tables)
    assert not found.saturated  # 90 % busy
    trace = tmp_path / "trace.csv"
    rows = "".join(f"{i / 20},100,1\n" for i in range(2000))
    trace.write_text("arrival,input_tokens,output_tokens\n" + rows)
    load = replace(load, rate=0.0, trace=trace)  # of a trace no ceiling is known
    late = simulate(Service(CASE, policy="static", batch=1), load, tables=tables)
    assert "the queue grew as long as requests came, to about" in late.saturated


def test_a_trace_is_as_long_as_it_is_whatever_was_asked_for(told, trace):
    # 100 requests a second where some 20 can be served: found in 2,000 as in 10,000
    for more in ((), ("--requests", 20_000)):
        code, out, _ = told("--trace", trace(2000, 100.0), "--slo", "ttft=500ms", *more)
        assert code == 1 and "2,000 requests completed" in out
        assert "saturated: the queue grew as long as requests came" in out
    code, out, _ = told("--trace", trace(300, 1.0), "--json")
    found = json.loads(out)
    assert code == 0 and found["latency_s"]["ttft"]["p50"] > 0 and found["notes"] == []
    code, out, _ = told("--trace", trace(2, 1.0))
    assert code == 0 and "missing" not in out
    assert "2 requests: too few to see whether a queue grows" in out


def test_a_log_is_whole_or_not_there(told, trace, tmp_path):
    log = tmp_path / "log.csv"
    bad = trace(300, 1.0)
    bad.write_text(bad.read_text() + "soon,10,10\n")
    code, _, err = told("--trace", bad, "--log", log)
    assert code == 2 and "line 302" in err
    assert [path.name for path in tmp_path.iterdir()] == ["trace.csv"]
    code, _, err = told("--rate", 1, "--log", tmp_path / "none" / "log.csv")
    assert (code, err) == (2, f"error: --log: no folder '{tmp_path / 'none'}'\n")
    assert told("--rate", 1, "--requests", 5, "--log", log)[0] == 0
    assert len(log.read_text().splitlines()) == 6


def test_an_interrupt_leaves_no_half_of_a_log(tmp_path):
    log = tmp_path / "log.csv"
    words = "simulate llama-3.1-8b h100-sxm bf16 --rate 8 --requests 100000000 --log".split()
    code = "from inferecon.cli import main; main()"
    run = subprocess.Popen(
        [sys.executable, "-c", code, *words, str(log)], stderr=subprocess.PIPE, text=True
    )
    while not any(tmp_path.iterdir()) and run.poll() is None:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)[1]
    assert run.returncode == 130 and said.startswith("Interrupted: ")
    assert list(tmp_path.iterdir()) == []


def test_a_trace_without_a_request_is_one_sentence(told, trace):
    for path in (trace(0, 1.0), trace(9, 1.0, "0,0"), trace(9, 1.0, "100,0")):
        code, out, err = told("--trace", path)
        assert (code, out) == (2, "")
        assert err == "error: trace.csv has no request of at least one token in and one out\n"


def test_the_ceiling_is_where_the_queue_begins_to_grow():
    tables = steps(CASE, "vllm", 64, 1024)
    service = Service(CASE, batch=64)
    load = Load(Lengths(512, 128), count=6000, rate=1.0)
    most = simulate(service, load, tables=tables).most
    assert not simulate(service, replace(load, rate=0.93 * most), tables=tables).saturated
    clients = simulate(service, replace(load, rate=0.0, clients=64), tables=tables)
    assert report(clients)["rps"] == pytest.approx(most, rel=0.07)


# What is conserved -------------------------------------------------------------------------------

PLANS = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(POLICIES),
        "batch": st.integers(1, 12),
        "chunk": st.integers(16, 900),
        "reserve": st.booleans(),
        "replicas": st.integers(1, 3),
        "route": st.sampled_from(["round-robin", "least-loaded"]),
        "prefix": st.sampled_from([0.0, 0.5]),
        "delay": st.sampled_from([0.0, 0.05, 5.0]),
    }
)
LOADS = st.fixed_dictionaries(
    {
        "count": st.integers(1, 150),
        "rate": st.floats(0.1, 50),
        "variation": st.sampled_from([0.0, 1.0, 3.0]),
        "seed": st.integers(0, 2**31),
    }
)


def narrow(room):
    """Tables with so little memory that sequences are put out of the batch."""
    return line(
        floor=0.01, slope=1e-3, prefill=1e-4, batch=12, context=2048, room=room, token_bytes=1.0
    )


@settings(max_examples=60, deadline=None)
@given(PLANS, LOADS, st.integers(300, 3000), st.booleans())
def test_requests_tokens_gaps_and_time_are_conserved(plan, load, room, closed):
    load = Load(Lengths(120, 30, 0.5, 0.8, most=1000), **load)
    if closed:
        clients = 12 * plan["replicas"]
        load = replace(load, rate=0.0, clients=clients)
    service = Service(CASE, **plan)
    tally = (found := simulate(service, load, tables=narrow(room))).tally
    assert tally.done + tally.refused + tally.starved == tally.sent
    assert tally.sent == load.count or tally.starved  # a client that is not served sends no more
    warm = int(0.1 * load.count)
    if not tally.refused and not tally.starved:
        assert tally.measured == load.count - warm
        isl, osl = (
            sum(x.sum() for x in part) for part in list(zip(*load.pieces(), strict=True))[1:]
        )
        assert (tally.tokens_in, tally.tokens_out) == (isl, osl)
        if warm == 0:  # every token after the first has a gap before it
            assert tally.latency["gap"].count == pytest.approx(osl - load.count)
    whole = sum(tally.batches.values())
    assert whole == pytest.approx(found.seconds * service.instances)
    assert tally.busy + tally.batches[0] == pytest.approx(whole)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    LOADS,
    st.integers(400, 4000),
    st.integers(0, 3),
)
def test_workers_of_one_phase_lose_nothing_either(prefills, decodes, load, room, drafts):
    load = Load(Lengths(120, 30, 0.5, 0.8, most=400), **load)
    spec = Speculation(drafts, 0.7 if drafts else 0.0)
    service = Service(
        CASE,
        prefill_workers=prefills,
        decode_workers=decodes,
        batch=12,
        speculation=spec,
        link=1e12,
    )
    found = simulate(service, load, tables=narrow(room))
    assert found.tally.done + found.tally.refused == load.count
    if not found.tally.refused:
        osl = sum(part[2].sum() for part in load.pieces())
        assert found.tally.tokens_out == osl
        if load.count < 10:
            assert found.tally.latency["gap"].count == pytest.approx(osl - load.count)


def test_the_mean_of_the_gaps_is_the_answer_over_its_gaps():
    # law TPOT-TIMED over all requests: gaps add up to the time from first to last token
    found = simulate(Service(CASE), Load(Lengths(512, 128), count=9, rate=5.0))
    latency = found.tally.latency
    spoken = (latency["e2e"].mean - latency["ttft"].mean) * 9
    assert latency["gap"].total == pytest.approx(spoken, rel=1e-3)


def test_a_seed_gives_the_same_run_and_another_one_another():
    load = Load(Lengths(512, 128, 0.5, 0.5, most=4096), count=500, rate=5.0, seed=7)
    first, again = (report(simulate(Service(CASE), load)) for _ in range(2))
    assert first == again
    assert report(simulate(Service(CASE), replace(load, seed=8))) != first


# Each way to batch -------------------------------------------------------------------------------


def test_the_batcher_of_the_second_document_starves_who_waited_too_long():
    # a batch takes longer than the delay: who came early in it is too old when it ends
    tables = line(floor=0.020, prefill=1e-4)
    load = Load(Lengths(100, 10), count=4000, rate=20.0, limits=tuple(promise("e2e=2s")))
    common = dict(batch=32, delay=0.05)
    wrong = simulate(Service(CASE, policy="inverted", **common), load, tables=tables).tally
    right = simulate(Service(CASE, policy="dynamic", **common), load, tables=tables).tally
    assert right.starved == 0 and right.done == 4000
    assert wrong.starved > 2000 and wrong.done + wrong.starved == 4000
    assert right.good > 3000 > wrong.good
    # the same as the claim's own simulation: asked every 190 ms, those of the last 50 are taken
    assert wrong.done / 4000 == pytest.approx(batcher_served(190), abs=0.15)


def test_a_delay_is_kept_by_a_server_that_is_free():
    tables = line(floor=1e-4, prefill=1e-7)
    load = Load(Lengths(10, 2), count=2000, rate=1.0)
    found = simulate(Service(CASE, policy="dynamic", batch=8, delay=0.2), load, tables=tables)
    assert found.tally.latency["wait"].most == pytest.approx(0.2, rel=1e-9)


def test_a_static_batch_keeps_its_places_until_its_longest_answer():
    # two requests at once, answers of 11 and 101 tokens, a step of 10 ms: 1.0 s in all
    tables = line(floor=0.010)
    load = Load(Lengths(rows=np.array([[1.0, 11.0], [1.0, 101.0]])), count=40, clients=2)
    found = simulate(Service(CASE, policy="static", batch=2), load, tables=tables)
    alone = simulate(Service(CASE, policy="continuous", batch=2), load, tables=tables)
    assert found.seconds > alone.seconds
    assert found.tally.tokens_out == alone.tally.tokens_out


def test_chunks_shorten_the_longest_gap_and_lengthen_the_first_token():
    load = Load(Lengths(2048, 200), count=2000, rate=2.0)
    case = replace(CASE, isl=2048, osl=200)
    whole = simulate(Service(case), load).tally.latency
    cut = simulate(Service(case, policy="chunked", chunk=512), load).tally.latency
    assert cut["gap"].percentile(0.99) < 0.7 * whole["gap"].percentile(0.99)
    assert cut["ttft"].percentile(0.5) > whole["ttft"].percentile(0.5)


def test_memory_that_ends_puts_the_youngest_out_and_reserving_puts_nobody_out():
    load = Load(Lengths(100, 100), count=400, clients=10)
    service = Service(CASE, batch=10)
    tight = simulate(service, load, tables=narrow(1500))
    assert tight.tally.preempted > 0 and tight.tally.done == 400
    assert max(tight.tally.batches) < 15
    safe = simulate(replace(service, reserve=True), load, tables=narrow(1500))
    assert safe.tally.preempted == 0 and safe.tally.done == 400
    assert max(safe.tally.batches) == 7  # 7 x 200 tokens of 1500
    wide = simulate(service, load, tables=narrow(1e9))
    assert wide.tally.preempted == 0 and wide.seconds < tight.seconds


def test_a_request_that_no_memory_holds_is_refused():
    load = Load(Lengths(100, 100), count=5, rate=1.0)
    found = simulate(Service(CASE), load, tables=narrow(150))
    assert found.tally.refused == 5 and found.tally.done == 0


def test_half_a_prompt_in_the_cache_shortens_the_first_token():
    load = Load(Lengths(2048, 16), count=500, rate=2.0)
    case = replace(CASE, isl=2048, osl=16)
    without, half = (
        simulate(Service(case, prefix=share), load).tally.latency["ttft"].mean
        for share in (0.0, 0.5)
    )
    assert 0.4 * without < half < 0.8 * without


def test_drafts_pay_at_a_small_batch_and_cost_at_a_large_one():
    spec = Speculation(3, 0.7, 0.05)

    def rate(clients, speculation):
        load = Load(Lengths(64, 200), count=20 * clients, clients=clients)
        case = replace(CASE, isl=64, osl=200)
        return report(simulate(Service(case, speculation=speculation), load))["tps"]

    few = rate(1, spec) / rate(1, Speculation())
    many = rate(256, spec) / rate(256, Speculation())
    assert few > 1.5 > many  # 2.5 tokens a step at 0.7 (1 - 0.7^4) / 0.3


def test_phases_apart_keep_prompts_out_of_the_gaps():
    load = Load(Lengths(2048, 200), count=1500, rate=4.0)
    case = replace(CASE, isl=2048, osl=200)
    together = simulate(Service(case, replicas=2), load)
    apart = simulate(Service(case, prefill_workers=1, decode_workers=1), load)
    late = together.tally.latency["gap"].percentile(0.99)
    assert apart.tally.latency["gap"].percentile(0.99) < 0.5 * late
    # the cache crosses once: the second token comes later by that time, and no other does
    bytes_ = case.value(s.kv_bytes_per_token).m * 2048
    slow = simulate(Service(case, prefill_workers=1, decode_workers=1, link=bytes_ * 10), load)
    assert slow.tally.latency["gap"].most > 0.1 > apart.tally.latency["gap"].most
    assert slow.tally.latency["ttft"].mean == pytest.approx(apart.tally.latency["ttft"].mean)


def test_caches_take_turns_on_a_link():
    # law WAIT-MD1 where prefills are nothing: a link that carries a cache in 0.1 s, half in use
    tables = line(floor=1e-6, prefill=1e-9)
    bytes_ = CASE.value(s.kv_bytes_per_token).m * 512
    service = Service(CASE, prefill_workers=1, decode_workers=1, link=bytes_ / 0.1, batch=10**5)
    load = Load(Lengths(512, 2), count=10_000, rate=5.0)
    means = [
        simulate(service, replace(load, seed=seed), tables=tables).tally.latency["gap"].mean
        for seed in SEEDS
    ]
    law = queueing.WAIT_FIXED({s.utilisation: 0.5, s.service_time: 0.1})
    off = 5.4 * np.std(means, ddof=1) / math.sqrt(len(means))
    assert np.mean(means) == pytest.approx(0.1 + law, abs=off) and off < 0.2 * law
    # two pairs have a link each, and a queue of half the rate; one into one worker is all there is
    two = replace(service, prefill_workers=2, decode_workers=2)
    assert simulate(two, load, tables=tables).tally.latency["gap"].mean < np.mean(means) - law / 2
    one = replace(service, prefill_workers=2)
    shared = simulate(one, load, tables=tables).tally.latency["gap"].mean
    assert shared == pytest.approx(np.mean(means), abs=off)


def test_a_cache_waits_for_the_link_out_and_for_the_link_in():
    """Three prompts of a second each, done at 1, 1 and 2 s; a cache crosses in 3 s.

    Two workers prefill, one decodes in steps of 0.5 s: the caches are over at 4, 7 and 10 s.
    """
    tables = line(floor=0.5, prefill=1 / 100, token_bytes=1.0, room=1e9)
    made = Tally(3)
    both = [Replica(tables, Policy(), made, made.finished, role="prefill") for _ in range(2)]
    one = [Replica(tables, Policy(), made, made.finished, role="decode")]
    pieces = iter([(np.array([0.0, 0.0, 1.0]), np.full(3, 100.0), np.full(3, 2.0))])
    half = apart.prefilled(both, "round-robin", pieces, 0.0, made)
    apart.decoded(half, one, "round-robin", apart.Links(2, 1, lambda tokens: 3.0), made)
    assert one[0].clock == 10.5 and made.done == 3
    gaps = made.latency["gap"]  # 4.5 - 1, 7.5 - 1, 10.5 - 2
    assert gaps.total == pytest.approx(3.5 + 6.5 + 8.5) and gaps.most == 8.5
    # the first worker still holds its first cache, over at 4, when it takes its third prompt:
    # 100 bytes that cross, and 100 that are done at 2
    assert made.most_held == [200.0, 100.0]


def test_caches_that_wait_in_more_memory_than_there_is_are_told():
    tables = line(floor=1e-3, prefill=1e-6, token_bytes=1.0, room=4000.0)
    service = Service(CASE, prefill_workers=1, decode_workers=1, link=link_of(1000, 0.9), batch=4)
    load = Load(Lengths(1000, 8), count=2000, rate=1.0, warm=0.0)
    found = simulate(service, load, tables=tables)
    held = report(found)["held_bytes"]
    assert held["free"] == 4000.0 < held["prefill"]
    (said,) = (x for x in notes(found) if "caches that wait" in x)
    assert "of a worker to prefill" in said and "latencies are at least these" in said
    quick = simulate(replace(service, link=link_of(1000, 0.01)), load, tables=tables)
    assert not any("caches that wait" in x for x in notes(quick))


def link_of(tokens: int, seconds: float) -> float:
    """Return the bandwidth that carries the cache of a prompt in a time."""
    return CASE.value(s.kv_bytes_per_token).m * tokens / seconds


def test_a_first_half_that_was_kept_gives_the_same_run_as_one_that_is_made():
    case = replace(CASE, isl=512, osl=64)
    load = Load(Lengths(512, 64), count=600, rate=12.0, warm=0.2)
    halves = apart.FirstHalves()
    for decodes in (1, 2, 1):
        service = Service(case, prefill_workers=2, decode_workers=decodes)
        kept, made = (report(simulate(service, load, halves=x)) for x in (halves, None))
        for name in ("requests", "tokens", "seconds", "latency_s", "good_share", "held_bytes"):
            assert kept[name] == made[name], name
        assert kept["spent"] == pytest.approx(made["spent"], rel=1e-12)  # summed in another order
    assert len(halves.kept) == 1


@pytest.mark.parametrize(
    "many", [{"replicas": 3}, {"prefill_workers": 2, "decode_workers": 4}], ids=["all", "apart"]
)
def test_one_of_those_that_do_the_same_stands_for_all(many):
    load = Load(Lengths(512, 64), count=9000, rate=30.0)
    all_ = report(simulate(Service(CASE, **many), load))
    part = report(simulate(Service(CASE, alike=True, **many), replace(load, count=3000)))
    assert part["stands_for"] in (2, 3) and all_["stands_for"] == 1
    assert part["devices"] == all_["devices"]
    assert part["most_rps"] == pytest.approx(all_["most_rps"])
    for name in ("tps", "rps", "utilisation"):
        assert part[name] == pytest.approx(all_[name], rel=0.03)
    for name in ("J_per_output_token", "USD_per_million_output"):
        assert part["spent"][name] == pytest.approx(all_["spent"][name], rel=0.03)
    for name in ("ttft", "itl"):
        assert part["latency_s"][name]["p95"] == pytest.approx(
            all_["latency_s"][name]["p95"], rel=0.05
        )


def test_what_one_cannot_stand_for_is_refused():
    with pytest.raises(BadInput, match="--alike goes with --route round-robin"):
        Service(CASE, replicas=2, route="least-loaded", alike=True)
    with pytest.raises(BadInput, match="--alike goes with --rate"):
        simulate(Service(CASE, replicas=2, alike=True), Load(Lengths(), clients=4, count=9))


def test_a_link_that_cannot_carry_the_caches_is_saturated(told, trace):
    apart = ("--prefill-workers", 1, "--decode-workers", 1)
    # 8 requests a second of 1,024 tokens of 131,072 bytes: 1.07 GB/s; 0.5 GB/s carry 3.73
    code, out, _ = told("--rate", 8, *apart, "--link", 0.5)
    assert code == 1 and "at most 3.725 can be carried over --link" in out
    code, out, _ = told("--rate", 8, *apart, "--link", 2, "--requests", 500)
    assert code == 0
    # of a trace there is no ceiling, and the queue for the link is seen
    code, out, _ = told("--trace", trace(1000, 8.0, "1024,2"), *apart, "--link", 0.5)
    assert code == 1 and "the queue grew" in out


def test_a_queue_before_workers_that_decode_is_seen_in_a_trace(told, trace):
    apart = ("--prefill-workers", 1, "--decode-workers", 1, "--batch", 4)
    code, out, _ = told("--trace", trace(1000, 8.0, "100,200"), *apart)
    assert code == 1 and "the queue grew" in out


def test_the_shortest_queue_is_better_than_taking_turns():
    tables = line(floor=1.0, prefill=1e-3, context=20_000)
    lengths = Lengths(1000, 1, isl_variation=1.5, most=20_000)
    load = Load(lengths, count=8000, rate=2.8)
    turns, least = (
        simulate(Service(CASE, batch=1, replicas=4, route=route), load, tables=tables)
        for route in ("round-robin", "least-loaded")
    )
    assert least.tally.latency["wait"].mean < 0.7 * turns.tally.latency["wait"].mean


def test_idle_devices_draw_power_and_are_paid_for():
    load = Load(Lengths(512, 128), count=200, rate=0.05)
    told = report(found := simulate(Service(CASE), load))
    assert told["utilisation"] < 0.1 and told["spent"]["idle_share"] > 0.7
    # USD: the price of a device times the time, whatever it did
    price = CASE.given()[s.price]
    assert told["spent"]["USD"] == pytest.approx(price * found.seconds)
    joules = found.tally.energy + found.tally.idle_energy
    assert told["spent"]["kWh"] == pytest.approx(joules * CASE.given()[s.pue] / 3.6e6)


# Parts -------------------------------------------------------------------------------------------


@given(st.lists(st.floats(1e-6, 1e5), min_size=1, max_size=200), st.sampled_from([0.5, 0.9, 0.99]))
def test_a_percentile_is_off_by_no_more_than_it_says(values, share):
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    exact = np.quantile(values, share, method="inverted_cdf")
    assert histogram.percentile(share) == pytest.approx(exact, rel=ERROR * 1.01)
    assert histogram.mean == pytest.approx(np.mean(values))
    assert histogram.spread((50,))["max"] == max(values)


@given(st.floats(1e-4, 1e3), st.floats(1e-4, 1.0), st.floats(0, 1e-2))
def test_steps_until_a_time_are_the_fewest_that_reach_it(ahead, first, slope):
    count = steps_until(ahead, first, slope)
    reached = count * first + slope * count * (count - 1) / 2
    before = (count - 1) * first + slope * (count - 1) * (count - 2) / 2
    assert reached >= ahead * (1 - 1e-6)
    assert before < ahead or count == 1


def test_a_step_is_what_the_calibrated_law_gives():
    tables = steps(CASE, "vllm", 48, 4096)
    # what `inferecon predict` says of a batch and a context between the points of the table
    case = replace(CASE, isl=777, osl=1, batch=37)
    (rate,) = (one.predicted for one in forecast(case, "vllm") if one.metric == "decode_tok_s")
    assert 37 / tables.decode(37, 777.5) == pytest.approx(rate, rel=2e-3)
    # a prompt in two halves looks at as much as the whole
    halves = tables.prefill([(512, 0)]) + tables.prefill([(512, 512)])
    assert halves > tables.prefill([(1024, 0)])


def test_arrivals_have_the_rate_and_the_bursts_that_were_asked_for():
    for variation in (0.0, 0.5, 1.0, 3.0):
        pieces = list(arriving(10.0, variation, Lengths(), 50_000, seed=3))
        gaps = np.diff(np.concatenate([piece[0] for piece in pieces]))
        assert gaps.mean() == pytest.approx(0.1, rel=0.06)
        assert gaps.std() / gaps.mean() == pytest.approx(variation, rel=0.05, abs=1e-6)


def test_bursts_have_one_bound_and_the_smallest_are_a_clock(told):
    (piece,) = arriving(10.0, 1e-200, Lengths(), 20, seed=3)
    assert np.diff(piece[0]) == pytest.approx(0.1)
    for burst in (1e200, 20.1):
        code, _, err = told("--rate", 1, "--burst", burst)
        assert code == 2 and "--burst must be 0 to 20" in err


def test_lengths_have_their_mean_and_never_leave_the_context():
    isl, osl = Lengths(1000, 200, 0.5, 2.0, most=4096).drawn(np.random.default_rng(1), 100_000)
    assert isl.mean() == pytest.approx(1000, rel=0.02) and osl.min() >= 1
    assert isl.std() / isl.mean() == pytest.approx(0.5, rel=0.06)
    assert (isl + osl).max() <= 4096


TRACES = {
    "azure.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n"
    "2023-11-16 18:17:05.0,110,27\n",
    "burst.csv": "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n"
    "118,GPT-4,417,276,693,Conversation log\n",
    "burst2.csv": "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,"
    "Total tokens,Log Type\n19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n"
    "19440161.0,d5983bf9,2,ChatGPT,36,29,65,Conversation log\n",
}


def test_traces_are_read_in_the_layouts_they_are_published_in(tmp_path):
    for name, text in TRACES.items():
        (tmp_path / name).write_text(text)
    (piece,) = traced(tmp_path / "azure.csv", 10**6, 1.0, None)
    assert piece[0] == pytest.approx([0.0, 0.052, 1.02004], abs=1e-5)
    assert piece[1].tolist() == [4808, 3180, 110] and piece[2].tolist() == [10, 8, 27]
    (piece,) = traced(tmp_path / "burst.csv", 10**6, 2.0, None)  # twice as fast; one had no answer
    assert piece[0].tolist() == [0.0, 56.5] and piece[2].tolist() == [18, 276]
    mixed = tmp_path / "mixed.csv"  # as a log has it: in the order of the ends
    mixed.write_text(TRACES["burst.csv"].replace("118,", "1,"))
    (piece,) = traced(mixed, 10**6, 1.0, None)
    assert piece[0].tolist() == [0.0, 4.0] and piece[1].tolist() == [417, 472]
    (piece,) = traced(tmp_path / "burst2.csv", 1, 1.0, None)
    assert piece[1].tolist() == [906]
    assert rows_of(tmp_path / "burst.csv").tolist() == [[472, 18], [417, 276]]


def test_a_trace_that_cannot_be_read_is_one_sentence(tmp_path):
    path = tmp_path / "trace.csv"
    for text, says in (
        ("a,b\n1,2\n", "has none of the known columns; Azure"),
        (TRACES["azure.csv"].replace("3180", "many"), "line 3 is no time and two numbers"),
        *(
            (TRACES["azure.csv"].replace("3180", wrong), "line 3 is no time .* none below zero")
            for wrong in ("nan", "inf", "1e300", "-5", "10.7")
        ),
        (TRACES["burst.csv"].replace("45,", "nan,"), "line 3 is no time"),
        (TRACES["burst.csv"].replace("45,", "inf,"), "line 3 is no time"),
        (TRACES["azure.csv"].replace(",", ";"), "has semicolons between its cells; write commas"),
        (TRACES["azure.csv"].replace(",", "\t"), "has tabs between its cells; write commas"),
        (" \n\n", "trace.csv is empty"),
    ):
        path.write_text(text)
        with pytest.raises(BadInput, match=says):
            list(traced(path, 10, 1.0, None))
    path.write_bytes(gzip.compress(TRACES["azure.csv"].encode()))
    for read in (rows_of, lambda path: list(traced(path, 10, 1.0, None))):
        with pytest.raises(BadInput, match="is no text in UTF-8"):
            read(path)
    for wrong in ("nan", "inf", "-5", "10.7"):
        path.write_text(f"input_tokens,output_tokens\n3,4\n{wrong},5\n")
        with pytest.raises(BadInput, match="line 3, is no pair of numbers of tokens"):
            rows_of(path)


def test_an_option_without_effect_is_one_sentence(told, trace, tmp_path):
    lengths = tmp_path / "lengths.csv"
    lengths.write_text("input_tokens,output_tokens\n100,10\n")
    traced_ = ("--trace", trace(9, 1.0))
    for words, says in (
        *(
            ((*traced_, flag, value), f"{flag} says nothing with --trace: leave one out")
            for flag, value in (
                ("--isl", 1024),
                ("--osl", 9),
                ("--spread", 1),
                ("--burst", 1),
                ("--lengths", lengths),
            )
        ),
        (("--rate", 1, "--lengths", lengths, "--isl", 9), "--isl says nothing with --lengths"),
        (("--clients", 1, "--burst", 2), "--burst says nothing with --clients"),
        (("--rate", 1, "--speed", 2), "--speed says nothing without --trace"),
        (("--rate", 1, "--acceptance", 0.5), "--acceptance says nothing without --drafts"),
        (("--rate", 1, "--link", 5), "--link says nothing without --prefill-workers"),
        (("--rate", 1, "--delay", 1), "--delay goes with --policy dynamic or inverted, not cont"),
        (("--rate", 1, "--policy", "static", "--chunk", 1), "--chunk goes with --policy continu"),
    ):
        code, out, err = told(*words)
        assert (code, out, err.count("\n")) == (2, "", 1) and says in err


def test_what_figures_do_not_say_stands_beside_them(told, trace):
    few = ("--rate", 1, "--requests", 200)
    code, out, _ = told(*few, "--isl", 16000, "--spread", 1)
    cut = re.search(r"(\d+) of 200 requests were longer than 32,768 tokens and were cut: ", out)
    assert code == 0 and int(cut[1]) > 5
    code, out, _ = told(*few, "--grid", "SE")
    assert "hosts, fans and switches are left out" in out and "cut:" not in out
    assert out.split("emissions")[1] == told(*few, "--grid", "swe")[1].split("emissions")[1]
    path = trace(200, 1.0, "40000,10")
    code, out, _ = told("--trace", path, "--json")
    (note,) = json.loads(out)["notes"]
    assert note.startswith("200 of 200 requests were longer than 32,768 tokens and were cut: 32,76")
    path.write_text(path.read_text() + "201,0,5\n202,10,0\n")
    assert "2 of the trace without a token in or out, passed over" in told("--trace", path)[1]
    crowd = ("--requests", 150, "--clients")
    assert "page reference/serving says by how much" in told(*crowd, 33)[1]
    assert "reference/serving" not in told(*crowd, 8)[1]
    most = json.loads(told(*few, "--json")[1])["most_rps"]
    assert "give more --requests" in told("--rate", 0.97 * most, "--requests", 200)[1]
    assert "give more --requests" not in told(*few)[1]


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ({"policy": "chunky"}, "no policy 'chunky'; did you mean chunked"),
        ({"route": "random"}, "no route 'random'; known"),
        ({"prefix": 1.0}, "--prefix is a share from 0 to below 1"),
        ({"batch": 0}, "--batch must be 1 to"),
        ({"speculation": Speculation(2)}, "--drafts needs --acceptance"),
        ({"prefill_workers": 1}, "need --prefill-workers and --decode-workers"),
        ({"prefill_workers": 1, "decode_workers": 1, "policy": "static"}, "go with --policy cont"),
    ],
)
def test_a_service_that_cannot_be_is_one_sentence(choice, says):
    with pytest.raises(BadInput, match=says):
        Service(CASE, **choice)


def test_a_load_comes_in_one_way():
    with pytest.raises(BadInput, match="one of --rate, --clients and --trace"):
        Load(Lengths())
    with pytest.raises(BadInput, match="one of --rate, --clients and --trace"):
        Load(Lengths(), rate=1.0, clients=2)
    with pytest.raises(BadInput, match="never fills: 4 clients a replica; use --batch 4"):
        simulate(Service(CASE, policy="static", batch=8), Load(Lengths(), clients=4))
    with pytest.raises(BadInput, match="never fills: 1 clients"):  # on the second replica
        simulate(Service(CASE, policy="static", batch=2, replicas=2), Load(Lengths(), clients=3))


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_a_number_that_is_none_is_refused(value):
    for name, says in (
        ("rate", "--rate must not be negative, and finite"),
        ("variation", "--burst must be 0 to 20"),
        ("speed", "--speed must be more than 0, and finite"),
    ):
        with pytest.raises(BadInput, match=says):
            Load(Lengths(), **({"rate": 1.0} | {name: value}))
    with pytest.raises(BadInput, match="--delay must not be negative, and finite"):
        Service(CASE, policy="dynamic", delay=value)


def test_slower_steps_make_everything_slower_and_nothing_else_changes():
    tables = line(floor=0.01, slope=1e-4, prefill=1e-5, request_gap=1e-3)
    slow = tables.slowed(2.0)
    assert slow.decode(8, 100.0) == pytest.approx(2 * tables.decode(8, 100.0))
    assert slow.prefill([(512, 0)]) == pytest.approx(2 * tables.prefill([(512, 0)]))
    assert slow.request_gap == 2e-3 and slow.room == tables.room
    assert tables.decode(8, 100.0) == pytest.approx(0.0108)  # 0.01 + 8 x 0.0001, as it was
