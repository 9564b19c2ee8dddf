# `make test` runs all that CI runs but the real clients (`make test-clients`), in an environment of its own under .venv.

VENV ?= .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.ready
# Python for the environment: the first of these that is 3.11 or newer.
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3 python

.PHONY: test lint types pytest clients test-clients pytest-clients docs bench eval clean
.DEFAULT_GOAL := test

test: lint types pytest

lint: $(STAMP)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(STAMP)
	$(PY) -m mypy --strict

pytest: $(STAMP)
	$(PY) -m pytest -n 2 -m "not client"

# The real claude and codex, installed once for this machine (npm's own configuration says from where); without them the
# tests are skipped and say why.
CLIENTS := $(or $(RECALL_TEST_CLIENTS),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/recall-test-clients)
LIMIT := $(shell command -v timeout >/dev/null 2>&1 && echo timeout 2400)

test-clients: clients pytest-clients

clients:
	@$(LIMIT) sh tests/realclient/install_clients.sh '$(CLIENTS)' both >/dev/null || \
		echo "make: the real clients could not be installed in $(CLIENTS); their tests will be skipped" >&2

pytest-clients: $(STAMP)
	RECALL_TEST_CLIENTS='$(CLIENTS)' $(LIMIT) $(PY) -m pytest $(or $(AGAIN),-n 2) -m client -rs tests/realclient

docs: $(STAMP)
	$(PY) -m recall.cli.reference docs/commands.md
	$(PY) docs/screen.py

bench: $(STAMP)
	$(PY) bench/run.py

eval: $(STAMP)
	$(PY) bench/evaluate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(STAMP): pyproject.toml
	@set -e; \
	if command -v uv >/dev/null 2>&1; then \
		[ -x $(PY) ] || uv venv --quiet --python '>=3.11' $(VENV); \
		uv pip install --quiet --python $(PY) -e '.[dev]'; \
	else \
		found=; \
		for python in $(CANDIDATES); do \
			if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
		done; \
		[ -n "$$found" ] || { echo "make: no Python 3.11 or newer found; install one, or uv" >&2; exit 1; }; \
		[ -x $(PY) ] || "$$found" -m venv $(VENV) || { \
			echo "make: $$found cannot make an environment (on Debian: apt install python3-venv)" >&2; exit 1; }; \
		$(PY) -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	fi
	@touch $(STAMP)
