"""Scripts that are made at build: written before Sphinx asks for their checksums, if changed."""

from collections.abc import Callable, Iterable
from pathlib import Path

from sphinx.application import Sphinx

from ..files import replace_text
from ..stages import once


def place(
    app: Sphinx,
    name: str,
    files: Iterable[str],
    make: Callable[[], dict[str, str]],
    inputs: Iterable[Path],
) -> None:
    """Write the files that ``make`` returns as texts by name, unless nothing in them changed."""
    places = {file: Path(app.outdir) / "_static" / file for file in files}

    def write() -> None:
        for file, text in make().items():
            replace_text(places[file], text)

    def there() -> list[Path]:
        return [path for path in places.values() if path.exists()]

    once(f"{name} of {app.outdir}", write, inputs=filter(Path.exists, inputs), outputs=there)


def load(
    app: Sphinx, context: dict, mark: str, styles: Iterable[str], files: Iterable[str]
) -> None:
    """Load styles and scripts on a page whose body has a mark, and on no other."""
    if mark in context.get("body", ""):
        for style in styles:
            app.add_css_file(style)
        for file in files:
            app.add_js_file(file, loading_method="defer")
