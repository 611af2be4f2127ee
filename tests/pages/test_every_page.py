"""Every page by itself: it asks for nothing outside, complains of nothing and fits a phone."""

ALONE = ("search.html", "genindex.html")  # made by Sphinx, not from a text


def test_a_page_keeps_to_itself_and_fits_a_phone(page, tab, site):
    here = tab(width=390)
    opened = here.open(f"{site}/{page}")
    assert here.wrong == []
    assert opened.locator("h1").count() >= 1
    assert opened.locator(".vl-broken").count() == 0
    wide = opened.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{wide} px wider than the screen: {beyond(opened)}"


def beyond(opened):
    """Elements that reach beyond the right edge without a box of their own to scroll in."""
    return opened.evaluate("""() => [...document.querySelectorAll('body *')].filter(e => {
        if (e.getBoundingClientRect().right <= innerWidth + 1) return false;
        for (let box = e.parentElement; box; box = box.parentElement)
            if (getComputedStyle(box).overflowX !== 'visible') return false;
        return true;
    }).slice(0, 5).map(e => `${e.tagName}.${e.className}`)""")


PAPER = {"width": 673, "height": 986}  # pixels between the margins of A4, and across
ACROSS = 1001


def test_a_page_has_what_lists_need_grows_and_prints(example, tab, site):
    """One opening for all three: the long pages take seconds to draw."""
    opened = tab().open(f"{site}/{example}")
    for check in (has_what_lists_and_cards_need, letters_may_be_twice_as_large, paper_holds_all):
        check(opened, example)


def has_what_lists_and_cards_need(opened, page):
    assert opened.locator("html[lang=en]").count() == 1
    assert opened.title().strip()
    assert opened.locator(".edition time").text_content() != "unknown"
    if page not in ALONE:
        assert opened.locator("meta[property='og:title']").get_attribute("content").strip()


def letters_may_be_twice_as_large(opened, page):
    opened.evaluate("document.documentElement.style.setProperty('font-size', '200%', 'important')")
    wide = opened.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{wide} px wider than the screen: {beyond(opened)}"
    assert opened.locator("h1:visible").count() == 1
    opened.evaluate("document.documentElement.style.removeProperty('font-size')")


def paper_holds_all(opened, page):
    """No button, nothing folded away, no line beyond the edge; many columns lie across."""
    opened.set_viewport_size(PAPER)
    opened.emulate_media(media="print")
    many = opened.evaluate("""() => [...document.querySelectorAll('table:has(th:nth-child(13))')]
        .map(table => { const wide = table.offsetWidth; table.remove(); return wide; })""")
    assert all(wide <= ACROSS for wide in many), many
    wide = opened.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{wide} px wider than the paper: {beyond(opened)}"
    shown = opened.evaluate("""() => [...document.querySelectorAll(
        '.bd-sidebar, .bd-header, .bd-header-article, .prev-next-footer, button')]
        .filter(e => e.checkVisibility()).map(e => `${e.tagName}.${e.className}`)""")
    assert shown == []
    folded = opened.evaluate(
        """apart => [...document.querySelectorAll('main details')]
        .filter(e => !e.closest(apart))
        .filter(e => ![...e.children].some(c => c.tagName !== 'SUMMARY' && c.checkVisibility()))
        .map(e => e.textContent.trim().slice(0, 60))""",
        ".cite, .all-numbers, .calculator, .explorer",
    )
    assert folded == []
