"""
Test support for agents: a listener that accepts, rejects or never answers prompts, and records what it receives.

    with aaep.Producer("bank", journal=None) as producer:
        listener = Listener(producer, answer="reject")
        run_my_agent(producer)
        listener.expect("session.started", "awaiting.confirmation", "session.completed")
        assert "transfer" not in listener.tools

It is a real subscription with real replies; only the network is left out. With a :class:`Clock`, time passes
when the test says so:

    clock = Clock()
    with aaep.Producer("bank", journal=None, runtime=aaep.Runtime(clock=clock)) as producer:
        listener = Listener(producer)
        with producer.session("Paying.") as session:
            ask = session.confirm("Pay 5 dollars.", "The money is gone.", timeout=60)
            listener.advance(60)
            assert ask.wait().outcome == "timed_out"
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from .errors import AaepError
from .identity.peer import Peer
from .presentation.announce import Announcement
from .presentation.preferences import Preferences
from .presentation.presenter import Presenter
from .producer.producer import Producer
from .protocol import codec, framing
from .protocol.attend_extension import ATTEND, attend_member
from .protocol.audit import Audit, Finding
from .protocol.consent import PromptState, response_violation
from .protocol.events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    ToolInvoked,
)
from .protocol.fields import AAEP_VERSION, Message
from .protocol.messages import (
    Capabilities,
    ClarificationReply,
    ConfirmationReply,
    Reply,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRequest,
)
from .recording.recordings import CAPTURE_VERSION
from .runtime.ids import format_timestamp

__all__ = ["Clock", "Listener"]

_TYPE_PREFIX: Final = "aaep:agent."
_ALL_CAPABILITIES: Final = Capabilities(
    supports_confirmation_reply=True,
    supports_clarification_reply=True,
    supported_conformance_levels=(1, 2, 3),
    supported_extensions=(ATTEND.namespace,),
)


class Clock:
    """A clock that stands still until time is let pass, for ``Runtime(clock=Clock())``; see ``Listener.advance``."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Set the clock forward. What is due by then happens once a listener or the hub looks at the clock."""
        if seconds < 0:
            raise ValueError(f"Time does not run backwards: {seconds!r}.")
        self.now += seconds


