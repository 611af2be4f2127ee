"""What a page works out in its prose is what its laws give with the records it names."""

import re
from pathlib import Path

import pytest

from inferecon import symbols as s
from inferecon.givens import chosen_offer
from inferecon.laws import footprint
from inferecon.laws.catalogue import BY_ID
from inferecon.records import ids, load
from inferecon.scenario import opened

KWH, HOUR = 3.6e6, 3600.0  # J, s
BOOK = Path(__file__).parents[1] / "book"
PUE = load("assumptions", "pue").given[s.pue]


def law(id, **inputs):
    return float(BY_ID[id]({s.SYMBOLS[name]: value for name, value in inputs.items()}))


def taken(kind, id, symbol):
    """Value of a fact in base units."""
    return load(kind, id).given[symbol]


def margin():
    mean = taken("grids", "usa-aznm", s.grid_intensity)
    edge = taken("assumptions", "marginal-usa-aznm", s.grid_marginal)
    mine = dict(energy_per_token=KWH, pue=PUE)
    by_mean = law("CARBON-TOKEN", **mine, grid_intensity=mean)
    by_margin = law("CARBON-MARGINAL", **mine, grid_marginal=edge)
    yield rf"{PUE} \cdot {mean * KWH:.1f} = {by_mean:.1f}"
    yield rf"{PUE} \cdot {edge * KWH:.1f} = {by_margin:.1f}"
    yield f"{by_margin:.1f} / {by_mean:.1f} = {by_margin / by_mean:.2f}"


def making():
    grams = taken("assumptions", "embodied-h100-sxm", s.embodied_carbon)
    life = taken("assumptions", "lifetime", s.lifetime)
    watts = taken("hardware", "h100-sxm", s.board_power)
    world = taken("grids", "world", s.grid_intensity)
    rate = law("EMBODIED-RATE", embodied_carbon=grams, lifetime=life)
    use = law("CARBON-TOKEN", energy_per_token=watts * HOUR, pue=PUE, grid_intensity=world)

    def share(busy):
        made = law("EMBODIED-TOKEN", embodied_rate=rate, device_time=HOUR, busy_share=busy)
        return law("EMBODIED-SHARE", embodied_per_token=made, carbon_per_token=use)

    def even(busy):  # grams a kilowatt-hour
        mine = {s.embodied_carbon: grams, s.lifetime: life, s.device_time: HOUR}
        mine |= {s.busy_share: busy, s.energy_per_token: watts * HOUR, s.pue: PUE}
        return KWH * float(footprint.GRID_EVEN.eq.rhs.subs(mine))

    thousands = "{:,.0f}".format
    yield rf"{thousands(grams)} / {thousands(life / HOUR)} = {HOUR * rate:.2f}".replace(",", r"\,")
    yield rf"{watts / 1e3} \cdot {PUE} \cdot {world * KWH:.0f} = {use:.1f}"
    yield f"{HOUR * rate:.2f} / ({HOUR * rate:.2f} + {use:.1f}) = {share(1):.4f}"
    yield f"the share is ${share(1 / 4):.4f}$"
    yield rf"{HOUR * rate:.2f} / ({watts / 1e3} \cdot {PUE}) = {even(1):.1f}"
    yield rf"4 \cdot {even(1):.1f} = {even(1 / 4):.1f}"
    assert even(1 / 4) < min(KWH * taken("grids", id, s.grid_intensity) for id in ids("grids"))


def water():
    site = taken("assumptions", "wue-aws", s.wue)
    for id in ("grid-water-world", "grid-water-usa"):
        grid = taken("assumptions", id, s.grid_water)
        litres = law("WATER-TOKEN", energy_per_token=KWH, wue=site, pue=PUE, grid_water=grid)
        yield rf"{site * KWH:.2f} + {PUE} \cdot {grid * KWH:.2f} = {litres:.2f}"


def miles_and_charges():
    for id, form in (("equivalent-mile", ".1f"), ("equivalent-smartphone", ".0f")):
        one = taken("assumptions", id, s.yardstick)
        many = law("CARBON-EQUIVALENT", carbon_per_token=1000, yardstick=one)
        yield f"1000 / {one:g} = {many:{form}}"


def default():
    """Values of DeepSeek-V3 in the default sweep, energies in kilowatt-hours a million tokens."""
    choice = dict(hardware="h200-sxm", weights="fp8", activations="fp8", tp=8, ep=8)
    return opened(model="deepseek-v3", **choice, batch=32, isl=1024, osl=1024).values


def phases():
    values = default()
    prompt, step, both = (
        float(values[x]) * 1e6 / KWH
        for x in (s.energy_per_input, s.energy_per_step_token, s.energy_per_token)
    )
    shares = (r"\cdot \tfrac{1024}{1024}", r"\cdot \tfrac{1023}{1024}")
    yield f"{prompt:.4f} {shares[0]} + {step:.3f} {shares[1]} = {both:.3f}"


def node():
    values = dict(default())
    rest, held = 300, float(values[s.device_time]) * 1e6
    yield rf"{rest} \cdot {held:.0f} / (3.6 \cdot 10^6) = {rest * held / KWH:.3f}"
    mine = {x.name: float(values[x]) for x in (s.energy_per_token, s.device_time)}
    whole = law("ENERGY-NODE-TOKEN", **mine, host_power=rest)
    site = law("ENERGY-FACILITY-TOKEN", energy_node=whole, pue=PUE)
    yield rf"{PUE} \cdot {whole * 1e6 / KWH:.3f} = {site * 1e6 / KWH:.2f}"


