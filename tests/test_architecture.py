"""The page on the architecture says what is so: its tables are compared with the code, and its two ways are walked."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.test_layers import MAY_IMPORT, MODULES, SOURCE
from tests.walks import Entry, Walk, record_walks

PAGE = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text()
OUT, BACK = "The way of an event", "The way of a reply"
LIBRARIES = {"text", "protocol", "presentation"}  # which any station may call


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def tables(title: str) -> list[list[list[str]]]:
    """The tables of a section, each with its rows, without their heads."""
    found = re.findall(r"(?:^\|.*\|\n)+", section(title), re.MULTILINE)
    rows = [table.splitlines()[2:] for table in found]
    return [[[cell.strip() for cell in row.strip("|").split(" | ")] for row in table] for table in rows]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def module_name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


# -- the tables ----------------------------------------------------------------------------


def test_the_table_of_packages_is_that_of_the_layers() -> None:
    (table,) = tables("The packages")
    words = {"nothing": "", "everything": "*"}
    told = {package: set(words.get(allowed, allowed).replace(",", "").split()) for package, _, allowed in table}
    assert told == {package: set(allowed.split()) for package, allowed in MAY_IMPORT.items()}
    assert [row[0] for row in table] == [*MAY_IMPORT], "in the same order"


def pictures() -> list[list[str]]:
    return [
        re.findall(r"^  -> (\w+)", drawn, re.MULTILINE)
        for drawn in re.findall(r"^```\n(.*?)^```$", section("The picture"), re.DOTALL | re.MULTILINE)
    ]


@pytest.mark.parametrize("picture", pictures())
def test_the_picture_shows_packages_that_exist(picture: list[str]) -> None:
    assert picture
    for package in picture:
        assert (SOURCE / package / "__init__.py").exists()


NAMED = [
    (module, function)
    for title, columns in ((OUT, (2, 3)), (BACK, (2, 3)), ("Where to look", (1, 2)))
    for row in tables(title)[-1]
    for module in code(row[columns[0]])
    for function in code(row[columns[1]])
]


def test_enough_behaviours_are_named() -> None:
    assert len(tables("Where to look")[0]) >= 16


@pytest.mark.parametrize(("module", "function"), sorted({*NAMED}))
def test_what_the_page_names_exists(module: str, function: str) -> None:
    assert (SOURCE / module).exists()
    found: object = import_module(f"aaep.{module_name(module)}")
    for name in function.split("."):
        found = getattr(found, name)


# -- the ways --------------------------------------------------------------------------------


class Station(NamedTuple):
    """One row of a way."""

    number: str
    package: str
    module: str
    function: str
    thread: str


def stations(title: str) -> list[Station]:
    return [
        Station(number, package, module_name(code(module)[0]), code(function)[0], thread)
        for number, package, module, function, thread, _ in tables(title)[-1]
    ]


def read_walk(title: str) -> Walk:
    """What the page says about the threads of a way, and about what is left out of it."""
    rows = tables(title)[0]
    left_out = re.search(r"what (.*) call is left out", section(title))
    return Walk(
        begins={thread: tuple(code(begins)) for thread, begins, _ in rows},
        waits=frozenset(thread for thread, begins, _ in rows if begins.endswith("returns")),
        leaving=frozenset(code(left_out[1]) if left_out else ()),
    )


def is_left_out(module: str) -> bool:
    """Whether a module is called from everywhere, as the page says."""
    (names,) = re.findall(r"^Left out are .*$", section(OUT), re.MULTILINE)
    return any(module == name or module.startswith(name.removesuffix("*")) for name in map(module_name, code(names)))


Recorded = dict[str, list[Entry]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recorded]:
    out, back = record_walks(tmp_path_factory.mktemp("walk"), read_walk(OUT), read_walk(BACK))
    return {OUT: out, BACK: back}


@pytest.mark.parametrize("title", [OUT, BACK])
def test_the_stations_are_those_that_are_passed(title: str, recorded: dict[str, Recorded]) -> None:
    first: dict[str, str] = {}  # the thread in which each module is first entered, in order
    for thread, entries in recorded[title].items():
        for entry in entries:
            first.setdefault(entry.module, thread)
    walked = [(module, thread) for module, thread in first.items() if not is_left_out(module)]
    assert walked == [(station.module, station.thread) for station in stations(title)]


@pytest.mark.parametrize("title", [OUT, BACK])
def test_the_functions_named_at_the_stations_are_entered(title: str, recorded: dict[str, Recorded]) -> None:
    for station in stations(title):
        assert Entry(station.module, station.function) in recorded[title][station.thread], station


@pytest.mark.parametrize("title", [OUT, BACK])
def test_the_rows_are_numbered_and_name_the_package_of_their_module(title: str) -> None:
    for number, station in enumerate(stations(title), 1):
        assert station.number == str(number)
        assert station.package == station.module.split(".", maxsplit=1)[0]
        assert station.module in MODULES


@pytest.mark.parametrize(("title", "picture"), [*zip([OUT, BACK], pictures(), strict=True)])
def test_each_package_is_entered_once_in_the_order_of_the_picture(title: str, picture: list[str]) -> None:
    packages = [station.package for station in stations(title) if station.package not in LIBRARIES]
    assert [package for package, _ in groupby(packages)] == [name for name in picture if name not in LIBRARIES]
