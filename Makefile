# `make demo` and `make test` set everything up on a machine with Python (3.11 or newer), git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= dev
comma := ,
READY := $(VENV)/ready-$(subst $(comma),-,$(EXTRAS))
PIP := $(BIN)/python -m pip --disable-pip-version-check
# uv installs in seconds what takes pip minutes. It does not read pip's settings: where to look for packages is passed on.
setting = UV_$(1)='$(or $(UV_$(1)),$(PIP_$(1)),$(shell $(PYTHON) -m pip config get global.$(2) 2>/dev/null))'
# pip also takes a pinned version from any index that has it; uv alone would stop at the first that has the package.
INSTALL = $(call setting,INDEX_URL,index-url) $(call setting,EXTRA_INDEX_URL,extra-index-url) \
	$(call setting,FIND_LINKS,find-links) UV_INDEX_STRATEGY='$(or $(UV_INDEX_STRATEGY),unsafe-best-match)' \
	$(BIN)/uv pip install --quiet --python $(BIN)/python
# One more than there are cores: many tests wait for a server, a browser or a clock.
WORKERS = $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')
# Child processes and the next run need not compile what this one has, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=
COMPILE := build/lock/bin/uv pip compile --upgrade --universal --python-version 3.11 \
	--no-header --no-annotate --quiet

.PHONY: demo prose test pytest check install test-slow chaos fuzz atheris test-harness coverage bench docs site gallery picture pictures studio lock release-check clean

demo: $(READY) ## score the examples with the embedded model, and make the pages
	$(BIN)/mores pull
	mkdir -p build
	rm -rf build/demo build/evidence build/prose
	$(BIN)/mores show examples/world.jsonl examples/world.gold.jsonl --html build/gold.html --quiet
	$(BIN)/mores score examples/world.jsonl --max-errors 1 --out build/demo --html build/demo.html
	$(BIN)/mores score examples/answers.jsonl --evidence examples/facts.jsonl --out build/evidence --html build/evidence.html
	$(BIN)/mores score examples/languages.jsonl --evidence examples/languages.prose.jsonl --out build/prose --html build/prose.html
	@echo
	@echo "The judgements:                       build/demo/judgements.jsonl"
	@echo "The page, by the embedded model:      build/demo.html"
	@echo "What a careful reader marks there:    build/gold.html"
	@echo "Short answers, judged by facts:       build/evidence.html"
	@echo "Four languages, judged by prose:      build/prose.html"

prose: $(READY) ## judge free texts in five languages by prose, and say how good the verdicts are
	$(BIN)/mores pull
	mkdir -p build
	rm -rf build/free build/free.meta
	$(BIN)/mores score examples/free.jsonl --evidence examples/passages.jsonl --out build/free --html build/free.html
	$(BIN)/mores meta --data examples/free.jsonl --metric build/free --baselines always,never --by language --out build/free.meta
	@echo
	@echo "Free texts, judged by prose:          build/free.html"
	@echo "How good those verdicts are:          build/free.meta/meta.html"

install: $(READY) ## all that the project needs, in .venv; nothing else is touched

test: check pytest ## lint, types and tests: everything that CI runs

pytest: $(READY) ## the tests alone
	$(BIN)/pytest -m 'not slow' -n $(WORKERS) --dist worksteal -rs

check: $(VENV)/ready-dev ## lint and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2 || { test $$? = 2 && $(BIN)/mypy; } # its workers must start within 3 seconds

test-slow: $(READY) ## the tests that `make test` leaves out, and every property on a thousand random examples
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest -m 'slow or hypothesis' -n auto --dist worksteal

test-harness: ## exported tasks and scorers with the real lm-evaluation-harness and Inspect AI, installed in build/harness
	$(PYTHON) -m venv build/harness
	build/harness/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[longform]' \
		--requirement tests/harness/requirements.txt
	build/harness/bin/python -m pytest -W ignore tests/harness # the warnings of others

chaos: $(READY) ## kill runs, damage stores, an outage, and every fault of a server in every command: about an hour
	$(BIN)/pytest tests/chaos -n auto --dist worksteal

fuzz: $(READY) ## two thousand damaged inputs for every parser of data from outside: about half an hour
	HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest tests/fuzz -n auto --dist worksteal

