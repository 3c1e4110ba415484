"""
Our own extension ``attend``, for what a listener needs and the core leaves out.

``attend`` ties an outcome to its prompt (CF-025), links a session to its parent
(C-19), marks a catch-up after a reconnect (C-36) and a call that was agreed to
and never began (HITL-018), and tells a hub which principals a session is for
(CF-145). With it a subscriber asks for more time (CF-028), for what it missed
(CF-084), and for a session to be stopped (CF-147); it asks in a renegotiation,
which every transport carries.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .events import Envelope
from .extensions import Extension, Registry
from .fields import EventId, ReplyToken, SessionId
from .messages import Manifest

__all__ = ["ATTEND", "PREFIX", "Attend", "AttendCapabilities", "attend_member", "attend_members", "attend_registry"]

PREFIX = "attend"


class Attend(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``extensions.attend`` may hold on an event."""

    reply_token: ReplyToken | UnsetType = UNSET
    outcome: (
        Literal["accepted", "rejected", "timed_out", "withdrawn", "answered", "unavailable", "no_reply_channel"]
        | UnsetType
    ) = UNSET
    asked_again: (
        Annotated[
            bool,
            Meta(description="True on the outcome of a prompt that is asked again at once, with more time (CF-028)."),
        ]
        | UnsetType
    ) = UNSET
    parent_session_id: SessionId | UnsetType = UNSET
    resync: Annotated[bool, Meta(description="True on the state.changed that catches a reader up.")] | UnsetType = UNSET
    repeated: (
        Annotated[bool, Meta(description="True on one that a reader gets again, having missed nothing.")] | UnsetType
    ) = UNSET
    position: (
        Annotated[
            EventId,
            Meta(description="On the last event of a catch-up: who resumes after this one goes on from here (CF-084)."),
        ]
        | UnsetType
    ) = UNSET
    audience: (
        Annotated[
            tuple[str, ...],
            Meta(description="From an agent to its hub, on session.started: the principals it is for (CF-145)."),
        ]
        | UnsetType
    ) = UNSET
    skipped: (
        Annotated[bool, Meta(description="True on both events of a call that was agreed to and never began.")]
        | UnsetType
    ) = UNSET
    replay_of: Annotated[str, Meta(description="The id a replayed event had when it was live.")] | UnsetType = UNSET


class AttendCapabilities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a subscriber may ask for under ``attend`` in its capabilities."""

    minimum_timeout_seconds: Annotated[int, Meta(ge=1, le=86_400)] | UnsetType = UNSET
    resume_after: EventId | UnsetType = UNSET
    start: (
        Annotated[
            bool | Annotated[str, Meta(max_length=256)],
            Meta(
                description="True asks after which event the subscription starts, and the answer names it, empty "
                "before the first. A reader that was cut off before it was caught up names it to start there again "
                "(CF-084)."
            ),
        ]
        | UnsetType
    ) = UNSET
    cancel: Annotated[SessionId, Meta(description="Stop this session (CF-147).")] | UnsetType = UNSET


ATTEND = Extension(
    namespace="https://aaep.readthedocs.io/extensions/attend/v1",
    prefix=PREFIX,
    context="https://aaep.readthedocs.io/extensions/attend/v1/context",
    fields=Attend,
    capabilities=AttendCapabilities,
    description="Outcomes tied to their prompts, linked sessions, catch-up, more time.",
    contact="https://aaep.readthedocs.io/",
)


def attend_registry() -> Registry:
    """Return a registry that has our own extension and no other."""
    return Registry([ATTEND])


def attend_members(message: Envelope | Manifest) -> dict[str, Any]:
    """
    Return the members of our extension on a message.

    A peer may have sent any value there; one that is no object has no members.
    """
    extensions = message.extensions
    members = extensions.get(PREFIX) if isinstance(extensions, dict) else None
    return members if isinstance(members, dict) else {}


def attend_member(message: Envelope | Manifest, name: str) -> Any:
    """Return one member of our extension on a message, or None."""
    return attend_members(message).get(name)
