"""Places of results: a path of this machine, or an address that fsspec knows.

What is written here is there whole or not at all: a temporary name and a move where the store
can, one object put otherwise.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from .errors import BadInput

Place = Path | str  # an address is text with "://" in it
# Stores in which an object appears when all of it is there; in others a rename does that.
CLOCKS = ("ETag", "etag", "mtime", "LastModified", "created")  # what stores call it
OBJECTS = {"memory", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "r2", "hf"}


def place(named: str | Path) -> Place:
    """Return where a user means: a path, or an address; a file address is a path."""
    text = str(named)
    if "://" not in text:
        return Path(text)
    if text.startswith("file://"):
        return Path("/" + text.removeprefix("file://").lstrip("/"))
    _filesystem(text)  # says at once if nothing can read it
    return text.rstrip("/")


def under(folder: Place, *names: str) -> Place:
    """Return a place in a folder."""
    return folder.joinpath(*names) if isinstance(folder, Path) else "/".join((folder, *names))


def parent(target: Place) -> Place:
    """Return the folder of a place."""
    return target.parent if isinstance(target, Path) else target.rpartition("/")[0]


def name(target: Place) -> str:
    """Return the last part of a place."""
    return str(target).rpartition("/")[2]


def write(target: Place, data: bytes) -> None:
    """Write a file whole or not at all."""
    if isinstance(target, Path):
        target.parent.mkdir(parents=True, exist_ok=True)
        # two runs at once may write the same file: each has a temporary file of its own
        temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            temporary.write_bytes(data)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
        return
    files = _filesystem(target)
    try:
        if _is_object_store(files):
            files.pipe_file(target, data)
            return
        files.makedirs(target.rpartition("/")[0], exist_ok=True)
        files.pipe_file(f"{target}.part", data)
        files.mv(f"{target}.part", target)
    except Exception as error:
        _refuse(target, error)


def move_in(source: Path, target: Place) -> None:
    """Give a finished file of this machine its place, as ``write`` does."""
    if isinstance(target, Path):
        os.replace(source, target)
        return
    files = _filesystem(target)
    try:
        if _is_object_store(files):
            files.put_file(str(source), target)
        else:
            files.makedirs(target.rpartition("/")[0], exist_ok=True)
            files.put_file(str(source), f"{target}.part")
            files.mv(f"{target}.part", target)
    except Exception as error:
        _refuse(target, error)
    source.unlink()


def read(source: Place) -> bytes:
    """Read a file.  Raises FileNotFoundError."""
    if isinstance(source, Path):
        return source.read_bytes()
    return _filesystem(source).cat_file(source)


def opened(source: Place) -> BinaryIO:
    """Open a file to read parts of it.  Raises FileNotFoundError."""
    return source.open("rb") if isinstance(source, Path) else _filesystem(source).open(source)


def remove(target: Place) -> None:
    """Remove a file, if it is there."""
    if isinstance(target, Path):
        target.unlink(missing_ok=True)
        return
    with suppress(FileNotFoundError):
        _filesystem(target).rm_file(target)


def names(folder: Place) -> list[str]:
    """Return the names of the files in a folder, sorted."""
    if isinstance(folder, Path):
        return sorted(path.name for path in folder.glob("*") if path.is_file())
    try:
        found = _filesystem(folder).ls(folder, detail=False)
    except FileNotFoundError:
        return []
    return sorted(name.rpartition("/")[2] for name in found)


def stamps(folder: Place, targets: Iterable[Place]) -> dict[Place, str]:
    """Return size and clock of each file that exists, as text that changes when the file does."""
    if isinstance(folder, Path):
        found = {}
        for target in targets:
            with suppress(OSError):
                seen = os.stat(target)
                found[target] = f"{seen.st_size} {seen.st_mtime_ns}"
        return found
    files = _filesystem(folder)
    files.invalidate_cache()
    listed = files.find(folder, detail=True)
    root, seen = files._strip_protocol(folder), {}
    for path, info in listed.items():
        clock = next((info[name] for name in CLOCKS if name in info), "")
        seen[path.rpartition(root)[2]] = f"{info['size']} {clock}"
    inside = {target: target.removeprefix(folder) for target in targets}
    return {target: seen[path] for target, path in inside.items() if path in seen}


def _filesystem(address: str):
    import fsspec

    try:
        return fsspec.core.url_to_fs(address)[0]
    except (ImportError, ValueError) as error:
        raise BadInput(f"{address}: {error}") from error


def _is_object_store(files) -> bool:
    known = files.protocol
    return bool(OBJECTS & ({known} if isinstance(known, str) else set(known)))


def _refuse(target: str, error: Exception) -> NoReturn:
    raise OSError(None, f"cannot be written: {type(error).__name__}: {error}", target) from error
