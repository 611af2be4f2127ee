"""The box "Cite": four forms of an entry, folded, ready to copy.

The text stands in the page and can be selected; ``js/cite.js`` adds the buttons
that copy it, so a page without scripts lacks nothing but those.
"""

from html import escape

from .citing import Entry, written
from .edition import UNSTAMPED

MARK = 'class="cite"'
FORMS = {"markdown": "Markdown", "latex": "LaTeX", "bibtex": "BibTeX", "json": "JSON"}


def box(found: Entry) -> list[str]:
    """Return MyST lines of the box; of the four forms one is open at a time."""
    group = escape(f"cite-{found.id}", quote=True)
    found = found.model_copy(update={"commit": UNSTAMPED})
    parts = []
    for form, title in FORMS.items():
        # inside this fence nothing is markup but the fence itself, so no text may hold one
        text = escape(written(found, form)).replace("`", "&#96;")
        opened = " open" if form == "markdown" else ""
        parts.append(
            f'<details name="{group}"{opened}><summary>{title}</summary>'
            f'<div class="form" tabindex="0">{text}</div></details>'
        )
    body = "".join(parts)
    return [
        "``````{raw} html",
        f'<details {MARK}><summary>Cite<span class="visually-hidden"> {escape(found.id)}</span>'
        f"</summary>{body}</details>",
        "``````",
    ]
