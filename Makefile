# make run           the application with its demo at http://localhost:8000/ (Ctrl-C stops it)
# make test          every test, the browser's included
# make test-models   the tests of models from a folder, with their libraries
# make test-ragas    the tests of the RAGAS judges, with the library
# make test-exports  the tests of exported judges, in the real RAGAS, DeepEval and MLflow
# make lint          style, types (of Python and of JavaScript), import directions
# make shell         a Python shell with the models
# make bench         the benchmarks
#
# WITH=ragas installs what is optional as well, and it stays installed; several: WITH="ragas models".
# Python 3.11 is all that must be there. PYTHON=/path/to/python3.11 names another one.

PYTHON ?= python3.11
VENV := .venv
BIN = $(VENV)/bin
PYTEST_ARGS ?=
WITH ?=
# Dozens of processes are started, and each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-models test-ragas test-exports lint shell bench install install-dev

run: install
	@exec $(BIN)/python -m config.supervisor

test: install-dev
	@$(BIN)/python -m config.pgbouncer || true
	@CHROMIUM=$$($(BIN)/python -m config.browser) && export CHROMIUM && \
	exec $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

test-models: override WITH += models
test-models: install-dev
	@exec $(BIN)/python -m pytest tests/judges/kinds/local_models $(PYTEST_ARGS)

test-ragas: override WITH += ragas
test-ragas: install-dev
	@exec $(BIN)/python -m pytest tests/judges/kinds/ragas $(PYTEST_ARGS)

# In a virtual environment of its own: DeepEval is a plugin of pytest as well, and would take part in every test.
test-exports: override VENV := .venv-exports
test-exports: override WITH := exports
test-exports: install-dev
	@exec $(BIN)/python -m pytest -p no:deepeval tests/judges/exports $(PYTEST_ARGS)

lint: install-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/deno check --quiet --config frontend/deno.json frontend
	@$(BIN)/deno lint --quiet --config frontend/deno.json frontend

shell: install
	@exec $(BIN)/python manage.py shell

bench: install-dev
	@exec $(BIN)/python -m bench

install:
	@$(call with_python,requirements.txt)

install-dev:
	@$(call with_python,requirements-dev.txt)

define with_python
command -v $(PYTHON) >/dev/null || { echo "Touchstone needs Python 3.11, and there is no $(PYTHON) here. Install it, or name one: PYTHON=/path/to/python3.11 make" >&2; exit 1; }; \
$(PYTHON) -I config/install.py $(VENV) $(1) $(WITH)
endef
