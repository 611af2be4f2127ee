"""Files that a user names: a table that is read, with its mistakes said, and one that is written.

What is written is there whole or not at all, whatever ends the command.
"""

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from .errors import BadInput

OTHERS = {";": "semicolons", "\t": "tabs"}  # between cells


@contextmanager
def table(path: Path) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """Give the head of a CSV and a reader of its lines.

    Raises BadInput for a file that is none: missing, empty, binary, or with another character
    between its cells.
    """
    if not path.is_file():
        raise BadInput(f"no file {str(path)!r}")
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        try:
            head = next((cells for cells in reader if any(cell.strip() for cell in cells)), None)
            if head is None:
                raise BadInput(f"{path.name} is empty")
            for mark, name in OTHERS.items():
                if len(head) == 1 and mark in head[0]:
                    raise BadInput(f"{path.name} has {name} between its cells; write commas")
            yield [cell.strip() for cell in head], reader
        except UnicodeDecodeError:
            raise BadInput(f"{path.name} is no text in UTF-8") from None
        except csv.Error as error:
            raise BadInput(f"{path.name}, line {reader.line_num}: {error}") from None


@contextmanager
def written(path: Path, option: str) -> Iterator[TextIO]:
    """Give a text file that takes its place when all of it is there, and leaves nothing if not."""
    if path.is_dir():
        raise BadInput(f"{option}: {str(path)!r} is a folder; name a file")
    if not path.parent.is_dir():
        raise BadInput(f"{option}: no folder {str(path.parent)!r}")
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", newline="", encoding="utf-8") as file:
            yield file
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
