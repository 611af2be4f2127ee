"""One classic script out of ES modules, so that the calculator works from a folder on disk.

A browser refuses to load a module from ``file://``, and Node tests modules best: so each is
written as a module and joined here.  A name at the top of a module is then a name for all,
and a second use of it fails the build.
"""

import re
from pathlib import Path

from .. import configs
from ..calibration.inputs import CALIBRATED
from ..errors import BuildFailed
from ..forecast import FOLLOWS
from ..law import System
from ..laws import SERVICE
from ..laws.weights import FORMAT_WIDTH
from ..pace import PACE

MODULES = Path(__file__).parent / "modules"
IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([a-z]+\.mjs)';\n", re.MULTILINE)
TOP = re.compile(r"^(?:export )?(?:async )?(?:const|let|class|function) (\w+)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:const|let|class|function) (\w+)", re.MULTILINE)


def laws() -> str:
    """Return the module printed from the equations, a function for each system of laws."""
    systems = {
        "service": SERVICE,
        "width": System([FORMAT_WIDTH]),
        "calibrated": CALIBRATED,
        "follows": FOLLOWS,
        "pace": PACE,
    }
    return "\n".join(system.javascript(name) for name, system in systems.items())


def modules() -> dict[str, str]:
    """Return the text of every module of the calculator by file name."""
    return {**texts(MODULES), "laws.mjs": laws(), "architectures.mjs": configs.module()}


def texts(*folders: Path) -> dict[str, str]:
    """Return the text of the modules that are files, by name."""
    paths = [path for folder in folders for path in sorted(folder.glob("*.mjs"))]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def write_modules(folder: Path) -> None:
    """Write the modules side by side, for Node."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in modules().items():
        (folder / name).write_text(text, encoding="utf-8")


def bundled(entry: str, known: dict[str, str] | None = None) -> str:
    """Return a classic script of a module and all that it imports, as one global of its name.

    The global, ``page`` for ``page.mjs``, has what the module exports.  Raises BuildFailed for
    a module that is not there, a name in two modules, or an import of what is not exported.
    """
    all_, parts, owner = known or modules(), [], {}
    for name in _ordered(entry, all_, []):
        text = all_[name]
        for names, other in IMPORT.findall(text):
            lacking = set(re.findall(r"\w+", names)) - set(EXPORTED.findall(all_[other]))
            if lacking:
                raise BuildFailed(f"{name} imports {', '.join(sorted(lacking))}: not in {other}")
        for top in TOP.findall(text):
            if top in owner:
                raise BuildFailed(f"{top} stands in {owner[top]} and in {name}")
            owner[top] = name
        body = re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.MULTILINE)
        if left := re.search(r"^\s*(?:import|export)\b.*", body, re.MULTILINE):
            raise BuildFailed(f"{name}: cannot be bundled: {left[0]}")
        parts.append(f"// {name}\n{body.strip()}\n")
    given = ", ".join(EXPORTED.findall(all_[entry]))
    inside = "\n".join(parts)
    name = entry.removesuffix(".mjs")
    return f"const {name} = (() => {{\n'use strict';\n{inside}\nreturn {{{given}}};\n}})();\n"


def _ordered(name: str, texts: dict[str, str], above: list[str]) -> list[str]:
    """Return a module behind everything that it imports, each once."""
    if name not in texts or name in above:
        raise BuildFailed(f"no module {name}, or a circle: {' → '.join([*above, name])}")
    found = []
    for _, other in IMPORT.findall(texts[name]):
        found += [one for one in _ordered(other, texts, [*above, name]) if one not in found]
    return [*found, name]
