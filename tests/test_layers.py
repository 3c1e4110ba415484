"""Imports point one way, and the pure packages touch nothing outside themselves: read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "aaep"

# What a package may import besides itself, aaep.errors and aaep.version. A name with a dot allows that module only.
MAY_IMPORT = {
    "text": "",
    "protocol": "text",
    "shaping": "protocol text",
    "presentation": "protocol text",
    "runtime": "",
    "settings": "protocol runtime text",
    "journal": "protocol runtime",
    "identity": "protocol runtime text",
    "hub": "shaping journal identity protocol runtime text",
    "hub.relay": "hub subscriber transports.base transports.options transports.duplex_client transports.duplex_server",
    "transports": "hub.face identity protocol runtime text",
    "producer": "hub journal identity protocol runtime text presentation transports.base transports.options",
    "subscriber": "transports.base transports.options identity presentation protocol runtime text",
    "recording": "producer subscriber hub protocol runtime text",
    "outputs": "presentation subscriber producer settings protocol runtime text transports.base transports.options",
    "adapters": "producer text",
    "conformance": "*",
    "cli": "*",
}
PURE = ("text", "protocol", "shaping", "presentation")
TOP = {"__init__", "__main__", "errors", "testing", "version"}

# Standard library that reaches outside the process, waits, or gives another answer each time.
DENIED = set(
    """
    asyncio threading multiprocessing concurrent queue sched contextvars socket socketserver selectors select ssl http
    urllib ftplib smtplib imaplib poplib xmlrpc webbrowser email wsgiref subprocess pty os pathlib io shutil tempfile
    glob fileinput mmap fcntl sqlite3 dbm shelve pickle time random secrets uuid signal logging syslog atexit gc locale
    getpass platform pwd grp curses readline tkinter turtle ctypes runpy code pdb""".split()
)
LIBRARIES = {  # and where, if not anywhere
    "msgspec": "",
    "babel": "text.choices",
    "fluent": "text.choices",
    "langcodes": "text.languages",
    "jsonschema_rs": "protocol.schema",
    "regex": "text.sentences text.markdown text.invisible text.graphemes text.words",
    "markdown_it": "text.markdown",
}
CALLS = {"open", "print", "input", "breakpoint", "eval", "exec", "__import__"}
CLOCKS = {"now", "utcnow", "today"}


def modules() -> dict[str, Path]:
    """Every module by its dotted name below ``aaep``; a package by its own name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


MODULES = modules()


def import_statements(tree: ast.Module, path: Path) -> Iterator[tuple[ast.Import | ast.ImportFrom, str, ast.alias]]:
    """Every name that a file imports, wherever in it, with the full name of the module that it comes from, if any."""
    package = ("aaep", *path.relative_to(SOURCE).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, "", alias) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from ((node, module, alias) for alias in node.names)


def imported(path: Path) -> Iterator[str]:
    """Every module a file imports, wherever in it, by its full name; a name that is no module with its module."""
    for _, module, alias in import_statements(ast.parse(path.read_text(), str(path)), path):
        name = f"{module}.{alias.name}" if module else alias.name
        yield name if not module or name.removeprefix("aaep.") in MODULES or module == "aaep" else module


def ours(path: Path) -> Iterator[str]:
    """The modules of this package that a file imports: ``protocol.codec``."""
    yield from (name.removeprefix("aaep.") for name in imported(path) if name.startswith("aaep."))


def pure() -> dict[str, Path]:
    return {name: path for name, path in MODULES.items() if name.split(".")[0] in PURE}


def test_every_package_has_a_row_in_the_table_and_few_modules_stand_outside() -> None:
    assert {name.split(".")[0] for name in MODULES} == {row for row in MAY_IMPORT if "." not in row} | TOP


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[0] in MAY_IMPORT])
def test_a_module_imports_only_what_the_table_allows_its_package(name: str) -> None:
    package = name.split(".", maxsplit=1)[0]
    rows = [row for row in MAY_IMPORT if name == row or name.startswith(row + ".")]
    allowed = " ".join(MAY_IMPORT[row] for row in rows).split()
    for other in ours(MODULES[name]):
        same = other.split(".")[0] in (package, "errors", "version")
        fits = "*" in allowed or any(other == one or other.startswith(one + ".") for one in allowed)
        assert same or fits, f"{name} imports {other}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for type checking and inside functions count; that a module loads its own package does not."""
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        others = [other.removeprefix("aaep.") for other in imported(path) if other.split(".")[0] == "aaep"]
        graph[name] = {other if other in MODULES else "__init__" for other in others}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("These import each other: " + ", ".join(reversed(error.args[1])))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


@pytest.mark.parametrize("name", MODULES)
def test_no_private_name_is_used_outside_its_package(name: str) -> None:
    package = name.split(".", maxsplit=1)[0]
    tree = ast.parse(MODULES[name].read_text())
    foreign: set[str] = set()  # the names under which the file knows modules of other packages
    for statement, module, alias in import_statements(tree, MODULES[name]):
        full = f"{module}.{alias.name}" if module else alias.name
        parts = full.split(".")
        if parts[0] == "aaep" and parts[1:2] != [package]:
            assert not any(is_private(part) for part in parts), f"{name}:{statement.lineno} imports {full}"
            if ".".join(parts[1:]) in MODULES:
                foreign.add(alias.asname or alias.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            assert ast.unparse(node.value) not in foreign, f"{name}:{node.lineno} uses {ast.unparse(node)}"


@pytest.mark.parametrize("name", pure())
def test_a_pure_module_imports_nothing_that_reaches_outside(name: str) -> None:
    for other in imported(MODULES[name]):
        top = other.split(".")[0]
        if top in LIBRARIES:
            assert not LIBRARIES[top] or name in LIBRARIES[top].split(), f"{name} imports {other}"
        elif top != "aaep":
            assert top in sys.stdlib_module_names and top not in DENIED, f"{name} imports {other}"


@pytest.mark.parametrize("name", pure())
def test_a_pure_module_reads_nothing_prints_nothing_and_asks_no_clock(name: str) -> None:
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                assert called.id not in CALLS, f"{name}:{node.lineno} calls {called.id}()"
            elif isinstance(called, ast.Attribute):
                assert called.attr not in CLOCKS, f"{name}:{node.lineno} calls .{called.attr}()"
        assert not isinstance(node, (ast.AsyncFunctionDef, ast.Await)), f"{name} waits"


def loaded(program: str) -> set[str]:
    """The names of all modules that a program has loaded at its end."""
    # -I and -S: what the environment's own start-up files import is not ours.
    folders = [str(SOURCE.parent), *(path for path in sys.path if path.endswith("site-packages"))]
    start = f"import sys; sys.path[:0] = {folders!r}\n{program}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", start], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_pure_packages_loads_no_command_line_and_no_event_loop() -> None:
    found = loaded("import " + ", ".join(f"aaep.{name}" for name in pure()))
    assert not found & {"click", "asyncio", "subprocess", "ssl", "logging", "sqlite3"}


def test_a_name_of_this_package_alone_loads_no_more() -> None:
    """``import aaep`` is cheap: no event loop, no schema validator, until it is asked for."""
    assert not loaded("import aaep") & {"click", "asyncio", "jsonschema_rs"}
