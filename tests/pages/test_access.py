"""axe finds nothing on any kind of page, in either theme, on a desk and on a phone."""

from pathlib import Path

AXE = Path(__file__).parent / "axe" / "axe.min.js"
# What a page repeats, formulas above all, is the same each time: the first few of each stay.
FEW = {
    "main .katex:not(th .katex)": 10,
    "main details.cite": 5,
    "main :is(.law, .derivation, .claim)": 8,
}
FEW |= {"main tr": 60}
THIN = """few => { for (const [repeated, count] of Object.entries(few))
    [...document.querySelectorAll(repeated)].slice(count).forEach(e => e.remove()); }"""
# KaTeX hides its picture from readers and its MathML from sight; axe calls such a head empty.
RUN = """async () => {
    const seen = v => v.nodes.filter(node => v.id !== 'empty-table-header'
        || !document.querySelector(node.target[0]).querySelector('.katex'));
    const found = (await axe.run(document, {resultTypes: ['violations']})).violations;
    return found.filter(v => seen(v).length)
        .map(v => `${v.id}: ${seen(v).slice(0, 3).map(n => n.target.join(' ')).join(' | ')}`);
}"""


def test_axe_reports_nothing(example, tab, site):
    opened = tab().open(f"{site}/{example}")
    opened.evaluate(THIN, FEW)
    opened.add_script_tag(path=AXE)
    found = {}
    for width in (1280, 390):
        for theme in ("light", "dark"):
            opened.set_viewport_size({"width": width, "height": 900})
            opened.emulate_media(color_scheme=theme)
            found[width, theme] = opened.evaluate(RUN)
    assert {where: said for where, said in found.items() if said} == {}


def test_a_page_is_reached_by_keyboard(tab, site):
    opened = tab().open(f"{site}/index.html")
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent.trim()").startswith("Skip to main")
    opened.keyboard.press("Control+k")
    assert opened.evaluate("document.activeElement.name") == "q"
    opened.keyboard.type("ridge batch")
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/search.html?q=ridge*")
