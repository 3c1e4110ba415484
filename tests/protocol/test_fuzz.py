"""Whatever arrives, nothing is raised but what was promised. Short in ``make test``, long in ``make fuzz``."""

from __future__ import annotations

import contextlib
import json
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aaep.errors import AaepError, FrameError, RemoteProtocolError, Violation
from aaep.protocol import codec, rules
from aaep.protocol.audit import Audit, Finding
from aaep.protocol.catalogue import all_rules
from aaep.protocol.fields import Message
from aaep.protocol.framing import FRAMINGS, Frame
from aaep.protocol.messages import SHAPES
from bench._recording import recording
from tests.vectors import BASES, VIA

pytestmark = pytest.mark.fuzz

T = TypeVar("T")

# Names and values the core gives a meaning to, so that arbitrary JSON gets past the first look.
TYPES = [base["type"] for base in BASES.values()]
NAMES = sorted(
    {name for base in BASES.values() for name in base}
    | {name for cls in SHAPES.values() for name in cls.__struct_encode_fields__}
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

NUMBERS = [0, 1, 2**53, 2**63, 2**64, -(2**63) - 1, 10**40, 1.0, 1e300]
VIAS = ["", VIA, "x"]
TIMES = ["", *WORDS[-10:]]
FRAMES = [b"\n", b"\r", b"\n\n", b"data:", b"id: 1", b"event: x\n", b"retry: 9", b"\0\0\0\2{}", b'{"jsonrpc":"2.0"']
RECORDED = [*recording(120)]
ENCODED = [json.dumps(base).encode() for base in BASES.values()]


class Source:
    """
    Where every choice comes from: bytes, and zeros when they run out.

    Drawing a message piece by piece takes Hypothesis far longer than judging it.
    So it draws one run of bytes, which is cut up here; as zeros choose what is
    simplest, what fails still gets simpler when the bytes do.
    """

    def __init__(self, drawn: bytes) -> None:
        self.drawn, self.place = drawn, 0

    def take(self, count: int) -> bytes:
        self.place += count
        return self.drawn[self.place - count : self.place].ljust(count, b"\0")

    def below(self, limit: int) -> int:
        return int.from_bytes(self.take(1 if limit <= 256 else 2), "big") % limit

    def one(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def some(self, most: int) -> range:
        return range(self.below(most + 1))

    def text(self, most: int) -> str:
        return "".join(map(self.character, self.some(most)))

    def character(self, _: int) -> str:
        """Half of them ASCII, the others from anywhere, with what is not a character left out."""
        first = self.below(256)
        point = first if first < 128 else int.from_bytes(self.take(3), "big") % 0x110000
        return chr(point) if not 0xD800 <= point < 0xE000 else "\ufffd"

    def scalar(self) -> Any:
        kind = self.below(8)
        if kind == 0:
            return self.one([None, False, True])
        if kind == 1:
            return int.from_bytes(self.take(1 + self.below(20)), "big", signed=True)
        if kind == 2:
            number = float(struct.unpack(">d", self.take(8))[0])
            return number if math.isfinite(number) else 0.5
        if kind == 3:
            return self.one(NUMBERS)
        return self.text(12) if kind < 6 else self.one(WORDS)

    def name(self) -> str:
        return self.text(8) if self.below(3) == 2 else self.one(NAMES)

    def value(self, depth: int = 3) -> Any:
        kind = self.below(6) if depth else 0
        if kind == 4:
            return [self.value(depth - 1) for _ in self.some(4)]
        return self.object(4, depth - 1) if kind == 5 else self.scalar()

    def object(self, most: int, depth: int = 2) -> dict[str, Any]:
        return {self.name(): self.value(depth) for _ in self.some(most)}

    def event(self) -> dict[str, Any]:
        """A sound message with arbitrary things in the place of some members."""
        event: dict[str, Any] = json.loads(self.one(ENCODED))
        for _ in self.some(3):
            place = self.one([event, *(one for one in event.values() if isinstance(one, dict))])
            name = self.one([*place, "x"]) if self.below(2) else self.name()
            if self.below(2):
                place[name] = self.value()
            else:
                place.pop(name, None)
        return event

    def message(self) -> bytes:
        """Arbitrary bytes, arbitrary JSON, JSON shaped like messages, messages with something in between."""
        kind = self.below(9)
        if kind == 0:
            return self.take(self.below(61))
        if kind == 1:
            return text(self.value())
        if kind == 2:
            return text(self.object(8))
        if kind == 3:
            return text({**self.object(5), "type": self.one(TYPES)})
        if kind == 4:
            return json.dumps(self.event(), indent=self.one([None, 1])).encode()
        event = text(self.event())
        if kind > 5:
            return event
        cut, most = self.below(400), self.below(4)
        return event[:cut] + self.take(most) + event[cut + self.below(2) * most :]


@st.composite
def drawn(draw: st.DrawFn, size: int, made: Callable[[Source], T]) -> T:
    """Something made of that many bytes."""
    return made(Source(draw(st.binary(min_size=size, max_size=size))))


def text(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sound(violations: object) -> None:
    assert isinstance(violations, (list, tuple))
    for one in violations:
        assert isinstance(one, Violation)
        assert one.rule in all_rules()
        assert one.message and (not one.path or one.path.startswith("/"))
        msgspec.json.encode(one)  # fit to be printed or sent: no half characters in it


def given_messages(test: Callable[[bytes], None]) -> Callable[[], None]:
    """Arbitrary bytes, arbitrary JSON, JSON shaped like messages; and what once went wrong."""
    base = BASES["agent.session.started"]
    asking = BASES["agent.awaiting.confirmation"]
    decorated = given(drawn(160, Source.message))(test)
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
    sound(codec.find_violations(raw))
    sound(codec.find_violations(raw, strict=True))


@given_messages
def test_reading_raises_nothing(raw: bytes) -> None:
    message, violations = codec.read(raw)
    assert message is None or isinstance(message, Message)
    sound(violations)
    assert message is not None or violations, "there is no message, and no reason is given"


@given_messages
def test_decoding_raises_only_our_errors(raw: bytes) -> None:
    try:
        message = codec.decode(raw)
    except RemoteProtocolError as error:
        sound(error.violations)
        assert error.violations
        return
    passed_on = codec.encode(message)
    assert codec.decode(passed_on) == message


@given_messages
def test_what_decodes_is_fit_for_use(raw: bytes) -> None:
    """Members that have to be there are, whatever arrived."""
    try:
        message = codec.decode(raw)
    except AaepError:
        return
    for field in msgspec.structs.fields(message):
        if field.name != "context":  # an event without one comes through as unknown
            assert field.default is msgspec.UNSET or getattr(message, field.name) is not msgspec.UNSET


@given(st.text(max_size=40))
def test_text_with_anything_in_it_may_be_handed_in(raw: str) -> None:
    sound(codec.find_violations(raw))
    with pytest.raises(FrameError):
        codec.decode("\ud800" + raw)


@given(drawn(900, lambda source: [(source.message(), source.one(VIAS), source.one(TIMES)) for _ in source.some(8)]))
def test_an_audit_raises_nothing(fed: list[tuple[bytes, str, str]]) -> None:
    for strict in (False, True):
        audit = Audit(strict=strict, whole=True)
        found = [one for raw, via, at in fed for one in audit.feed(raw, at, via)]
        assert all(isinstance(one, Finding) for one in [*found, *audit.finish()])


@given(drawn(900, lambda source: [(source.event(), source.one(VIAS[:2])) for _ in source.some(12)]))
def test_an_audit_of_broken_sessions_raises_nothing(fed: list[tuple[dict[str, Any], str]]) -> None:
    """Events whose ids mostly match, so that sessions, asks and replies meet."""
    audit = Audit(whole=True)
    for number, (event, via) in enumerate(fed):
        if event.get("event_id") == BASES["agent.session.started"]["event_id"]:
            event["event_id"] = f"evt_{number}"
        audit.feed(text(event), "", via)
    audit.finish()


def garbled(source: Source) -> list[bytes]:
    """Some lines of a sound recording, a few of them not as they were."""
    first = source.below(len(RECORDED) - 12)
    lines = RECORDED[first : first + 1 + source.below(12)]
    for _ in source.some(3):
        place = source.below(len(lines))
        cut = source.below(len(lines[place]) + 1)
        lines[place] = lines[place][:cut] + source.take(source.below(3)) + lines[place][cut + source.below(3) :]
    return [RECORDED[0], *lines]


@given(drawn(40, garbled))
def test_compiled_rules_find_what_all_of_them_find(lines: list[bytes]) -> None:
    for line in lines:
        message = codec._decode_exact(line, bytearray())
        if message is not None:
            expected = sorted(map(str, rules.check_every_rule(message, line)))
            assert sorted(map(str, rules.check(message, line))) == expected


def pieces(source: Source) -> tuple[int, list[bytes]]:
    """The size a frame may have, and a stream in pieces."""
    kinds: list[Callable[[], bytes]] = [
        lambda: source.take(source.below(41)),
        source.message,
        lambda: source.one(FRAMES),
    ]
    return source.one([16, 4096]), [source.one(kinds)() for _ in source.some(8)]


@pytest.mark.parametrize("name", FRAMINGS)
@given(fed=drawn(600, pieces))
def test_a_decoder_of_frames_raises_nothing(name: str, fed: tuple[int, list[bytes]]) -> None:
    """And however the stream is cut, the same comes out."""
    limit, chunks = fed
    decoder, other = FRAMINGS[name](limit), FRAMINGS[name](limit)
    items = [item for chunk in chunks for item in decoder.feed(chunk)] + decoder.finish()
    for item in items:
        assert isinstance(item, (Frame, FrameError))
        if isinstance(item, FrameError):
            sound(item.violations)
        else:
            assert isinstance(msgspec.json.decode(item.data), dict)
    assert decoder.feed(b"{}\n") == [] == decoder.finish()
    assert [*map(str, other.feed(b"".join(chunks)) + other.finish())] == [*map(str, items)]


@pytest.mark.parametrize("depth", [100, 126, 127, 128, 129, 300, 700, 5000])
def test_a_message_nested_however_deeply_is_judged_and_not_raised(depth: int) -> None:
    event = text(BASES["agent.session.started"])[:-1]
    objects = b'{"a":' * depth + b"1" + b"}" * depth
    for above, raw in (
        (0, objects),
        (1, event + b',"x":' + b"[" * depth + b"]" * depth + b"}"),
        (1, event + b',"x":"\\ud800","y":' + objects + b"}"),
        (2, event + b',"extensions":{"attend":' + objects + b"}}"),
    ):
        rules = {one.rule for one in codec.find_violations(raw)}
        assert (rules == {"ENC-001"}) is (depth + above > 128)
        sound(codec.find_violations(raw, strict=True))
        sound(codec.read(raw)[1])
        assert Audit(whole=True).feed(raw)
        with contextlib.suppress(AaepError):  # our own errors are allowed, others are not
            codec.decode(raw)


def test_judging_stops_where_the_stack_does() -> None:
    """Between what can be judged and what cannot be decoded there is a gap, a few levels wide."""
    event = text(BASES["agent.session.started"])[:-1] + b',"extensions":{"attend":'
    for depth in range(850, 1000):
        sound(codec.read(event + b'{"a":' * depth + b"1" + b"}" * depth + b"}}")[1])


def test_a_reply_to_a_question_asked_after_the_end_is_judged_and_not_raised() -> None:
    """The session is over, so it holds no such ask; the reply still names its token."""
    audit = Audit(whole=True)
    for name in ("agent.session.completed", "agent.awaiting.confirmation", "confirmation.reply"):
        audit.feed(text(BASES[name]))


@pytest.mark.parametrize("member", ["accepted_response_kinds", "choices", "timeout_seconds", "default_response"])
@pytest.mark.parametrize(
    "value", [[["x"]], [{}], [None], [3, "freetext"], ["x", "yes_no"], [], {}, 3, "freetext", None]
)
def test_a_question_asked_in_whatever_way_can_be_answered(member: str, value: object) -> None:
    """What the question lists need not be of any kind, and still a reply to it is judged."""
    asking = BASES["agent.awaiting.clarification"]
    answers: list[object] = ["x", True, 3, None, ["x"], {}]
    for response in answers:
        audit = Audit(whole=True)
        for message in (
            BASES["agent.session.started"],
            {**asking, "event_id": "evt_2", member: value},
            {**BASES["clarification.reply"], "reply_token": asking["reply_token"], "response": response},
        ):
            assert all(isinstance(one, Finding) for one in audit.feed(text(message)))
