# Every target prepares .venv by itself; a stamp file per set of packages makes that free when nothing changed.

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
WHEEL := .venv-wheel
# The locks are complete, so pip need not resolve; byte code is written when a module is first imported.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -qq --no-deps
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-header

.DEFAULT_GOAL := help
.PHONY: help setup demo test lowest lint format docs bench bench-check faults wheel lock upgrade clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.stamp-dev ## create .venv with the locked packages and kboost itself, editable

demo: $(VENV)/.stamp-dev ## run the demonstration
	$(BIN)/python examples/demo.py

# One BLAS thread a worker: the workers already fill the machine. Byte code is kept even where the
# environment forbids it: each worker, and each process that a test starts, would compile all again.
test: $(VENV)/.stamp-dev ## run the tests, with what docstrings, README and pages show
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

# The lower bounds of pyproject.toml are a promise; this keeps it honest.
lowest: $(VENV)/.stamp-dev ## run the tests with the oldest versions that pyproject.toml allows
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct --editable '.[dev]'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n $(WORKERS) $(ARGS)

# Nothing but the wheel and what it depends on, in the locked versions.
wheel: $(VENV)/.stamp-dev ## build the wheel and try it in an environment of its own
	rm -rf dist $(WHEEL)
	$(BIN)/python -m pip --disable-pip-version-check wheel -qq --no-deps --no-build-isolation --wheel-dir dist .
	$(PYTHON) -m venv $(WHEEL)
	grep -E '^[a-z0-9._-]+(\[.*\])?==' requirements/dev.txt | sed 's/ *\\$$//' > $(WHEEL)/constraints.txt
	$(WHEEL)/bin/python -m pip --disable-pip-version-check install -qq --no-compile -c $(WHEEL)/constraints.txt dist/*.whl
	$(WHEEL)/bin/python -I .ci/smoke.py

lint: $(VENV)/.stamp-dev ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.stamp-dev ## rewrite the code in the agreed style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.stamp-docs ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.stamp-bench ## run the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

bench-check: $(VENV)/.stamp-bench ## repeat the cheapest fits of stored results, and name what got worse
	$(BIN)/python -m benchmarks.check $(ARGS)

# Each try is a copy of a process without threads.
faults: $(VENV)/.stamp-bench ## provoke faults of many kinds in every estimator; a loss is a failure
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks faults $(ARGS)

lock: $(VENV)/.stamp-dev ## bring requirements/ in line with pyproject.toml, keeping versions where possible
	$(COMPILE) --extra dev --output-file requirements/dev.txt
	$(COMPILE) --extra docs --constraint requirements/dev.txt --output-file requirements/docs.txt
	$(COMPILE) --extra bench --constraint requirements/dev.txt --output-file requirements/bench.txt

upgrade: $(VENV)/.stamp-dev ## the same, with the newest versions
	rm -f requirements/dev.txt requirements/docs.txt requirements/bench.txt
	$(MAKE) --no-print-directory --old-file=$(VENV)/.stamp-dev lock

clean: ## remove everything that can be made again
	rm -rf $(VENV) $(LOWEST) $(WHEEL) build dist docs/_build docs/api/generated docs/auto_examples demo
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.stamp-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "kboost needs Python 3.11 or newer, and '$(PYTHON)' is not; name another one: make PYTHON=python3.12 ..." >&2; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml requirements/dev.txt | $(VENV)/.stamp-python
	$(INSTALL) --no-compile --require-hashes -r requirements/dev.txt
	$(INSTALL) --no-build-isolation -e .
	@touch $@

$(VENV)/.stamp-docs: requirements/docs.txt $(VENV)/.stamp-dev
	$(INSTALL) --no-compile --require-hashes -r requirements/docs.txt
	@touch $@

$(VENV)/.stamp-bench: requirements/bench.txt $(VENV)/.stamp-dev
	$(INSTALL) --no-compile --require-hashes -r requirements/bench.txt
	@touch $@
