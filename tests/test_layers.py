"""Imports point one way, and the core touches nothing outside itself: read from the source, not from its behaviour."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "aaep"

# The core, lowest first: each may import what stands before it. A new core module gets its place here.
CORE = """
errors fields events messages catalogue timestamps languages redaction extensions attend payloads rules quick lenient
schema context framing wire states asks session sending subscription negotiation audit stream arrivals replies
wishes sentences tailoring coalescing shaping phrases summaries reading presentation announcements
trace tracing telling page drawing timeline visualize""".split()
# These may use a clock, a disk and a network.
RUNTIME = """
alarms files channel stamps timers readers fanout sources roster delivery replay welcome about hub
voice recovery prompts questions ending calls writing work arguments tools producer mailbox status watch link tap
subscriber captures script
identity disclosure guessing jwks jwt reception standing tokens trimming claims keys manifests trust ways
testing rehearsal""".split()
# Where events are kept: the runtime may import it, and nothing above itself is imported there.
STORAGE = ["journal"]
EDGES = "transports adapters outputs web conformance cli".split()

# Standard library that reaches outside the process, waits, or gives another answer each time.
DENIED = set(
    """
    asyncio threading multiprocessing concurrent queue sched contextvars socket socketserver selectors select ssl http
    urllib ftplib smtplib imaplib poplib xmlrpc webbrowser email wsgiref subprocess pty os pathlib io shutil tempfile
    glob fileinput mmap fcntl sqlite3 dbm shelve pickle time random secrets uuid signal logging syslog atexit gc locale
    getpass platform pwd grp curses readline tkinter turtle ctypes runpy code pdb""".split()
)
LIBRARIES = {"msgspec": CORE, "jsonschema_rs": ["schema"], "regex": ["sentences"]}
CALLS = {"open", "print", "input", "breakpoint", "eval", "exec", "__import__"}
CLOCKS = {"now", "utcnow", "today"}


def files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imported(path: Path) -> Iterator[str]:
    """Every module a file imports, wherever in it, by its full name."""
    package = ("aaep", *path.relative_to(SOURCE).parent.parts)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*start, *([node.module] if node.module else [])])
            inside = module == "aaep" or (SOURCE.parent / module.replace(".", "/")).is_dir()
            yield from (f"{module}.{alias.name}" if inside else module for alias in node.names)


def ours(path: Path) -> Iterator[str]:
    """The parts of this package a file imports: ``wire``, ``cli.validate``."""
    yield from (name.removeprefix("aaep.") for name in imported(path) if name.startswith("aaep."))


def core() -> list[Path]:
    return [SOURCE / f"{name}.py" for name in CORE]


def test_every_module_has_its_place() -> None:
    found = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}  # the latter is an edge
    assert found - {*RUNTIME} == {*CORE}
    assert {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"} <= {
        *STORAGE,
        *EDGES,
    }


@pytest.mark.parametrize("path", core(), ids=lambda path: str(path.stem))
def test_a_core_module_imports_only_what_stands_before_it(path: Path) -> None:
    before = CORE[: CORE.index(path.stem)]
    for name in imported(path):
        top = name.split(".")[0]
        if top == "aaep":
            assert name.removeprefix("aaep.").split(".")[0] in before, f"{path.stem} imports {name}"
        elif top in LIBRARIES:
            assert path.stem in LIBRARIES[top], f"{path.stem} imports {name}"
        else:
            assert top in sys.stdlib_module_names and top not in DENIED, f"{path.stem} imports {name}"


@pytest.mark.parametrize("path", core(), ids=lambda path: str(path.stem))
def test_a_core_module_reads_nothing_prints_nothing_and_asks_no_clock(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                assert called.id not in CALLS, f"{path.stem}:{node.lineno} calls {called.id}()"
            elif isinstance(called, ast.Attribute):
                assert called.attr not in CLOCKS, f"{path.stem}:{node.lineno} calls .{called.attr}()"
        assert not isinstance(node, (ast.AsyncFunctionDef, ast.Await)), f"{path.stem} waits"


def test_the_runtime_does_not_import_the_edges() -> None:
    for name in RUNTIME:
        path = SOURCE / f"{name}.py"
        if path.exists():
            assert not {one for one in ours(path) if one.split(".")[0] in EDGES}, name


def test_the_storage_imports_the_core_only() -> None:
    for folder in STORAGE:
        for path in (SOURCE / folder).glob("**/*.py"):
            assert {one.split(".")[0] for one in ours(path)} <= {folder, *CORE}, path


@pytest.mark.parametrize("folder", [*STORAGE, *EDGES])
def test_files_of_one_edge_folder_do_not_import_one_another(folder: str) -> None:
    """What they share stands in the __init__, or in a file whose name begins with an underscore."""
    others = {one.stem for one in (SOURCE / folder).glob("*") if not one.name.startswith("_")}
    for path in (SOURCE / folder).glob("**/*.py"):
        if path.name == "__init__.py":
            continue
        siblings = [one for one in ours(path) if one.startswith(folder + ".") and one.split(".")[1] in others]
        assert not siblings, f"{path.name} imports {siblings}"


def test_edges_do_not_import_other_edges() -> None:
    """The command line is the one that joins them."""
    for folder in EDGES:
        for path in (SOURCE / folder).glob("**/*.py") if folder != "cli" else ():
            assert {one.split(".")[0] for one in ours(path)} & {*EDGES} <= {folder}, path


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_has_more_than_500_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 500


def test_importing_the_core_loads_no_command_line_and_no_event_loop() -> None:
    modules = ", ".join(f"aaep.{name}" for name in CORE)
    unwanted = ("click", "asyncio", "subprocess", "ssl", "logging", "sqlite3")
    program = f"import {modules}, sys; print(*[name for name in {unwanted!r} if name in sys.modules])"
    # -I and -S: what the environment's own start-up files import is not ours.
    folders = [str(SOURCE.parent), *(path for path in sys.path if path.endswith("site-packages"))]
    start = f"import sys; sys.path[:0] = {folders!r}\n{program}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", start], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_name_of_this_package_alone_loads_no_more() -> None:
    """``import aaep`` is cheap: nothing outside the core, no schema validator, until it is asked for."""
    folders = [str(SOURCE.parent), *(path for path in sys.path if path.endswith("site-packages"))]
    unwanted = ("click", "asyncio", "jsonschema_rs")
    program = (
        f"import sys; sys.path[:0] = {folders!r}\nimport aaep\nprint(*[n for n in {unwanted!r} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
