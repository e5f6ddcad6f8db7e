.DEFAULT_GOAL := help
.PHONY: help setup postgresql fmt lint types arch test test-all test-long test-memory test-faults test-bounds test-nojit test-spark test-cluster test-spark-oldest \
	bench bench-against coverage docs-check check ci clean

PYTHON ?= python3.11
BIN := .venv/bin
ARGS ?=
# Tests that also run as plain Python; of policies, what operators make of their answers.
PLAIN := $(addprefix tests/,kernels models spec columns state operators) \
	$(addprefix tests/policies/,test_bad_scores.py test_budgets.py)
BENCH ?= --help

export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
export PYSPARK_DRIVER_PYTHON := $(PYSPARK_PYTHON)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  ARGS='...' is passed on to pytest."

setup: ## Make .venv with everything in it, at the pinned versions
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -c constraints.txt -e '.[all,connect,dev]'

postgresql: ## Install PostgreSQL, if there is none, and its driver; for tests on Spark
	.ci/postgresql

fmt: ## Format, and mend what ruff can mend
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

lint: ## Lint and check the format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: ## Check types
	$(BIN)/mypy

arch: ## Check who imports whom
	$(BIN)/lint-imports

test: ## Tests without a JVM
	$(BIN)/python -m pytest -q $(ARGS)

test-all: ## Tests without a JVM, with all random cases of each
	TEST_EFFORT=all $(BIN)/python -m pytest -q -n 2 $(ARGS)

test-long: ## Tests that take minutes: bias and coverage of samples, budgets against the exact result
	$(BIN)/python -m pytest -q -n 2 -m 'long and not spark' $(ARGS)

test-memory: ## What a shard holds in memory, at full size: prints the figures
	$(BIN)/python -m pytest -q -s -p no:randomly -m 'long or not long' \
		tests/spark/test_memory.py $(ARGS)

test-faults: ## Kills and full disks between any two steps: 2,000 sequences for each kind of join
	FAULT_SEQUENCES=2000 $(BIN)/python -m pytest -q -n 2 tests/faults $(ARGS)

test-bounds: ## Kernels, operators and policies with every index checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -q tests/kernels tests/operators tests/policies $(ARGS)

test-nojit: ## Kernels, operators and models as plain Python
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q $(PLAIN) $(ARGS)

test-spark: ## Tests on Spark; needs Java 17, and make postgresql once
	$(BIN)/python -m pytest -q -m 'spark and not long' -p no:randomly $(ARGS)

test-cluster: ## Kills, speculation, popular keys, many queries and a fresh installation, at full size
	$(BIN)/python -m pytest -q -s -p no:randomly -m 'spark and long' $(ARGS)

test-spark-oldest: ## Tests on the oldest supported PySpark, in a venv of its own
	PYTHON=$(PYTHON) .ci/spark-oldest $(ARGS)

bench: ## Run a benchmark: make bench BENCH='NAME --quick'
	$(BIN)/python -m benchmarks $(BENCH)

bench-against: ## A benchmark on an earlier revision and on this code, in turns: make bench-against BENCH='REVISION NAME'
	$(BIN)/python -m benchmarks.against $(BENCH)

coverage: ## Line and branch coverage of kernels, operators and models, as plain Python
	$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run --branch -m pytest -q $(PLAIN) $(ARGS)
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --include='src/shedjoin/kernels/*,src/shedjoin/operators/*,src/shedjoin/models/*,src/shedjoin/state/*,src/shedjoin/columns/*,src/shedjoin/spec/*'

docs-check: ## Run the examples of docstrings and pages, and follow the links
	$(BIN)/python -m pytest -q -m 'not spark' --doctest-modules src/shedjoin tests/docs $(ARGS)

check: lint types arch docs-check test test-nojit test-spark ## All checks in .venv

ci: ## What CI runs: all checks in fresh environments
	.ci/run

clean: ## Remove caches, builds and the environments of CI
	rm -rf .ci-venv .ci-venv-oldest .ci-slow.log .jars build dist .coverage .coverage.* .hypothesis \
		.mypy_cache .pytest_cache .ruff_cache .import_linter_cache spark-warehouse
	for folder in src tests benchmarks; do \
		if [ -d $$folder ]; then \
			find $$folder -name __pycache__ -type d -prune -exec rm -rf {} +; \
		fi; \
	done
