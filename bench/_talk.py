"""What an agent says in the listening benchmark: prose made from a seed, its tokens, and the events around them."""

from __future__ import annotations

import difflib
import random
import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from aaep.presentation.announce import Announcement
from aaep.presentation.flow import FlowTerms
from aaep.presentation.presenter import Presenter
from aaep.presentation.queue import Queue, SpeechAction
from aaep.protocol import codec
from aaep.protocol.events import Envelope, OutputStreaming
from aaep.shaping.shaper import Shaper
from aaep.subscriber.request import Terms

GUIDE: Final = "Guide"  # the agent that writes the answer
BACKUP: Final = "Backup"  # another one, which only asks
_WORD: Final = re.compile(r"[\w\u0300-\u036f]+")  # with the marks that combine with a letter
_TOKEN: Final = re.compile(r"\s*\S{1,6}|\s+")
_LABEL: Final = re.compile(rf"^(?:(?:{GUIDE}|{BACKUP})[.:] )+")
_START: Final = datetime(2026, 5, 24, 8, tzinfo=UTC)
_ATTEND_CONTEXT: Final = "https://aaep.readthedocs.io/extensions/attend/v1/context"
# With what is hard to split: abbreviations, decimals, versions, addresses, quotes, marks that combine, joined emoji.
_SENTENCES: Final = (
    "The {thing} is {size} MB, which is more than the {place} allows.",
    "Dr. {name} wrote to {name} on the 3rd of May, and nobody has answered since.",
    "In version 2.{number}.1 the {thing} moved to the {place}, so older links no longer work.",
    "You could ask {name}, e.g. by a short letter, whether the {thing} is still needed.",
    "{name} said: “We keep the {thing} for now.” That was {number} days ago.",
    "Have you looked into the {place}?",
    "See example.org/{place} for the {thing}; it costs {size} dollars a month.",
    "First I compared the {thing} with the one from last year, then I checked every line of it against the {place}, "
    "and in the end only {number} of them were different.",
    "It works!",
    "The cafe\u0301 near the {place} opens at 9.30 and closes at 18.00 👩🏽‍🌾 on weekdays.",
    "Mr. {name} et al. found {number} mistakes, i.e. about {size} percent of all, in the {thing}.",
    "Nothing in the {place} has changed.",
    "If the {thing} is lost, {name} can make another one from the copy in the {place} within {number} minutes.",
    "The naïve answer is wrong, because each {thing} counts twice.",
)
_FILLERS: Final = {
    "thing": "report,invoice,backup,old photo album,list of members,contract,translation,timetable".split(","),
    "place": "archive,garden,second drawer,office,library,shared folder,museum,kitchen".split(","),
    "name": "Amara,Okafor,Jiménez,Lindqvist,Adébáyò,Haddad,Kowalska,Tanaka".split(","),
}


def write_answer(words: int, seed: int = 1) -> str:
    """Return paragraphs of prose with at least this many words."""
    chooser = random.Random(seed)
    paragraphs: list[str] = []
    count = 0
    while count < words:
        sentences = []
        for _ in range(chooser.randint(2, 6)):
            fillers = {name: chooser.choice(values) for name, values in _FILLERS.items()}
            number = chooser.randint(2, 90)
            size = chooser.randint(11, 99) / 10
            sentences.append(chooser.choice(_SENTENCES).format(**fillers, number=number, size=size))
        paragraphs.append(" ".join(sentences))
        count += len(find_words(paragraphs[-1]))
    return "\n\n".join(paragraphs)


def find_words(text: str) -> list[str]:
    """Return the words of a text, in one form whatever way their letters are composed."""
    return [unicodedata.normalize("NFC", word) for word in _WORD.findall(text)]


def locate_words(text: str) -> list[tuple[int, int]]:
    """Return where each word of a text begins and ends."""
    return [match.span() for match in _WORD.finditer(text)]


def split_tokens(answer: str) -> list[str]:
    """Return a text as a model writes it: in pieces of up to six letters."""
    return _TOKEN.findall(answer)


