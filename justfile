# What is done to this project. `just` alone lists it.

set positional-arguments

# this list
default:
    @just --list --unsorted

# everything that CI checks: tests, lint, types, layers, goldens, docs
check: test lint types layers golden-check docs-check package

# the tests (arguments go to pytest)
test *arguments:
    uv run pytest "$@"

# write new and changed golden files and remove unused ones; read the diff before you commit it
golden *arguments:
    uv run pytest -q --snapshot-update "$@"
    git status --short golden

# golden files are as the code makes them: tests never write them, so nothing may have changed
golden-check:
    git diff --exit-code --stat -- golden

# each branch of the core has a test that takes it (two minutes)
coverage:
    uv run coverage erase
    uv run coverage run -m pytest -q tests/core tests/shell
    uv run coverage combine -q
    uv run coverage report

# small faults put into the modules that hold a conversation: which of them no test finds (ten minutes)
mutants:
    uv run --with mutmut mutmut run
    uv run --with mutmut mutmut results

# style and mistakes
lint:
    uv run ruff check
    uv run ruff format --check

# types, strictly
types:
    uv run mypy

# the arrows of the house
layers:
    uv run lint-imports

# mend style where a program can
fix:
    uv run ruff check --fix
    uv run ruff format

# speed and memory against a floor in the same run; writes docs/reference/performance.md
bench *arguments:
    uv run python -m tests.bench "$@"

# other agents for the terminal and mm by turns, from the registries; writes docs/reference/peers.md (ten minutes)
peers *arguments:
    uv run python -m tests.bench.peers "$@"

# kills, crowds and very large sessions: what is lost; writes docs/reference/reliability.md (half an hour)
reliability *arguments:
    uv run python -m tests.reliability "$@"

# the packages of a release, and mm as it runs from one
package:
    rm -rf dist
    uv build --quiet
    uv run --isolated --no-project --with dist/minime-*.whl -- mm --version

# the picture of a visit in the README, drawn from the real mm
record:
    uv run python -m tests.record

# what the docs claim: commands, goldens shown, links
docs-check:
    uv run pytest -q tests/house/test_docs.py
