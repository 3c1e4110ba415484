"""What ``import aaep`` gives."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

import aaep
from aaep import errors
from aaep.protocol import events, messages

ROOT = Path(__file__).parent.parent


def test_the_list_of_names_is_sorted_and_without_repeats() -> None:
    assert aaep.__all__ == sorted(set(aaep.__all__))


def test_every_name_can_be_imported() -> None:
    for name in aaep.__all__:
        assert getattr(aaep, name) is not None, name


def test_every_public_name_is_listed_and_dir_shows_it() -> None:
    assert {*aaep.__all__} <= {*dir(aaep)}
    assert {*aaep._LATER} <= {*aaep.__all__}


def test_every_error_event_and_message_class_is_there() -> None:
    for module in (errors, events, messages):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) and issubclass(value, (Exception, msgspec.Struct)):
                assert getattr(aaep, name) is value


def test_an_unknown_name_is_an_attribute_error_to_python_and_to_type_checkers() -> None:
    with pytest.raises(AttributeError, match="Manager"):
        print(aaep.Manager)  # type: ignore[attr-defined]  # that it is needed shows that mypy knows


def test_the_version_is_that_of_the_distribution() -> None:
    assert aaep.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_importing_the_package_does_not_load_the_schemas() -> None:
    code = "import sys, aaep; sys.exit('jsonschema_rs' in sys.modules or 'aaep.protocol.rules' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
