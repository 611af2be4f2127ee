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
