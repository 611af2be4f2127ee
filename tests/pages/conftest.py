"""The built report in a real Chromium: where it is served, and what to do where neither exists.

Without a browser, or without a report that is as its sources are, these tests are skipped and
the last lines of pytest say why.  ``INFERECON_BROWSER=required``, as in ``make pages``, makes
that a failure, and tests every page where else a sample of each kind is tested.
"""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from inferecon import chromium
from inferecon.files import NUMBERS, ROOT
from inferecon.html import HTML, keys_of, marked

REQUIRED = os.environ.get("INFERECON_BROWSER") == "required"
UNTESTED = "the pages were not tested in a browser"
ALONE = ["search.html", "genindex.html"]  # pages that no list has


def listed():
    """Part, folder and path of every page, as the site lists them."""
    path = HTML / "index.json"
    pages = json.loads(path.read_text(encoding="utf-8"))["pages"] if path.exists() else []
    return [(page["part"], Path(page["path"]).parent, page["path"]) for page in pages]


def every_page():
    return [path for *_, path in listed()] + ALONE if listed() else ["index.html"]


@cache
def sample():
    """The first and last page of each kind; those that share part and folder are of a kind."""
    kinds = {}
    for part, folder, path in listed():
        kinds.setdefault((part, folder), []).append(path)
    chosen = [{kind[0], kind[-1]} for kind in kinds.values()]
    return [path for path in every_page() if any(path in few for few in chosen)] + ALONE


def obstacle():
    """Say why there is nothing to test, or return an empty string."""
    if not marked():
        return "there is no report; make report builds it"
    if marked()[:2] != keys_of(NUMBERS):
        return "the report is older than its sources; make report renews it"
    return ""


def pytest_generate_tests(metafunc):
    for name, pages in (("page", every_page if REQUIRED else sample), ("example", sample)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, pages())


def pytest_terminal_summary(terminalreporter):
    reasons = {str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])}
    said = sorted({one[one.index(UNTESTED) :].rstrip("')") for one in reasons if UNTESTED in one})
    for sentence in said:
        terminalreporter.write_line(sentence)


@pytest.fixture(scope="package")
def chrome(request):
    """The Chromium of all tests, which has no network but this machine, if there is a report."""
    if why := obstacle():
        (pytest.fail if REQUIRED else pytest.skip)(f"{UNTESTED}: {why}")
    return request.getfixturevalue("browser")


@pytest.fixture(scope="package")
def site():
    """The address of the report, from a server of this process."""
    with chromium.served(HTML) as address:
        yield address


ALONE_PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{css}</style><article class="bd-article"><h1>{title}</h1>{html}</article>
<script>{script}</script></html>"""


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """Write a page without the book around it, as one file; return its address."""

    def written(name, styles, html, scripts):
        path = tmp_path_factory.mktemp("page") / f"{name}.html"
        folder = ROOT / "book" / "assets" / "css"
        css = "".join((folder / f"{style}.css").read_text(encoding="utf-8") for style in styles)
        text = ALONE_PAGE.format(title=name, css=css, html=html, script="".join(scripts))
        path.write_text(text, encoding="utf-8")
        return path.as_uri()

    return written


@pytest.fixture
def offline(browser):
    """Open an address in a tab in which nothing may go wrong and nothing may be asked for."""
    context = browser.new_context(offline=True, permissions=["clipboard-read", "clipboard-write"])
    opened, wrong = context.new_page(), []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text))
    opened.on("dialog", lambda dialog: wrong.append("dialog"))
    opened.on("request", lambda asked: asked.url.startswith("file:") or wrong.append(asked.url))
    yield opened
    context.close()
    assert wrong == []


# What moved on a page while nobody touched it, and how far: Chromium's measure of it.
SHIFTS = """window.shifts = {sum: 0, by: []};
new PerformanceObserver(list => { for (const one of list.getEntries()) if (!one.hadRecentInput) {
    shifts.sum += one.value;
    shifts.by.push(...one.sources.map(({node}) => `${node?.nodeName}.${node?.className}`));
} }).observe({type: 'layout-shift', buffered: true});"""


TALL = 900  # pixels of a screen


class Tab:
    """A page of the browser that notes what went wrong in it."""

    def __init__(self, context):
        self.page, self.wrong = context.new_page(), []
        self.page.on("request", self.asked)
        self.page.on("response", self.answered)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error {error}"))
        self.page.on("console", self.said)

    def renew(self, width, theme):
        """Forget what went wrong, and be as a new tab of this width and theme."""
        self.page.set_viewport_size({"width": width, "height": TALL})
        self.page.emulate_media(media="screen", color_scheme=theme)
        self.wrong.clear()
        return self

    def asked(self, request):
        own = ("http://127.0.0.1:", "data:", "blob:", "file:")
        if not request.url.startswith(own):
            self.wrong.append(f"request to {request.url}")

    def answered(self, response):
        if response.status >= 400:
            self.wrong.append(f"{response.status} for {response.url}")

    def said(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"console {message.type}: {message.text}")

    def open(self, url):
        """Open an address and wait until the page, its charts included, is drawn."""
        self.page.goto(url, wait_until="load")
        self.page.evaluate("window.chartsReady")
        return self.page


@pytest.fixture(scope="package")
def contexts(chrome):
    """Browser contexts by width and theme, made when asked for and shared by all tests."""
    made = {}

    def context(width, theme):
        if (width, theme) not in made:
            made[width, theme] = chrome.new_context(
                viewport={"width": width, "height": TALL},
                color_scheme=theme,
                reduced_motion="reduce",
            )
            # The first tab of a context is told the size of its letters while it draws.
            made[width, theme].new_page().close()
            made[width, theme].add_init_script(SHIFTS)
        return made[width, theme]

    yield context
    for one in made.values():
        one.close()


@pytest.fixture(scope="package")
def only_tab(contexts):
    """The tab of those tests that are many: a new one for each takes as long as the test."""
    kept = Tab(contexts(390, "light"))
    yield kept
    kept.page.close()


@pytest.fixture
def phone(only_tab):
    """The one tab, as a phone in light colours has it."""
    return only_tab.renew(390, "light")


@pytest.fixture(scope="package")
def axe():
    """The address of axe: a script with an address is compiled once, not on every page."""
    with chromium.served(Path(__file__).parent / "axe") as address:
        yield f"{address}/axe.min.js"


@pytest.fixture
def tab(contexts):
    """Open a tab of a width and a theme."""
    opened = []

    def new(width=1280, theme="light"):
        opened.append(Tab(contexts(width, theme)))
        return opened[-1]

    yield new
    for one in opened:
        one.page.close()
