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


def test_a_link_that_a_script_wrote_has_a_preview(tab, site):
    """The calculator writes its links anew with each answer."""
    here = tab()
    opened = here.open(f"{site}/calculator.html")
    opened.fill("[name=batch]", "64")
    link, box = opened.locator(".rows a:text-is('ITL')"), opened.locator("#preview-box")
    link.hover()
    box.wait_for(state="visible")
    assert BY_ID["ITL"].says in box.text_content()
    opened = here.open(f"{site}/explorer.html?at=deepseek-v3/h200-sxm/fp8/16/1024")
    opened.locator("[data-at=facts] a:text-is('COST-TOKEN')").hover()
    opened.locator("#preview-box").wait_for(state="visible")
    assert BY_ID["COST-TOKEN"].says in opened.locator("#preview-box").text_content()
    assert here.wrong == []


def test_a_law_without_a_card_has_a_preview_too(tab, site):
    opened = tab().open(f"{site}/traffic.html")
    opened.locator("a[href$='#row-param-experts']").first.hover()
    opened.locator("#preview-box").wait_for(state="visible")
    assert BY_ID["PARAM-EXPERTS"].says in opened.locator("#preview-box").text_content()


def test_first_page_models_and_planning_explain_their_terms(tab, site):
    for page, term in (
        ("index.html", "batch"),
        ("models/llama-3.1-8b.html", "ttft"),
        ("reference/planning.html", "slo"),
    ):
        opened = tab().open(f"{site}/{page}")
        opened.locator(f"a[href$='#term-{term}' i]").first.hover()
        opened.locator("#preview-box").wait_for(state="visible")


def test_the_list_of_laws_has_no_law_a_second_time(tab, site):
    opened = tab().open(f"{site}/laws.html")
    twice = """() => {
        const data = document.getElementById('previews')?.textContent ?? '{}';
        const told = Object.keys(JSON.parse(data));
        return told.filter(name => document.getElementById(name.replace(/^law-/, 'row-')));
    }"""
    assert opened.evaluate(twice) == []