class Agent:
    """Makes the events of one agent with one session."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.position = 0  # of the next token
        self._count = 0

    def start(self, now: float) -> Envelope:
        """Return the start of the session."""
        return self._make("session.started", now, **_summarize(f"{self.name} begins."))

    def write(self, token: str, now: float, *, is_last: bool = False) -> Envelope:
        """Return the next piece of the answer."""
        position = self.position
        self.position += len(token)
        return self._make(
            "output.streaming", now, chunk=token, position=position, complete=is_last, output_id=f"out_{'0' * 32}"
        )

    def call_tool(self, number: int, now: float, tool: str = "look_up") -> Envelope:
        """Return that a tool is called."""
        return self._make(
            "tool.invoked",
            now,
            tool=tool,
            tool_call_id=f"call_{number:032x}",
            risk_level="low",
            irreversible=False,
            **_summarize(f"Looking up item {number}."),
        )

    def end_tool(self, number: int, now: float, tool: str = "look_up") -> Envelope:
        """Return that a tool has ended."""
        call_id = f"call_{number:032x}"
        told = _summarize(f"Item {number} was found.")
        return self._make(
            "tool.completed", now, tool=tool, tool_call_id=call_id, status="success", duration_ms=2000, **told
        )

    def ask(self, number: int, now: float) -> Envelope:
        """Return a question for consent."""
        action = f"Delete file {number}."
        return self._make(
            "awaiting.confirmation",
            now,
            "critical",
            action=action,
            consequence="It is gone for good.",
            reply_token=self.find_token(number),
            timeout_seconds=3600,
            default_decision="reject",
            risk_level="high",
            irreversible=True,
            reversibility="irreversible",
            allowed_replies=["accept", "reject"],
            **_summarize(action),
        )

    def accept(self, number: int, now: float) -> Envelope:
        """Return that the listener has agreed."""
        outcome = {"attend": {"reply_token": self.find_token(number), "outcome": "accepted"}}
        context = ["https://aaep-protocol.org/context/v1", _ATTEND_CONTEXT]
        states = {"from_state": "awaiting_input", "to_state": "thinking"}
        more: dict[str, Any] = {"@context": context, **states, "extensions": outcome}
        return self._make("state.changed", now, "critical", **more, **_summarize("Accepted."))

    def find_token(self, number: int) -> str:
        """Return what replies to a question of this agent name it by."""
        return f"rpl_{self.name}_{number:024x}"

    def complete(self, now: float) -> Envelope:
        """Return the end of the session."""
        return self._make("session.completed", now, **_summarize("Done."))

    def _make(self, type_: str, now: float, urgency: str = "normal", **members: Any) -> Envelope:
        self._count += 1
        timestamp = (_START + timedelta(seconds=now)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = {
            "@context": "https://aaep-protocol.org/context/v1",
            "aaep_version": "1.0.0",
            "type": f"aaep:agent.{type_}",
            "event_id": f"evt_{self.name}_{self._count:024x}",
            "session_id": f"sess_{self.name}",
            "timestamp": timestamp,
            "producer": {"agent_id": self.name.lower(), "agent_name": self.name},
            "verbosity": "normal",
            "urgency": urgency,
            "localization_hints": {
                "primary_language": "en-US",
                "text_direction": "ltr",
                "available_languages": ["en-US"],
            },
        }
        decoded = codec.decode(msgspec.json.encode(event | members))
        if not isinstance(decoded, Envelope):
            raise TypeError(f"{type_} is not the type of an event.")
        return decoded


def _summarize(text: str) -> dict[str, str]:
    return {"summary_terse": text, "summary_normal": text, "summary_detailed": text}


class Reader:
    """Our own reader without a terminal: shapes and presents events, queues announcements, and says what to speak."""

    def __init__(self) -> None:
        self.queue = Queue()
        self._shaper = Shaper(Terms(languages=["en-US"]).to_capabilities())
        self._presenter = Presenter()

    def receive(self, event: Envelope, now: float) -> list[SpeechAction]:
        """Process an event, and return what to speak or stop now."""
        return self._present(self._shaper.push(event, now), now)

    def advance(self, now: float) -> list[SpeechAction]:
        """Process what is due by now."""
        actions = self._present(self._shaper.advance(now), now)
        for announcement in self._presenter.advance(now):
            actions += self.queue.push(announcement, now)
        return actions + self.queue.advance(now)

    def renegotiate(self, terms: FlowTerms, now: float) -> list[SpeechAction]:
        """Take events on other terms from now on."""
        actions = self._present(self._shaper.flush(now), now)
        rate, boundaries = terms.max_events_per_second, terms.boundaries
        changed = Terms(languages=["en-US"], max_events_per_second=rate, boundaries=boundaries)
        self._shaper = Shaper(changed.to_capabilities())
        return actions

    def note_answer(self, token: str) -> None:
        """Note that the listener agrees to what was asked."""
        self._presenter.note_answer(token, "accepted")

    def flush(self, now: float) -> list[SpeechAction]:
        """Process everything that is held, since nothing more will come."""
        actions = self._present(self._shaper.flush(now), now)
        for announcement in self._presenter.flush():
            actions += self.queue.push(announcement, now)
        return actions

    def next_deadline(self, now: float) -> float | None:
        """Return when to call :meth:`advance` next."""
        deadlines = (self._shaper.next_deadline, self._presenter.next_deadline(now), self.queue.next_deadline(now))
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def _present(self, events: list[Envelope], now: float) -> list[SpeechAction]:
        actions: list[SpeechAction] = []
        for event in events:
            for announcement in self._presenter.present(event, now):
                actions += self.queue.push(announcement, now)
        return actions


def count_changes(expected: list[str], found: list[str]) -> tuple[int, int, dict[int, int]]:
    """Return how many words are missing, how many are too many, and which found word is which expected one."""
    matcher = difflib.SequenceMatcher(None, expected, found, autojunk=False)
    indexes = {
        block.b + offset: block.a + offset for block in matcher.get_matching_blocks() for offset in range(block.size)
    }
    return len(expected) - len(indexes), len(found) - len(indexes), indexes


def is_of_answer(announcement: Announcement) -> bool:
    """Whether an announcement is a piece of the answer."""
    return isinstance(announcement.event, OutputStreaming)


def find_answer_words(announcement: Announcement) -> list[str]:
    """Return the words of an announcement without the names of agents at its beginning."""
    return find_words(_LABEL.sub("", announcement.text))


class HistoryWords(msgspec.Struct):
    """The words of the answer that a history has, without the beginnings of words that a question came within."""

    words: list[str]
    starts: list[tuple[Announcement, int, bool]]  # where those of each begin, and whether it ends with a beginning

    @property
    def begun(self) -> int:
        """How many words were begun before a question, and said whole after it."""
        return sum(is_begun for _, _, is_begun in self.starts)


def find_history_words(history: Iterable[Announcement]) -> HistoryWords:
    """Return the words of the answer that a history has."""
    found = HistoryWords([], [])
    pieces = [announcement for announcement in history if is_of_answer(announcement)]
    for announcement, following in zip(pieces, [*pieces[1:], None], strict=True):
        words = find_answer_words(announcement)
        first = find_answer_words(following)[:1] if following is not None else []
        is_begun = bool(words and first) and first[0] != words[-1] and first[0].startswith(words[-1])
        is_begun = is_begun and following is not None and _overlap(announcement, following)
        found.starts.append((announcement, len(found.words), is_begun))
        found.words += words[:-1] if is_begun else words
    return found


def _overlap(first: Announcement, second: Announcement) -> bool:
    """Whether a piece of the answer begins before the end of the one before it."""
    if not isinstance(first.event, OutputStreaming) or not isinstance(second.event, OutputStreaming):
        return False
    return second.event.position < first.event.position + len(first.event.chunk)
