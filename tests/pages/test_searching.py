"""Search finds the right page among the first three, and says on a disk what it needs."""

import pytest

from inferecon.html import HTML

QUERIES = {
    "time to first token": "latency.html",
    "itl": "latency.html",
    "arithmetic intensity": "traffic.html",
    "roofline": "latency.html",
    "kv cache": "cache.html",
    "paged attention": "cache.html",
    "speculative decodng": "speculation.html",
    "draft model": "speculation.html",
    "quantisation": "quantisation.html",
    "ring all-reduce": "communication.html",
    "expert parallel": "glossary.html",
    "cost per token": "cost.html",
    "carbon": "energy.html",
    "energy per token": "energy.html",
    "continuous batching": "load.html",
    "edge device": "edge.html",
    "calibrated constants": "calibration.html",
    "llama 3.1 8b": "models/llama-3.1-8b.html",
    "h200 sxm": "hardware/h200-sxm.html",
    "slurm": "sweeps.html",
    "pareto front": "explorer.html",
    "compare configurations": "calculator.html",
    "own model": "calculator.html",
    "carbon intensity france": "data/assumptions.html",
    "law BATCH-LARGEST": "memory.html",
    "DeepSeek-R1 cost": "models/deepseek-r1.html",
    "H100 price": "hardware/h100-sxm.html",
    "mi300x bandwidth": "hardware/mi300x.html",
}


def results(opened, query):
    opened.wait_for_function(
        "query => document.getElementById('search').dataset.answered === query", arg=query
    )
    links = opened.locator(".search-results > li > h2 a")
    return [link.get_attribute("href").lstrip("/") for link in links.all()]


@pytest.mark.parametrize("query", QUERIES)
def test_the_right_page_is_among_the_first_three(query, tab, site):
    here = tab()
    found = results(here.open(f"{site}/search.html?q={query}"), query)
    assert QUERIES[query] in found[:3], found[:5]
    assert here.wrong == []


def test_a_question_can_be_typed_and_stays_in_the_address(tab, site):
    opened = tab(width=390).open(f"{site}/search.html")
    opened.keyboard.type("glossary")
    assert "glossary.html" in results(opened, "glossary")[:3]
    assert opened.url.endswith("?q=glossary")
    opened.locator(".search-results a").first.click()
    opened.wait_for_url("**/glossary.html*")


def test_what_nobody_wrote_is_said_to_be_absent(tab, site):
    for word in ("zzqxv", "xyzzyq"):  # a page begins with no letter of the first
        opened = tab().open(f"{site}/search.html?q={word}")
        assert results(opened, word) == []
        assert opened.get_by_role("status").text_content() == f"Nothing found for “{word}”"


def test_an_empty_search_says_what_can_be_asked(tab, site):
    opened = tab().open(f"{site}/search.html")
    opened.get_by_role("link", name="own model").click()
    assert "calculator.html" in results(opened, "own model")[:3]
    assert opened.locator(".search-hint").is_hidden()


def test_from_a_folder_the_search_says_what_it_needs(tab):
    here = tab()
    opened = here.open((HTML / "search.html").as_uri())
    assert "python -m http.server" in opened.get_by_role("status").text_content()
    assert here.wrong == []


def test_other_pages_open_from_a_folder(tab):
    here = tab()
    opened = here.open((HTML / "chapters" / "figures.html").as_uri())
    assert opened.locator(".vl-chart svg.marks").count() >= 1
    assert here.wrong == []
