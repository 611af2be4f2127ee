"""How long the heaviest pages take in a browser: python benchmarks/pages.py

The built report is served by this process to a Chromium that has nothing in its cache.  A page is
ready when its charts are drawn, its answer stands there, and a frame has shown them; beside each
stands the same time of a short page of text, which is the browser's and the theme's own.
Seconds are the clock's: keep the machine quiet.
"""

from measured import Result, printed, spread

from inferecon import chromium
from inferecon.html import HTML

TEXT = "sweeps.html"  # prose, and one table
HEAVY = {
    "laws": ("laws.html", "every law"),
    "model": ("models/deepseek-r1-distill-qwen-7b.html", "a model with all its combinations"),
    "device": ("hardware/b300-sxm.html", "a device with all its combinations"),
    "elasticities": ("reference/elasticities.html", "the elasticities of every law"),
    "validation": ("reference/validation.html", "predictions beside measurements"),
    "claims": ("claims/document-3.html", "the claims of a document"),
    "explorer": ("explorer.html", "the explorer"),
    "calculator": ("calculator.html", "the calculator"),
}
WIDTHS = {"desk": 1280, "phone": 390}
ROUNDS = 5
READY = """async () => {
    await window.chartsReady;
    while (document.querySelector('.calculator:not([data-ready])'))
        await new Promise(requestAnimationFrame);
    await new Promise(shown => requestAnimationFrame(() => setTimeout(shown)));
    return performance.now() / 1000;
}"""


def measure() -> dict[str, Result]:
    """Return the seconds until each page is ready, and how many times a text page's they are."""
    taken: dict[str, list[float]] = {}
    with chromium.browser() as browser, chromium.served(HTML) as site:

        def seconds(page: str, width: int) -> float:
            with browser.new_context(viewport={"width": width, "height": 900}) as fresh:
                tab = fresh.new_page()
                tab.goto(f"{site}/{page}", wait_until="load")
                return tab.evaluate(READY)

        seconds(TEXT, 1280)  # the browser's own start is nobody's
        for _ in range(ROUNDS):  # by turns
            for on, width in WIDTHS.items():
                taken.setdefault(f"text.{on}", []).append(seconds(TEXT, width))
                for name, (page, _) in HEAVY.items():
                    taken.setdefault(f"{name}.{on}", []).append(seconds(page, width))
    found = {}
    for on in WIDTHS:
        text = taken[f"text.{on}"]
        found[f"pages.text.{on}"] = spread(f"a page of text, on a {on}", text, "s")
        for name, (_, says) in HEAVY.items():
            own = taken[f"{name}.{on}"]
            found[f"pages.{name}.{on}"] = spread(f"{says}, on a {on}", own, "s")
            ratios = [one / other for one, other in zip(own, text, strict=True)]
            label = f"{says} over a page of text, on a {on}"
            found[f"pages.{name}.{on}.ratio"] = spread(label, ratios, "x")
    return found


if __name__ == "__main__":
    printed(measure())