atheris: $(READY) ## fuzz one parser by the code that it reaches, for ten minutes: PARSER="build recipe"; needs Atheris (tests/fuzz/atheris_harness.py)
	mkdir -p build/atheris
	$(BIN)/python -m tests.fuzz.atheris_harness "$(PARSER)" -max_total_time=600 -timeout=20 -artifact_prefix=build/atheris/

coverage: $(READY) ## the lines and branches that the tests reach, in child processes too
	mkdir -p build/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m 'not slow' -n auto --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report --skip-covered

bench: $(READY) ## every goal of speed and memory, then everything beside others, into the tables of benchmarks/README.md; an hour
	$(BIN)/python benchmarks/goals.py --save
	$(BIN)/python benchmarks/startup.py --save
	$(BIN)/python benchmarks/engine.py --calls 20000 --save
	$(BIN)/python benchmarks/whole.py --rounds 1 --save
	$(BIN)/python benchmarks/search.py --save
	$(BIN)/python benchmarks/stats.py --pairs 200000 --samples 10000 --save
	$(BIN)/python benchmarks/embedded.py --save
	$(BIN)/python benchmarks/serve.py --save
	$(BIN)/python benchmarks/factory.py --sizes 1000,3000 --save
	$(BIN)/python benchmarks/studio.py --seconds 10 --save

docs: $(READY) ## write the help texts into the docs again
	$(BIN)/python docs/generate.py

site: docs ## the documentation as a site in build/site; open build/site/index.html, no server is needed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

studio: $(READY) ## serve the studio with its demo campaigns on http://127.0.0.1:8000
	mkdir -p build
	$(BIN)/mores studio --database build/studio.db --demo

gallery: $(READY) ## draw the figures of docs/figures.md again
	$(BIN)/python -m docs.figures

picture: $(READY) ## take the README's picture again; needs Chromium
	mkdir -p build
	$(BIN)/mores show examples/world.jsonl examples/world.gold.jsonl --html build/gold.html --quiet
	$(BIN)/python -m docs.picture 'build/gold.html#filters' docs/page.png

pictures: picture ## a picture of every screen of the studio in build/studio, and those of the docs; needs Chromium
	rm -rf build/studio
	MORES_PICTURES=docs/pictures $(BIN)/pytest -n 0 tests/report/test_every_page.py
	MORES_PICTURES=docs $(BIN)/pytest -n 0 tests/view/test_browser.py
	MORES_PICTURES=build/studio $(BIN)/pytest -n 0 -k "not squeezed and not some" tests/studio/test_looks.py
	cp build/studio/studio-*.png docs/
	MORES_PICTURES=docs $(BIN)/pytest -n 0 tests/studio/test_volunteers.py

release-check: $(READY) ## build a release into dist/, check what is in it, and install it in clean environments
	@test -z "$$(git status --porcelain)" || { git status --short; echo "commit or remove these first"; exit 1; }
	rm -rf dist
	$(BIN)/hatchling build
	MORES_DIST=dist $(BIN)/pytest -n auto tests/test_release.py tests/test_licence.py tests/test_lock.py

lock: ## pin the newest versions of everything that development uses, with the hashes of all their files
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	echo uv | $(COMPILE) - --generate-hashes --output-file requirements-uv.lock
	$(COMPILE) pyproject.toml --extra dev --generate-hashes --output-file requirements-dev.lock
	$(COMPILE) pyproject.toml --all-extras --constraint requirements-dev.lock --output-file requirements-extras.lock
	rm -rf build/lock

$(VENV)/ready-dev: pyproject.toml requirements-uv.lock requirements-dev.lock
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Mores needs Python 3.11 or newer: make PYTHON=python3.12"'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --require-hashes --requirement requirements-uv.lock
	$(INSTALL) --require-hashes --requirement requirements-dev.lock
	$(INSTALL) --no-build-isolation --no-deps --editable .
	touch $@

# Torch comes in several builds of one version, and which one a machine takes is its own choice: the other extras are
# pinned without hashes.
$(VENV)/ready-%: $(VENV)/ready-dev requirements-extras.lock
	$(INSTALL) --editable '.[$(EXTRAS)]' --constraint requirements-extras.lock
	touch $@

clean:
	rm -rf $(VENV) build dist
