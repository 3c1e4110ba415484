"""``scripts/coding_agents`` where no agent can be had."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "coding_agents"


def run_script(folder: Path, *options: str, npm: str | None) -> subprocess.CompletedProcess[str]:
    """Run a copy of the script in a folder where nothing is installed, with another npm or none."""
    scripts = folder / "scripts"
    programs = folder / "programs"
    for made in (scripts, programs):
        made.mkdir()
    shutil.copy(SCRIPT, scripts)
    for name in ("sh", "dirname", "uname", "grep", "mkdir", "cat", "rm"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    if npm is not None:
        (programs / "npm").write_text(f"#!/bin/sh\n{npm}\n")
        (programs / "npm").chmod(0o755)
    return subprocess.run(
        [scripts / SCRIPT.name, *options],
        check=False,
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("npm", "sentence"),
    [(None, "npm is not installed"), ("exit 1", "npm cannot be reached")],
    ids=["without npm", "without a network"],
)
def test_where_npm_cannot_be_reached_that_is_said_and_fails_unless_they_are_optional(
    tmp_path: Path, npm: str | None, sentence: str
) -> None:
    for name, options, status in (("alone", (), 1), ("last", ("--optional",), 0)):
        (tmp_path / name).mkdir()
        done = run_script(tmp_path / name, *options, npm=npm)
        assert done.returncode == status
        assert sentence in done.stdout + done.stderr
        assert "none was tried" in done.stdout + done.stderr


def test_what_npm_has_but_cannot_install_is_a_failure_in_any_case(tmp_path: Path) -> None:
    done = run_script(tmp_path, "--optional", npm='[ "$1" = ping ] || { echo "no such version"; exit 1; }')
    assert done.returncode == 1
    assert "no such version" in done.stderr and "npm could not install them" in done.stderr


def test_an_unknown_option_is_an_error(tmp_path: Path) -> None:
    assert run_script(tmp_path, "--opional", npm=None).returncode == 2
