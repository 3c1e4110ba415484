"""Outputs: text that an agent writes piece by piece, and the chunks in which it is sent. §4.3.3"""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

from msgspec import UNSET

from ..errors import LocalProtocolError
from ..protocol.events import OutputStreaming
from ..runtime.ids import new_id
from ..text.redaction import SAFE_ENDINGS, find_safe_length, find_secrets, may_contain_secret, redact
from ..text.sentences import Boundary, CoalesceHint, find_boundary, is_finished, split_with_hints
from .emitter import Emitter
from .questions import Refusal

__all__ = ["Output"]

PAUSE: Final = 0.3  # seconds without more text after which a sentence that seems finished is sent
_MAX_CHUNK_CHARACTERS: Final = 16_384
_BOUNDARIES: Final[tuple[Boundary, ...]] = ("paragraph", "sentence", "word")


class Output:
    """
    A block in which the agent writes: ``with session.output() as out: out.write(token)``.

    Text leaves at whole sentences, or at words if a listener wants them: at once
    when the sentence has surely ended, else when nothing more comes for a moment.
    While a question is open it waits, and nothing of it is lost.

    Writing waits while readers cannot keep up. On an event loop it does not wait:
    the text does, and leaves in longer pieces.
    """

    def __init__(
        self,
        emitter: Emitter,
        *,
        may_write: Callable[[], bool],
        make_room: Callable[[], bool],
        wait_for_room: Callable[[], Awaitable[None]],
        call_when_room: Callable[[Callable[[], None]], None],
        is_calling: Callable[[], bool],
        call_at: Callable[[float, Callable[[], None]], object],
        on_complete: Callable[[Output], None],
        content_type: str | None,
        language: str | None,
        boundary: CoalesceHint,
    ) -> None:
        self.id = new_id("out_")
        self._emitter = emitter
        self._may_write = may_write
        self._make_room = make_room
        self._wait_for_room = wait_for_room
        self._call_when_room = call_when_room
        self._is_calling = is_calling
        self._call_at = call_at
        self._on_complete = on_complete
        self._content_type = UNSET if content_type is None else content_type
        self._declared_language = UNSET if language is None else language
        self._language = language or emitter.language
        self._boundary = boundary
        self._position = 0
        self._waiting = ""
        self._written_at = 0.0  # the last time
        self._has_timer = False
        self._is_held = False  # until there is room
        self._last_character = ""  # that was sent: in the middle of a word, no secret begins
        self._is_closing = False
        self._is_complete = False

    def write(self, text: str | None) -> None:
        """Add text. None, which model libraries send between the pieces of an answer, adds nothing."""
        if text is None or isinstance(text, Refusal):  # of which the outcome of the question told
            return
        for piece in self._cut(text):
            self._write_piece(piece, has_room=self._make_room())

    def _cut(self, text: str) -> list[str]:
        """Return a text in pieces between which others may speak, lest a question stand behind a whole book."""
        text = text if type(text) is str else str(text)
        if len(text) <= _MAX_CHUNK_CHARACTERS:
            return [text]
        return [piece for piece, _ in split_with_hints(text, _MAX_CHUNK_CHARACTERS, self._language)]

    def _write_piece(self, text: str, *, has_room: bool) -> None:
        with self._emitter.lock:
            self._add(text)
            self._written_at = self._emitter.clock()
            if not has_room:
                self._hold()
            elif self._may_write():
                self._send()
            if self._waiting and not self._has_timer and self._boundary in ("word", "sentence"):
                self._has_timer = True
                self._call_at(self._written_at + PAUSE, self._pause)

    def _hold(self) -> None:
        """Keep what was written until readers keep up, or something else is to be told."""
        if not self._is_held:
            self._is_held = True
            self._call_when_room(self._release)

    def _release(self) -> None:
        with self._emitter.lock:
            self._is_held = False
            self.flush()

    def _add(self, text: str) -> None:
        if not self._may_write():
            self._emitter.check_active()
        if self._is_closing:
            raise ValueError("The output is complete. Open another one with session.output().")
        self._waiting += text

    def _pause(self) -> None:
        """Send a sentence that seems finished, if nothing more was written for a moment."""
        with self._emitter.lock:
            self._has_timer = False
            if self._is_complete or not self._waiting:
                return
            due = self._written_at + PAUSE
            if self._emitter.clock() < due:  # one timer for many writes
                self._has_timer = True
                self._call_at(due, self._pause)
            elif is_finished(self._waiting, self._language):
                self.flush(everything=True)

    def close(self, text: str = "") -> None:
        """Complete the output, with a last text if there is one. What waits goes out as soon as it may."""
        *pieces, last = self._cut(text)
        for piece in pieces:
            self._write_piece(piece, has_room=self._make_room())
        self._make_room()
        self.complete(last)

    def complete(self, text: str = "") -> None:
        """Complete the output at once, which a caller that holds the lock has to."""
        with self._emitter.lock:
            if self._is_closing and not text:
                return self.flush()
            self._add(text)
            self._is_closing = True
            self.flush()

    def __enter__(self) -> Output:
        return self

    async def __aenter__(self) -> Output:
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            self.close()
        except LocalProtocolError:
            if error is None:  # else that error is what there is to tell; the session ends what is left open
                raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._wait_for_room()
        finally:
            self.__exit__(kind, error, trace)

    def flush(self, *, everything: bool = False) -> None:
        """Send what may be sent now; ``everything`` also what has not come to a boundary."""
        if not self._is_complete and self._may_write():
            self._send(everything=everything)

    def _send(self, *, everything: bool = False) -> None:
        text, boundary, is_last = self._waiting, self._boundary, self._is_closing
        if not text.isascii():  # C-60: in normal form C before it is cut
            text = unicodedata.normalize("NFC", text.encode(errors="replace").decode())
        size, reached = len(text), None
        if not (boundary == "none" or is_last or everything):
            size, reached = find_boundary(text, boundary, eager=True, language=self._language), boundary
        # SEC-023: a secret that came in pieces would be none.
        if size and not is_last and (text[size - 2 : size] not in SAFE_ENDINGS or "BEGIN" in text):
            safe = find_safe_length(text, size, self._last_character, complete_only=everything)
            if safe != size:
                size, reached = safe, None
        ready, self._waiting = text[:size], text[size:]
        if not ready and not is_last:
            return
        if not self._is_calling():  # TOOL-007: the state of a tool is left only when it has ended
            self._emitter.change_state("writing_output")
        harmless = ready
        if may_contain_secret(ready):
            harmless = _redact_continuation(self._last_character, ready)
            # Text that goes on in the middle of a word may look like a secret only when it stands alone.
            while next(find_secrets(harmless), None) is not None:
                self._emit_chunk(harmless[0], "none")
                harmless = harmless[1:]
            reached = reached if harmless is ready else None
        self._last_character = ready[-1:] or self._last_character
        if not is_last and len(harmless) <= _MAX_CHUNK_CHARACTERS:
            self._emit_chunk(harmless, self._find_hint(harmless, reached))
        else:
            self._emit_in_portions(harmless, reached, is_last=is_last)

    def _emit_in_portions(self, text: str, reached: CoalesceHint | None, *, is_last: bool) -> None:
        portions = split_with_hints(text, _MAX_CHUNK_CHARACTERS, self._language)
        for chunk, hint in portions[:-1] if is_last else portions:
            self._emit_chunk(chunk, hint if hint != "completion" else self._find_hint(chunk, reached))
        if is_last:
            self._emit_chunk(portions[-1][0] if portions else "", "completion", complete=True)
            self._is_complete = True
            self._on_complete(self)

    def _find_hint(self, chunk: str, reached: CoalesceHint | None) -> CoalesceHint:
        """Return the boundary that a chunk ends at: the one it was cut at, if that is ``reached``, or a coarser one."""
        if self._boundary == "none":
            return "none"
        if reached is not None and "\n" not in chunk and chunk.isascii():  # there is no paragraph to end
            return reached
        for boundary in _BOUNDARIES:
            if boundary == "sentence" and is_finished(chunk, self._language):
                return boundary
            # With a letter behind it, for a boundary is sure only when something follows.
            if boundary == reached or find_boundary(f"{chunk}X", boundary, language=self._language) == len(chunk):
                return boundary
        return "none"

    def _emit_chunk(self, chunk: str, hint: CoalesceHint, *, complete: bool = False) -> None:
        self._emitter.emit(
            OutputStreaming,
            chunk=chunk,
            position=self._position,
            complete=complete,
            coalesce_hint=hint,
            output_id=self.id,
            content_type=self._content_type,
            language=self._declared_language,
        )
        self._position += len(chunk)


def _redact_continuation(before: str, text: str) -> str:
    """Redact text that follows what has been sent."""
    whole = redact(before + text)
    return whole[len(before) :] if whole.startswith(before) else redact(text)
