"""The built wheel, installed where there is nothing else, does its work."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Nothing of the environment the tests run in may help the installed package.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def done(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built = done(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("aaep-*.whl")
    return path


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment that holds the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("empty")
    made = done(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    assert made.returncode == 0, made.stderr
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "--quiet")
    put = done(*pip, wheel, cwd=folder)
    assert put.returncode == 0, put.stderr
    return folder


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("aaep/")}
    source = ROOT / "src"
    there = {path for path in (source / "aaep").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path.relative_to(source).as_posix() for path in there} == held
    assert {"aaep/py.typed", "aaep/protocol/catalogue.json"} <= held


def test_the_installed_package_is_the_one_in_the_wheel(place: Path) -> None:
    found = done(place / "venv" / "bin" / "python", "-c", "import aaep; print(aaep.__file__)", cwd=place)
    assert Path(found.stdout.strip()).is_relative_to(place)


def test_it_validates_a_sound_recording_and_a_broken_one(place: Path) -> None:
    command = place / "venv" / "bin" / "aaep"
    sound = done(command, "validate", "--strict", ROOT / "examples" / "bank.ndjson", cwd=place)
    assert (sound.returncode, sound.stderr) == (0, "")
    assert sound.stdout.endswith("Result: no errors, no warnings.\n")
    broken = place / "broken.ndjson"
    broken.write_text('{"type":"aaep:agent.tool.invoked"}\n')
    refused = done(command, "validate", broken, cwd=place)
    assert refused.returncode == 1
    assert "ENV-001" in refused.stdout


def test_every_command_starts(place: Path) -> None:
    assert done(place / "venv" / "bin" / "aaep", "--help", cwd=place).returncode == 0
    # Other names, such as aaep-validate, are those of other distributions too, which would overwrite ours.
    assert [path.name for path in (place / "venv" / "bin").glob("aaep*")] == ["aaep"]
    for verb in (["rules", "ENV-012"], ["schema", "agent.tool.invoked"], ["schema", "context"]):
        assert done(place / "venv" / "bin" / "aaep", *verb, cwd=place).returncode == 0
