"""What the agent writes, piece by piece: an output as its chunks leave. §4.3.3"""

from __future__ import annotations

import unicodedata
from types import TracebackType
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from ..errors import LocalProtocolError
from ..protocol.events import OutputStreaming
from ..runtime.ids import new_id
from ..text.redaction import SAFE_ENDINGS, find_safe_length, find_secrets, may_contain_secret, redact
from ..text.sentences import Boundary, CoalesceHint, find_boundary, split_with_hints
from .sending import REST

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Output"]

_CHUNK: Final = REST[OutputStreaming]
_LONGEST: Final = 16_384  # code points of a chunk
_BOUNDARIES: Final[tuple[Boundary, ...]] = ("paragraph", "sentence", "word")


class Output:
    """
    A block in which the agent writes: ``with session.output() as out: out.write(token)``.

    Text leaves at whole sentences, or at words if a listener wants them. While
    a tool runs or a question is open it waits, and nothing of it is lost.
    """

    def __init__(
        self, session: Session, *, content_type: str | None, language: str | None, boundary: CoalesceHint
    ) -> None:
        self.id = new_id("out_")
        self.text_length = 0
        self.complete = False
        self._session, self._voice = session, session.voice
        self._boundary = boundary
        self._tongue = language or session.voice.language
        self._content_type = UNSET if content_type is None else content_type
        self._language = UNSET if language is None else language
        self._waiting = ""
        self._before = ""  # the letter that left last: in the middle of a word, no secret begins
        self._ending = False

    def write(self, text: str) -> None:
        """Add text."""
        session = self._session
        with self._voice.lock:
            if self._ending:
                raise ValueError("The output is complete. Open another one with session.output().")
            may_write = session.may_write
            if not may_write:
                session.must_be_open()
            self._waiting += text if type(text) is str else str(text)
            if may_write:
                self._send()

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
        self.__exit__(kind, error, trace)

    def close(self) -> None:
        """The output is complete. What waits goes out as soon as it may."""
        with self._session.voice.lock:
            self._ending = True
            self.settle()

    def settle(self, *, everything: bool = False) -> None:
        """Send what may be sent now; ``everything`` also what has not come to a boundary."""
        if not self.complete and self._session.may_write:
            self._send(everything=everything)

    def _send(self, *, everything: bool = False) -> None:
        text, boundary, final = self._waiting, self._boundary, self._ending
        if not text.isascii():  # C-60: in normal form C before it is cut
            text = unicodedata.normalize("NFC", text.encode(errors="replace").decode())
        size, reached = len(text), None
        if not (boundary == "none" or final or everything):
            size, reached = find_boundary(text, boundary, language=self._tongue), boundary
        before = self._before
        # SEC-023: a secret that came in pieces would be none.
        if size and not final and (text[size - 2 : size] not in SAFE_ENDINGS or "BEGIN" in text):
            safe = find_safe_length(text, size, before, complete_only=everything)
            if safe != size:
                size, reached = safe, None
        ready, self._waiting = text[:size], text[size:]
        if not ready and not final:
            return
        if self._session.state != "writing_output":
            self._session.move("writing_output")
        harmless = ready
        if may_contain_secret(ready):
            harmless = _redacted(before, ready)
            while (
                next(find_secrets(harmless), None) is not None
            ):  # it goes on in the middle of a word: only alone it looks so
                self._say(harmless[0], "none")
                harmless = harmless[1:]
            reached = reached if harmless is ready else None
        self._before = ready[-1:] or before
        if not final and len(harmless) <= _LONGEST:
            self._say(harmless, "none" if boundary == "none" else self._hint(harmless, reached))
        else:
            self._say_in_portions(harmless, reached, final=final)

    def _say_in_portions(self, text: str, reached: CoalesceHint | None, *, final: bool) -> None:
        said = split_with_hints(text, _LONGEST, self._tongue)
        for chunk, hint in said[:-1] if final else said:
            self._say(chunk, hint if hint != "completion" else self._hint(chunk, reached))
        if final:
            self._say(said[-1][0] if said else "", "completion", last=True)
            self.complete = True
            self._session.wrote(self)

    def _hint(self, chunk: str, reached: CoalesceHint | None) -> CoalesceHint:
        """The boundary that a chunk ends at: the one it was cut at, if that is ``reached``, or a coarser one."""
        if self._boundary == "none":
            return "none"
        if reached is not None and "\n" not in chunk and chunk.isascii():  # there is no paragraph to end
            return reached
        for boundary in _BOUNDARIES:
            # With a letter behind it, for a boundary is sure only when something follows.
            if boundary == reached or find_boundary(f"{chunk}X", boundary, language=self._tongue) == len(chunk):
                return boundary
        return "none"

    def _say(self, chunk: str, hint: CoalesceHint, *, last: bool = False) -> None:
        self._voice.add(
            OutputStreaming,
            _CHUNK(
                chunk=chunk,
                position=self.text_length,
                complete=last,
                coalesce_hint=hint,
                output_id=self.id,
                content_type=self._content_type,
                language=self._language,
            ),
        )
        self.text_length += len(chunk)


def _redacted(before: str, text: str) -> str:
    """Text without secrets, that follows what has left."""
    whole = redact(before + text)
    return whole[len(before) :] if whole.startswith(before) else redact(text)
