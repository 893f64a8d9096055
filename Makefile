# Every target prepares .venv by itself; a stamp file per set of packages makes that free when nothing changed.

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
WHEEL := .venv-wheel
RELEASE := .venv-release
RECIPES := .venv-recipes
# The locks are complete, so pip need not resolve; byte code is written when a module is first imported.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -qq --no-deps
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-header
LOCKS := dev docs bench release asv recipes

.DEFAULT_GOAL := help
.PHONY: help setup demo test lowest lint format docs bench bench-check faults explore soak asv recipes dist wheel sbom audit lock upgrade clean

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

# The wheel is built from the sdist, so both are complete; twine reads what the index would show.
dist: $(RELEASE)/.stamp ## build sdist and wheel into dist/ and check their metadata
	rm -rf dist
	$(RELEASE)/bin/python -m build --no-isolation >/dev/null
	$(RELEASE)/bin/twine check --strict dist/*

# Nothing but the wheel and what it depends on, in the locked versions; not even pip.
wheel: dist $(VENV)/.stamp-dev ## try the wheel in an environment of its own
	rm -rf $(WHEEL)
	$(PYTHON) -m venv --without-pip $(WHEEL)
	grep -E '^[a-z0-9._-]+(\[.*\])?==' requirements/dev.txt | sed 's/ *\\$$//' > $(WHEEL)/constraints.txt
	$(BIN)/python -m pip --disable-pip-version-check --python $(WHEEL)/bin/python install -qq --no-compile \
		-c $(WHEEL)/constraints.txt dist/*.whl
	$(WHEEL)/bin/python -I .ci/smoke.py

sbom: wheel ## list what the wheel brings with it, as dist/kboost.cdx.json (CycloneDX)
	$(RELEASE)/bin/cyclonedx-py environment $(WHEEL)/bin/python --pyproject pyproject.toml \
		--output-reproducible --output-file dist/kboost.cdx.json
	$(WHEEL)/bin/python .ci/sbom.py dist/kboost.cdx.json

# Not part of .ci/run: it asks PyPI for known vulnerabilities, and fails (--strict) where it gets no answer.
# Licences are also read by `make test`.
audit: $(RELEASE)/.stamp $(VENV)/.stamp-dev ## look for known vulnerabilities, unsuitable licences and loose workflows
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/test_licences.py
	$(RELEASE)/bin/zizmor --offline --quiet .github
	@for lock in $(LOCKS); do \
		echo "requirements/$$lock.txt"; \
		$(RELEASE)/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes -r requirements/$$lock.txt || { \
			echo "make audit: a vulnerability is named above, or PyPI could not be asked (then nothing was audited)" >&2; \
			exit 1; }; \
	done

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

asv: ## time a few fits and predictions of recent commits, into .asv/ (ARGS="v0.1..main" for others)
	$(PYTHON) -m venv .venv-asv
	.venv-asv/bin/python -m pip --disable-pip-version-check install -qq --no-deps --require-hashes -r requirements/asv.txt
	cd benchmarks/asv && ../../.venv-asv/bin/asv machine --yes && ../../.venv-asv/bin/asv run --skip-existing $(or $(ARGS),HEAD^!)
	cd benchmarks/asv && ../../.venv-asv/bin/asv publish

recipes: dist $(RECIPES)/.stamp ## run the recipes of the documentation with MLflow, SHAP, Optuna and skrub
	$(RECIPES)/bin/python -m pip --disable-pip-version-check install -qq --no-deps --force-reinstall dist/*.whl
	KBOOST_RECIPES=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(RECIPES)/bin/python -m pytest -q -p no:cacheprovider tests/docs/test_recipes.py $(ARGS)

explore: $(VENV)/.stamp-dev ## 10,000 generated fits held against relations; continues where it ended
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.explore $(ARGS)

soak: $(VENV)/.stamp-dev ## 30 minutes of fits and predictions in one process: flat memory
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.soak $(ARGS)

lock: $(VENV)/.stamp-dev ## bring requirements/ in line with pyproject.toml, keeping versions where possible
	$(COMPILE) pyproject.toml --extra dev --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --extra docs --constraint requirements/dev.txt --output-file requirements/docs.txt
	$(COMPILE) pyproject.toml --extra bench --constraint requirements/dev.txt --output-file requirements/bench.txt
	$(COMPILE) --group release --constraint requirements/dev.txt --output-file requirements/release.txt
	$(COMPILE) --group asv --constraint requirements/dev.txt --output-file requirements/asv.txt
	$(COMPILE) pyproject.toml --extra cli --extra onnx --group recipes --output-file requirements/recipes.txt

upgrade: $(VENV)/.stamp-dev ## the same, with the newest versions
	rm -f $(LOCKS:%=requirements/%.txt)
	$(MAKE) --no-print-directory --old-file=$(VENV)/.stamp-dev lock

clean: ## remove everything that can be made again
	rm -rf $(VENV) $(LOWEST) $(WHEEL) $(RELEASE) $(RECIPES) .venv-asv .asv build dist demo
	rm -rf docs/_build docs/api/generated docs/auto_examples
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

$(RELEASE)/.stamp: requirements/release.txt
	$(PYTHON) -m venv --clear $(RELEASE)
	$(RELEASE)/bin/python -m pip --disable-pip-version-check install -qq --no-compile --no-deps --require-hashes -r $<
	@touch $@

$(RECIPES)/.stamp: requirements/recipes.txt
	$(PYTHON) -m venv --clear $(RECIPES)
	$(RECIPES)/bin/python -m pip --disable-pip-version-check install -qq --no-compile --no-deps --require-hashes -r $<
	@touch $@