class Listener:
    """
    A subscriber to a producer in the same process.

    ``answer`` is the reply to every prompt: "accept", "reject", the response
    to a clarification, or "silence" or None for no reply. It may also be a
    function that takes the prompt and returns one of these. If the function
    fails, or its result does not answer the prompt, the listener closes its
    subscription, so that the agent does not wait for it; waiting for events
    then raises :exc:`AssertionError`.

    ``capabilities`` are what it asks for; by default everything, in the
    languages of the producer. ``preferences`` are how the person wants to hear
    it; by default without the keys of a terminal.
    """

    def __init__(
        self,
        producer: Producer,
        answer: Any = "silence",
        *,
        capabilities: Capabilities | None = None,
        principal: str | None = None,
        preferences: Preferences | None = None,
        on_announcement: Callable[[Announcement], object] | None = None,
    ) -> None:
        self.events: list[Envelope] = []
        self.announcements: list[Announcement] = []
        self.close_message: SubscriptionClose | None = None
        self._answer = answer
        self._on_announcement = on_announcement
        self._failure: Exception | None = None
        self._hub = producer.hub
        self._wall = producer.hub.wall
        self._peer = Peer(principal=principal) if principal else Peer()
        self._writer = _ListenerWriter(self)
        self._condition = threading.Condition()
        self._presenter = Presenter(Preferences(keys={}) if preferences is None else preferences)
        self._cancel_presenting: Callable[[], None] | None = None  # the timer for what is announced by time
        self._entries: list[dict[str, Any]] = []  # of the capture
        self._seen_event_ids: set[str] = set()
        self._unresolved_replies: dict[str, dict[str, Any]] = {}  # entries of replies without an outcome, by token
        self._hub.start()
        if capabilities is None:
            capabilities = msgspec.structs.replace(_ALL_CAPABILITIES, languages=self._hub.offer.languages)
        request = SubscriptionRequest(
            aaep_version=AAEP_VERSION, subscriber_id="aaep-testing", subscriber_name="Test", capabilities=capabilities
        )
        self.subscription_id = ""
        self.terms: Capabilities = self._run_on_loop(self._subscribe, request)

    # -- received events ---------------------------------------------------------------------

    @property
    def types(self) -> list[str]:
        """The types of the events without their common prefix, such as ``tool.invoked``."""
        return [event.type.removeprefix(_TYPE_PREFIX) for event in self.events]

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were invoked."""
        return [event.tool for event in self.events if isinstance(event, ToolInvoked)]

    @property
    def prompts(self) -> list[AwaitingConfirmation | AwaitingClarification]:
        """The prompts among the events."""
        return [event for event in self.events if isinstance(event, (AwaitingConfirmation, AwaitingClarification))]

    @property
    def output(self) -> str:
        """The text that the agent wrote, joined from all chunks."""
        return "".join(event.chunk for event in self.events if isinstance(event, OutputStreaming))

    @property
    def heard(self) -> list[str]:
        """The sentences that a person would hear, without those that only repeat others."""
        return [announcement.text for announcement in self.announcements if not announcement.redundant]

    def wait(self, wanted: str | Callable[[Envelope], bool], *, timeout: float = 30.0) -> Envelope:
        """Wait for an event of a type such as ``tool.invoked``, or for one that a predicate accepts, and return it."""

        def is_wanted(event: Envelope) -> bool:
            return wanted(event) if callable(wanted) else event.type == _TYPE_PREFIX + wanted

        if not self._wait_until(lambda: any(map(is_wanted, self.events)), timeout):
            raise AssertionError(f"Waited {timeout:g} seconds for {wanted}. Heard: {', '.join(self.types)}.")
        return next(event for event in self.events if is_wanted(event))

    def wait_for_end(self, *, timeout: float = 30.0) -> Envelope:
        """Wait until a session has ended, and return its last event."""
        return self.wait(lambda event: isinstance(event, TERMINAL), timeout=timeout)

    def expect(self, *types: str, timeout: float = 30.0) -> None:
        """Wait until events of these types were received in this order, with any others in between."""

        def has_all_types() -> bool:
            remaining = iter(self.types)
            return all(type_ in remaining for type_ in types)

        if not self._wait_until(has_all_types, timeout):
            raise AssertionError(f"Expected in order: {', '.join(types)}. Heard: {', '.join(self.types)}.")

    def _wait_until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait until a condition is true; return whether it is, or raise the failure of the listener."""
        if self._hub.is_on_loop and not condition():
            raise RuntimeError(
                "This would wait on the very loop that brings the events. "
                "Use `await asyncio.to_thread(listener.wait, …)`."
            )
        with self._condition:
            self._condition.wait_for(lambda: self._failure is not None or condition(), timeout)
            if self._failure is not None:
                raise AssertionError(
                    f"The listener could not go on: {type(self._failure).__name__}: {self._failure}"
                ) from self._failure
            return condition()

    def advance(self, seconds: float) -> None:
        """
        Let time pass, for a producer whose clock is a :class:`Clock`, and have done what is due by then.

        What ran out by then has run out, and what is said after a while was said.
        """
        clock = self._hub.clock
        if not isinstance(clock, Clock):
            raise TypeError(
                "Only a clock of the test's own can be set forward. "
                "Make the producer with runtime=aaep.Runtime(clock=aaep.testing.Clock())."
            )
        clock.advance(seconds)
        self._run_on_loop(self._hub.run_due_timers)

    def findings(self, *, strict: bool = True) -> list[Finding]:
        """
        Audit everything received and sent so far, and return the errors.

        ``strict`` grades as a producer should grade itself, and needs a
        listener that was there from the beginning; without it, events from
        before the subscription count as unknown.
        """
        audit = Audit(whole=False, strict=strict)
        findings = []
        for entry in self._entries:
            findings += audit.feed(msgspec.json.encode(entry["message"]), entry["at"], entry["via"], entry["dir"])
        return [finding for finding in findings if finding.severity == "error"]

    def write_capture(self, path: str | Path, *, source: str = "", whole: bool = True) -> None:
        """
        Write a capture of all messages in both directions, for ``aaep validate`` and other commands.

        Pass ``whole=False`` if other subscribers replied too: the capture does not contain their replies.
        A new file is for its owner alone.
        """
        lines = self.capture_lines(source=source, whole=whole)
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(b"".join(lines))

    def capture_lines(self, *, source: str = "", whole: bool = True) -> list[bytes]:
        """Return the lines of the capture that :meth:`write_capture` writes: the header, and each message so far."""
        started = self._entries[0]["at"] if self._entries else format_timestamp(self._wall())
        header = {
            "aaep_capture": CAPTURE_VERSION,
            "source": source or self._hub.offer.producer.agent_id,
            "started": started,
            "terms": msgspec.to_builtins(self.terms),
            "whole": whole,
        }
        return [msgspec.json.encode(line) + b"\n" for line in (header, *self._entries)]

    # -- replying and leaving ------------------------------------------------------------------

    def reply(self, prompt: Envelope, answer: Any) -> None:
        """Reply to a prompt: "accept" or "reject", or any response to a clarification, valid or not."""
        self._run_on_loop(self._send_reply, self._build_reply(prompt, answer))

    def close(self) -> None:
        """Close the subscription."""
        self._run_on_loop(self._hub.unsubscribe, self._build_close_message(), self._peer)

    def _build_close_message(self) -> SubscriptionClose:
        message = SubscriptionClose(
            subscription_id=self.subscription_id, reason_code="subscriber_shutdown", reason_message="Done."
        )
        self._record_message("in", message)
        return message

    def drop_connection(self) -> None:
        """Disconnect without closing the subscription, as a bad network does."""
        self._run_on_loop(self._hub.disconnect, self.subscription_id, self._writer)

    # -- on the hub's loop -----------------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        for line in data.splitlines():
            event = codec.decode(line)
            if not isinstance(event, Envelope):
                continue
            self._record_message("out", event)
            with self._condition:
                if event.event_id in self._seen_event_ids:
                    continue
                self._seen_event_ids.add(event.event_id)
                self.events.append(event)
                self._announce(event)
                self._condition.notify_all()
            if isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
                asyncio.get_running_loop().call_soon(self._answer_prompt, event)

    def _answer_prompt(self, prompt: AwaitingConfirmation | AwaitingClarification) -> None:
        try:
            answer = self._answer(prompt) if callable(self._answer) else self._answer
            if answer not in ("silence", None):
                reply = self._build_reply(prompt, answer)
                if isinstance(reply, ClarificationReply) and response_violation(
                    reply, PromptState(event=prompt, deadline=0.0)
                ):
                    raise ValueError(f"This question does not take the answer {answer!r}.")
                self._send_reply(reply)
        except Exception as error:  # the fault of the test; its own thread raises it in _wait_until
            with self._condition:
                self._failure = error
                self._condition.notify_all()
            self._hub.unsubscribe(self._build_close_message(), self._peer)

    def _handle_close(self, message: SubscriptionClose | None) -> None:
        with self._condition:
            self.close_message = message
            self._condition.notify_all()

    def _announce(self, event: Envelope) -> None:
        self._record_announcements(self._presenter.present(event, self._hub.clock()))
        self._schedule_presenting()

    def _schedule_presenting(self) -> None:
        """Have the announcements that are due by time recorded when they are."""
        if self._cancel_presenting is not None:
            self._cancel_presenting()
            self._cancel_presenting = None
        deadline = self._presenter.next_deadline(self._hub.clock())
        if deadline is not None:
            self._cancel_presenting = self._hub.call_at(deadline, self._present_due)

    def _present_due(self) -> None:
        with self._condition:
            self._record_announcements(self._presenter.advance(self._hub.clock()))
            self._condition.notify_all()
        self._schedule_presenting()

    def _record_announcements(self, announcements: list[Announcement]) -> None:
        for announcement in announcements:
            self.announcements.append(announcement)
            if self._on_announcement is not None:
                try:
                    self._on_announcement(announcement)
                except Exception as error:  # as in _answer_prompt
                    self._failure = self._failure or error

    def _subscribe(self, request: SubscriptionRequest) -> Capabilities:
        response = self._hub.subscribe(request, self._peer)
        if not isinstance(response, SubscriptionAccepted):
            raise AaepError(f"The producer refused the test's subscription: {response.reason_message}")
        self.subscription_id = response.subscription_id
        self._record_message("in", request)
        self._record_message("out", response)
        self._hub.connect(self.subscription_id, self._peer, self._writer)
        return response.honored_capabilities

    def _build_reply(self, prompt: Envelope, answer: Any) -> Reply:
        timestamp = format_timestamp(self._wall())
        token = prompt.reply_token  # type: ignore[attr-defined]  # a prompt has one
        if not isinstance(prompt, AwaitingConfirmation):
            return ClarificationReply(
                reply_token=token, response=answer, subscription_id=self.subscription_id, timestamp=timestamp
            )
        if answer not in ("accept", "reject"):
            raise ValueError(f'A confirmation is answered with "accept" or "reject", not {answer!r}.')
        return ConfirmationReply(
            reply_token=token, decision=answer, subscription_id=self.subscription_id, timestamp=timestamp
        )

    def _send_reply(self, reply: Reply) -> None:
        self._record_message("in", reply)
        self._presenter.note_answer(reply.reply_token, _find_wanted_outcome(reply))
        self._unresolved_replies[reply.reply_token] = self._entries[-1]
        self._hub.reply(reply, self._peer)

    def _record_message(self, direction: str, message: Message) -> None:
        """Append a message to the capture."""
        raw = msgspec.json.decode(codec.encode(message))
        at = format_timestamp(self._wall())
        # Events that were under way when a reply was sent arrive after it, but the agent sent them before it. So the
        # entry of a reply moves to just before the event with its outcome.
        if isinstance(message, Envelope) and attend_member(message, "outcome"):
            reply = self._unresolved_replies.pop(str(attend_member(message, "reply_token")), None)
            if reply is not None:
                self._entries.remove(reply)
                self._entries.append(reply)
        self._entries.append({"at": at, "dir": direction, "via": self.subscription_id, "message": raw})

    def _run_on_loop(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function on the hub's loop and return its result."""
        if self._hub.is_on_loop:
            return function(*args)

        async def call() -> Any:
            return function(*args)

        return self._hub.run(call())


class _ListenerWriter:
    """The connection through which the hub writes to a listener."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.frame: Callable[[str, bytes], bytes] = _encode_frame

    def write(self, data: bytes) -> None:
        """Pass frames on to the listener."""
        self._listener._receive(data)

    def count_unsent_bytes(self) -> int:
        """Return 0: the listener takes every frame at once."""
        return 0

    def close(self, message: SubscriptionClose | None) -> None:
        """Tell the listener that its connection has ended."""
        self._listener._handle_close(message)


def _find_wanted_outcome(reply: Reply) -> str:
    if isinstance(reply, ConfirmationReply):
        return "accepted" if reply.decision == "accept" else "rejected"
    return "answered"


def _encode_frame(_event_id: str, data: bytes) -> bytes:
    return framing.encode_ndjson(data)
