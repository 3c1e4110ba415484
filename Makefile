# Every target sets up .venv first, when it has to.

BIN := .venv/bin
FLOORS := .venv-floors/bin
# Attacks, and something of each place where a dependency is used; the rest would take too long twice.
FLOOR_TESTS := tests/threats tests/transports/test_http.py tests/transports/test_websocket.py \
	tests/transports/test_grpc.py tests/identity/test_credentials.py tests/protocol/test_codec.py \
	tests/text/test_languages.py tests/text/test_markdown.py tests/cli/test_help.py tests/cli/test_validate.py
export NO_COLOR := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-speech test test-floors test-coding-agents test-proprietary-agents peers lint bench fuzz schemas lock build clean

help:
	@echo "make demo     listen to an agent at work, and decide when it asks"
	@echo "make demo-speech  write demo.wav, what a listener of the demo hears; needs espeak-ng"
	@echo "make test     run all tests on all cores, and list the slowest twenty; then test-floors and test-coding-agents"
	@echo "make test-floors  run the threat tests with the lowest versions that pyproject.toml allows"
	@echo "make test-coding-agents  install goose, Codex, opencode and Gemini CLI with npm, and drive them with a scripted model"
	@echo "make test-proprietary-agents  the same with Claude Code and Copilot CLI, where their terms allow it"
	@echo "make peers    judge all our peers, right and broken, and print the table of verdicts; takes some five minutes"
	@echo "make lint     check style, types, and that generated files are up to date"
	@echo "make bench    run the benchmarks"
	@echo "make fuzz     run the fuzz tests at full length; takes a while"
	@echo "make schemas  write the generated files again: schemas, context, diagrams, pages of rules, names and settings"
	@echo "make lock     write requirements.lock again, from what is installed in .venv"
	@echo "make build    build the source archive and the wheel into dist/"
	@echo "make clean    remove everything the other targets made"

setup:
	@scripts/setup

demo: setup
	@$(BIN)/aaep demo

demo-speech: setup
	@$(BIN)/python scripts/demo_speech.py demo.wav

# Twice as many workers as cores: much of a test is waiting for another process.
PARALLEL = -n $$($(BIN)/python -c 'import os; print(2 * os.cpu_count())') --dist worksteal

test: setup
	@scripts/programs
	$(BIN)/python -m pytest $(PARALLEL) --durations=20
	@$(MAKE) --no-print-directory test-floors
	@scripts/coding_agents --optional

# What a browser makes of a page does not depend on these versions.
test-floors: setup
	@scripts/setup_floors
	test ! -d .venv-floors || AAEP_BROWSER=none $(FLOORS)/python -m pytest -q $(PARALLEL) $(FLOOR_TESTS)

test-coding-agents: setup
	@scripts/coding_agents

test-proprietary-agents: setup
	@scripts/coding_agents --proprietary

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
	$(BIN)/python scripts/settings_page.py --check
	$(BIN)/python scripts/earcons.py --check
	$(BIN)/python scripts/lock.py --check

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
	$(BIN)/python scripts/settings_page.py
	$(BIN)/python scripts/earcons.py

lock: setup
	$(BIN)/python scripts/lock.py

build: setup
	rm -rf dist
	$(BIN)/python -m build

clean:
	rm -rf .venv .venv-floors .venv.log demo.wav dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
