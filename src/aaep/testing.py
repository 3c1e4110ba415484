"""
For the tests of agents: a listener that accepts, refuses or never answers, and remembers what it heard.

    with aaep.Producer("bank", journal=None) as producer:
        listener = Listener(producer, answer="reject")
        run_my_agent(producer)
        listener.expect("session.started", "awaiting.confirmation", "session.completed")
        assert "transfer" not in listener.tools

It is a real subscription with real replies; only the network is left out.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from .errors import AaepError
from .identity.peer import Peer
from .presentation.announce import Announcement, Outputs
from .presentation.preferences import Preferences
from .producer.producer import Producer
from .protocol import codec, framing
from .protocol.attend_extension import attend_member
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
from .runtime.ids import format_timestamp

__all__ = ["Listener"]

_TYPE_PREFIX: Final = "aaep:agent."
_ALL_CAPABILITIES: Final = Capabilities(
    supports_confirmation_reply=True, supports_clarification_reply=True, supported_conformance_levels=(1, 2, 3)
)


class Listener:
    """
    Listens to a producer in the same process.

    ``answer`` is "accept", "reject" or "silence", the answer to a
    clarification, or a function that is given the prompt and returns one of
    those; None is silence too. What is no answer to a prompt, or a function
    that fails, makes the listener leave, so that nobody waits for it; what it
    is asked after that raises.
    """

    def __init__(
        self,
        producer: Producer,
        answer: Any = "silence",
        *,
        capabilities: Capabilities = _ALL_CAPABILITIES,
        principal: str | None = None,
        on_announcement: Callable[[Announcement], object] | None = None,
    ) -> None:
        self.events: list[Envelope] = []
        self.announcements: list[Announcement] = []
        self.close_message: SubscriptionClose | None = None
        self._answer, self._on_announcement = answer, on_announcement
        self._failure: Exception | None = None
        self._hub, self._wall = producer.hub, producer.hub.wall
        self._peer = Peer(principal=principal) if principal else Peer()
        self._condition = threading.Condition()
        self._outputs = Outputs(Preferences(keys={}))
        self._captured_lines: list[dict[str, Any]] = []
        self._seen_event_ids: set[str] = set()
        self._sent_replies: dict[str, dict[str, Any]] = {}  # lines of replies whose outcome was not told yet
        self._hub.start()
        request = SubscriptionRequest(
            aaep_version=AAEP_VERSION, subscriber_id="aaep-testing", subscriber_name="Test", capabilities=capabilities
        )
        self.terms, self.subscription_id = self._run_on_loop(self._subscribe, request)

    # -- what it heard -----------------------------------------------------------------------

    @property
    def types(self) -> list[str]:
        """The types of the events, without their common prefix: ``tool.invoked``."""
        return [event.type.removeprefix(_TYPE_PREFIX) for event in self.events]

    @property
    def tools(self) -> list[str]:
        """The names of the tools that ran."""
        return [event.tool for event in self.events if isinstance(event, ToolInvoked)]

    @property
    def prompts(self) -> list[AwaitingConfirmation | AwaitingClarification]:
        """What it was asked."""
        return [one for one in self.events if isinstance(one, (AwaitingConfirmation, AwaitingClarification))]

    @property
    def output(self) -> str:
        """What the agent wrote, joined."""
        return "".join(event.chunk for event in self.events if isinstance(event, OutputStreaming))

    @property
    def heard(self) -> list[str]:
        """The sentences a person would hear."""
        return [one.text for one in self.announcements]

    def wait(self, wanted: str | Callable[[Envelope], bool], *, timeout: float = 30.0) -> Envelope:
        """Wait for an event of a type such as ``tool.invoked``, or one for which a function says yes."""

        def fits(event: Envelope) -> bool:
            return wanted(event) if callable(wanted) else event.type == _TYPE_PREFIX + wanted

        if not self._wait_until(lambda: any(map(fits, self.events)), timeout):
            raise AssertionError(f"Waited {timeout:g} seconds for {wanted}. Heard: {', '.join(self.types)}.")
        return next(event for event in self.events if fits(event))

    def wait_for_end(self, *, timeout: float = 30.0) -> Envelope:
        """Wait until a session has ended."""
        return self.wait(lambda event: isinstance(event, TERMINAL), timeout=timeout)

    def expect(self, *types: str, timeout: float = 30.0) -> None:
        """These types were heard, or are within the time, in this order, whatever else in between."""

        def all_there() -> bool:
            rest = iter(self.types)
            return all(one in rest for one in types)

        if not self._wait_until(all_there, timeout):
            raise AssertionError(f"Expected in order: {', '.join(types)}. Heard: {', '.join(self.types)}.")

    def _wait_until(self, there: Callable[[], bool], timeout: float) -> bool:
        if self._hub.is_on_loop and not there():
            raise RuntimeError(
                "This would wait on the very loop that brings the events. "
                "Use `await asyncio.to_thread(listener.wait, …)`."
            )
        with self._condition:
            self._condition.wait_for(lambda: self._failure is not None or there(), timeout)
            if self._failure is not None:
                raise AssertionError(
                    f"The listener could not go on: {type(self._failure).__name__}: {self._failure}"
                ) from self._failure
            return there()

    def findings(self, *, strict: bool = True) -> list[Finding]:
        """
        What is wrong with what was heard so far, by the protocol's own rules.

        As strictly as we judge ourselves, which is for who has listened from
        the beginning; without ``strict`` what was not heard proves nothing.
        """
        audit = Audit(whole=False, strict=strict)
        found = []
        for line in self._captured_lines:
            found += audit.feed(msgspec.json.encode(line["message"]), line["at"], line["via"], line["dir"])
        return [one for one in found if one.severity == "error"]

    def write_capture(self, path: str | Path, *, source: str = "", whole: bool = True) -> None:
        """
        Write a recording of all that passed, in both directions, for ``aaep validate`` and others.

        It is not ``whole`` if somebody else answered too: what others reply is not heard here.
        """
        first = self._captured_lines[0]["at"] if self._captured_lines else format_timestamp(self._wall())
        header = {
            "aaep_capture": 1,
            "source": source or self._hub.offer.producer.agent_id,
            "started": first,
            "terms": msgspec.to_builtins(self.terms),
            "whole": whole,
        }
        lines = [msgspec.json.encode(header), *(msgspec.json.encode(line) for line in self._captured_lines)]
        Path(path).write_bytes(b"\n".join(lines) + b"\n")

    # -- taking part ---------------------------------------------------------------------------

    def reply(self, prompt: Envelope, answer: Any) -> None:
        """Answer a prompt: "accept" or "reject", or what a clarification asks for, or does not."""
        self._run_on_loop(self._send_reply, self._build_reply(prompt, answer))

    def close(self) -> None:
        """Leave."""
        self._run_on_loop(self._hub.unsubscribe, self._build_close_message(), self._peer)

    def _build_close_message(self) -> SubscriptionClose:
        message = SubscriptionClose(
            subscription_id=self.subscription_id, reason_code="subscriber_shutdown", reason_message="Done."
        )
        self._record_message("in", message)
        return message

    def drop_connection(self) -> None:
        """Lose the connection without a word, as a bad network does."""
        self._run_on_loop(self._hub.disconnect, self._subscription_id, self._writer)

    # -- for the hub -----------------------------------------------------------------------------

    @staticmethod
    def _frame(_event_id: str, data: bytes) -> bytes:
        return framing.encode_ndjson(data)

    def _pending_bytes(self) -> int:
        return 0

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
        except Exception as error:  # the test's own; it is raised where the test looks
            with self._condition:
                self._failure = error
                self._condition.notify_all()
            self._hub.unsubscribe(self._build_close_message(), self._peer)

    # Not `close`: that is what the user of a listener calls.
    def _handle_close(self, message: SubscriptionClose | None) -> None:
        with self._condition:
            self.close_message = message
            self._condition.notify_all()

    def _announce(self, event: Envelope) -> None:
        for one in self._outputs.announce(event):
            self.announcements.append(one)
            if self._on_announcement is not None:
                try:
                    self._on_announcement(one)
                except Exception as error:  # as in _decide
                    self._failure = self._failure or error

    def _subscribe(self, request: SubscriptionRequest) -> tuple[Capabilities, str]:
        answer = self._hub.subscribe(request, self._peer)
        if not isinstance(answer, SubscriptionAccepted):
            raise AaepError(f"The producer refused the test's subscription: {answer.reason_message}")
        self.subscription_id = answer.subscription_id
        self._record_message("in", request)
        self._record_message("out", answer)
        self._writer = _ListenerWriter(self)
        self._subscription_id = self._hub.connect(answer.subscription_id, self._peer, self._writer)
        return answer.honored_capabilities, answer.subscription_id

    def _build_reply(self, prompt: Envelope, answer: Any) -> Reply:
        stamp = format_timestamp(self._wall())
        token = prompt.reply_token  # type: ignore[attr-defined]  # a prompt has one
        if not isinstance(prompt, AwaitingConfirmation):
            return ClarificationReply(
                reply_token=token, response=answer, subscription_id=self.subscription_id, timestamp=stamp
            )
        if answer not in ("accept", "reject"):
            raise ValueError(f'A confirmation is answered with "accept" or "reject", not {answer!r}.')
        return ConfirmationReply(
            reply_token=token, decision=answer, subscription_id=self.subscription_id, timestamp=stamp
        )

    def _send_reply(self, reply: Reply) -> None:
        self._record_message("in", reply)
        self._sent_replies[reply.reply_token] = self._captured_lines[-1]
        self._hub.reply(reply, self._peer)

    def _record_message(self, direction: str, message: Message) -> None:
        raw = msgspec.json.decode(codec.encode(message))
        at = format_timestamp(self._wall())
        # What the agent had said when a reply came is heard after it; the reply counts where its outcome is told.
        told = (
            isinstance(message, Envelope)
            and attend_member(message, "outcome")
            and attend_member(message, "reply_token")
        )
        reply = self._sent_replies.pop(str(told), None)
        if reply is not None:
            self._captured_lines.remove(reply)
            self._captured_lines.append(reply)
        self._captured_lines.append({"at": at, "dir": direction, "via": self.subscription_id, "message": raw})

    def _run_on_loop(self, function: Callable[..., Any], *args: Any) -> Any:
        if self._hub.is_on_loop:
            return function(*args)

        async def on_the_loop() -> Any:
            return function(*args)

        return self._hub.run(on_the_loop())


class _ListenerWriter:
    """The listener as the hub sees it."""

    def __init__(self, listener: Listener) -> None:
        self.frame: Callable[[str, bytes], bytes] = Listener._frame
        self.write, self.waiting, self.close = listener._receive, listener._pending_bytes, listener._handle_close
