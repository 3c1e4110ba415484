"""
The scalar types of message members, and the base class of every message.

Patterns are kept in ``extra_json_schema``: they reach the generated schema and
stay out of the decoder's slow path, and :mod:`aaep.protocol.rules` compiles its
checks from them, so each is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, Meta

CORE_CONTEXT: Final = "https://aaep-protocol.org/context/v1"
AAEP_VERSION: Final = "1.0.0"  # what we emit: C-20, CF-048
STATES: Final = ("idle", "thinking", "calling_tool", "writing_output", "awaiting_input", "deciding", "handing_off")

UNIQUE: Final = {"uniqueItems": True}
MAX_SAFE_INTEGER: Final = 2**53 - 1  # C-27

# Patterns that other modules use too. The groups of an instant are its date, time, fraction and offset.
INSTANT_PATTERN: Final = (
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})"
)
# RFC 3986 appendix A (ENV-036 §3.2.6.5, C-13).
_URI_CHARACTER: Final = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_HEX_GROUP: Final = "[0-9A-Fa-f]{1,4}"
_IPV4_BYTE: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV6_END: Final = rf"(?:{_HEX_GROUP}:{_HEX_GROUP}|{_IPV4_BYTE}(?:\.{_IPV4_BYTE}){{3}})"
_IPV6_ADDRESS: Final = "|".join(
    [
        f"(?:{_HEX_GROUP}:){{6}}{_IPV6_END}",
        f"::(?:{_HEX_GROUP}:){{5}}{_IPV6_END}",
        *(
            f"(?:(?:{_HEX_GROUP}:){{0,{before}}}{_HEX_GROUP})?::(?:{_HEX_GROUP}:){{{4 - before}}}{_IPV6_END}"
            for before in range(5)
        ),
        f"(?:(?:{_HEX_GROUP}:){{0,5}}{_HEX_GROUP})?::{_HEX_GROUP}",
        f"(?:(?:{_HEX_GROUP}:){{0,6}}{_HEX_GROUP})?::",
    ]
)
_URI_HOST: Final = (
    rf"(?:\[(?:{_IPV6_ADDRESS}|[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]"
    r"|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
)
URI_PATTERN: Final = (
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{{2}})*@)?{_URI_HOST}(?::[0-9]*)?(?:/{_URI_CHARACTER}*)*"
    rf"|/(?:{_URI_CHARACTER}+(?:/{_URI_CHARACTER}*)*)?"
    rf"|{_URI_CHARACTER}+(?:/{_URI_CHARACTER}*)*"
    r"|)"
    rf"(?:\?(?:{_URI_CHARACTER}|[/?])*)?"
    rf"(?:#(?:{_URI_CHARACTER}|[/?])*)?"
)
# C-85: the id of merged events is the id of the last, ``m`` and their number; that of a piece from inside one event
# has ``p``, a position and a length instead.
MERGED_ID_PATTERN: Final = r"([\s\S]+)m([1-9][0-9]*)"
PIECE_ID_PATTERN: Final = r"([\s\S]+)p[0-9]+x[0-9]+"

# ENV-012, ENV-017, HITL-008: ids reach logs and SSE id lines, so the whole text has to match (C-10).
EventId = Annotated[
    str, Meta(description="Names this event.", extra_json_schema={"pattern": "^evt_[A-Za-z0-9]{1,64}$"})
]
SessionId = Annotated[
    str, Meta(description="Names the session.", extra_json_schema={"pattern": "^sess_[A-Za-z0-9]{1,64}$"})
]
ReplyToken = Annotated[
    str,
    Meta(
        description="Ties a reply to this event. Opaque: echo it, do nothing else with it.",
        extra_json_schema={"pattern": "^rpl_[A-Za-z0-9]{1,64}$"},
    ),
]
Version = Annotated[
    str,
    Meta(
        description="A version of the specification.",
        extra_json_schema={"pattern": r"^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.-]+)?$"},
    ),
]
Timestamp = Annotated[
    str,
    Meta(
        description="RFC 3339 instant, upper-case T and Z, three fractional digits preferred, six allowed.",
        extra_json_schema={"pattern": f"^{INSTANT_PATTERN}$"},
    ),
]
LanguageTag = Annotated[
    str, Meta(description="A BCP 47 tag.", extra_json_schema={"pattern": "^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$"})
]
Uri = Annotated[str, Meta(description="An absolute URI.", extra_json_schema={"pattern": f"^{URI_PATTERN}$"})]
Prose = Annotated[str, Meta(min_length=1, max_length=16384)]
Line = Annotated[str, Meta(min_length=1, max_length=4096)]
Duration = Annotated[int, Meta(ge=0, le=86_400_000, description="Milliseconds, at most a day.")]
Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
Step = Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER)]
Timeout = Annotated[int, Meta(ge=1, le=86_400, description="Seconds to wait for a reply.")]
ToolName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=256,
        description="The tool's identifier.",
        extra_json_schema={"pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,255}$"},
    ),
]
CallId = Annotated[
    str,
    Meta(description="Pairs invoked with completed.", extra_json_schema={"pattern": "^call_[A-Za-z0-9]{1,64}$"}),
]
Risk = Literal["low", "medium", "high"]
Urgency = Literal["background", "normal", "critical"]
Verbosity = Literal["terse", "normal", "detailed"]
Boundary = Literal["none", "word", "sentence", "paragraph", "completion"]
FreeObject = dict[str, Any]
Extensions = dict[str, FreeObject]

Terse = Annotated[str, Meta(min_length=1, max_length=4096, description="A few words.")]
Normal = Annotated[str, Meta(min_length=1, max_length=16384, description="A sentence.")]
Detailed = Annotated[str, Meta(min_length=1, max_length=16384, description="Full context.")]


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """The base class of all messages: events, handshake messages, replies and the manifest."""

    rules: ClassVar[Mapping[str, str]] = {}
    # The schema of members that the type does not name.
    others: ClassVar[bool | Mapping[str, str]] = False

    @property
    def raw(self) -> bytes | None:
        """
        The bytes this message was decoded from, if it holds more than its type says.

        They keep unknown members, unknown enumeration values and other things that a
        newer peer may send, so that a relay loses nothing.
        """
        return self.__dict__.get("raw")

    @property
    def unknown(self) -> Mapping[str, Any]:
        """Top-level members that the type does not name, with their values."""
        return self.__dict__.get("unknown") or {}


def json_pointer(*parts: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of a path."""
    if len(parts) == 1 and isinstance(parts[0], str) and parts[0].isidentifier():
        return "/" + parts[0]  # the usual case, with nothing to escape
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def get_member(message: Message, name: str) -> Any:
    """Return a member's value, or None if it is absent or the type has no such member."""
    value = getattr(message, name, UNSET)
    return None if value is UNSET else value


@cache
def struct_fields(cls: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a Struct, cached because msgspec reads the annotations anew each time."""
    return msgspec.structs.fields(cls)
