# `make demo` and `make test` set everything up on a machine with Python (3.11 or newer), git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= dev
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test check lint test-slow bench docs lock clean

demo: $(VENV)/ready ## score the examples with the embedded model, and make the pages
	$(BIN)/mores pull
	mkdir -p build
	$(BIN)/mores show examples/world.jsonl examples/world.gold.jsonl --html build/gold.html --quiet
	$(BIN)/mores score examples/world.jsonl --out build/demo.judgements.jsonl --html build/demo.html
	@echo
	@echo "The judgements:                       build/demo.judgements.jsonl"
	@echo "The page, by the embedded model:      build/demo.html"
	@echo "What a careful reader marks there:    build/gold.html"

test: check ## lint, types and tests: everything that CI runs
	$(BIN)/pytest

check: $(VENV)/ready ## lint and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-slow: $(VENV)/ready ## the tests that take minutes
	$(BIN)/pytest -m slow

bench: $(VENV)/ready ## the engine's speed beside others, as ratios in one run
	$(BIN)/python benchmarks/engine.py

docs: $(VENV)/ready ## write the help texts into the docs again
	$(BIN)/python docs/generate.py

lock: ## pin the newest versions of everything that development uses
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	build/lock/bin/python -m pip freeze --exclude-editable > requirements-dev.lock
	rm -rf build/lock

$(VENV)/ready: pyproject.toml requirements-dev.lock
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Mores needs Python 3.11 or newer: make PYTHON=python3.12"'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --editable '.[$(EXTRAS)]' --constraint requirements-dev.lock
	touch $@

clean:
	rm -rf $(VENV) build dist
