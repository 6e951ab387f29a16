# `make demo` and `make test` set everything up on a machine with Python (3.11 or newer), git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= dev
comma := ,
READY := $(VENV)/ready-$(subst $(comma),-,$(EXTRAS))
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test check test-slow bench docs picture lock clean

demo: $(READY) ## score the examples with the embedded model, and make the pages
	$(BIN)/mores pull
	mkdir -p build
	rm -f build/demo.judgements.jsonl build/evidence.judgements.jsonl
	$(BIN)/mores show examples/world.jsonl examples/world.gold.jsonl --html build/gold.html --quiet
	$(BIN)/mores score examples/world.jsonl --max-errors 1 --out build/demo.judgements.jsonl --html build/demo.html
	$(BIN)/mores score examples/answers.jsonl --evidence examples/facts.jsonl --out build/evidence.judgements.jsonl --html build/evidence.html
	@echo
	@echo "The judgements:                       build/demo.judgements.jsonl"
	@echo "The page, by the embedded model:      build/demo.html"
	@echo "What a careful reader marks there:    build/gold.html"
	@echo "Short answers, judged by evidence:    build/evidence.html"

test: check ## lint, types and tests: everything that CI runs
	$(BIN)/pytest -m 'not slow'

check: $(READY) ## lint and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-slow: $(READY) ## the tests that take minutes
	$(BIN)/pytest -m slow

bench: $(READY) ## the engine's speed beside others, as ratios in one run
	$(BIN)/python benchmarks/engine.py

docs: $(READY) ## write the help texts into the docs again
	$(BIN)/python docs/generate.py

picture: $(READY) ## take the README's picture again; needs Chromium
	mkdir -p build
	$(BIN)/mores show examples/world.jsonl examples/world.gold.jsonl --html build/gold.html --quiet
	$(BIN)/python docs/picture.py build/gold.html docs/page.png

lock: ## pin the newest versions of everything that development uses
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,embed,hf]' $(LOCK)
	build/lock/bin/python -m pip list --format=freeze --exclude mores --exclude pip --exclude setuptools \
		| sed 's/+cpu$$//' > requirements-dev.lock
	rm -rf build/lock

$(READY): pyproject.toml requirements-dev.lock
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Mores needs Python 3.11 or newer: make PYTHON=python3.12"'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --editable '.[$(EXTRAS)]' --constraint requirements-dev.lock
	touch $@

clean:
	rm -rf $(VENV) build dist
