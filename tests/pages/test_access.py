"""A page is reached and searched without a mouse."""


def test_a_page_is_reached_by_keyboard(tab, site):
    opened = tab().open(f"{site}/index.html")
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent.trim()").startswith("Skip to main")
    opened.keyboard.press("Control+k")
    assert opened.evaluate("document.activeElement.name") == "q"
    opened.keyboard.type("ridge batch")
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/search.html?q=ridge*")


def stop(opened):
    """Press Tab and say where the focus is now."""
    opened.keyboard.press("Tab")
    return opened.evaluate("""() => { const e = document.activeElement;
        return e.closest('#number-box') ? 'box' : e.textContent.trim(); }""")


def test_tab_leaves_an_open_box_for_what_follows_and_closes_it(tab, site):
    opened = tab().open(f"{site}/index.html")
    first, second = (opened.locator("main p a.num:visible").nth(n) for n in (0, 1))
    first.focus()
    opened.keyboard.press("Enter")
    box = opened.locator("#number-box")
    box.wait_for(state="visible")
    stops = [stop(opened)]
    while stops[-1] == "box" and len(stops) < 60:
        stops.append(stop(opened))
    assert len(stops) > 5 and stops[-1] == second.text_content()
    assert box.is_hidden()
    second.press("Enter")
    box.wait_for(state="visible")
    stop(opened)
    opened.keyboard.press("Escape")
    assert box.is_hidden()
    assert second.evaluate("number => document.activeElement === number")


def test_a_table_of_many_numbers_is_passed_in_one_step(tab, site):
    opened = tab().open(f"{site}/models/deepseek-v3.html")
    opened.locator(".results .skip-table").first.wait_for(state="attached")
    table = opened.locator(".results .skip-table + .table-box").first
    assert table.locator("a.num").count() > 50
    skip = opened.locator(".results .skip-table").first
    skip.focus()
    assert skip.bounding_box()["width"] > 60, "seen while it has the focus"
    opened.keyboard.press("Enter")
    opened.keyboard.press("Tab")
    past = "table => table.compareDocumentPosition(document.activeElement)"
    assert table.evaluate(past) == 4, "DOCUMENT_POSITION_FOLLOWING, and not contained"
    opened.keyboard.press("Shift+Tab")
    assert table.evaluate("table => table.contains(document.activeElement)")


def test_a_box_that_scrolls_says_so_at_its_edge(tab, site):
    opened = tab(width=390).open(f"{site}/models/deepseek-v3.html")
    box = opened.locator(".wide-table.results .table-box, .wide-table.results.table-box").first
    box.scroll_into_view_if_needed()
    edges = "box => ['more-before', 'more-after'].filter(one => box.classList.contains(one))"
    opened.wait_for_function(
        f"() => ({edges})(document.querySelector('.more-after') ?? document.body).length"
    )
    assert box.evaluate(edges) == ["more-after"]
    assert box.evaluate("box => getComputedStyle(box).boxShadow") != "none"
    for left, expected in ((60, ["more-before", "more-after"]), (9999, ["more-before"])):
        box.evaluate("(box, left) => box.scrollTo({left, behavior: 'instant'})", left)
        opened.wait_for_function(
            "n => document.querySelectorAll('.more-before').length === n", arg=1
        )
        opened.wait_for_timeout(50)
        assert box.evaluate(edges) == expected


def test_a_box_that_does_not_scroll_is_no_stop(tab, site):
    opened = tab().open(f"{site}/models/index.html")
    box = opened.locator(".table-box").first
    opened.wait_for_function("() => !document.querySelector('.table-box').hasAttribute('tabindex')")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
