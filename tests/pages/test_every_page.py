"""Every page by itself: it asks for nothing outside, complains of nothing, fits phone and paper.

A page is opened once, on a phone, for all that is asked of it: the long ones take seconds to draw.
"""

from conftest import ALONE, TALL, sample
from unboxed import LEFT, LISTS, LIVE, alone

STILL = 0.05  # the most that a page may shift while it loads, by Chromium's own measure
PAPER = {"width": 673, "height": 986}  # pixels between the margins of A4, and across
ACROSS = 1001
# What a page repeats, formulas and rows above all, is the same each time: the first few stay.
FEW = {
    "main .katex:not(th .katex)": 4,
    "main details.cite": 2,
    "main :is(.law, .derivation, .claim)": 4,
    "main .all-numbers > details": 1,
    "main .vl-chart": 3,
    "main .wide-table.results": 1,
    "main tbody > tr:nth-child(n+5)": 0,
}
AROUND = "template, .bd-sidebar, .bd-header, footer"
WAYS = [(390, "light"), (390, "dark"), (1280, "dark"), (1280, "light")]
AGAIN = ["color-contrast", "link-in-text-block"]  # what another theme may change
THIN = """few => { for (const [repeated, count] of Object.entries(few))
    [...document.querySelectorAll(repeated)].slice(count).forEach(e => e.remove()); }"""
# KaTeX hides its picture from readers and its MathML from sight; axe calls such a head empty.
RUN = """async ([within, rules]) => {
    const seen = v => v.nodes.filter(node => v.id !== 'empty-table-header'
        || !document.querySelector(node.target[0]).querySelector('.katex'));
    const asked = {resultTypes: ['violations'], ...(rules && {runOnly: rules})};
    const found = (await axe.run(within, asked)).violations;
    return found.filter(v => seen(v).length)
        .map(v => `${v.id}: ${seen(v).slice(0, 3).map(n => n.target.join(' ')).join(' | ')}`);
}"""


# Words of the heads of tables of which a part stands in another line.
BROKEN = """() => [...document.querySelectorAll('thead th')].flatMap(th => {
    const texts = document.createTreeWalker(th, NodeFilter.SHOW_TEXT), found = [];
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if (text.parentElement.closest('.katex')) continue;
        for (const {0: word, index} of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) found.push(word);
        }
    }
    return found;
})"""


def test_a_page_keeps_to_itself_fits_phone_and_paper_and_bars_nobody(page, phone, site, axe):
    opened = phone.open(f"{site}/{page}")
    assert phone.wrong == []
    assert opened.locator("h1").count() >= 1
    assert opened.locator(".vl-broken").count() == 0
    stands_still(opened)
    assert wider_than_the_screen(opened) == ""
    letters_may_be_twice_as_large(opened)
    every_figure_has_a_box(opened, page)
    has_what_lists_and_cards_need(opened, page)
    paper_holds_all(opened)
    # What surrounds the text is the same on each page: axe sees it on two of each kind.
    if page in sample():
        axe_reports_nothing(opened, axe, "html", again=None)
    else:
        opened.evaluate(THIN, {AROUND: 0})
        axe_reports_nothing(opened, axe, "main", again=AGAIN)


def test_a_page_stands_still_on_a_desk_and_takes_large_letters(example, tab, site):
    opened = tab().open(f"{site}/{example}")
    stands_still(opened)
    letters_may_be_twice_as_large(opened)


def every_figure_has_a_box(opened, page):
    """No number without one: those left are counted, so that none is added unseen."""
    if page not in (*LISTS, *LIVE):
        found = alone(opened)
        assert len(found) == LEFT.get(page, 0), "\n".join(found)


def stands_still(opened):
    shifted, by = opened.evaluate("[shifts.sum, shifts.by]")
    assert shifted < STILL, f"{shifted:.3f}: {by}"


