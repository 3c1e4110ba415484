"""Subscriptions: what is wider than asked, what filters admit, and the order of a handshake."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.protocol import codec
from aaep.protocol.events import CORE_EVENTS, Envelope
from aaep.protocol.fields import Message
from aaep.protocol.messages import Capabilities, EventFilters, SubscriptionRequest
from aaep.protocol.subscription import (
    DEFAULT_CAPABILITIES,
    Handshake,
    compile_filters,
    find_wider,
    is_admitted,
    merge_capabilities,
    with_defaults,
)
from tests import vectors

VERBOSITY = ("terse", "normal", "detailed")
LOAD = ("low", "medium", "high")
BOUNDARIES = ("sentence", "paragraph", "completion")
LANGUAGES = ("en-US", "yo-NG", "fr", "ar-EG")
PATTERNS = (
    "aaep:agent.*",
    "aaep:agent.tool.*",
    "aaep:agent.state.changed",
    "aaep:*",
    "medical:*",
    "aaep:agent.session.*",
)


def some(values: tuple[Any, ...], least: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(values), min_size=least, unique=True).map(tuple)


filters = st.builds(EventFilters, include=some(PATTERNS, 1), exclude=some(PATTERNS))
MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    "preferred_verbosity": st.sampled_from(VERBOSITY),
    "languages": some(LANGUAGES, 1),
    "supports_confirmation_reply": st.booleans(),
    "supports_clarification_reply": st.booleans(),
    "max_events_per_second": st.integers(1, 1000),
    "coalesce_boundaries": some(BOUNDARIES),
    "event_filters": filters,
    "supported_conformance_levels": some((1, 2, 3), 1),
    "supported_extensions": some(("https://example.org/a/v1", "https://example.org/b/v1")),
    "cognitive_load": st.sampled_from(LOAD),
    "pace_wpm": st.integers(80, 400),
    "accept_signed_manifests_only": st.booleans(),
}
capabilities = st.fixed_dictionaries({}, optional=MEMBERS).map(lambda given: Capabilities(**given))


def rules(asked: Capabilities, honoured: Capabilities) -> list[tuple[str, str]]:
    return [(violation.rule, violation.path) for violation in find_wider(asked, honoured)]


def test_the_members_tested_here_are_all_there_are() -> None:
    assert set(MEMBERS) == set(Capabilities.__struct_fields__)


# -- wider -------------------------------------------------------------------------


@given(capabilities)
def test_as_requested_is_never_wider(asked: Capabilities) -> None:
    assert rules(asked, asked) == []
    assert rules(asked, with_defaults(asked)) == []
    assert rules(asked, Capabilities()) == []  # CF-043: absent is as requested


@given(capabilities, st.data())
def test_narrower_is_never_wider(asked: Capabilities, data: st.DataObject) -> None:
    """Whatever is taken away from a request, nothing is reported."""
    want = with_defaults(asked)
    less: dict[str, Any] = {}
    for name, scale in (("preferred_verbosity", VERBOSITY), ("cognitive_load", LOAD)):
        less[name] = scale[data.draw(st.integers(0, scale.index(getattr(want, name))), name)]
    for name in ("languages", "coalesce_boundaries", "supported_conformance_levels", "supported_extensions"):
        less[name] = data.draw(some(getattr(want, name)) if getattr(want, name) else st.just(()), name)
    for name in ("max_events_per_second", "pace_wpm"):
        wish = getattr(want, name)
        if wish is msgspec.UNSET:
            less[name] = data.draw(MEMBERS[name], name)  # any limit is narrower than none
        else:
            less[name] = data.draw(st.integers(1, wish), name)
    for name in ("supports_confirmation_reply", "supports_clarification_reply"):
        less[name] = getattr(want, name) and data.draw(st.booleans(), name)
    less["accept_signed_manifests_only"] = want.accept_signed_manifests_only or data.draw(st.booleans(), "signed")
    more_excluded = data.draw(some(PATTERNS), "exclude")
    given_filters = want.event_filters
    assert isinstance(given_filters, EventFilters)
    excluded = () if given_filters.exclude is msgspec.UNSET else given_filters.exclude
    less["event_filters"] = EventFilters(include=given_filters.include, exclude=(*excluded, *more_excluded))
    assert rules(asked, Capabilities(**less)) == []


WIDENED: list[tuple[str, Any, Any, str]] = [  # member, asked, honoured, rule
    ("preferred_verbosity", "terse", "normal", "SUB-028"),
    ("preferred_verbosity", "normal", "detailed", "SUB-028"),
    ("cognitive_load", "low", "high", "SUB-028"),
    ("pace_wpm", 180, 181, "SUB-028"),
    ("max_events_per_second", 10, 11, "SUB-029"),
    ("languages", ("en-US",), ("en-US", "fr"), "SUB-030"),
    ("coalesce_boundaries", ("sentence",), ("sentence", "paragraph"), "SUB-031"),
    (
        "event_filters",
        EventFilters(include=("aaep:agent.tool.*",)),
        EventFilters(include=("aaep:agent.*",)),
        "SUB-032",
    ),
    (
        "event_filters",
        EventFilters(include=("aaep:agent.*",), exclude=("aaep:agent.progress.updated",)),
        EventFilters(include=("aaep:agent.*",)),
        "SUB-032",
    ),
    (
        "event_filters",
        EventFilters(include=("aaep:agent.*",)),
        EventFilters(include=("aaep:agent.*", "medical:*")),
        "SUB-032",
    ),
    ("supports_confirmation_reply", False, True, "SUB-033"),
    ("supports_clarification_reply", False, True, "SUB-033"),
    ("supported_conformance_levels", (1,), (1, 2), "SUB-034"),
    ("supported_extensions", (), ("https://example.org/a/v1",), "SUB-034"),
    ("accept_signed_manifests_only", True, False, "SUB-035"),
]


@pytest.mark.parametrize(("name", "asked", "honoured", "rule"), WIDENED)
@given(rest=capabilities)
def test_widening_one_member_is_reported_with_its_rule(
    rest: Capabilities, name: str, asked: Any, honoured: Any, rule: str
) -> None:
    """Whatever else was asked for and granted as asked, the one member is found, alone."""
    request = msgspec.structs.replace(rest, **{name: asked})
    grant = msgspec.structs.replace(rest, **{name: honoured})
    assert rules(request, grant) == [(rule, f"/honored_capabilities/{name}")]


@given(capabilities, capabilities)
def test_wider_reports_a_member_once(asked: Capabilities, honoured: Capabilities) -> None:
    found = rules(asked, honoured)
    assert len(found) == len(set(found))


def test_defaults_count_as_asked() -> None:
    """What is absent from a request was asked for at its default, no more."""
    nothing = Capabilities()
    assert rules(nothing, Capabilities(preferred_verbosity="detailed")) == [
        ("SUB-028", "/honored_capabilities/preferred_verbosity")
    ]
    assert rules(nothing, Capabilities(supports_confirmation_reply=True)) == [
        ("SUB-033", "/honored_capabilities/supports_confirmation_reply")
    ]
    assert rules(nothing, Capabilities(max_events_per_second=1000)) == []  # no default, so no limit


def test_languages_compare_without_case() -> None:
    assert rules(Capabilities(languages=("en-US",)), Capabilities(languages=("EN-us",))) == []


# -- filters -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("include", "exclude", "type_", "admitted"),
    [
        (("aaep:agent.*",), (), "aaep:agent.tool.invoked", True),
        (("aaep:agent.tool.*",), (), "aaep:agent.state.changed", False),
        (("aaep:agent.state.changed",), (), "aaep:agent.state.changed", True),
        (("aaep:agent.state",), (), "aaep:agent.state.changed", False),
        (("aaep:agent.*",), ("aaep:agent.tool.*",), "aaep:agent.tool.invoked", False),
        (("aaep:agent.tool.invoked",), ("aaep:*",), "aaep:agent.tool.invoked", False),
        (("medical:*",), (), "medical:record.consulted", True),
        (("*",), (), "anything:at.all", True),
        ((), (), "aaep:agent.tool.invoked", False),
        (msgspec.UNSET, msgspec.UNSET, "aaep:agent.tool.invoked", True),
        (msgspec.UNSET, msgspec.UNSET, "medical:record.consulted", False),
    ],
)
def test_admits(include: Any, exclude: Any, type_: str, admitted: bool) -> None:
    """CAP-028: some include matches and no exclude does."""
    one = EventFilters(include=include, exclude=exclude)
    assert is_admitted(one, type_) is compile_filters(one)(type_) is admitted


@given(filters, some(PATTERNS), st.sampled_from([*CORE_EVENTS]))
def test_excluding_more_admits_no_more(one: EventFilters, more: tuple[str, ...], type_: str) -> None:
    assert isinstance(one.exclude, tuple)
    stricter = EventFilters(include=one.include, exclude=(*one.exclude, *more))
    assert is_admitted(one, type_) or not is_admitted(stricter, type_)


@given(filters, filters, st.sampled_from([*CORE_EVENTS]))
def test_filters_not_called_wider_admit_no_further_type(asked: EventFilters, got: EventFilters, type_: str) -> None:
    if is_admitted(got, type_) and not is_admitted(asked, type_):
        found = rules(Capabilities(event_filters=asked), Capabilities(event_filters=got))
        assert found == [("SUB-032", "/honored_capabilities/event_filters")]


# -- merging -----------------------------------------------------------------------


@given(capabilities, capabilities)
def test_merged_replaces_whole_members(base: Capabilities, changes: Capabilities) -> None:
    """CF-042: a member that is given replaces the old one, one that is absent changes nothing."""
    both = merge_capabilities(base, changes)
    for name in Capabilities.__struct_fields__:
        new = getattr(changes, name)
        assert getattr(both, name) == (getattr(base, name) if new is msgspec.UNSET else new)


@given(capabilities)
def test_effective_fills_in_the_defaults_once(asked: Capabilities) -> None:
    full = with_defaults(asked)
    assert with_defaults(full) == full
    for name in Capabilities.__struct_fields__:
        if getattr(asked, name) is msgspec.UNSET:
            assert getattr(full, name) == getattr(DEFAULT_CAPABILITIES, name)


def test_merged_keeps_unknown_capabilities() -> None:
    """What we do not know is passed on, and the newer value counts."""

    def read(**unknown: object) -> Capabilities:
        changes = {f"/capabilities/{name}": value for name, value in unknown.items()}
        request = codec.decode(vectors.message({"base": "subscription.request", "set": changes}))
        assert isinstance(request, SubscriptionRequest)
        return request.capabilities

    both = merge_capabilities(read(haptics={"a": 1}, colour={"b": 1}), read(colour={"b": 2}))
    assert both.unknown == {"haptics": {"a": 1}, "colour": {"b": 2}}


# -- the handshake -----------------------------------------------------------------


def message(base: str, **changes: object) -> Message:
    if base == RENEGOTIATE:
        changes = {"capabilities__preferred_verbosity": "normal"} | changes  # what the sound accepted grants
    pointers = {"/" + name.replace("__", "/"): value for name, value in changes.items()}
    found = codec.decode(vectors.message({"base": base, "set": pointers}))
    assert isinstance(found, (Message, Envelope))
    return found


REQUEST = "subscription.request"
ACCEPTED = "subscription.accepted"
REJECTED = "subscription.rejected"
RENEGOTIATE = "subscription.renegotiate"
CLOSE = "subscription.close"
EVENT = "agent.state.changed"


def walk(*bases: str, whole: bool = True) -> tuple[list[list[str]], Handshake]:
    """The rules that each message breaks, and after them those that show at the end."""
    handshake = Handshake(whole=whole)
    found = [[violation.rule for violation in handshake.feed(message(base))] for base in bases]
    return [*found, [violation.rule for violation in handshake.finish()]], handshake


@pytest.mark.parametrize(
    ("bases", "broken"),
    [
        ((EVENT, EVENT), {}),
        ((REQUEST, ACCEPTED, EVENT, CLOSE), {}),
        ((REQUEST, REJECTED), {}),
        ((REQUEST, REJECTED, REQUEST, ACCEPTED, EVENT), {}),
        ((REQUEST, ACCEPTED, RENEGOTIATE, EVENT, ACCEPTED, EVENT), {}),
        ((REQUEST, ACCEPTED, RENEGOTIATE, REJECTED), {}),
        ((REQUEST, EVENT, ACCEPTED), {1: "SUB-004"}),
        ((REQUEST, REJECTED, EVENT), {2: "SUB-004"}),
        ((ACCEPTED,), {0: "SUB-005"}),
        ((REQUEST, ACCEPTED, ACCEPTED), {2: "SUB-005"}),
        ((REQUEST, REJECTED, ACCEPTED), {2: "SUB-005"}),
        ((REQUEST, ACCEPTED, REJECTED), {2: "SUB-005"}),
        ((REQUEST,), {1: "SUB-005"}),
        ((REQUEST, ACCEPTED, RENEGOTIATE), {3: "SUB-057"}),
        ((REQUEST, ACCEPTED, RENEGOTIATE, REJECTED, EVENT), {4: "SUB-058"}),
        ((REQUEST, ACCEPTED, CLOSE, EVENT), {3: "SUB-068"}),
        ((REQUEST, ACCEPTED, CLOSE, EVENT, EVENT), {3: "SUB-068", 4: "SUB-068"}),
    ],
)
def test_order_of_a_handshake(bases: tuple[str, ...], broken: dict[int, str]) -> None:
    found, _ = walk(*bases)
    assert {number: rules for number, rules in enumerate(found) if rules} == {n: [r] for n, r in broken.items()}


def test_a_partial_recording_proves_no_missing_request() -> None:
    found, _ = walk(ACCEPTED, EVENT, whole=False)
    assert found == [[], [], []]
    handshake = Handshake(whole=False)
    assert [*handshake.feed(message(REQUEST))] == []
    assert [violation.severity for violation in handshake.finish()] == ["info"]


def test_a_subscription_keeps_its_id() -> None:
    """SUB-019"""
    other = "sub_00000000000000000000000000000099"
    handshake = Handshake()
    for base in (REQUEST, ACCEPTED):
        assert [*handshake.feed(message(base))] == []
    for base in (RENEGOTIATE, ACCEPTED, CLOSE):
        found = [*handshake.feed(message(base, subscription_id=other))]
        assert [(violation.rule, violation.path) for violation in found] == [("SUB-019", "/subscription_id")]


def test_terms_are_honoured_before_and_after_a_renegotiation() -> None:
    """SUB-037 under the first terms, SUB-061 once they were renegotiated; critical events always pass."""
    only_tools = {"include": ["aaep:agent.tool.*"]}
    handshake = Handshake()
    assert [*handshake.feed(message(REQUEST, capabilities__event_filters=only_tools))] == []
    assert [*handshake.feed(message(ACCEPTED, honored_capabilities__event_filters=only_tools))] == []
    assert [violation.rule for violation in handshake.feed(message(EVENT))] == ["SUB-037"]
    assert [*handshake.feed(message("agent.tool.invoked"))] == []
    assert [*handshake.feed(message("agent.session.errored"))] == []
    assert [*handshake.feed(message(RENEGOTIATE))] == []
    assert [*handshake.feed(message(ACCEPTED, honored_capabilities__event_filters=only_tools))] == []
    assert [violation.rule for violation in handshake.feed(message(EVENT))] == ["SUB-061"]


def test_a_grant_wider_than_the_request_is_found_in_the_handshake() -> None:
    handshake = Handshake()
    assert [*handshake.feed(message(REQUEST, capabilities__max_events_per_second=5))] == []
    found = [*handshake.feed(message(ACCEPTED, honored_capabilities__max_events_per_second=50))]
    assert [violation.rule for violation in found] == ["SUB-029"]


def test_cf_058_a_level_includes_those_below_it() -> None:
    """Level 3 asked for alone may be served as Level 1; Level 1 asked for may not be served as another."""
    level = {one: Capabilities(supported_conformance_levels=(one,)) for one in (1, 2, 3)}
    assert not rules(level[3], level[1]) and not rules(level[3], level[2])
    assert rules(level[1], level[2]) == [("SUB-034", "/honored_capabilities/supported_conformance_levels")]


def test_cf_051_a_filter_written_as_a_full_uri_is_its_short_form() -> None:
    long, short = "https://aaep-protocol.org/types/agent.tool.*", "aaep:agent.tool.*"
    assert is_admitted(EventFilters(include=(long,)), "aaep:agent.tool.invoked")
    one, other = (Capabilities(event_filters=EventFilters(include=(each,))) for each in (long, short))
    assert not rules(one, other) and not rules(other, one)


def test_a_request_that_makes_no_sense_can_still_be_compared() -> None:
    asked = Capabilities(preferred_verbosity="loud", event_filters=EventFilters(include=(1,)))  # type: ignore[arg-type]  # on purpose
    assert rules(asked, Capabilities(preferred_verbosity="terse")) == []


def test_a_null_in_a_renegotiation_resets_the_member() -> None:
    """CF-042: what is granted is then compared with the default, not with what was asked before."""
    handshake = Handshake()
    request = {"base": "subscription.request", "set": {"/capabilities/preferred_verbosity": "detailed"}}
    granted = {"base": "subscription.accepted", "set": {"/honored_capabilities/preferred_verbosity": "detailed"}}
    change = {"base": "subscription.renegotiate", "set": {"/capabilities/preferred_verbosity": None}}
    found = [
        [v.rule for v in handshake.feed(codec.decode(vectors.message(one)))]
        for one in (request, granted, change, granted)
    ]
    assert found == [[], [], [], ["SUB-028"]]
