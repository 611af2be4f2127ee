.DEFAULT_GOAL := help
.PHONY: help report test checks browser pages pdf accept bench lock clean
.DELETE_ON_ERROR:

BIN := .venv/bin
# what needs a browser, and no built report
PARITY := tests/test_calculator.py::test_a_browser_computes_what_python_computes
# Many processes import the same modules: compile them once, whatever the machine is set to.
export PYTHONDONTWRITEBYTECODE :=
# The first interpreter that answers, fits and can make an environment; a pyenv shim may exist and do neither.
FITS := import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	"$$p" -c '$(FITS)' 2>/dev/null && echo "$$p" && break; done)

help:             ## list the targets
	@sed -n 's/^\([a-z]*\): .*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 14

report: .venv/installed ## run the notebooks, check every number, write _build/html
	@$(BIN)/inferecon build

test: checks browser ## layers, style, laws, records, notebooks; a sample of the built pages in a browser

checks: .venv/installed
	@$(BIN)/lint-imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pytest -q -n auto --dist loadfile --ignore tests/pages --deselect $(PARITY)

browser: .venv/installed # every page where INFERECON_BROWSER=required, and then a browser must be there
	@$(BIN)/python -m inferecon.chromium || test "$$INFERECON_BROWSER" != required
	@$(BIN)/pytest -q -n auto $(PARITY) tests/pages

pages: export INFERECON_BROWSER := required
pages: browser ## test every built page in a real browser

pdf: .venv/installed ## print the built report into _build/inferecon.pdf
	@$(BIN)/python -m inferecon.chromium
	@$(BIN)/inferecon pdf

accept: .venv/installed ## write the new numbers into the ledger; the diff is the review
	@$(BIN)/inferecon build --accept

bench: .venv/installed ## measure speed against papermill, other tools and the edition before
	@$(BIN)/python benchmarks/run.py

lock:             ## renew requirements.txt from pyproject.toml (UPGRADE=--upgrade for newer releases)
	uv pip compile --quiet --universal --fork-strategy fewest --generate-hashes \
		--python-version 3.11 --extra dev --extra dask --custom-compile-command "make lock" \
		$(UPGRADE) --output-file requirements.txt pyproject.toml

clean:            ## remove what was built; the environment stays
	rm -rf _build book/chapters

# A changed lock makes the environment anew, so that nothing outside the lock survives in it.
# Not compiled: most modules are never imported, and the rest compile at first use.
.venv/locked: requirements.txt
	@"$(PYTHON)" -c '$(FITS)' 2>/dev/null || { echo "This needs Python 3.11, 3.12 or 3.13 with venv: install one, or name it as in make report PYTHON=/usr/bin/python3.12" >&2; exit 1; }
	@echo "Making .venv from requirements.txt with $(PYTHON) (once, a minute or two)"
	@"$(PYTHON)" -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.txt
	@touch $@

.venv/installed: .venv/locked pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
