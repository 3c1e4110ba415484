"""A person's own rules, as they are read from settings."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from aaep.adapters.acp_rules import AllowRule, read_rules


def test_rules_are_read_from_tables_of_the_settings() -> None:
    settings = tomllib.loads(
        """
        [[allow]]
        kind = "read"

        [[allow]]
        command = ["git", "status"]
        agent = "goose"
        """
    )
    assert read_rules(settings) == (AllowRule(kind="read"), AllowRule(command=("git", "status"), agent="goose"))
    assert read_rules({}) == ()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({}, "names a kind or a command"),
        ({"kind": "read", "command": ["ls"]}, "and not both"),
        ({"kind": "execute"}, "can allow the kinds read and search"),
        ({"kind": 1}, "kind is a text"),
        ({"command": "git status"}, "list of arguments"),
        ({"command": []}, "a list of its arguments"),
        ({"command": ["git", 1]}, "a list of its arguments"),
        ({"comand": ["git"]}, "comand, which is unknown"),
        ("read", "no table"),
    ],
)
def test_a_mistake_in_a_rule_is_an_error_that_names_it(table: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"Rule 2 of allow.*{sentence}"):
        read_rules({"allow": [{"kind": "read"}, table]})


def test_rules_that_are_no_list_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"write \[\[allow\]\]"):
        read_rules({"allow": {"kind": "read"}})
