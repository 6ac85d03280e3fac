# Everything on a fresh machine with python3, pip, git and make. Nothing is installed twice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Compiled once, not at every start, also where the environment asks for the opposite: a start is half as long.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: deploy undeploy demo test test-agents check unit bench counts cheats chaos fuzz gauntlet lock clean help \
	bench-diagnose bench-memory bench-fleet bench-prepare

help:
	@echo "make demo   watch a loop fail five ways and turn green (no API key, offline)"
	@echo "make test   run all tests"
	@echo "make test-agents  install all real agent CLIs and drive them with a scripted model (15 minutes)"
	@echo "make unit   run the tests that need no server"
	@echo "make check  ruff, format, mypy --strict"
	@echo "make bench  everything measured, into docs/performance.md (10 minutes; QUICK=1: 90 seconds)"
	@echo "make bench-diagnose, bench-memory, bench-fleet, bench-prepare  one of them at full length (up to an hour)"
	@echo "make counts take new figures for the tests that count calls and requests"
	@echo "make cheats play every cheat and honest change against the integrity check (10 minutes)"
	@echo "make chaos  kill a run 50 times, resume it, compare with an undisturbed one (10 minutes)"
	@echo "make fuzz   10 000 generated inputs for everything that reads what others wrote (15 minutes; FUZZ_SECONDS)"
	@echo "make gauntlet  buildloop against plain retry on small real repositories (10 minutes)"
	@echo "make deploy    Prefect server, work pool, deployments, automations and a worker on this machine"
	@echo "make undeploy  stop what make deploy started; nothing is deleted"
	@echo "make lock   resolve the dependencies anew into requirements.lock"
	@echo "make clean  remove the virtual environment and caches"

$(READY): requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the locked dependencies into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)
	@$(BIN)/buildloop demo

test: $(READY)
	@$(BIN)/python -m pytest --hypothesis-profile=thorough -n 3 --dist loadfile --no-loadscope-reorder

test-agents: $(READY)
	@ALL_AGENTS=1 $(BIN)/python -m pytest tests/agents

unit: $(READY)
	@$(BIN)/python -m pytest -m "not server and not slow"

check: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(READY)
	@$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

bench-diagnose bench-memory bench-fleet bench-prepare: bench-%: $(READY)
	@$(BIN)/python -m benchmarks.$*

counts: $(READY)
	@TAKE_COUNTS=1 $(BIN)/python -m pytest -q -p no:cacheprovider tests/performance

cheats: $(READY)
	@$(BIN)/python benchmarks/cheats.py

chaos: $(READY)
	@$(BIN)/python benchmarks/chaos.py

fuzz: $(READY)
	@PYTHONPATH=. $(BIN)/python benchmarks/fuzz.py

gauntlet: $(READY)
	@$(BIN)/python benchmarks/gauntlet.py

deploy: $(READY)
	@$(BIN)/python -m deployments up

undeploy: $(READY)
	@$(BIN)/python -m deployments down

lock: $(READY)
	@$(BIN)/uv pip compile --universal --generate-hashes --no-header --quiet --python-version 3.11 \
		--extra dev --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
