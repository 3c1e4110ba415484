"""Print the lowest version of each dependency that pyproject.toml allows, as constraints for pip.

A floor is a promise: with it the threat tests pass, see scripts/setup_floors. So each
requirement has one, and it is a version that was released, with wheels for each Python
that pyproject.toml names. For another Python nothing is printed and the status is 3.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def read_requirements(project: dict[str, Any]) -> list[Requirement]:
    """Return what a ``[project]`` table requires, with that of every extra."""
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(written) for written_list in lists for written in written_list]


def floor(requirement: Requirement) -> str:
    """Return the lowest version that a requirement allows; exit if it allows any."""
    floors = [specifier.version for specifier in requirement.specifier if specifier.operator == ">="]
    if len(floors) != 1:
        sys.exit(f"floors: {requirement} needs a lowest version, such as {requirement.name}>=1.0.")
    return floors[0]


def main() -> None:
    """Print one constraint a line, with its marker."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    major, minor, *_ = sys.version_info
    if f"Programming Language :: Python :: {major}.{minor}" not in project["classifiers"]:
        sys.exit(3)
    for requirement in read_requirements(project):
        marker = f"; {requirement.marker}" if requirement.marker else ""
        print(f"{requirement.name}=={floor(requirement)}{marker}")


if __name__ == "__main__":
    main()
