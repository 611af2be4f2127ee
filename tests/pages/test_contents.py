"""What stands around every text: the list of its headings, and the icons of the theme."""

from playwright.sync_api import expect


def test_the_list_of_headings_marks_what_is_read(tab, site):
    opened = tab().open(f"{site}/sweeps.html")
    marked = opened.locator(".page-toc .nav-link.active")
    expect(marked).to_have_text(["What is executed"])
    opened.locator("#kubernetes").evaluate("it => it.scrollIntoView({behavior: 'instant'})")
    expect(marked).to_have_text(["On a cluster", "Kubernetes"])


def test_icons_are_letters_of_a_font_that_is_there(tab, site):
    opened = tab().open(f"{site}/sweeps.html")
    assert opened.locator("script[src*=fontawesome]").count() == 0
    icons = opened.locator(".bd-header-article [class*=fa-]:visible")
    assert icons.count() >= 3
    fonts = opened.evaluate("[...document.fonts].map(one => [one.family, one.status])")
    assert any("Awesome" in family and status == "loaded" for family, status in fonts), fonts
