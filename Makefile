# The two that matter: `make run` and `make test`. Everything else is what CI and contributors call.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
# uv from PATH, or one of our own in .tools.
export UV := $(or $(shell command -v uv),$(CURDIR)/.tools/bin/uv)
RUN := $(UV) run --all-packages --frozen
export UV_PYTHON_DOWNLOADS := never

.PHONY: help run test check proto sim chaos bench clean

help: ## Says what there is.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(UV):
	$(PYTHON) -m venv .tools
	.tools/bin/pip --quiet install 'uv>=0.9'

.venv/.done: pyproject.toml uv.lock bots/python/pyproject.toml | $(UV)
	$(UV) sync --all-packages --frozen --quiet
	@touch $@

run: .venv/.done ## Sets everything up and runs the arena: http://127.0.0.1:7780 shows it.
	@exec .venv/bin/arena up

test: .venv/.done ## Runs the tests, two at a time.
	.venv/bin/pytest -n 2 --dist loadfile

check: .venv/.done ## Formatting, lint, types, protocol, generated code.
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/mypy deploy/healthy.py deploy/grafana/dashboards.py
	.venv/bin/buf lint proto
	.venv/bin/buf format --diff --exit-code proto
	.venv/bin/buf breaking proto --against proto/baseline.binpb
	proto/check_generated.sh

proto: .venv/.done ## Regenerates the Python stubs, the kits' copies and the protocol's page from proto/.
	.venv/bin/buf format -w proto
	proto/generate.sh
	proto/vendor.sh
	.venv/bin/python proto/docs/page.py

sim: .venv/.done ## Histories on virtual time: SEED=17 shows one, SEEDS=100000 looks for a bad one, from FIRST on.
	.venv/bin/python -m tests.simulation $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),2000) --first $(or $(FIRST),0))

chaos: .venv/.done ## Kills processes of a running arena, and audits it: KILLS=500.
	.venv/bin/python -m tests.chaos --kills $(or $(KILLS),50)

bench: .venv/.done ## Runs the benchmarks.
	.venv/bin/arena bench engine

clean: ## Removes what was built; the arena's data stays.
	rm -rf .venv .tools dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
