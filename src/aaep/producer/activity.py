"""
The outputs, tool calls and questions of one session, and how they take turns.

A listener follows one thing at a time, so text waits while a question is open,
and what is open is ended before the session is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal

from ..errors import AaepError, LocalProtocolError
from ..hub.hub import MAX_ROOM_WAIT, Hub
from ..hub.sessions import SessionSource
from ..runtime.background import is_in_event_loop
from ..text.sentences import CoalesceHint
from .emitter import Emitter
from .output import Output
from .questions import Ask, Questions
from .tool_call import Call
from .unfinished import Unfinished

__all__ = ["Activity"]

_log: Final = logging.getLogger("aaep.producer")


class Activity:
    """The outputs, tool calls and questions of one session, and how they take turns. Under the emitter's lock."""

    def __init__(self, source: SessionSource, emitter: Emitter, hub: Hub, is_telling: Callable[[], bool]) -> None:
        self.emitter = emitter
        self.calls: dict[str, Call] = {}  # running, by id
        self.unfinished = Unfinished()
        self.handoff: Literal["requested", "taken"] | None = None
        self._hub = hub
        self._backlog = hub.delivery.backlog
        self._is_telling = is_telling
        self._held_progress: Callable[[], object] | None = None  # the latest, which waits for room
        self._outputs: list[Output] = []
        self.questions = Questions(
            source,
            emitter,
            hub,
            flush_outputs=self.flush_outputs,
            resume_outputs=self.resume_outputs,
            is_calling=lambda: bool(self.calls),
            skip_call=self._skip_call,
            check_may_act=self.check_may_act,
            note_refusal=self._note_refusal,
            is_telling=is_telling,
        )

    # -- taking turns ------------------------------------------------------------------------

    @property
    def is_free(self) -> bool:
        """Whether no tool runs, no question is open, and none was granted whose tool is about to run."""
        questions = self.questions
        return not self.calls and questions.current is None and questions.granted is None

    def may_write(self) -> bool:
        """Whether text may leave now: also while a tool runs, but not between a yes and the tool it is for."""
        questions = self.questions
        return questions.current is None and questions.granted is None and self.emitter.is_active

    def settle_state(self, to_state: str) -> None:
        """Go to a state after something has ended, unless something else goes on."""
        if self.is_free:
            self.emitter.change_state(to_state)
        self.resume_outputs()

    def check_may_act(self, name: str) -> None:
        """Raise if no tool may begin any more."""
        self.emitter.check_active()
        if self.handoff is not None:  # C-53
            raise LocalProtocolError(f"The work was handed over; {name} may no longer run.")

    # -- keeping pace with the readers -------------------------------------------------------

    def make_room(self) -> bool:
        """
        Wait until readers keep up, and return True; return False if they do not and the caller may not wait.

        That is one on an event loop, or in ``tell``, which is called under the lock. Nobody else may hold the lock.
        """
        if self._backlog.has_room:
            return True
        if is_in_event_loop() or self._is_telling():
            return False
        self._hub.wait_until_room()
        return True

    async def wait_for_room(self) -> None:
        """Wait until readers keep up, in code that can be awaited; not for ever, lest they wait for the caller."""
        if not self._backlog.has_room:
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_ROOM_WAIT):
                    await self._hub.wait_for_room()

    def tell_progress(self, tell: Callable[[], object], *, has_room: bool) -> None:
        """Tell how far the work has come, or hold it until there is room: the latest stands for all before it."""
        is_held = self._held_progress is not None
        self.emitter.check_active()
        self._held_progress = tell
        if has_room:
            self.flush_outputs()
        elif not is_held:
            self._hub.call_when_room(self._resume_progress)

    def _resume_progress(self) -> None:
        with self.emitter.lock:
            if self._held_progress is not None and self.emitter.is_active:
                try:
                    self.flush_outputs()
                except AaepError:
                    _log.exception("Progress that had to wait could not be told.")

    def _flush_progress(self) -> None:
        tell = self._held_progress
        self._held_progress = None
        if tell is not None:
            tell()

    # -- outputs -----------------------------------------------------------------------------

    def open_output(self, *, content_type: str | None, language: str | None, boundary: CoalesceHint | None) -> Output:
        """Open an output, of which text leaves at the given boundary or at the finest that a listener wants."""
        if content_type is not None and "/" not in content_type:
            raise ValueError(f"content_type is a media type such as text/markdown, not {content_type!r}.")
        with self.emitter.lock:
            self.emitter.check_active()
            self.flush_outputs()
        output = Output(
            self.emitter,
            may_write=self.may_write,
            make_room=self.make_room,
            wait_for_room=self.wait_for_room,
            call_when_room=self._hub.call_when_room,
            is_calling=lambda: bool(self.calls),
            call_at=self._hub.call_at,
            on_complete=self._output_completed,
            content_type=content_type,
            language=language,
            boundary=boundary or self._hub.finest_boundary,
        )
        self._outputs.append(output)
        return output

    def flush_outputs(self) -> None:
        """Send all that waits, before something else is emitted: text may be a warning of that."""
        for output in [*self._outputs]:
            output.flush(everything=True)
        self._flush_progress()

    def resume_outputs(self) -> None:
        """Send the text that waited for something else to end, up to its last boundary."""
        for output in [*self._outputs]:
            output.flush()

    def _output_completed(self, output: Output) -> None:
        self._outputs.remove(output)
        if not self._outputs and self.emitter.agent_state == "writing_output":
            self.emitter.change_state("idle")

    # -- questions ---------------------------------------------------------------------------

    def _skip_call(self, ask: Ask) -> None:
        """Announce that a call which was agreed to did not run: nobody waited for the answer any more."""
        # Nothing happens, so there is no risk in it.
        Call(self, ask.tool or "action", ask.call, risk="low", irreversible=False, ask=ask).skip()

    def _note_refusal(self, ask: Ask) -> None:
        """Remember that nobody agreed to an action."""
        self.unfinished.note(ask.about, ask.label, "not_done")

    # -- the end -----------------------------------------------------------------------------

    def close(self) -> None:
        """C-54: withdraw questions, give up tools, complete outputs."""
        self.questions.close()
        self._flush_progress()
        for call in [*self.calls.values()]:
            call.abandon()
        for output in [*self._outputs]:
            output.complete()

    def drop(self) -> None:
        """Forget what is open, where it cannot be closed as usual."""
        self._held_progress = None
        self.questions.drop()
        while self.calls:
            self.calls.popitem()[1].is_running = False
        self._outputs.clear()
