"""How long imports take, beside SymPy alone: python benchmarks/imports.py

Each is the fastest of five fresh processes, so that a busy machine moves it little.
"""

import subprocess
import sys
import time

MODULES = ("sympy", "inferecon", "inferecon.cli", "inferecon.laws", "inferecon.laws.catalogue")


def seconds(module: str) -> float:
    """Return the fastest of five fresh imports, the interpreter's own start taken off."""
    return min(_once(f"import {module}") for _ in range(5)) - min(_once("") for _ in range(5))


def _once(code: str) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begin


if __name__ == "__main__":
    found = {module: seconds(module) for module in MODULES}
    for module, taken in found.items():
        print(f"{module:<26} {taken:6.2f} s  {taken / found['sympy']:5.2f} x sympy")