def third_document():
    joules = 3.8e18 / 5.8e9
    first = rf"{joules / 1e8:.3f} \cdot 10^{{8}}\ \text"
    second = rf"{220 / KWH * 1e5:.3f} \cdot 10^{{-5}}\ \text"
    yield (
        r"\underbrace{\frac{3.8 \cdot 10^{18}\ \text{FLOP}}{5.8 \cdot 10^{9}\ \text{FLOP/(s W)}}}_{"
        + first
        + r"{W s}\ =\ "
        + first
        + r"{J}} \cdot \underbrace{\frac{220\ \text{W}}{3.6 \cdot 10^{6}\ \text{J/kWh}}}_{"
        + second
        + rf"{{kWh W/J}}}} = {joules * 220 / KWH:.0f}\ \text{{kWh W}}."
    )
    energy = rf"{joules / 1e8:.3f} \cdot 10^8\,\text{{J}} / (3.6 \cdot 10^6\,\text{{J/kWh}})"
    yield f"{energy} = {joules / KWH:.0f}"
    flop = float(default()[s.flop_decode])
    exact = law("ENERGY-ARITHMETIC", flop_decode=flop, flop_efficiency=5.8e9) * 1e6 / KWH
    count = rf"{flop / 1e9:.2f} \cdot 10^{{15}}"
    yield rf"{count} / (5.8 \cdot 10^9 \cdot 3.6 \cdot 10^6) = {exact:.2f}"


def holding():
    """An H100 as the records have it: owned, and as a spot device."""
    price = taken("assumptions", "capex-h100-sxm", s.capex)
    life = taken("assumptions", "lifetime", s.lifetime)
    capital = HOUR * law("CAPITAL-RATE", capex=price, lifetime=life, interest=0)
    years = f"{price:,.0f} / {life / HOUR:,.0f}".replace(",", r"\,")
    yield f"{years} = {capital:.3f}"

    board = taken("hardware", "h100-sxm", s.board_power)
    host = taken("assumptions", "host-h100-sxm", s.host_power)
    each = taken("assumptions", "electricity-usa", s.electricity_price)
    node = law("NODE-POWER", device_power=board, host_power=host)
    power = HOUR * law("POWER-RATE", electricity_price=each, pue=PUE, node_power=node)
    drawn = rf"({board / 1e3:g} + {host / 1e3:g})"
    yield rf"{each * KWH:.4f} \cdot {PUE} \cdot {drawn} = {power:.3f}"

    pay = HOUR * taken("assumptions", "wage-usa", s.wage)
    staff = law("STAFF-RATE", staff_share=0.01, wage=pay)
    yield rf"0.01 \cdot {pay:.2f} = {staff:.3f}"
    own = law("OWN-RATE", capital_rate=capital, power_rate=power, staff_rate=staff)
    yield f"{capital:.3f} + {power:.3f} + {staff:.3f} = {own:.3f}"
    rent = HOUR * chosen_offer("h100-sxm", "").usd_per_second
    even = law("OWN-EVEN", fixed_rate=own, running_rate=0, price=rent)
    yield f"{own:.3f} / {rent:g} = {even:.2f}"
    yield rf"2 \cdot {own:.3f} = {2 * own:.2f}"


def spot():
    rate = taken("assumptions", "preemption", s.preemption_rate)
    lost = law("LOST-SHARE", preemption_rate=rate, interruption_time=300)
    yield rf"{HOUR * rate:.3f} \cdot 300 / 3600 = {lost:.4f}"
    nebius = {
        offer.kind: HOUR * offer.usd_per_second
        for offer in load("prices", "h100-sxm").offers
        if offer.provider == "Nebius"
    }
    useful = law("INTERRUPTION-RATE", preemption_rate=rate, lost_share=lost)
    mine = dict(interruption_time=300, interruption_rate=useful)
    cost = law("SPOT-COST", spot_price=nebius["spot"], **mine)
    yield f"{nebius['spot']:g} / (1 - {lost:.4f}) = {cost:.3f}"
    lowest = HOUR * chosen_offer("h100-sxm", "").usd_per_second
    for price in (nebius["on-demand"], lowest):
        yield f"1 - {cost:.3f} / {price:g} = {1 - cost / price:.2f}"
    plain = 1 - nebius["spot"] / nebius["on-demand"]
    yield f"1 - {nebius['spot']:g} / {nebius['on-demand']:g} = {plain:.2f}"


def third_term():
    case = opened(model="llama-3.1-8b", hardware="h100-sxm", batch=1)
    gigabytes = float(case.values[s.weight_bytes]) / 1e9
    each = HOUR * 1e9 * taken("assumptions", "storage", s.storage_price)
    nothing = dict(n_devices=1, price=0, memory_price=0, memory_rented=0)
    rent = law("RENT-RATE", storage_price=each, storage_rented=gigabytes, **nothing)
    yield rf"{gigabytes:.2f} \cdot {each:.7f} = {rent:.6f}"


WORKED = {
    "energy": [margin, making, water, miles_and_charges, phases, node, third_document],
    "service": [holding, spot, third_term],
}


def text_of(page):
    return (BOOK / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "worked"), [(page, worked) for page, all_ in WORKED.items() for worked in all_]
)
def test_a_page_prints_what_the_laws_give(page, worked):
    for line in worked():
        assert line in text_of(page), line


@pytest.mark.parametrize("page", WORKED)
def test_no_other_equation_of_numbers_is_on_the_page(page):
    # answers to problems show their arithmetic, on numbers that the problem states
    known = [line for worked in WORKED[page] for line in worked()]
    text = text_of(page).partition("## Problems")[0]
    for line in sorted(known, key=len, reverse=True):
        text = text.replace(line, "")
    assert re.findall(r"\d[^$\n]*= \d[^$\n]*", text) == []
