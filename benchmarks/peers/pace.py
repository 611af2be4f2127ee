"""Print how long a peer takes for one estimate: venv/bin/python benchmarks/peers/pace.py DRIVER

Run by `benchmarks/rivals.py` in the peer's own environment.  The rows that the peer covers are
asked twice: what only a first estimate costs, such as reading a database, is in neither time.
"""

import importlib
import json
import sys
import time

import common

MOST, SECONDS = 60, 60.0  # rows, and how long to ask for the first time


def main() -> None:
    """Time a driver's ``predict`` row by row."""
    driver = importlib.import_module(sys.argv[1])
    answered: list[dict] = []
    begin = time.perf_counter()
    for row in common.rows([common.TRUTH / "timing.csv"]):
        if len(answered) == MOST or time.perf_counter() - begin > SECONDS:
            break
        try:
            if driver.covers(row):
                driver.predict(row)
                answered.append(row)
        except Exception:  # what the peer refuses says nothing about its pace
            continue
    estimate = getattr(driver, "estimate", None)  # one answer for several rows
    if estimate:
        estimate.cache_clear()
    times: list[float] = []
    for row in answered:
        known = estimate and estimate.cache_info().hits
        start = time.perf_counter()
        driver.predict(row)
        seconds = time.perf_counter() - start
        if not estimate or estimate.cache_info().hits == known:
            times.append(seconds)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
