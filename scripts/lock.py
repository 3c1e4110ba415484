"""Write requirements.lock, the versions that a deployment installs; with --check see that it fits pyproject.toml.

The versions are those of the environment that this runs in, which the tests were run
in. The hashes are those of the wheels for each platform and Python in the tables
below; pip finds them, so that no address of a registry is written here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

try:
    from .floors import PROJECT, read_requirements
except ImportError:  # run as a script, not as part of the package
    from floors import PROJECT, read_requirements  # type: ignore[import-not-found, no-redef]  # the same

LOCK = PROJECT.with_name("requirements.lock")
EXTRAS = ("", "desktop", "grpc")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = (  # each with the older tags that it also runs
    ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    ("macosx_11_0_arm64",),
)
HEAD = """\
# What aaep and its extras were tested with, for deployments. The hashes are of the wheels for Linux and macOS.
# Made by scripts/lock.py.
#     pip install --require-hashes --only-binary :all: -r requirements.lock
#     pip install --no-deps .
"""
_PIN = re.compile(r"([a-z0-9-]+)==([^ ;\\]+)((?: \\\n {4}--hash=sha256:[0-9a-f]{64})+)\n")


def pins() -> dict[str, Requirement]:
    """Return what aaep needs in this environment, each at the version that is installed here."""
    found: dict[str, Requirement] = {}
    waiting = [Requirement(f"aaep[{extra}]" if extra else "aaep") for extra in EXTRAS]
    while waiting:
        needed = waiting.pop()
        for written in requires(needed.name) or ():
            one = Requirement(written)
            name = canonicalize_name(one.name)
            markers = (
                [one.marker.evaluate({"extra": extra}) for extra in (needed.extras or ("",))] if one.marker else []
            )
            if (not markers or any(markers)) and name not in found:
                found[name] = Requirement(f"{name}=={version(name)}")
                waiting.append(one)
    return found


def find_hashes(lines: list[str], python: str, platforms: tuple[str, ...]) -> dict[str, str]:
    """Return the hash of each wheel that pip would install on a platform."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        chosen = [f"--platform={platform}" for platform in platforms]
        where = [f"--target={folder}", f"--python-version={python}", *chosen]
        how = ["--dry-run", "--no-deps", "--only-binary=:all:", "--ignore-installed", "--quiet", f"--report={report}"]
        subprocess.run([sys.executable, "-m", "pip", "install", *how, *where, *lines], check=True)
        return {
            canonicalize_name(one["metadata"]["name"]): one["download_info"]["archive_info"]["hashes"]["sha256"]
            for one in json.loads(report.read_text(encoding="utf-8"))["install"]
        }


def write() -> None:
    """Write the lock, and let pip see that it is complete."""
    wanted = pins()
    lines = [str(one) for one in wanted.values()]
    hashes: defaultdict[str, set[str]] = defaultdict(set)
    with ThreadPoolExecutor(2) as pool:
        places = [(python, platforms) for python in PYTHONS for platforms in PLATFORMS]
        for found in pool.map(lambda place: find_hashes(lines, *place), places):
            for name, digest in found.items():
                hashes[name].add(digest)
    blocks = [
        " \\\n".join([str(wanted[name]), *(f"    --hash=sha256:{digest}" for digest in sorted(hashes[name]))]) + "\n"
        for name in sorted(wanted)
    ]
    LOCK.write_text(HEAD + "".join(blocks), encoding="utf-8")
    how = ["--dry-run", "--quiet", "--ignore-installed", "--require-hashes", "--only-binary=:all:"]
    subprocess.run([sys.executable, "-m", "pip", "install", *how, f"--requirement={LOCK}"], check=True)


def find_faults(lock: str, requirements: list[Requirement]) -> list[str]:
    """Return in sentences what keeps a lock from being installed with a project that has these requirements."""
    without_comments = "".join(line for line in lock.splitlines(keepends=True) if not line.startswith("#"))
    if _PIN.sub("", without_comments):
        return ["requirements.lock: a line is no pinned version with its hashes."]
    locked = {found[1]: found[2] for found in _PIN.finditer(without_comments)}
    faults = []
    for one in requirements:
        pinned = locked.get(canonicalize_name(one.name))
        if pinned is None:
            faults.append(f"requirements.lock: {one.name} is missing.")
        elif not one.specifier.contains(pinned, prereleases=True):
            faults.append(f"requirements.lock: {one.name} {pinned} is not what pyproject.toml allows: {one.specifier}.")
    return faults


def main() -> None:
    """Write the lock, or check it."""
    if sys.argv[1:] != ["--check"]:
        write()
        return
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    faults = find_faults(LOCK.read_text(encoding="utf-8"), read_requirements(project))
    if faults:
        sys.exit("\n".join([*faults, "Write it again with: python scripts/lock.py"]))


if __name__ == "__main__":
    main()
