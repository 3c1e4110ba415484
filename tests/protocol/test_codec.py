"""Bytes to message and back: nothing is lost, nothing is invented, and what cannot be used has a typed error."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from aaep.errors import FrameError, RemoteProtocolError
from aaep.protocol import codec
from aaep.protocol.codec import NESTED, find_violations
from aaep.protocol.events import (
    CORE_EVENTS,
    AwaitingClarification,
    Envelope,
    ExtensionEvent,
    LocalizationHints,
    OutputStreaming,
    SessionCancelled,
    SessionStarted,
    ToolCompleted,
    UnknownEvent,
)
from aaep.protocol.fields import struct_fields
from aaep.protocol.messages import SHAPES, ConfirmationReply, SubscriptionRejected
from tests.strategies import EVENTS, MESSAGES, enriched, extension_events, strange_names, unknown_events, valid, values
from tests.vectors import BASES

EVERY = {**EVENTS, **MESSAGES}
STARTED = BASES["agent.session.started"]


def raw(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def changed(base: str, **changes: Any) -> dict[str, Any]:
    """A base with some members set, or left out where the value is ``...``."""
    merged = {**BASES[base], **changes}
    return {name: value for name, value in merged.items() if value is not ...}


# -- there and back ------------------------------------------------------------------------


@pytest.mark.parametrize("type_", EVERY)
@settings(max_examples=30)
@given(data=st.data())
def test_a_valid_message_comes_back_as_it_was(type_: str, data: st.DataObject) -> None:
    value = data.draw(EVERY[type_])
    message = codec.decode(raw(value))
    assert type(message) is SHAPES[type_]
    encoded = codec.encode(message)
    assert json.loads(encoded) == value
    assert codec.decode(encoded) == message


@pytest.mark.parametrize("type_", EVERY)
@settings(max_examples=30)
@given(data=st.data())
def test_a_message_built_in_code_survives_the_wire(type_: str, data: st.DataObject) -> None:
    built = msgspec.convert(data.draw(EVERY[type_]), SHAPES[type_])
    assert codec.decode(codec.encode(built)) == built


@given(st.one_of(extension_events, unknown_events))
def test_an_event_of_another_vocabulary_comes_back_as_it_was(value: dict[str, Any]) -> None:
    message = codec.decode(raw(value))
    assert isinstance(message, (ExtensionEvent, UnknownEvent))
    assert json.loads(codec.encode(message)) == value
    assert codec.decode(codec.encode(message)) == message


@given(enriched())
def test_a_relay_loses_nothing(value: dict[str, Any]) -> None:
    """Unknown members at any depth come out again, member for member and value for value."""
    assert json.loads(codec.encode(codec.decode(raw(value)))) == value


@given(
    st.one_of(*EVENTS.values()), st.sampled_from(["verbosity", "status", "risk_level", "urgency"]), st.text(max_size=9)
)
def test_a_relay_passes_on_values_it_does_not_know(event: dict[str, Any], name: str, word: str) -> None:
    """C-61: they resolve for use, and travel unchanged."""
    event[name] = word
    message = codec.decode(raw(event))
    assert json.loads(codec.encode(message)) == event


@given(enriched(), st.sampled_from([None, 0, 2]), st.booleans())
def test_layout_and_escapes_do_not_matter(value: dict[str, Any], indent: int | None, escaped: bool) -> None:
    """ENC-004"""
    laid_out = json.dumps(value, indent=indent, ensure_ascii=escaped).encode()
    assert json.loads(codec.encode(codec.decode(laid_out))) == value


@given(enriched(st.one_of(*EVENTS.values())))
def test_unknown_members_are_in_unknown_and_not_in_the_way(value: dict[str, Any]) -> None:
    message = codec.decode(raw(value))
    names = {*type(message).__struct_encode_fields__}
    assert dict(message.unknown) == {name: one for name, one in value.items() if name not in names}


# -- encoding --------------------------------------------------------------------------------


def _nulls(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_nulls, value.values()))
    return value is None or (isinstance(value, list) and any(map(_nulls, value)))


FREE = ("extensions", "extra_context", "packaged_context", "modified_action")


@given(valid)
def test_absent_is_never_null(value: dict[str, Any]) -> None:
    built = msgspec.convert(value, SHAPES[value["type"]])
    encoded = json.loads(codec.encode(built))
    assert not _nulls({name: one for name, one in encoded.items() if name not in FREE})


@given(st.one_of(*EVENTS.values()))
def test_members_come_in_the_recommended_order(value: dict[str, Any]) -> None:
    """ENV-064 §3.6: the envelope, then the payload, then extensions."""
    order = [
        *("@context", "aaep_version", "type", "event_id", "session_id", "sequence_number", "timestamp", "producer"),
        *("verbosity", "urgency", "localization_hints", "correlation_id"),
    ]
    names = list(json.loads(codec.encode(msgspec.convert(value, SHAPES[value["type"]]))))
    envelope = [name for name in order if name in value]
    assert names[: len(envelope)] == envelope
    assert "extensions" not in names or names[-1] == "extensions"


@given(valid)
def test_encoding_is_compact(value: dict[str, Any]) -> None:
    encoded = codec.encode(msgspec.convert(value, SHAPES[value["type"]]))
    assert encoded == msgspec.json.format(encoded, indent=-1)
    assert not encoded.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("type_", CORE_EVENTS)
@pytest.mark.parametrize("start", ["https://aaep-protocol.org/types/", "https://aaep-protocol.org/vocab/v1#"])
def test_every_spelling_of_a_type_is_the_same_type(type_: str, start: str) -> None:
    """C-04, C-05"""
    name = type_.removeprefix("aaep:")
    compact, full = codec.decode(raw(BASES[name])), codec.decode(raw(changed(name, type=start + name)))
    assert type(full) is type(compact)
    assert isinstance(full, Envelope) and full.type == type_
    assert full == compact


# -- changing --------------------------------------------------------------------------------


@given(enriched(EVENTS["aaep:agent.session.started"]), st.text(min_size=1, max_size=9))
def test_replace_keeps_unknown_members(value: dict[str, Any], text: str) -> None:
    message = codec.decode(raw(value))
    assert isinstance(message, SessionStarted)
    later = codec.replace(message, summary_normal=text)
    assert later.summary_normal == text
    assert later.unknown == message.unknown
    assert json.loads(codec.encode(later)) == {**value, "summary_normal": text}


@given(enriched(EVENTS["aaep:agent.session.started"]))
def test_replace_can_leave_a_member_out(value: dict[str, Any]) -> None:
    message = codec.decode(raw(value))
    assert isinstance(message, SessionStarted)
    without = codec.replace(message, summary_terse=msgspec.UNSET, localization_hints=msgspec.UNSET)
    left = {name: one for name, one in value.items() if name not in ("summary_terse", "localization_hints")}
    assert json.loads(codec.encode(without)) == left


def test_replace_writes_nested_shapes_and_renamed_members() -> None:
    asking = codec.decode(raw({**BASES["agent.awaiting.clarification"], "new": 1}))
    hints = LocalizationHints(primary_language="yo")
    later = json.loads(codec.encode(codec.replace(asking, localization_hints=hints, context_="Two accounts.")))
    assert later["localization_hints"] == {"primary_language": "yo"}
    assert later["context"] == "Two accounts."
    assert later["new"] == 1
    assert "context_" not in later


@given(st.one_of(*EVENTS.values()))
def test_replace_on_a_message_of_ours_is_plain(value: dict[str, Any]) -> None:
    built = msgspec.convert(value, SHAPES[value["type"]])
    assert codec.replace(built, session_id="sess_1") == msgspec.structs.replace(built, session_id="sess_1")


# -- JSON corner cases (C-26) ------------------------------------------------------------------


def twice(name: str, first: str, second: str) -> bytes:
    whole = raw(STARTED)
    return whole[:-1] + f',"{name}":{first},"{name}":{second}}}'.encode()


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(twice("correlation_id", '"a"', '"b"'), id="a name twice"),
        pytest.param(twice("correlation_id", '"a"', '"a"'), id="a name twice with one value"),
        pytest.param(raw(STARTED)[:-1] + b',"type":"aaep:agent.session.started"}', id="the type twice"),
        pytest.param(raw(STARTED)[:-1] + b',"x":{"a":1,"a":2}}', id="a name twice, deep down"),
        pytest.param(raw(STARTED)[:-1] + b',"x":1,"\\u0078":2}', id="a name twice, once escaped"),
        pytest.param(raw(STARTED)[:-1] + b',"x":NaN}', id="NaN"),
        pytest.param(raw(STARTED)[:-1] + b',"x":-Infinity}', id="Infinity"),
        pytest.param(raw(STARTED)[:-1] + b',"x":1e999}', id="a float without end"),
        pytest.param(raw(STARTED)[:-1] + b',"x":' + b"9" * 5000 + b"}", id="an integer without end"),
        pytest.param(raw(STARTED)[:-1] + b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", id="nested for ever"),
        pytest.param(raw(STARTED)[:-1] + b',"x":"\xed\xa0\x80"}', id="a surrogate in UTF-8"),
        pytest.param(raw(STARTED)[:-1] + b',"x":"\xff"}', id="not UTF-8"),
        pytest.param(raw(STARTED).decode().encode("utf-16"), id="UTF-16"),
        pytest.param(raw(STARTED)[:-1], id="cut off"),
        pytest.param(raw(STARTED) + b"{}", id="two documents"),
        pytest.param(raw(STARTED)[:-1] + b',"x":"\x00"}', id="a control character"),
        pytest.param(raw(STARTED)[:-1] + b",}", id="a comma too many"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xef\xbb\xbf", id="only a byte order mark"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b"3", id="a number"),
        pytest.param(b'"aaep:agent.session.started"', id="a string"),
    ],
)
def test_what_is_not_a_json_object_is_a_frame_error(message: bytes) -> None:
    with pytest.raises(FrameError) as caught:
        codec.decode(message)
    assert caught.value.violations
    assert codec.read(message)[0] is None


@pytest.mark.parametrize("type_", EVERY)
@settings(max_examples=20)
@given(data=st.data())
def test_a_sound_message_in_another_layout_is_exact(type_: str, data: st.DataObject) -> None:
    """CF-020: an answer that had to be read leniently is no yes."""
    value = data.draw(EVERY[type_])
    members = dict(data.draw(st.permutations([*value.items()])))
    separators = data.draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    message = codec.decode(json.dumps(members, ensure_ascii=False, separators=separators).encode())
    assert message == codec.decode(raw(value)) and message.raw is None and codec.read(raw(value))[0] == message


@pytest.mark.parametrize("type_", CORE_EVENTS)
@pytest.mark.parametrize("left_out", ["", "@context"])
def test_a_second_name_is_found_although_the_message_is_no_longer_for_it(type_: str, left_out: str) -> None:
    """Our own encoding is the shortest; only what is missing could make room for a second name."""
    sound = BASES[type_.removeprefix("aaep:")]
    name = "chunk" if "chunk" in sound else "summary_terse"
    if "progress" in sound:
        sound = {**sound, "progress": {"percent": 100.0}}
    usual_length = len(codec.encode(codec.decode(raw(sound))))
    members = {member: value for member, value in reversed(sound.items()) if member != left_out}
    second = raw({name: "x"})[1:-1] + b"," + raw(members)[1:].replace(b"100.0", b"1e2")
    room = max(0, usual_length - len(second) - 1)
    message = b"{" + second.replace(b'"x"', b'"x' + b"x" * room + b'"', 1)
    assert not left_out or len(message) == usual_length
    with pytest.raises(FrameError, match="twice"):
        codec.decode(message)


@pytest.mark.parametrize("type_", EVERY)
def test_a_member_that_is_missing_hides_no_second_one(type_: str) -> None:
    """What the decoder fills in has colons of its own, and these must not make up for those of a second name."""
    defaulted = [field for field in struct_fields(SHAPES[type_]) if field.default not in (UNSET, msgspec.NODEFAULT)]
    assert "type" in {field.encode_name for field in defaulted}
    sound = BASES[type_.removeprefix("aaep:")]
    for field in defaulted:
        missing = {name: value for name, value in sound.items() if name != field.encode_name}
        # A type is looked for in the bytes, wherever it may stand.
        nested = {"extensions": {"org.example": {"type": sound["type"]}}} if field.encode_name == "type" else {}
        short = json.dumps({**missing, **nested})
        name, value = next((name, value) for name, value in missing.items() if ":" not in json.dumps(value))
        again = f', "{name}": {json.dumps(value)}'
        for more in range(1, 4):
            doubled = (short[:-1] + again * more + "}").encode()
            assert "ENC-002" in {one.rule for one in codec.read(doubled)[1]}
            with pytest.raises(FrameError):
                codec.decode(doubled)


def test_nothing_inside_a_message_is_filled_in() -> None:
    """Or a member that is missing there could hide a second one."""
    for shape in NESTED.values():
        assert all(field.default in (UNSET, msgspec.NODEFAULT) for field in struct_fields(shape))


@pytest.mark.parametrize("text", [b'{"type":"aaep', b'{"a":"\x00"}', b'{"a":', b'{"a" 1}', b"{]"])
def test_where_json_breaks_is_said_once(text: bytes) -> None:
    (found,) = find_violations(text)
    assert found.rule == "ENC-001"
    assert " at character " in found.message and "at at" not in found.message


def test_a_byte_order_mark_is_tolerated_and_not_passed_on() -> None:
    message = codec.decode(b"\xef\xbb\xbf" + raw(STARTED))
    assert isinstance(message, SessionStarted)
    assert json.loads(codec.encode(message)) == STARTED
    assert [one.rule for one in find_violations(b"\xef\xbb\xbf" + raw(STARTED))] == ["ENC-001"]


def test_half_a_character_is_replaced() -> None:
    """A lone surrogate becomes U+FFFD, wherever it stands; a pair stays what it is."""
    text = raw(STARTED)[:-1] + b',"x":["\\ud800a","\\ud83e\\uddbb"],"\\udc00":1}'
    message = codec.decode(text)
    passed_on = json.loads(codec.encode(message))
    assert passed_on == {**STARTED, "x": ["\ufffda", "🦻"], "\ufffd": 1}


def test_half_a_character_in_a_known_member_is_replaced() -> None:
    text = raw({**STARTED, "summary_normal": "QQ"}).replace(b"QQ", b"\\udfffb")
    message = codec.decode(text)
    assert isinstance(message, SessionStarted)
    assert message.summary_normal == "\ufffdb"
    assert json.loads(codec.encode(message))["summary_normal"] == "\ufffdb"


def test_a_string_and_its_bytes_are_the_same_message() -> None:
    assert codec.decode(raw(STARTED).decode()) == codec.decode(raw(STARTED))


@pytest.mark.parametrize("number", [2**53, 2**64, -(2**63) - 1, 10**300])
def test_a_large_integer_travels_unchanged(number: int) -> None:
    """C-27: not for us to send, not for a relay to change."""
    value = {**STARTED, "extensions": {"shop": {"n": number}}}
    assert json.loads(codec.encode(codec.decode(raw(value)))) == value


# -- settling --------------------------------------------------------------------------------


def counts_as(base: str, name: str, given: object, settled: object) -> None:
    """What a member is taken for; what was sent is passed on all the same."""
    value = changed(base, **{name: given})
    message = codec.decode(raw(value))
    assert type(message) is CORE_EVENTS["aaep:" + base]
    assert getattr(message, name) == settled
    assert json.loads(codec.encode(message)) == value


@pytest.mark.parametrize(
    ("base", "name", "settled"),
    [
        ("agent.session.errored", "error_category", "unknown"),
        ("agent.tool.completed", "status", "error"),
        ("agent.output.streaming", "coalesce_hint", "none"),
        ("agent.session.started", "urgency", "normal"),
        ("agent.session.errored", "urgency", "critical"),
        ("agent.awaiting.confirmation", "urgency", "critical"),
        ("agent.awaiting.clarification", "urgency", "critical"),
        ("agent.handoff.requested", "urgency", "critical"),
        ("agent.session.started", "verbosity", "normal"),
    ],
)
def test_an_unknown_value_counts_as_the_cautious_one(base: str, name: str, settled: str) -> None:
    """VER-007, C-61, C-16"""
    counts_as(base, name, "zebra", settled)


@pytest.mark.parametrize("given", ["zebra", "true", "false", "", 0, 1, 2.5, None, [], {}, [True]], ids=repr)
@pytest.mark.parametrize(
    ("base", "name", "settled"),
    [
        ("agent.tool.invoked", "risk_level", "high"),
        ("agent.tool.invoked", "irreversible", True),
        ("agent.awaiting.confirmation", "risk_level", "high"),
        ("agent.awaiting.confirmation", "irreversible", True),
        ("agent.awaiting.confirmation", "reversibility", "irreversible"),
        ("agent.awaiting.confirmation", "default_decision", "reject"),
    ],
)
def test_what_safety_rests_on_counts_as_the_cautious_value_whatever_was_sent(
    base: str, name: str, settled: object, given: object
) -> None:
    """VER-007, C-61"""
    counts_as(base, name, given, settled)


def test_an_unknown_text_direction_is_auto() -> None:
    message = codec.decode(raw(changed("agent.session.started", localization_hints={"text_direction": "down"})))
    assert isinstance(message, Envelope) and isinstance(message.localization_hints, LocalizationHints)
    assert message.localization_hints.text_direction == "auto"


def test_who_cancelled_and_who_takes_over_may_be_new() -> None:
    """C-61: announced as it is, or generically; the event is not lost."""
    cancelled = codec.decode(raw(changed("agent.session.cancelled", cancelled_by="watchdog")))
    assert isinstance(cancelled, SessionCancelled)
    handoff = codec.decode(raw(changed("agent.handoff.requested", target_kind="robot")))
    assert type(handoff) is CORE_EVENTS["aaep:agent.handoff.requested"]


@pytest.mark.parametrize("given", [{}, {"value": "a", "label": "A"}], ids=repr)
def test_one_choice_is_no_list_of_choices(given: dict[str, str]) -> None:
    message = codec.decode(raw(changed("agent.awaiting.clarification", choices=given)))
    assert isinstance(message, AwaitingClarification) and message.choices is UNSET


def test_an_empty_or_null_optional_member_is_absent() -> None:
    """C-15"""
    message = codec.decode(raw(changed("agent.session.started", summary_terse="", summary_detailed=None)))
    assert isinstance(message, SessionStarted)
    assert message.summary_terse is msgspec.UNSET
    assert message.summary_detailed is msgspec.UNSET


def test_a_whole_number_with_a_point_is_that_number() -> None:
    message = codec.decode(raw(changed("agent.output.streaming", position=0.0)))
    assert isinstance(message, OutputStreaming)
    assert message.position == 0 and type(message.position) is int


def test_a_value_beyond_a_limit_of_the_schema_is_used() -> None:
    """C-25: limits that the prose does not have turn nobody away."""
    message = codec.decode(raw(changed("agent.tool.completed", duration_ms=10**9)))
    assert isinstance(message, ToolCompleted)
    assert message.duration_ms == 10**9


BROKEN: dict[str, dict[str, Any]] = {
    "agent.session.started": {"summary_normal": ...},
    "agent.session.errored": {"error_category": ...},
    "agent.state.changed": {"to_state": 3},
    "agent.progress.updated": {"progress": "half"},
    "agent.tool.invoked": {"tool": None},
    "agent.output.streaming": {"position": "0"},
    "agent.awaiting.confirmation": {"reply_token": ...},
    "agent.awaiting.clarification": {"timeout_seconds": "soon"},
    "agent.handoff.requested": {"reason": []},
}


@pytest.mark.parametrize("base", BROKEN)
def test_an_event_with_a_broken_payload_is_an_unknown_event(base: str) -> None:
    """C-08: announced generically, never dropped."""
    value = changed(base, **BROKEN[base])
    message = codec.decode(raw(value))
    assert type(message) is UnknownEvent
    assert message.type == "aaep:" + base
    assert message.event_id == value["event_id"]
    assert message.summary_normal == value.get("summary_normal", msgspec.UNSET)
    assert json.loads(codec.encode(message)) == value
    assert any(one.severity != "info" for one in codec.read(raw(value))[1])


@pytest.mark.parametrize("name", ["type", "event_id", "session_id", "timestamp", "producer"])
@pytest.mark.parametrize("value", [..., None, 3, [], {}])
def test_an_event_with_a_broken_envelope_is_an_error(name: str, value: object) -> None:
    broken = raw(changed("agent.session.started", **{name: value}))
    with pytest.raises(RemoteProtocolError) as caught:
        codec.decode(broken)
    assert not isinstance(caught.value, FrameError)
    assert caught.value.violations


def test_a_producer_without_a_name_is_a_broken_envelope() -> None:
    with pytest.raises(RemoteProtocolError):
        codec.decode(raw(changed("agent.session.started", producer={"agent_name": "Bank"})))


@pytest.mark.parametrize("base", ["subscription.request", "subscription.accepted", "confirmation.reply"])
def test_a_message_of_the_exchange_needs_all_it_needs(base: str) -> None:
    """Only events are announced whatever they hold; a handshake or reply with a hole in it cannot be used."""
    with pytest.raises(RemoteProtocolError):
        codec.decode(raw({"type": base}))


def test_a_decision_that_is_not_one_is_not_taken_for_consent() -> None:
    reply = codec.decode(raw({**BASES["confirmation.reply"], "new": 1}))
    assert isinstance(reply, ConfirmationReply)
    for decision in ("Accept", "yes", True, 1, "accept\n"):
        try:
            message = codec.decode(raw(changed("confirmation.reply", decision=decision)))
        except RemoteProtocolError:
            continue  # refused, which is one of the two good ends
        assert isinstance(message, ConfirmationReply) and message.decision != "accept"


def test_a_refusal_for_a_new_reason_is_still_a_refusal() -> None:
    """VER-008"""
    assert isinstance(
        codec.decode(raw(changed("subscription.rejected", reason_code="full_moon"))), SubscriptionRejected
    )


@given(st.one_of(*EVENTS.values()), strange_names, values)
def test_read_and_decode_give_the_same_message(event: dict[str, Any], name: str, value: object) -> None:
    event.setdefault(name, value)
    assert codec.read(raw(event))[0] == codec.decode(raw(event))


def test_a_scratch_buffer_carries_nothing_over() -> None:
    """The audit lends one buffer to every message; a longer one before must not show in a shorter one after."""
    scratch = bytearray(65_536)
    for type_ in (*CORE_EVENTS, *CORE_EVENTS):
        data = raw(BASES[type_.removeprefix("aaep:")])
        message, found = codec.read(data, scratch=scratch)
        assert message == codec.decode(data)
        assert found == codec.read(data)[1]


def test_a_message_of_exactly_its_shape_keeps_no_second_copy() -> None:
    """``raw`` is only there when the message holds more than its type says."""
    assert codec.decode(raw(STARTED)).raw is None
    assert codec.decode(raw({**STARTED, "new": 1})).raw is not None
