"""axe finds nothing on any kind of page, in either theme, on a desk and on a phone."""

from pathlib import Path

import pytest

AXE = Path(__file__).parent / "axe" / "axe.min.js"
RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ')).join(' | ')}`)"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_reports_nothing(example, theme, width, tab, site):
    opened = tab(width, theme).open(f"{site}/{example}")
    opened.add_script_tag(path=AXE)
    assert opened.evaluate(RUN) == []


def test_a_page_is_reached_by_keyboard(tab, site):
    opened = tab().open(f"{site}/index.html")
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent.trim()").startswith("Skip to main")
    opened.keyboard.press("Control+k")
    assert opened.evaluate("document.activeElement.name") == "q"
    opened.keyboard.type("ridge batch")
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/search.html?q=ridge*")
