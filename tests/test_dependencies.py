"""What ``pyproject.toml`` promises of dependencies: a lowest version of each, and a lock that it allows."""

from __future__ import annotations

import tomllib

import pytest
from packaging.requirements import Requirement

from scripts.floors import PROJECT, floor, read_requirements
from scripts.lock import LOCK, find_faults

REQUIREMENTS = read_requirements(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"])
HASH = "    --hash=sha256:" + 64 * "0"


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_every_dependency_has_a_lowest_version_that_it_allows(requirement: Requirement) -> None:
    assert requirement.specifier.contains(floor(requirement))


def test_a_dependency_without_a_lowest_version_is_told() -> None:
    with pytest.raises(SystemExit, match="click needs a lowest version"):
        floor(Requirement("click"))


def test_the_lock_is_what_the_project_allows() -> None:
    assert find_faults(LOCK.read_text(encoding="utf-8"), REQUIREMENTS) == []


def test_the_guide_installs_what_the_lock_says() -> None:
    page = PROJECT.with_name("docs").joinpath("run-a-hub.md").read_text(encoding="utf-8")
    told = [line.lstrip("# ") for line in LOCK.read_text(encoding="utf-8").splitlines() if "pip install" in line]
    assert "\n".join(["```sh", *told, "```"]) in page


def test_no_lock_names_a_registry() -> None:
    assert "://" not in LOCK.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("lock", "told"),
    [
        ("", "click is missing"),
        (f"click==8.1.8 \\\n{HASH}\n", "click 8.1.8 is not what pyproject.toml allows: >=8.2"),
        ("click==8.5.1\n", "no pinned version with its hashes"),
        (f"click>=8.5 \\\n{HASH}\n", "no pinned version with its hashes"),
        (f"click==8.5.1 \\\n{HASH[:-1]}\n", "no pinned version with its hashes"),
    ],
)
def test_a_lock_that_does_not_fit_is_told(lock: str, told: str) -> None:
    (fault,) = find_faults(lock, [Requirement("click>=8.2")])
    assert told in fault
