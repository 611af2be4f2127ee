"""The report on paper: its pages joined into one and printed by Chromium as a tagged PDF.

Joined by the browser itself from the built pages, so a number, a formula and a chart are those
of the page.  A link between pages becomes one within the document.  Pages that one looks up
and does not read stay in the site: one a model, a device or a record, and the longest tables.
"""

import re
from pathlib import Path

from . import chromium
from .edition import edition
from .errors import BadInput
from .imprint import AUTHORS, LICENCE, TITLE
from .sitefiles import listed

LOOKED_UP = re.compile(
    r"(?:data/)?(?:models|hardware)/(?!index$)|laws$|reference/(?:elasticities|limits)$|chapters/counts$"
)
SCRIPTS = ("vega/vega.min.js", "vega/vega-lite.min.js", "vega/vega-embed.min.js", "js/charts.js")
PATIENCE = 600_000  # milliseconds for the print of some hundred pages
MARGINS = {"top": "18mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}
FOOT = """<div style="font: 8px sans-serif; width: 100%; padding: 0 16mm; display: flex;
justify-content: space-between"><span>{}</span><span class="pageNumber"></span></div>"""
# Replaces the page by the others, one a section whose anchors begin with the name of its page.
JOIN = """async ([names, title, under]) => {
  const own = name => name.replaceAll('/', '-'), known = new Set(names);
  const place = (url, base) => {
    const to = new URL(url, base);
    if (to.origin !== location.origin) return url;
    const name = to.pathname.slice(1).replace(/\\.html$/, '');
    if (!known.has(name)) return null;
    return '#' + own(name) + (to.hash ? '--' + to.hash.slice(1) : '');
  };
  const sections = [], list = document.createElement('ol');
  for (const name of names) {
    const base = new URL(`/${name}.html`, location.href);
    const text = await (await fetch(base)).text();
    const page = new DOMParser().parseFromString(text, 'text/html');
    const section = document.createElement('section');
    section.append(page.querySelector('article.bd-article'));
    const gone = 'script:not([type="application/json"]), #numbers-data, .all-numbers, .cite, ' +
      '.headerlink, .vl-data, noscript, form, button';
    section.querySelectorAll(gone).forEach(e => e.remove());
    section.querySelectorAll('[id]').forEach(e => { e.id = `${own(name)}--${e.id}`; });
    for (const attribute of ['aria-labelledby', 'aria-describedby', 'for'])
      section.querySelectorAll(`[${attribute}]`).forEach(e => e.removeAttribute(attribute));
    section.querySelectorAll('img').forEach(e => { e.src = new URL(e.getAttribute('src'), base); });
    section.querySelectorAll('a[href]').forEach(e => {
      const to = place(e.getAttribute('href'), base);
      if (to === null) e.removeAttribute('href'); else e.setAttribute('href', to);
    });
    section.querySelectorAll('details').forEach(e => { e.open = true; });
    section.id = own(name);
    section.className = 'page';
    const entry = document.createElement('li'), link = document.createElement('a');
    link.href = `#${section.id}`;
    link.textContent = section.querySelector('h1').textContent;
    entry.append(link);
    list.append(entry);
    sections.push(section);
  }
  const cover = document.createElement('section'), main = document.createElement('main');
  const head = Object.assign(document.createElement('p'), {className: 'title', textContent: title});
  const foot = Object.assign(document.createElement('p'), {textContent: under});
  cover.className = 'cover';
  cover.append(head, foot, list);
  main.className = 'bd-article joined';
  main.append(cover, ...sections);
  const content = document.createElement('div');
  content.className = 'bd-content';
  content.append(main);
  document.body.replaceChildren(content);
  document.title = title;
}"""


def write(html: Path, toc: Path, target: Path) -> int:
    """Print the report to ``target``; return its size in bytes.

    Raises BadInput if it is not built or no Chromium starts.
    """
    if not (html / "index.html").exists():
        raise BadInput("there is no report to print; run make report")
    names = [page for _, page in listed(toc) if not LOOKED_UP.match(page)]
    under = f"{AUTHORS}, edition {edition()}. Text, figures and data: {LICENCE}; code: Apache-2.0."
    target.parent.mkdir(parents=True, exist_ok=True)
    with chromium.browser() as browser, chromium.served(html) as site:
        page = browser.new_page(viewport={"width": 760, "height": 1000}, color_scheme="light")
        page.set_default_timeout(PATIENCE)
        page.goto(f"{site}/index.html")
        page.evaluate(JOIN, [names, TITLE, under])
        page.emulate_media(media="print")
        for script in SCRIPTS:
            page.add_script_tag(url=f"{site}/_static/{script}")
        page.evaluate("Promise.all([window.chartsReady, document.fonts.ready])")
        page.pdf(
            path=target,
            format="A4",
            margin=MARGINS,
            tagged=True,
            outline=True,
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOT.format(f"{TITLE}, edition {edition()}"),
        )
    return target.stat().st_size
