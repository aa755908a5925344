# Every target sets up .venv by itself; needs only Python >= 3.11 and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# The full benchmarks bring JAX along, which has no place in the everyday environment.
BENCH  := .venv-bench
# The lowest versions that pyproject.toml declares, and uv, which finds them.
LOWEST := .venv-lowest
# The packages that the adapters adapt, which have no place in the everyday environment.
ADAPT  := .venv-adapters
# Spark, which is large and needs a pandas before 3.
SPARK  := .venv-spark
# Sphinx, its theme and its extensions.
DOCS   := .venv-docs
UV     := .venv-uv/bin/uv
# What builds the distributions and looks them over.
DIST   := .venv-dist
# Workers for the tests: one more than the machine has cores, since many wait for a service or a browser.
JOBS   ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# How long each test of `make fuzz` tries new inputs.
MINUTES ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz test-nightly test-slow test-adapters test-spark test-lowest check rooms contract format bench bench-quick gates reproduce docs dist recording clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml paper-data/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "vecuq needs Python 3.11 or newer; try make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --editable ./paper-data
	@touch $@

demo: $(STAMP) ## fit, score, evaluate and report on the bundled example; writes demo/
	$(BIN)/vecuq demo --out demo

test: $(STAMP) ## the everyday tests
	$(BIN)/python -m pytest -n $(JOBS) src tests

# Everything random draws more inputs by night.
test-nightly: $(STAMP) ## what `make test` leaves out: pages, browsers, kills, load, more random inputs
	VECUQ_TEST_EXAMPLES=100 $(BIN)/python -m pytest -n $(JOBS) -m "(nightly or hypothesis) and not slow" src tests

fuzz: $(STAMP) ## attack everything with new hostile inputs, each test for MINUTES=1
	VECUQ_HOSTILE_MINUTES=$(MINUTES) $(BIN)/python -m pytest -n $(JOBS) tests/hostile

test-slow: $(STAMP) ## the long studies that neither of them runs
	$(BIN)/python -m pytest -n $(JOBS) -m slow src tests

$(ADAPT)/.installed: pyproject.toml Makefile
	$(PYTHON) -m venv $(ADAPT)
	$(ADAPT)/bin/python -m pip install --quiet --editable . "pytest>=8" "hypothesis>=6.100" "openai>=2" "litellm>=1.80" "mlflow>=3.5" \
		"opentelemetry-sdk>=1.38"
	@touch $@

# What these packages warn of among themselves is not our matter. LiteLLM has its list of prices on disk too.
test-adapters: $(ADAPT)/.installed ## the adapters with the real packages: openai, LiteLLM, MLflow, OpenTelemetry
	LITELLM_LOCAL_MODEL_COST_MAP=True $(ADAPT)/bin/python -m pytest -p no:cacheprovider -W default -rs tests/adapters

$(SPARK)/.installed: pyproject.toml Makefile
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --editable '.[spark]' "pandas<3" "pytest>=8" "hypothesis>=6.100"
	@touch $@

# Needs a Java that Spark runs on, and fails without: here nothing is skipped.
test-spark: $(SPARK)/.installed ## fit and score on a Spark of this machine; needs Java 17 or newer
	VECUQ_TEST_SPARK=required $(SPARK)/bin/python -m pytest -p no:cacheprovider -rs tests/cluster/spark tests/agree/test_score.py

$(UV):
	$(PYTHON) -m venv .venv-uv
	.venv-uv/bin/python -m pip install --quiet uv
	@touch $@

# Only wheels: on a newer Python the lowest versions are the first that were built for it. Old packages are deprecated
# by what they import, which is not our matter, and the estimator checks of scikit-learn 1.6 ask for SciPy's switch.
test-lowest: $(UV) ## the tests with the lowest versions that pyproject.toml declares; PYTHON=python3.12 for another Python
	$(UV) venv --quiet --clear --python $(PYTHON) $(LOWEST)
	$(UV) pip compile --quiet --no-header --no-annotate --python $(LOWEST)/bin/python --resolution lowest-direct \
		--only-binary :all: --extra dev --extra all pyproject.toml --output-file $(LOWEST)/versions.txt
	$(UV) pip install --quiet --python $(LOWEST)/bin/python --requirements $(LOWEST)/versions.txt
	$(UV) pip install --quiet --python $(LOWEST)/bin/python --no-deps --editable . --editable ./paper-data
	SCIPY_ARRAY_API=1 $(LOWEST)/bin/python -m pytest -n $(JOBS) -m "not slow" -W ignore::DeprecationWarning src tests

check: $(STAMP) ## format, lint, types, import contracts, the budget
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/rooms.py --check

# Where Spark is installed (make test-spark), its cases are recorded with it.
contract: $(STAMP) ## what changed of behaviour since the recording in contract/; ONLY='cli/score/*' for some cases
	$(BIN)/python tools/contract.py --only '$(or $(ONLY),*)'
	[ ! -f $(SPARK)/.installed ] || $(BIN)/python tools/contract.py --only 'python/spark*' --vecuq $(SPARK)/bin/vecuq

rooms: $(STAMP) ## the map of the house: storeys, rooms, imports, and its figures
	$(BIN)/python tools/rooms.py

format: $(STAMP) ## rewrite the files in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BENCH)/.installed: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --editable '.[bench]'
	@touch $@

bench: $(BENCH)/.installed ## every benchmark, peers beside us; writes benchmarks/RESULTS.md
	$(BENCH)/bin/python -m benchmarks

bench-quick: $(STAMP) ## fit and score beside POT, one line per claim, about five minutes
	$(BIN)/python -m benchmarks --quick

# The scores with labels that the gate is measured on; they are no part of the repository.
COMBINING ?= ../shared/data/combining

gates: $(STAMP) ## the gate on real scores, beside MAPIE; writes benchmarks/GATES.md and docs/img/gate.png
	$(BIN)/python -m pip install --quiet "mapie>=1.6"
	$(BIN)/python -m benchmarks.gates --data $(COMBINING) --figure docs/img/gate.png

reproduce: $(STAMP) ## every table and figure of the paper that is built so far; writes reproduced/
	$(BIN)/vecuq reproduce all --out reproduced

$(DIST)/.installed: Makefile
	$(PYTHON) -m venv $(DIST)
	$(DIST)/bin/python -m pip install --quiet "build>=1.2" "twine>=6.1"
	@touch $@

dist: $(DIST)/.installed ## build wheel and sdist, check them, and try the wheel in a new environment; writes dist/
	$(DIST)/bin/python tools/check_dist.py

recording: $(STAMP) ## record the terminal of the README anew, from the real program; writes docs/img/terminal.svg
	$(BIN)/python tools/record_terminal.py

$(DOCS)/.installed: pyproject.toml paper-data/pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --editable '.[docs,all]' --editable ./paper-data
	@touch $@

docs: $(DOCS)/.installed ## the documentation site; writes docs/_build/html/index.html
	$(DOCS)/bin/python -m sphinx -b html -j 2 -W --keep-going -q docs docs/_build/html
	$(DOCS)/bin/python tools/check_links.py docs/_build/html

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) $(BENCH) $(LOWEST) $(ADAPT) $(SPARK) $(DOCS) $(DIST) .venv-uv demo reproduced build dist paper-data/dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis docs/_build docs/built docs/reference/api docs/reference/catalogue/pictures
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
