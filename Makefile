# Every target sets up .venv first, when it has to.

BIN := .venv/bin
export NO_COLOR := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test peers lint bench fuzz schemas build clean

help:
	@echo "make demo     listen to an agent at work, and decide when it asks"
	@echo "make test     run all tests on all cores, and list the slowest twenty"
	@echo "make peers    judge all our peers, right and broken, and print the table of verdicts; takes some five minutes"
	@echo "make lint     check style, types, and that generated files are up to date"
	@echo "make bench    run the benchmarks"
	@echo "make fuzz     run the fuzz tests at full length; takes a while"
	@echo "make schemas  write the generated files again: schemas, context, diagrams, pages of rules and names"
	@echo "make build    build the source archive and the wheel into dist/"
	@echo "make clean    remove everything the other targets made"

setup:
	@scripts/setup

demo: setup
	@$(BIN)/aaep demo

# Twice as many workers as cores: much of a test is waiting for another process.
test: setup
	@scripts/programs
	$(BIN)/python -m pytest -n $$($(BIN)/python -c 'import os; print(2 * os.cpu_count())') --dist worksteal --durations=20

peers: setup
	@$(BIN)/python scripts/peers.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/aaep schema --check
	$(BIN)/python scripts/state_diagrams.py --check
	$(BIN)/python scripts/rules_page.py --check
	$(BIN)/python scripts/api_page.py --check
	$(BIN)/python scripts/phrases_page.py --check

bench: setup
	@missed=; for file in bench/[!_]*.py; do echo "$$file"; $(BIN)/python "$$file" || missed=1; done; test -z "$$missed"

fuzz: setup
	$(BIN)/python -m pytest -m fuzz --hypothesis-profile=fuzz

schemas: setup
	$(BIN)/aaep schema --write
	$(BIN)/python scripts/state_diagrams.py
	$(BIN)/python scripts/rules_page.py
	$(BIN)/python scripts/api_page.py
	$(BIN)/python scripts/phrases_page.py

build: setup
	rm -rf dist
	$(BIN)/python -m build

clean:
	rm -rf .venv .venv.log dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
