"""How long imports take, beside SymPy alone: python benchmarks/imports.py

Times are processor time, which a busy machine moves less than the clock's; each is the fastest
of five fresh processes.
The folder of the algebra is a new one: `first` fills it, the others find it filled.
"""

import os
import resource
import subprocess
import sys
import tempfile

from measured import Result, printed

MODULES = ("sympy", "inferecon.laws", "inferecon.laws.catalogue", "inferecon.cli")


def measure() -> dict[str, Result]:
    """Return the seconds of each import, the interpreter's own start taken off."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "INFERECON_CACHE": folder}

        def once(module: str) -> float:
            code = f"import {module}" if module else ""
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        start = min(once("") for _ in range(5))
        first = once("inferecon.laws.catalogue") - start
        rounds = [[once(module) - start for module in MODULES] for _ in range(5)]  # by turns
    times = dict(zip(MODULES, zip(*rounds, strict=True), strict=True))
    found = {
        f"import.{module}": Result(f"import {module}", min(taken), "s", min(taken), max(taken))
        for module, taken in times.items()
    }
    found["import.first"] = Result("import inferecon.laws.catalogue, nothing kept yet", first, "s")
    return found


if __name__ == "__main__":
    printed(measure())
