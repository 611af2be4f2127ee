"""Where the parts of the report are, and files that are written whole or not at all."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"
BOOK = ROOT / "book"
BUILD = ROOT / "_build"
CITATION = ROOT / "CITATION.cff"
FOLDERS = ("claims", "data", "hardware", "models", "reference")  # of the book: all is generated
SWEEP = BUILD / "sweep"  # executed notebooks
DATASET = BUILD / "results.parquet"
NUMBERS = BUILD / "numbers.csv"  # published in this build
LEDGER = BOOK / "numbers.csv"  # published and accepted


def replace_text(path: Path, text: str) -> bool:
    """Write a text file whole or not at all; leave it alone, clock included, if it is the same."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    return True
