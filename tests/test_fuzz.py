"""Whatever arrives, nothing is raised but what was promised. Short in ``make test``, long in ``make fuzz``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aaep import schema, wire
from aaep.audit import Audit, Finding
from aaep.catalogue import rules
from aaep.errors import AaepError, FrameError, RemoteProtocolError, Violation
from aaep.fields import Message
from aaep.framing import FRAMINGS, Frame
from tests.vectors import BASES, VIA

pytestmark = pytest.mark.fuzz

# Names and values the core gives a meaning to, so that arbitrary JSON gets past the first look.
TYPES = [base["type"] for base in BASES.values()]
NAMES = sorted(
    {name for base in BASES.values() for name in base}
    | {name for cls in schema.SHAPES.values() for name in cls.__struct_encode_fields__}
    | {"percent", "step", "total_steps", "value", "label", "agent_id", "include", "exclude", "event_filters", "attend"}
    | {"summary_normal_yo", "aaep_new", "@id", "id", "languages", "primary_language", "available_languages"}
)
WORDS = [
    "",
    "x",
    "accept",
    "critical",
    "high",
    "1.0.0",
    "1.9.0",
    "evt_1",
    "sess_1",
    "rpl_1",
    "sub_1",
    "en",
    "\n",
    "\0",
    "é🦻",
]
WORDS += ["2026-05-24T14:22:11.342Z", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999-14:00", "e30.e30.e30", "*"]
WORDS += [
    "https://aaep-protocol.org/context/v1",
    "attend",
    "shop",
    "sk-" + "a" * 30,
    "\u202e",
    "\u0301a",
    "<span lang=x>",
]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(WORDS),
    st.sampled_from([0, 1, 2**53, 2**63, 2**64, -(2**63) - 1, 10**40, 1.0, 1e300]),
)
names = st.one_of(st.sampled_from(NAMES), st.text(max_size=8))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=10,
)


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    """A sound message with arbitrary things in the place of some members."""
    message = json.loads(json.dumps(draw(st.sampled_from([*BASES.values()]))))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.sampled_from([message, *(one for one in message.values() if isinstance(one, dict))]))
        name = draw(st.one_of(st.sampled_from([*place, "x"]), names))
        if draw(st.booleans()):
            place[name] = draw(values)
        else:
            place.pop(name, None)
    return dict(message)


def text(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


messages = st.one_of(
    st.binary(max_size=60),
    values.map(text),
    st.dictionaries(names, values, max_size=8).map(text),
    st.tuples(st.dictionaries(names, values, max_size=5), st.sampled_from(TYPES)).map(
        lambda both: text({**both[0], "type": both[1]})
    ),
    events().map(text),
    events().map(lambda value: json.dumps(value, indent=1).encode()),
    st.tuples(events().map(text), st.integers(0, 400), st.binary(max_size=3)).map(
        lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] :]
    ),
)


def sound(violations: object) -> None:
    assert isinstance(violations, (list, tuple))
    for one in violations:
        assert isinstance(one, Violation)
        assert one.rule in rules()
        assert one.message and (not one.path or one.path.startswith("/"))
        msgspec.json.encode(one)  # fit to be printed or sent: no half characters in it


def given_messages(test: Callable[[bytes], None]) -> Callable[[], None]:
    """Arbitrary bytes, arbitrary JSON, JSON shaped like messages; and what once went wrong."""
    base = BASES["agent.session.started"]
    asking = BASES["agent.awaiting.confirmation"]
    decorated = given(messages)(test)
    for once in (
        {**base, "@context": [["x"]], "extensions": {"shop": {}}},
        {**asking, "risk_level": ["high"]},
        {**asking, "risk_level": {}, "default_decision": "accept"},
        {**base, "extensions": 3},
        {**base, "extensions": {"attend": 3}, "urgency": "critical"},
        {**base, "extensions": [1], "urgency": "critical"},
    ):
        decorated = example(text(once))(decorated)
    return decorated


@given_messages
def test_explaining_raises_nothing(raw: bytes) -> None:
    sound(schema.explain(raw))
    sound(schema.explain(raw, strict=True))


@given_messages
def test_reading_raises_nothing(raw: bytes) -> None:
    message, violations = wire.read(raw)
    assert message is None or isinstance(message, Message)
    sound(violations)
    assert message is not None or violations, "there is no message, and no reason is given"


@given_messages
def test_decoding_raises_only_our_errors(raw: bytes) -> None:
    try:
        message = wire.decode(raw)
    except RemoteProtocolError as error:
        sound(error.violations)
        assert error.violations
        return
    passed_on = wire.encode(message)
    assert wire.decode(passed_on) == message


@given_messages
def test_what_decodes_is_fit_for_use(raw: bytes) -> None:
    """Members that have to be there are, whatever arrived."""
    try:
        message = wire.decode(raw)
    except AaepError:
        return
    for field in msgspec.structs.fields(message):
        if field.name != "context":  # an event without one comes through as unknown
            assert field.default is msgspec.UNSET or getattr(message, field.name) is not msgspec.UNSET


@given(st.text(max_size=40))
def test_text_with_anything_in_it_may_be_handed_in(raw: str) -> None:
    sound(schema.explain(raw))
    with pytest.raises(FrameError):
        wire.decode("\ud800" + raw)


@given(st.lists(st.tuples(messages, st.sampled_from(["", VIA, "x"]), st.sampled_from(["", *WORDS[-10:]])), max_size=8))
def test_an_audit_raises_nothing(fed: list[tuple[bytes, str, str]]) -> None:
    for strict in (False, True):
        audit = Audit(strict=strict, whole=True)
        found = [one for raw, via, at in fed for one in audit.feed(raw, at, via)]
        assert all(isinstance(one, Finding) for one in [*found, *audit.finish()])


@given(st.lists(st.tuples(events(), st.sampled_from(["", VIA])), max_size=12))
def test_an_audit_of_broken_sessions_raises_nothing(fed: list[tuple[dict[str, Any], str]]) -> None:
    """Events whose ids mostly match, so that sessions, asks and replies meet."""
    audit = Audit(whole=True)
    for number, (event, via) in enumerate(fed):
        if event.get("event_id") == BASES["agent.session.started"]["event_id"]:
            event["event_id"] = f"evt_{number}"
        audit.feed(text(event), "", via)
    audit.finish()


@pytest.mark.parametrize("name", FRAMINGS)
@given(data=st.data())
def test_a_decoder_of_frames_raises_nothing(name: str, data: st.DataObject) -> None:
    pieces = st.one_of(
        st.binary(max_size=40),
        messages,
        st.sampled_from(
            [b"\n", b"\r", b"\n\n", b"data:", b"id: 1", b"event: x\n", b"retry: 9", b"\0\0\0\2{}", b'{"jsonrpc":"2.0"']
        ),
    )
    decoder = FRAMINGS[name](limit=data.draw(st.sampled_from([16, 4096])))
    items = [item for piece in data.draw(st.lists(pieces, max_size=8)) for item in decoder.feed(piece)]
    for item in [*items, *decoder.finish()]:
        assert isinstance(item, (Frame, FrameError))
        if isinstance(item, FrameError):
            sound(item.violations)
        else:
            assert isinstance(msgspec.json.decode(item.data), dict)
    assert decoder.feed(b"{}\n") == [] == decoder.finish()


def test_a_reply_to_a_question_asked_after_the_end_is_judged_and_not_raised() -> None:
    """The session is over, so it holds no such ask; the reply still names its token."""
    audit = Audit(whole=True)
    for name in ("agent.session.completed", "agent.awaiting.confirmation", "confirmation.reply"):
        audit.feed(text(BASES[name]))
