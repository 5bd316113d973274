# One command each; every one makes the environment it needs on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check lint bench screenshots browser clean

run: .venv/.ready  ## start Winnow and print the sign-in link
	@exec $(BIN)/python app.py

test: check browser  ## everything: format, lint, types, tests, the browser
	$(BIN)/python -m pytest -n 2 -m browser

check: lint  ## all that needs no browser
	$(BIN)/python -m pytest -n 2 -m "not browser"

lint: .venv/.ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/.ready-dev browser  ## the benchmark tables of benchmarks/results
	$(BIN)/python -m benchmarks

screenshots: browser  ## every page, into screenshots/
	$(BIN)/python -m tests.browser.screenshots

browser: .venv/.ready-dev
	@$(BIN)/python -m tests.browser.obtain

.venv/.ready: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Winnow needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make run PYTHON=python3.12"; exit 1; }
	@echo "Making the environment in .venv (once, about a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --requirement requirements.txt
	@$(BIN)/python -m workflow.warming
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.txt
	@echo "Adding what the tests need (once) ..."
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@touch $@

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist screenshots
