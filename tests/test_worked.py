"""What a page works out in its prose is what its laws give with the records it names."""

import re
from pathlib import Path

import pytest

from inferecon import symbols as s
from inferecon.laws import BY_ID, footprint
from inferecon.records import ids, load

KWH, HOUR = 3.6e6, 3600.0  # J, s
PAGE = (Path(__file__).parents[1] / "book" / "energy.md").read_text(encoding="utf-8")
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


@pytest.mark.parametrize("worked", [margin, making, water, miles_and_charges])
def test_a_page_prints_what_the_laws_give(worked):
    for line in worked():
        assert line in PAGE, line


def test_no_other_equation_of_numbers_is_on_the_page():
    known = [line for worked in (margin, making, water, miles_and_charges) for line in worked()]
    text = PAGE
    for line in sorted(known, key=len, reverse=True):
        text = text.replace(line, "")
    assert re.findall(r"\d[^$\n]*= \d[^$\n]*", text) == []
