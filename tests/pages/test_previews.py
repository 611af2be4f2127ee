"""A linked term or law says what it is on hover and on keyboard focus."""

from inferecon.laws.catalogue import BY_ID


def test_a_term_is_explained_beside_its_link(tab, site):
    here = tab()
    opened = here.open(f"{site}/latency.html")
    link, box = opened.locator("a[href$='#term-ridge-point']").first, opened.locator("#preview-box")
    link.hover()
    box.wait_for(state="visible")
    assert "peak FLOP/s" in box.text_content()
    box.hover()
    opened.wait_for_timeout(400)
    assert box.is_visible(), "it stays while a reader is on it"
    opened.keyboard.press("Escape")
    box.wait_for(state="hidden")
    assert here.wrong == []


def test_a_law_shows_its_equation_on_focus(tab, site):
    here = tab(width=390)
    opened = here.open(f"{site}/latency.html")
    link, box = opened.locator("a[href$='#law-intensity']").first, opened.locator("#preview-box")
    opened.keyboard.press("Tab")  # from here on focus is the keyboard's
    link.focus()
    box.wait_for(state="visible")
    assert BY_ID["INTENSITY"].says in box.text_content()
    assert box.locator(".katex-display").count() == 1
    at = box.bounding_box()
    assert at["x"] >= 0 and at["x"] + at["width"] <= 390
    assert link.get_attribute("aria-describedby") == "preview-box"
    assert here.wrong == []
