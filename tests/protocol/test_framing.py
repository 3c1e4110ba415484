"""The framing decoders and encoders: bytes in, frames out, however the bytes were cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aaep.errors import FrameError
from aaep.protocol import framing
from aaep.protocol.framing import (
    FRAMINGS,
    Decoder,
    Frame,
    JsonRpcDecoder,
    LengthDecoder,
    NdjsonDecoder,
    SseDecoder,
    choose_decoder,
    encode_jsonrpc,
    encode_length_prefixed,
    encode_ndjson,
    encode_sse,
)

Item = Frame | FrameError

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "sse": lambda data: encode_sse(data, id="evt_1"),
    "ndjson": encode_ndjson,
    "length": encode_length_prefixed,
    "jsonrpc": lambda data: encode_jsonrpc(data, method="aaep.event"),
}
# One frame around data that nobody has checked, as a careless peer would write it.
CARELESS: dict[str, Callable[[bytes], bytes]] = {
    "sse": lambda data: b"data: " + data + b"\n\n",
    "ndjson": lambda data: data + b"\n",
    "length": lambda data: len(data).to_bytes(4, "big") + data,
    "jsonrpc": lambda data: b'{"jsonrpc":"2.0","method":"aaep.event","params":' + data + b"}\n",
}
RULE = {"sse": "SSE-014", "ndjson": "ENC-001", "length": "UDS-006", "jsonrpc": "STDIO-001"}

every_framing = pytest.mark.parametrize("name", FRAMINGS)

# Text that looks like framing: line ends, fields of SSE, lengths, other alphabets, line ends only Unicode knows.
hostile = st.sampled_from(
    ["\r", "\n", "\r\n\r\n", "data: {}", "\ndata:x\n\n", "event: aaep.close", "\0\0\0\2{}", "\u2028\x85", "é話🦻"]
)
texts = st.lists(st.one_of(hostile, st.text(max_size=8)), max_size=4).map("".join)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
objects = st.dictionaries(texts, values, max_size=4)


@st.composite
def json_texts(draw: st.DrawFn) -> bytes:
    """An object as JSON, compact or over several lines, escaped or not, with line ends of any kind between tokens."""
    indent = draw(st.sampled_from([None, 1]))
    text = json.dumps(draw(objects), ensure_ascii=draw(st.booleans()), indent=indent)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r", "\r\n"]))).encode(errors="replace")


def cut(stream: bytes, where: list[int]) -> list[bytes]:
    """Cut a stream at these places, taken modulo its length."""
    places = sorted({0, len(stream), *(place % (len(stream) + 1) for place in where)})
    return [stream[start:end] for start, end in pairwise(places)] or [b""]


def decode(decoder: Decoder, *chunks: bytes) -> list[Item]:
    items = [item for chunk in chunks for item in decoder.feed(chunk)]
    return items + decoder.finish()


def told(items: list[Item]) -> list[object]:
    """Errors compare by identity; what they say is what has to be equal."""
    return [item if isinstance(item, Frame) else (str(item), item.fatal) for item in items]


def shape(items: list[Item]) -> str:
    """``.`` for a frame, ``!`` for an error, ``X`` for a fatal one."""
    return "".join("." if isinstance(item, Frame) else "X" if item.fatal else "!" for item in items)


def refused(item: Item) -> FrameError:
    assert isinstance(item, FrameError)
    return item


def one(items: list[Item]) -> Frame:
    [item] = items
    assert isinstance(item, Frame), item
    return item


# Any split, any content.


@every_framing
@given(st.lists(json_texts(), max_size=5), st.lists(st.integers(0, 10_000), max_size=12))
def test_every_split_gives_the_messages(name: str, messages: list[bytes], where: list[int]) -> None:
    """TR-006"""
    stream = b"".join(map(ENCODERS[name], messages))
    items = decode(FRAMINGS[name](), *cut(stream, where))
    assert [json.loads(one([item]).data) for item in items] == [json.loads(message) for message in messages]


@every_framing
@given(json_texts())
def test_byte_by_byte(name: str, message: bytes) -> None:
    stream = ENCODERS[name](message) * 2
    items = decode(FRAMINGS[name](), *(stream[i : i + 1] for i in range(len(stream))))
    assert shape(items) == ".."
    assert items == decode(FRAMINGS[name](), stream)


# Bytes that get past the first check often enough to be interesting.
fields = [b"data:", b"data: {}", b"id: 7", b"id: \0", b"event: x", b"retry: 5", b": c", b"data: " + b"x" * 40]
lengths = [b"\0\0\0\0", b"\0\0\0\2{}", b"\0\0\0\1"]
lines = [b'{"jsonrpc":"2.0","method":"m"}', b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"a":"' + b"x" * 30 + b'"}']
others = [b"\r", b"\n", b"\r\n", b"\n\n", b"{}", b"[", b" ", b"\xff", b"\xef\xbb\xbf"]
fragments = st.sampled_from([*fields, *lengths, *lines, *others])
noise = st.one_of(st.binary(max_size=64), st.lists(fragments, max_size=16).map(b"".join))


@every_framing
@given(noise, st.lists(st.integers(0, 1000), max_size=8), st.integers(0, 40))
@example(b"data: {}\r\n\r\n", [9, 10, 11], 40)
@example(b"\xef\xbb\xbfdata: {}\n\n", [1, 2], 40)
def test_anything_gives_frames_and_errors_and_every_split_the_same(
    name: str, stream: bytes, where: list[int], limit: int
) -> None:
    whole, split = FRAMINGS[name](limit), FRAMINGS[name](limit)
    expected = decode(whole, stream)
    assert all(isinstance(item, Frame | FrameError) for item in expected)
    assert told(decode(split, *cut(stream, where))) == told(expected)
    for item in expected:
        if isinstance(item, FrameError):
            assert len(item.violations) == 1
            assert "expected, but" in item.violations[0].message
        else:
            assert isinstance(json.loads(item.data), dict)
    if isinstance(whole, SseDecoder) and isinstance(split, SseDecoder):
        assert (split.last_event_id, split.retry) == (whole.last_event_id, whole.retry)


# What a frame must be.


@every_framing
@pytest.mark.parametrize(
    "data",
    [
        b'{"text":"\xff"}',  # not UTF-8, in a string msgspec would step over
        b'{"\xc3":1}',
        b'{"text":"\xed\xa0\x80"}',  # a surrogate in UTF-8's clothes
        b'{"a":1',
        b'{"a":1,}',  # ENC-002
        b"{'a':1}",
        b'{"a":NaN}',
        b'{"a":1} // why',
        b'{"a":1}{"a":2}',
        b'{"a":"\t"}',
        b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
)
def test_what_is_not_json_in_utf8_is_refused_and_the_stream_goes_on(name: str, data: bytes) -> None:
    items = decode(FRAMINGS[name](), CARELESS[name](data) + ENCODERS[name](b'{"next":1}'))
    assert shape(items) == "!."
    assert refused(items[0]).violations[0].rule == RULE[name]
    assert json.loads(one(items[1:]).data) == {"next": 1}


@every_framing
@pytest.mark.parametrize("data", [b"[]", b'"text"', b"1", b"true", b"null"])
def test_what_is_not_an_object_is_refused(name: str, data: bytes) -> None:
    items = decode(FRAMINGS[name](), CARELESS[name](data) + ENCODERS[name](b"{}"))
    assert shape(items) == "!."
    assert refused(items[0]).violations[0].rule == ("VAL-001" if name == "ndjson" else RULE[name])


def test_a_message_delimited_by_something_else() -> None:
    assert framing.check_frame(b' {"a": 1}\n') == Frame(b' {"a": 1}\n')
    assert refused(framing.check_frame(b"{}{}")).violations[0].rule == "WS-004"
    assert refused(framing.check_frame(b"", "TR-006")).violations[0].rule == "TR-006"


# Size. CF-114


def sized(length: int) -> bytes:
    return b'{"a":"' + b"x" * (length - 8) + b'"}'


@pytest.mark.parametrize("name", ["sse", "ndjson", "length"])
def test_the_limit_itself_is_allowed(name: str) -> None:
    assert shape(decode(FRAMINGS[name](100), ENCODERS[name](sized(100)) * 2)) == ".."


@pytest.mark.parametrize("name", ["sse", "ndjson", "jsonrpc"])
@pytest.mark.parametrize("length", [101, 107, 108, 1000])
@pytest.mark.parametrize("step", [1, 7, 5000])
def test_a_message_over_the_limit_is_skipped(name: str, length: int, step: int) -> None:
    decoder = FRAMINGS[name](100)
    stream = ENCODERS[name](sized(length)) + ENCODERS[name](b"{}")
    items = decode(decoder, *(stream[i : i + step] for i in range(0, len(stream), step)))
    assert shape(items) == "!."
    assert "at most 100 bytes" in str(items[0])


@pytest.mark.parametrize("name", ["sse", "ndjson", "jsonrpc"])
def test_an_endless_line_is_reported_once_and_not_kept(name: str) -> None:
    decoder = FRAMINGS[name](100)
    items = [item for _ in range(1000) for item in decoder.feed(b"data: " + b"x" * 50)]
    assert shape(items) == "!"
    assert len(decoder._rest) == 0
    assert decoder.finish() == []


def test_an_event_is_too_long_only_once() -> None:
    assert shape(decode(SseDecoder(10), (b"data: " + b"x" * 50 + b"\n") * 3 + b"\ndata: {}\n\n")) == "!."


def test_many_data_lines_are_one_message() -> None:
    decoder = SseDecoder(10)
    assert shape(decoder.feed(b"data: 12345\n" * 1000)) == "!"
    assert decoder._data == []
    assert shape(decoder.feed(b"id: lost\n\ndata: {}\n\n")) == "."
    assert decoder.last_event_id == ""
    assert shape(decoder.feed(b": heartbeat\n" * 1000 + b"data: {}\n\n")) == "."  # Comments do not count.


@given(st.integers(101, 2**32 - 1), st.integers(0, 8))
def test_a_length_over_the_limit_is_fatal_before_anything_is_kept(size: int, place: int) -> None:
    decoder = LengthDecoder(100)
    stream = encode_length_prefixed(b"{}") + size.to_bytes(4, "big") + b"whatever"
    items = decode(decoder, stream[:place], stream[place:])
    assert shape(items) == ".X"
    assert refused(items[1]).violations[0].rule == "UDS-006"
    assert len(decoder._rest) == 0
    assert decoder.feed(encode_length_prefixed(b"{}")) == []
    assert decoder.finish() == []


@every_framing
def test_a_whole_mebibyte_byte_by_byte(name: str) -> None:
    stream = ENCODERS[name](sized(framing.MAX_MESSAGE_BYTES - 100))
    decoder = FRAMINGS[name]()
    items = [item for i in range(len(stream)) for item in decoder.feed(stream[i : i + 1])]
    assert shape(items) == "."


class CountingBuffer(bytearray):
    """A buffer that counts the bytes copied out of it, or left behind a cut and so possibly moved."""

    work = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        self.work += len(found) if isinstance(key, slice) else 1
        return found

    def __delitem__(self, key: Any) -> None:
        before = len(self)
        super().__delitem__(key)
        self.work += len(self) if len(self) < before else 0

    def __bytes__(self) -> bytes:
        self.work += len(self)
        return bytes(memoryview(self))


@every_framing
@pytest.mark.parametrize("step", [64, 10_000_000])
def test_the_work_is_in_proportion_to_the_bytes(name: str, step: int) -> None:
    message = sized(100)
    stream = ENCODERS[name](message) * 10_000 + ENCODERS[name](sized(500_000))
    decoder = FRAMINGS[name]()
    decoder._rest = buffer = CountingBuffer()
    items = [item for i in range(0, len(stream), step) for item in decoder.feed(stream[i : i + step])]
    assert shape(items) == "." * 10_001
    assert buffer.work < 4 * len(stream)


# The end of the stream.


@every_framing
@given(st.data())
def test_a_truncated_end_is_reported(name: str, data: st.DataObject) -> None:
    """TERM-008"""
    stream = ENCODERS[name](b'{"a":1}')
    kept = stream[: data.draw(st.integers(1, len(stream) - 1))]
    items = decode(FRAMINGS[name](), stream + kept)
    # Without its LF, an object that is closed is still a whole line of NDJSON; JSON-RPC wants the LF (STDIO-001).
    whole = name == "ndjson" and kept == b'{"a":1}'
    assert shape(items) == (".." if whole else ".!")


@every_framing
def test_the_end_is_reported_once(name: str) -> None:
    decoder = FRAMINGS[name]()
    assert shape(decode(decoder, ENCODERS[name](b"{}")[:-2])) == "!"
    assert decoder.finish() == []


@every_framing
def test_nothing_comes_after_the_end(name: str) -> None:
    decoder = FRAMINGS[name]()
    assert shape(decode(decoder, ENCODERS[name](b"{}"))) == "."
    assert decoder.feed(ENCODERS[name](b"{}")) == []
    assert decoder.finish() == []


@pytest.mark.parametrize("end", [b"", b": heart", b"\n", b": a\n: b\n", b"retry: 5\n", b"\r"])
def test_an_sse_stream_may_end_between_events(end: bytes) -> None:
    assert shape(decode(SseDecoder(), b"data: {}\n\n" + end)) == "."


@pytest.mark.parametrize("end", [b"data: {}", b"data: {}\n", b"data: {}\r", b"event: aaep.close\n", b"id: 5\n", b"da"])
def test_an_sse_event_without_its_blank_line_is_dropped(end: bytes) -> None:
    """TERM-008"""
    decoder = SseDecoder()
    assert shape(decode(decoder, b"id: 4\ndata: {}\n\n" + end)) == ".!"
    assert decoder.last_event_id == "4"


# SSE as the standard has it.


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", framing.BOM])
def test_sse_fields_and_line_ends(end: bytes, bom: bytes) -> None:
    lines = [b"event:aaep.event", b": hello", b"id: evt_1", b'data: {"a":', b"data:  1}", b"x: y", b"data", b"", b""]
    decoder = SseDecoder()
    frames = [item for chunk in cut(bom + end.join(lines), list(range(100))) for item in decoder.feed(chunk)]
    assert frames == [Frame(b'{"a":\n 1}\n', event="aaep.event", id="evt_1")]


def test_sse_event_names_are_optional_and_free() -> None:
    items = decode(SseDecoder(), b"data: {}\n\nevent: x-vendor\ndata: {}\n\nevent\ndata: {}\n\n")
    assert items == [Frame(b"{}"), Frame(b"{}", event="x-vendor"), Frame(b"{}")]


def test_sse_close_leaves_the_last_event_id() -> None:
    decoder = SseDecoder()
    items = decoder.feed(encode_sse(b"{}", id="evt_1") + encode_sse(b"{}", event="aaep.close"))
    assert items == [Frame(b"{}", event="aaep.event", id="evt_1"), Frame(b"{}", event="aaep.close")]
    assert decoder.last_event_id == "evt_1"


def test_sse_ids() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"id: 1\n\n") == []  # No data, no event, but the id counts.
    assert decoder.last_event_id == "1"
    assert decoder.feed(b"id: 2\0\ndata: {}\n\n") == [Frame(b"{}")]
    assert decoder.last_event_id == "1"
    assert decoder.feed(b"id: \xff\ndata: {}\n\n") == [Frame(b"{}", id="\ufffd")]
    decoder.feed(b"id\n\n")
    assert decoder.last_event_id == ""


@pytest.mark.parametrize(("value", "retry"), [(b"3000", 3000), (b"3s", None), (b"-1", None), (b"9" * 9999, None)])
def test_sse_retry(value: bytes, retry: int | None) -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"retry: " + value + b"\n\n") == []
    assert decoder.retry == retry


def test_sse_without_data_is_no_event() -> None:
    assert decode(SseDecoder(), b"event: x\n\ndata:\n\ndata\n\n\n\n") == []


def test_sse_dispatches_at_a_cr_without_waiting() -> None:
    decoder = SseDecoder()
    assert shape(decoder.feed(b"data: {}\r\r")) == "."
    assert decoder.feed(b"\ndata: {}\r") == []
    assert decoder.feed(b"") == []
    assert decoder.feed(b"\n") == []  # The rest of a CRLF, not a blank line.
    assert shape(decoder.feed(b"\n")) == "."


def test_sse_bom_only_at_the_start() -> None:
    assert shape(decode(SseDecoder(), b"data: {}\n\n" + framing.BOM + b"data: {}\n\n")) == "."


# NDJSON and JSON-RPC lines.


@pytest.mark.parametrize("decoder", [NdjsonDecoder, JsonRpcDecoder])
def test_lines_tolerate_crlf_blank_lines_and_a_bom(decoder: type[Decoder]) -> None:
    line = b'{"jsonrpc":"2.0","method":"aaep.ping"}'
    stream = framing.BOM + line + b"\r\n\r\n \t\n\n" + line + b"\n"
    assert shape(decode(decoder(), *cut(stream, list(range(100))))) == ".."


def test_ndjson_keeps_the_text() -> None:
    assert decode(NdjsonDecoder(), b'{"a": 1.0}\r\n{"\xc3\xa9":2}') == [Frame(b'{"a": 1.0}'), Frame(b'{"\xc3\xa9":2}')]


ERROR = b'{"code":-32700,"message":"Parse error"}'


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (b'{"jsonrpc":"2.0","method":"aaep.event","params":{"a": 1.50}}', Frame(b'{"a": 1.50}', method="aaep.event")),
        (
            b'{"jsonrpc":"2.0","id":"x","method":"aaep.subscribe","params":{}}',
            Frame(b"{}", method="aaep.subscribe", call="x"),
        ),
        (b'{"jsonrpc":"2.0","id":0,"method":"aaep.ping"}', Frame(b"{}", method="aaep.ping", call=0)),
        (b'{"result":{"a":1},"id":7,"jsonrpc":"2.0"}', Frame(b'{"a":1}', call=7)),
        (b'{"jsonrpc":"2.0","id":null,"error":' + ERROR + b"}", Frame(ERROR, is_error=True)),
        (b'{"jsonrpc":"2.0","id":7,"error":' + ERROR + b"}", Frame(ERROR, call=7, is_error=True)),
        (b'{"jsonrpc":"2\\u002e0","method":"aaep.ping","trace":[1]}', Frame(b"{}", method="aaep.ping")),
    ],
)
def test_jsonrpc_envelopes(line: bytes, frame: Frame) -> None:
    assert decode(JsonRpcDecoder(), line + b"\n") == [frame]


@pytest.mark.parametrize(
    "line",
    [
        b'[{"jsonrpc":"2.0","method":"aaep.ping"}]',  # CF-110
        b"[]",
        b"{}",
        b'{"method":"aaep.ping"}',
        b'{"jsonrpc":"1.0","method":"aaep.ping"}',
        b'{"jsonrpc":2.0,"method":"aaep.ping"}',
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","method":""}',
        b'{"jsonrpc":"2.0","method":null}',
        b'{"jsonrpc":"2.0","method":"aaep.event","params":[{}]}',
        b'{"jsonrpc":"2.0","method":"aaep.event","params":null}',
        b'{"jsonrpc":"2.0","method":"aaep.ping","id":null}',
        b'{"jsonrpc":"2.0","method":"aaep.ping","id":1.5}',
        b'{"jsonrpc":"2.0","method":"aaep.ping","id":true}',
        b'{"jsonrpc":"2.0","method":"aaep.ping","id":' + b"9" * 9999 + b"}",
        b'{"jsonrpc":"2.0","method":"aaep.ping","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
        b'{"jsonrpc":"2.0","id":1,"result":"done"}',
        b'{"jsonrpc":"2.0","id":1,"error":"oh"}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
    ],
)
def test_jsonrpc_lines_that_are_refused(line: bytes) -> None:
    items = decode(JsonRpcDecoder(), line + b"\n" + encode_jsonrpc(b"{}", call=1))
    assert shape(items) == "!."
    assert refused(items[0]).violations[0].rule == "STDIO-001"


# Length prefix and the choice of framing.


def test_an_empty_length_is_skipped() -> None:
    items = decode(LengthDecoder(), b"\0\0\0\0" + encode_length_prefixed(b"{}"))
    assert shape(items) == "!."
    assert "empty" in str(items[0])


def test_sniff() -> None:
    assert choose_decoder(encode_length_prefixed(b"{}")) is LengthDecoder
    assert choose_decoder(encode_ndjson(b"{}")) is NdjsonDecoder
    for first in (b"", b"G", b"[", b"\x01"):
        with pytest.raises(FrameError) as caught:
            choose_decoder(first)
        assert caught.value.fatal
        assert caught.value.violations[0].rule == "UDS-006"


# Encoders.


def test_sse_bytes() -> None:
    assert encode_sse(b'{"a":1}', id="evt_1") == b'event: aaep.event\nid: evt_1\ndata: {"a":1}\n\n'
    assert encode_sse(b'{"a":\r\n1}', event="") == b'data: {"a":\ndata: 1}\n\n'


@pytest.mark.parametrize("bad", ["x\ndata: {}", "x\r", "\n", "x\0"])
def test_sse_refuses_line_ends_in_fields(bad: str) -> None:
    with pytest.raises(ValueError, match="must not contain"):
        encode_sse(b"{}", id=bad)
    with pytest.raises(ValueError, match="must not contain"):
        encode_sse(b"{}", event=bad)


@given(st.text(), st.text())
def test_sse_fields_inject_nothing(event: str, id: str) -> None:
    try:
        stream = encode_sse(b"{}", event=event, id=id)
    except ValueError:
        return
    assert decode(SseDecoder(), stream) == [Frame(b"{}", event=event, id=id)]


@given(st.text(min_size=1), st.one_of(st.none(), st.text(), st.integers(-(2**63), 2**63)))
def test_jsonrpc_fields_inject_nothing(method: str, call: str | int | None) -> None:
    stream = encode_jsonrpc(b"{}", method=method, call=call)
    assert stream.count(b"\n") == 1
    assert decode(JsonRpcDecoder(), stream) == [Frame(b"{}", method=method, call=call)]


def test_jsonrpc_bytes() -> None:
    assert encode_jsonrpc(b"{}", method="m") == b'{"jsonrpc":"2.0","method":"m","params":{}}\n'
    assert encode_jsonrpc(b"{}", method="m", call=0) == b'{"jsonrpc":"2.0","method":"m","params":{},"id":0}\n'
    assert encode_jsonrpc(b"{}", call="x") == b'{"jsonrpc":"2.0","result":{},"id":"x"}\n'
    assert encode_jsonrpc(ERROR, error=True) == b'{"jsonrpc":"2.0","error":' + ERROR + b',"id":null}\n'
    with pytest.raises(ValueError, match="result with its call"):
        encode_jsonrpc(b"{}")
    with pytest.raises(ValueError, match="result with its call"):
        encode_jsonrpc(b"{}", method="m", error=True)


@pytest.mark.parametrize("encode", [encode_ndjson, lambda data: encode_jsonrpc(data, method="m")])
def test_raw_newlines_never_leave(encode: Callable[[bytes], bytes]) -> None:
    assert encode(b'{\r\n "a":\n1.0}\n') == encode(b'{"a":1.0}')  # CF-112: the number keeps its spelling.
    for data in (b'{"a":"\n"}', b"{}\n{}", b'{"a":' + b"[\n" * 5000 + b"]" * 5000 + b"}"):
        with pytest.raises(ValueError, match="raw newlines"):
            encode(data)


def test_a_length_fits_its_prefix() -> None:
    assert encode_length_prefixed(b"{}") == b"\0\0\0\2{}"
    for data in (b"", b" " * (1 << 24)):
        with pytest.raises(ValueError, match="16 MiB"):
            encode_length_prefixed(data)
