"""The attacks are made over every transport there is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.threats.hall import NAMES, Hall, hall, no_trouble


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: the path of a socket has little room."""
    with tempfile.TemporaryDirectory(prefix="aaep-") as made:
        yield Path(made)


@pytest.fixture(autouse=True)
def sound() -> Iterator[None]:
    with no_trouble():
        yield


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """A transport."""
    return str(request.param)


@pytest.fixture
def scene(name: str, folder: Path) -> Iterator[Hall]:
    with hall(name, folder) as made:
        yield made