def wider_than_the_screen(opened):
    """Return by how much, and which elements reach beyond it without a box of their own."""
    return opened.evaluate("""() => {
        const wide = document.documentElement.scrollWidth - innerWidth;
        if (wide <= 0) return '';
        const beyond = [...document.querySelectorAll('body *')].filter(e => {
            if (e.getBoundingClientRect().right <= innerWidth + 1) return false;
            for (let box = e.parentElement; box; box = box.parentElement)
                if (getComputedStyle(box).overflowX !== 'visible') return false;
            return true;
        });
        return `${wide} px: ${beyond.slice(0, 5).map(e => `${e.tagName}.${e.className}`)}`;
    }""")


def cut_off(opened):
    """Return what stands in a box that hides what is beyond it, but for folds and a commit."""
    return opened.evaluate("""() => {
        const hides = one => one === 'hidden' || one === 'clip';
        const beyond = e => {
            const {overflowX: across, overflowY: down} = getComputedStyle(e);
            return hides(across) && e.scrollWidth > e.clientWidth + 1
                || hides(down) && across === down && e.scrollHeight > e.clientHeight + 1;
        };
        const apart = '.katex, .bd-sidebar, .commit, .toggle-hidden, svg';
        return [...document.querySelectorAll('body :not(.katex *, svg *)')]
            .filter(e => beyond(e) && e.clientWidth > 1 && !e.closest(apart))
            .filter(e => e.textContent.trim() && e.checkVisibility())
            .map(e => `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 40)}`);
    }""")


def has_what_lists_and_cards_need(opened, page):
    assert opened.locator("html[lang=en]").count() == 1
    assert opened.title().strip()
    assert opened.locator(".edition time").text_content() != "unknown"
    if page not in ALONE:
        assert opened.locator("meta[property='og:title']").get_attribute("content").strip()


def letters_may_be_twice_as_large(opened):
    opened.evaluate("document.documentElement.style.setProperty('font-size', '200%', 'important')")
    assert wider_than_the_screen(opened) == ""
    assert cut_off(opened) == []
    assert opened.locator("h1:visible").count() == 1
    opened.evaluate("document.documentElement.style.removeProperty('font-size')")


def paper_holds_all(opened):
    """No button but in a table, nothing folded, no line beyond the edge; wide tables across."""
    opened.set_viewport_size(PAPER)
    opened.emulate_media(media="print")
    many = opened.evaluate("""() => [...document.querySelectorAll('table:has(th:nth-child(13))')]
        .map(table => { const wide = table.offsetWidth;
            table.style.setProperty('display', 'none', 'important'); return wide; })""")
    assert all(wide <= ACROSS for wide in many), many
    assert wider_than_the_screen(opened) == ""
    assert opened.evaluate(BROKEN) == []
    shown = opened.evaluate("""() => [...document.querySelectorAll(
        '.bd-sidebar, .bd-header, .bd-header-article, .prev-next-footer, button:not(th *, td *)')]
        .filter(e => e.checkVisibility()).map(e => `${e.tagName}.${e.className}`)""")
    assert shown == []
    folded = opened.evaluate(
        """apart => [...document.querySelectorAll('main details')]
        .filter(e => !e.closest(apart))
        .filter(e => ![...e.children].some(c => c.tagName !== 'SUMMARY' && c.checkVisibility()))
        .map(e => e.textContent.trim().slice(0, 60))""",
        ".cite, .all-numbers, .calculator, .explorer, .vl-numbers",
    )
    assert folded == []
    opened.evaluate("document.querySelectorAll('table').forEach(e => e.style.display = '')")
    opened.emulate_media(media="screen")


def axe_reports_nothing(opened, axe, within, again):
    """Ask axe in all four ways to show a page: all rules in each width, and then ``again``."""
    opened.evaluate(THIN, FEW)
    opened.add_script_tag(url=axe)
    found, widths = {}, set()
    for width, theme in WAYS:
        opened.set_viewport_size({"width": width, "height": TALL})
        opened.emulate_media(color_scheme=theme)
        opened.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)))")
        found[width, theme] = opened.evaluate(RUN, [within, again if width in widths else None])
        widths.add(width)
    assert {where: said for where, said in found.items() if said} == {}
