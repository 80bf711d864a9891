# Every target but `help` and `clean` first brings .venv up to date.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp

export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow check docs bench clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-10s %s\n", $$1, $$2 }'

setup: $(STAMP) ## Create .venv with the pinned dependencies and the package itself (PYTHON=python3)

$(STAMP): requirements/runtime.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "skillplan needs Python 3.11 or newer, but '$(PYTHON)' says: $$($(PYTHON) --version 2>&1 || true)" >&2; \
	    echo "Name another one: make setup PYTHON=python3.11" >&2; \
	    exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --no-input --quiet -r requirements/dev.txt
	$(BIN)/python -m pip install --disable-pip-version-check --no-input --quiet --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check --disable-pip-version-check
	@touch $(STAMP)

demo: $(STAMP) ## Train LSP and Dreamer in a small world and draw what they learned, in minutes
	$(BIN)/python -m skillplan.demo

test: $(STAMP) ## Run the quick tests
	$(BIN)/python -m pytest -n 2

test-slow: $(STAMP) ## Run the tests that learn something
	$(BIN)/python -m pytest -m slow

check: $(STAMP) ## Lint, check the format and the types, build the documentation strictly
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --project pyproject.toml
	$(BIN)/mkdocs build --strict --quiet --site-dir site

docs: $(STAMP) ## Build the documentation into site/
	$(BIN)/mkdocs build --site-dir site

bench: $(STAMP) ## Measure the speed of updates, planning and environments
	$(BIN)/python -m benchmarks

clean: ## Remove .venv, caches and built files; runs/ stays
	rm -rf $(VENV) site build dist .pytest_cache .ruff_cache src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
