"""Writes docs/api.md from the names that ``import aaep`` gives. ``--check`` exits 1 when the file is stale."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec

import aaep

try:
    from ._page import run
except ImportError:  # run as a script, not as part of the package
    from _page import run  # type: ignore[import-not-found, no-redef]  # the same

PAGE: Final = Path(__file__).parent.parent / "docs" / "api.md"

GROUPS: Final[Mapping[str, str]] = {
    "Agents": "Producer Session Call Output Ask Answer Refused Waitable",
    "Readers": "listen Subscriber Status announce Announcement Preferences",
    "Options": """Tls ServerOptions ConnectOptions ManifestOptions HubSettings Runtime Terms Reconnect
        SubscriberRuntime""",
    "Messages as bytes": "read decode encode Message",
    "Judging": "explain Audit Finding Violation Severity",
    "Extensions": "Extension Profile Registry",
    "Events": """Event Envelope SessionStarted SessionCompleted SessionErrored SessionCancelled StateChanged
        ProgressUpdated ToolInvoked ToolCompleted OutputStreaming AwaitingConfirmation AwaitingClarification
        HandoffRequested ExtensionEvent UnknownEvent ProducerInfo LocalizationHints Progress Choice""",
    "Handshake, replies and manifest": """SubscriptionRequest SubscriptionAccepted SubscriptionRejected
        SubscriptionRenegotiate SubscriptionClose Capabilities EventFilters Reply ConfirmationReply ClarificationReply
        Manifest""",
    "Building your own runtime: `aaep.protocol`": """protocol.read protocol.decode protocol.encode protocol.explain
        protocol.Audit protocol.SessionState protocol.Offer protocol.negotiate protocol.renegotiate""",
    "Who is let in: `aaep.identity`": """identity.Identity identity.Credentials identity.Local identity.Users
        identity.Parent identity.Tokens identity.Jwt identity.Certificates identity.Grant identity.First
        identity.SigningKey identity.TrustedKeys""",
    "Errors": """AaepError ProtocolError LocalProtocolError RemoteProtocolError FrameError ExtensionError JournalError
        ChannelLost ChannelRefused SubscriptionRefused""",
}
# What else these have is for other parts of the library, and may change.
MEMBERS: Final[Mapping[str, str]] = {
    "Producer": "start close sessions session tool reader asgi addresses",
    "Session": """start run wrap thinking deciding progress tool output write confirm clarify withdraw handoff
        handed_over result complete fail cancel emit""",
    "Call": "result",
    "Output": "write close",
    "Ask": "wait answer withdraw",
    "Answer": "refusal",
    "Waitable": "wait done",
    "Subscriber": """announcements accept reject answer prompts ready renegotiate stop close status terms producer
        trusted proof notes last_event_id findings""",
    "Audit": "feed missed finish",
    "protocol.SessionState": "feed judge apply reply expire finish",
    "Registry": "add add_profile context namespace prefix declared",
}
ATTRIBUTES: Final[Mapping[str, str]] = {
    "Producer.addresses": "Where readers can connect, with the ports that were really taken.",
    "Subscriber.producer": "Who it is that is listened to; None before the handshake.",
}
# The others with members are made by the library.
MADE: Final = ("Producer", "Subscriber", "Audit", "Registry", "protocol.Audit", "protocol.SessionState")
_ROLE: Final = re.compile(r":\w+:`~?([^`]+)`")


class _Own:
    """A default that is for the library to choose."""

    def __repr__(self) -> str:
        return "…"


def _paragraphs(value: object) -> list[str]:
    said = (inspect.getdoc(value) or "").split("\n\n")
    return [_ROLE.sub(r"`\1`", " ".join(one.split())).replace("``", "`") for one in said]


class _Default:
    """The default of a value object, which its own entry shows."""

    def __init__(self, value: object) -> None:
        self._text = f"{type(value).__name__}()"

    def __repr__(self) -> str:
        return self._text


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    default = parameter.default
    if dataclasses.is_dataclass(default):
        default = _Default(default)
    elif default is not parameter.empty and repr(default).startswith("<"):
        default = _Own()
    return parameter.replace(annotation=parameter.empty, default=default)


def _signature(name: str, value: Any) -> str:
    """How it is called, without types: those are in the source, for whoever checks them."""
    if isinstance(value, type) and issubclass(value, msgspec.Struct):
        return f"{name}({', '.join(value.__struct_fields__)})"
    if isinstance(value, property) or not callable(value):
        return name
    found = inspect.signature(value)
    given = [_plain(one) for one in found.parameters.values() if one.name != "self"]
    return f"{name}{found.replace(parameters=given, return_annotation=found.empty)}"


def _entry(name: str) -> Iterator[str]:
    value = attrgetter(name)(aaep)
    yield from (f"### {name}", "")
    is_options = dataclasses.is_dataclass(value)
    is_struct = isinstance(value, type) and issubclass(value, msgspec.Struct)
    if not inspect.isclass(value) and not inspect.isfunction(value):
        yield from (
            f"`{value}`".replace("aaep.protocol.events.", "")
            .replace("aaep.protocol.messages.", "")
            .replace("typing.", ""),
            "",
        )
        return
    if name in MADE or not isinstance(value, type) or is_options or (is_struct and name not in MEMBERS):
        yield from (f"`{_signature(name, value)}`", "")
    for paragraph in _paragraphs(value):
        yield from (paragraph, "")
    for member in MEMBERS.get(name, "").split():
        found = inspect.getattr_static(value, member, None)
        yield f"- `{_signature(member, found)}`: {ATTRIBUTES.get(f'{name}.{member}') or _paragraphs(found)[0]}"
    if name in MEMBERS:
        yield ""


def _lines() -> Iterator[str]:
    yield from ("# The names of aaep", "")
    yield "All that `import aaep` gives, written from the source by `scripts/api_page.py`. Do not edit this file."
    yield "What a module has beside these names may change; where a guide names a module, such as `aaep.testing` or"
    yield "`aaep.presentation`, what it shows of it stays."
    yield ""
    for group, names in GROUPS.items():
        yield from (f"## {group}", "")
        for name in names.split():
            yield from _entry(name)


def page() -> str:
    """The whole page."""
    return "\n".join(_lines()).rstrip("\n") + "\n"


def main(arguments: list[str] | None = None) -> int:
    return run(page, PAGE, "api_page.py", __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
