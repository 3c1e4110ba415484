"""
Subscribers that break one rule each: the good one with one thing changed.

``breaks`` is the rule each has to be failed for. ``with_it`` are rules that say
the same in other words, or that cannot be kept by one who breaks the first.
"""

from __future__ import annotations

import re
import threading
import time
import unicodedata
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.broken.good_reader import ENDS, Json, Reader, Stop

LANGUAGES = ("en-US", "en")


class Broken(Reader):
    """One that breaks a rule."""

    breaks: ClassVar[str]
    with_it: ClassVar[frozenset[str]] = frozenset()


# -- what is announced -----------------------------------------------------------------------------


class LeavesOut(Broken):
    """Announces all but something."""

    def announce(self, event: Json, text: str, urgency: str) -> None:
        if not self.left_out(event, self.kind(event)):
            super().announce(event, text, urgency)

    def left_out(self, event: Json, kind: str) -> bool:
        raise NotImplementedError


class NoTools(LeavesOut):
    """Says nothing of tools."""

    breaks = "LVL-017"

    def left_out(self, event: Json, kind: str) -> bool:
        return kind == "tool.invoked"


class EndsAlike(Broken):
    """Says the same of every end."""

    breaks = "LVL-018"

    def text(self, event: Json, kind: str) -> str:
        return "It is over." if kind in ENDS else super().text(event, kind)


class EveryPiece(Broken):
    """Says every piece of output as it comes."""

    breaks = "OUT-007"

    def piece(self, event: Json) -> None:
        self.announce(event, event["chunk"], "normal")


class KnownStates(LeavesOut):
    """Says nothing of states that it does not know."""

    breaks = "STATE-005"

    def left_out(self, event: Json, kind: str) -> bool:
        return kind == "state.changed" and event["to_state"] not in ("thinking", "calling_tool", "awaiting_input")


class CriticalAtTheEnd(Broken):
    """Keeps what is critical until the session is over."""

    breaks, with_it = "TERM-018", frozenset({"EVT-014", "TERM-019", "BP-003"})

    def announce(self, event: Json, text: str, urgency: str) -> None:
        if event["urgency"] != "critical":
            super().announce(event, text, urgency)


class ByType(Broken):
    """Goes by the type, whatever the urgency."""

    breaks = "TERM-019"

    def urgency(self, event: Json, kind: str) -> str:
        loud = kind in ("session.errored", "handoff.requested") or kind.startswith(("awaiting.", "lights:"))
        return "critical" if loud else "normal"


class QuietErrors(Broken):
    """Mentions errors in passing."""

    breaks = "EVT-014"

    def urgency(self, event: Json, kind: str) -> str:
        return "background" if kind == "session.errored" else super().urgency(event, kind)


class OnlyWhatWasAsked(LeavesOut):
    """Drops what is critical if it is of a type that it did not ask for."""

    breaks, with_it = "BP-003", frozenset({"TERM-018"})

    def left_out(self, event: Json, kind: str) -> bool:
        return kind.startswith("lights:")


class KnownReasons(LeavesOut):
    """Drops a cancellation for a reason that it does not know."""

    breaks = "VER-008"

    def left_out(self, event: Json, kind: str) -> bool:
        return bool(event.get("cancellation_reason", "user_request") != "user_request")


class Overwhelmed(LeavesOut):
    """Drops things when much comes at once."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.many = 0

    def left_out(self, event: Json, kind: str) -> bool:
        self.many += 1
        return self.many > 10 and self.dropped(kind)

    def dropped(self, kind: str) -> bool:
        raise NotImplementedError


class DropsErrors(Overwhelmed):
    """Drops errors when much comes at once."""

    breaks = "EVT-016"

    def dropped(self, kind: str) -> bool:
        return kind == "session.errored"


class DropsCritical(Overwhelmed):
    """Drops what is critical when much comes at once."""

    breaks = "BP-016"

    def dropped(self, kind: str) -> bool:
        return kind.startswith("lights:")


class DropsPrompts(Overwhelmed):
    """Drops confirmations when much comes at once."""

    breaks = "HITL-034"

    def dropped(self, kind: str) -> bool:
        return kind == "awaiting.confirmation"


class Fragile(Broken):
    """Gives up when much comes at once."""

    breaks, with_it = "BP-011", frozenset({"EVT-016", "BP-016", "HITL-034"})

    def take(self, event_id: str, data: bytes) -> None:
        if self.mail.qsize() > 10:
            raise OverflowError("Too much.")
        super().take(event_id, data)


class SaysTwice(Broken):
    """Says what comes twice twice."""

    breaks = "TR-015"

    def known(self, event: Json) -> bool:
        return False


class ShortMemory(Broken):
    """Remembers the last three events only."""

    breaks = "TR-015"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.latest: list[str] = []

    def known(self, event: Json) -> bool:
        known = event["event_id"] in self.latest
        self.latest = [*self.latest, event["event_id"]][-3:]
        return known


class ForgetsWhenCut(Broken):
    """Remembers nothing of what came before its connection broke."""

    breaks = "TR-015"

    def comes_back(self) -> bool:
        self.mail.put(self.seen.clear)
        return super().comes_back()


class AsItComes(Broken):
    """Says things in the order they come in."""

    breaks, with_it = "TR-012", frozenset({"ENV-028"})

    def order(self, event: Json) -> None:
        self.tell(event)


# -- events of an unusual kind ---------------------------------------------------------------------


class NoContext(Broken):
    """Takes events without a @context."""

    breaks = "ENV-005"

    def sound(self, event: Json) -> bool:
        return True


class DiesOfNews(Broken):
    """Ends when a type is new to it."""

    breaks = "ENV-011"

    def tell(self, event: Json) -> None:
        if event["type"] == "aaep:agent.weather.felt":
            raise KeyError(event["type"])
        super().tell(event)


class CoreOnly(LeavesOut):
    """Says nothing of types that are not core."""

    breaks = "ENV-066"

    def left_out(self, event: Json, kind: str) -> bool:
        return ":" in kind


class RefusesExtensions(LeavesOut):
    """Drops an event with data of an extension that it does not know."""

    breaks, with_it = "ENV-054", frozenset({"ENV-053"})

    def left_out(self, event: Json, kind: str) -> bool:
        return "lights" in event.get("extensions", {})


class ChokesOnListed(LeavesOut):
    """Drops an event with data that it does not know of an extension that it listed."""

    breaks = "CAP-036"

    def wishes(self) -> Json:
        return {**super().wishes(), "supported_extensions": ["https://lights.example/v1"]}

    def left_out(self, event: Json, kind: str) -> bool:
        return "never_heard_of" in event.get("extensions", {}).get("attend", {})


class NeedsVersion(Broken):
    """Ends without the version."""

    breaks = "ENV-044"

    def tell(self, event: Json) -> None:
        assert event["aaep_version"]
        super().tell(event)


class FirstThingsFirst(Broken):
    """Knows an event by what stands first in it."""

    breaks = "ENV-063"

    def read(self, data: bytes) -> Json | None:
        return super().read(data) if re.match(rb'\{\s*"(@context|aaep_version)"', data) else None


class OneLine(Broken):
    """Reads the first line of an event's data only."""

    breaks = "ENC-004"

    def data(self, lines: list[bytes]) -> bytes:
        return b"".join(lines[:1])


class KnownCategories(Broken):
    """Ends when the category of an error is new to it."""

    breaks = "VER-007"

    def text(self, event: Json, kind: str) -> str:
        return super().text(event, kind) + {"permanent": "", "": ""}[event.get("error_category", "")]


class OneLanguage(LeavesOut):
    """Drops what is in a language that it did not ask for."""

    breaks = "I18N-017"

    def left_out(self, event: Json, kind: str) -> bool:
        return event["localization_hints"]["primary_language"] not in LANGUAGES


class NeedsRegion(LeavesOut):
    """Drops what is in a language without a region."""

    breaks = "I18N-009"

    def left_out(self, event: Json, kind: str) -> bool:
        return "-" not in event["localization_hints"]["primary_language"]


class ComposedOnly(LeavesOut):
    """Drops text that is not composed."""

    breaks = "I18N-027"

    def left_out(self, event: Json, kind: str) -> bool:
        text = event.get("summary_normal", "")
        english = event["localization_hints"]["primary_language"] == "en-US"
        return bool(english and unicodedata.normalize("NFC", text) != text)


class DiesOfNonsense(Broken):
    """Ends when what comes is no JSON."""

    breaks = "TERM-008"

    def nonsense(self, data: bytes) -> Json | None:
        raise ValueError("This is no JSON.")


class GuessesTheRest(Broken):
    """Makes an event of half of one."""

    breaks = "TERM-008"

    def nonsense(self, data: bytes) -> Json | None:
        found = dict(
            re.findall(r'"(@context|type|event_id|session_id|timestamp|summary_normal)": "([^"]*)', data.decode())
        )
        return {**found, "urgency": "critical"} if "type" in found else None

    def torn(self, rest: bytes) -> Iterator[tuple[str, bytes]]:
        yield from self.frame(rest)


# -- the connection --------------------------------------------------------------------------------


class EndsWhenCut(Broken):
    """Ends when its connection breaks."""

    breaks = "SUB-066"

    def comes_back(self) -> bool:
        self.stop()
        return False


class BareRequests(Broken):
    """Asks for the stream without a word on what it takes."""

    breaks = "SSE-021"

    def headers(self) -> dict[str, str]:
        return {"Last-Event-ID": self.last} if self.last else {}


class ListensUnasked(Broken):
    """Listens without a subscription."""

    breaks, with_it = "SUB-001", frozenset({"SUB-065"})

    def subscribe(self) -> bool:
        return True

    def leave(self) -> None:
        """There is nothing to take leave of."""


class IgnoresRejection(Broken):
    """Listens although it was rejected."""

    breaks = "SUB-001"

    def rejected(self) -> bool:
        self.id = "sub_mine"
        return True


class NamesTransport(Broken):
    """Says in its request over what it comes."""

    breaks, with_it = "TR-034", frozenset({"SUB-015"})

    def request(self) -> Json:
        return {**super().request(), "transport": "sse"}


class NeverCloses(Broken):
    """Leaves without a word."""

    breaks = "SUB-065"

    def leave(self) -> None:
        """Nothing is said."""


class NoReplies(Broken):
    """Declares that it cannot answer."""

    breaks = "CAP-016"

    def wishes(self) -> Json:
        return {**super().wishes(), "supports_confirmation_reply": False}


class NeedsAll(Broken):
    """Ends when it does not get all that it asked for."""

    breaks = "SUB-038"

    def content(self) -> bool:
        asked = self.wishes()
        self.dissatisfied = any(self.terms.get(name) != value for name, value in asked.items())
        return True

    def tell(self, event: Json) -> None:
        super().tell(event)
        if self.dissatisfied and self.kind(event) == "session.started":
            raise Stop


class ForgetsOldTerms(Broken):
    """Drops what comes under the old terms as soon as it has asked for others."""

    breaks = "SUB-063"

    def renegotiate(self) -> None:
        def later() -> None:
            super(ForgetsOldTerms, self).renegotiate()
            self.changed = True

        timer = threading.Timer(0.5, lambda: self.mail.put(later))
        timer.daemon = True
        timer.start()

    changed = False

    def sound(self, event: Json) -> bool:
        return super().sound(event) and not (self.changed and event["verbosity"] != "terse")


# -- who it is -------------------------------------------------------------------------------------


class TrustsUnsigned(Broken):
    """Takes a manifest that is not signed."""

    breaks, with_it = "MAN-021", frozenset({"MAN-026"})

    def unsigned(self) -> bool:
        return True


class TrustsStrangers(Broken):
    """Takes a signature of a key that it does not know."""

    breaks = "MAN-022"

    def stranger(self) -> bool:
        return True


class TrustsForgeries(Broken):
    """Checks no signature."""

    breaks = "MAN-023"

    def genuine(self, key: Json, text: bytes, signature: bytes) -> bool:
        return True


class TrustsOthers(Broken):
    """Takes the manifest of somebody else."""

    breaks = "MAN-024"

    def mine(self, manifest: Json) -> bool:
        return True


class TrustsClaims(Broken):
    """Does not compare what is offered with what the manifest says."""

    breaks = "MAN-025"

    def consistent(self, manifest: Json) -> bool:
        return True


# -- prompts ---------------------------------------------------------------------------------------


class QuietPrompts(Broken):
    """Mentions confirmations in passing."""

    breaks, with_it = "HITL-015", frozenset({"SEC-008"})

    def urgency(self, event: Json, kind: str) -> str:
        return "normal" if kind == "awaiting.confirmation" else super().urgency(event, kind)


class QuietQuestions(Broken):
    """Mentions questions in passing."""

    breaks = "HITL-035"

    def urgency(self, event: Json, kind: str) -> str:
        return "normal" if kind == "awaiting.clarification" else super().urgency(event, kind)


class NoHandoff(LeavesOut):
    """Does not tell that a person is needed."""

    breaks = "HITL-032"

    def left_out(self, event: Json, kind: str) -> bool:
        return kind == "handoff.requested"


class HidesContents(Broken):
    """Asks for a yes and does not say for what."""

    breaks = "SEC-009"

    def text(self, event: Json, kind: str) -> str:
        return "Please confirm." if kind == "awaiting.confirmation" else super().text(event, kind)


class HidesConsequence(Broken):
    """Says what is to be done, and not what comes of it."""

    breaks = "SEC-009"

    def text(self, event: Json, kind: str) -> str:
        return f"Confirm: {event['action']}" if kind == "awaiting.confirmation" else super().text(event, kind)


class AnswersByItself(Broken):
    """Accepts what it is asked, for nobody."""

    breaks = "SEC-007"

    def asked(self, prompt: Json) -> None:
        super().asked(prompt)
        if self.task == "none" and self.kind(prompt) == "awaiting.confirmation":
            self.reply(self.confirmed(prompt, "accept"))


class AnswersWhenTimeIsUp(Broken):
    """Applies the default itself when the time is up."""

    breaks = "SEC-007"

    def tick(self) -> None:
        super().tick()
        for token, (prompt, until) in [*self.prompts.items()]:
            if time.monotonic() > until and "default_decision" in prompt:
                del self.prompts[token]
                self.reply(self.confirmed(prompt, prompt["default_decision"]))


class LosesPatience(Broken):
    """Accepts by itself when the person has not answered for three seconds."""

    breaks = "SEC-007"

    def tick(self) -> None:
        super().tick()
        for token, (prompt, until) in [*self.prompts.items()]:
            left = until - time.monotonic()
            if "default_decision" in prompt and 0 < left < prompt["timeout_seconds"] - 3.0:
                del self.prompts[token]
                self.reply(self.confirmed(prompt, "accept"))


class SendsDefault(Broken):
    """Answers questions with their default."""

    breaks = "HITL-029"

    def asked(self, prompt: Json) -> None:
        super().asked(prompt)
        if "default_response" in prompt:
            self.reply(self.clarified(prompt, prompt["default_response"]))


# -- replies ---------------------------------------------------------------------------------------


class ChangesToken(Broken):
    """Writes tokens in small letters."""

    breaks, with_it = "HITL-009", frozenset({"TERM-005", "CONF-016"})

    def token(self, prompt: Json) -> Any:
        return prompt["reply_token"].lower()


class FirstToken(Broken):
    """Uses the first token for everything."""

    breaks, with_it = "HITL-010", frozenset({"TERM-005", "LVL-037"})
    first = ""

    def token(self, prompt: Json) -> Any:
        self.first = self.first or prompt["reply_token"]
        return self.first


class TokenAsName(Broken):
    """Uses the token as the name of a trace."""

    breaks = "CONF-017"

    def signed(self, prompt: Json) -> Json:
        return {**super().signed(prompt), "correlation_id": prompt["reply_token"]}


class SaysToken(Broken):
    """Reads the token of a confirmation aloud."""

    breaks, aloud = "CONF-017", "awaiting.confirmation"

    def text(self, event: Json, kind: str) -> str:
        return super().text(event, kind) + (f" {event['reply_token']}" if kind == self.aloud else "")


class SaysTokenOfQuestion(SaysToken):
    """Reads the token of a question aloud."""

    aloud = "awaiting.clarification"


class RepliesTwice(Broken):
    """Sends every reply twice."""

    breaks = "LVL-037"

    def reply(self, message: Json) -> None:
        super().reply(message)
        super().reply(message)


class AlwaysAccepts(Broken):
    """Accepts, whatever the person says."""

    breaks, with_it = "LVL-037", frozenset({"TERM-005"})

    def confirmed(self, prompt: Json, decision: str) -> Json:
        return super().confirmed(prompt, "accept")


class AnswersInOtherWords(Broken):
    """Sends the answer to a confirmation as if it were one to a question."""

    breaks, with_it = "TERM-005", frozenset({"LVL-037"})

    def confirmed(self, prompt: Json, decision: str) -> Json:
        return self.clarified(prompt, decision)


class PostsText(Broken):
    """Posts replies as plain text."""

    breaks = "SSE-022"

    def reply(self, message: Json) -> None:
        self.post("/aaep/v1/replies", message, "text/plain")


class OtherSubscription(Broken):
    """Replies in the name of another subscription."""

    breaks = "CONF-023"

    def signed(self, prompt: Json) -> Json:
        return {**super().signed(prompt), "subscription_id": "sub 1"}


class NoTimestamp(Broken):
    """Does not say when the person decided."""

    breaks = "CONF-024"

    def signed(self, prompt: Json) -> Json:
        return {name: value for name, value in super().signed(prompt).items() if name != "timestamp"}


class MoreMembers(Broken):
    """Adds to a reply what does not belong there."""

    breaks = "CONF-031"

    def confirmed(self, prompt: Json, decision: str) -> Json:
        return {**super().confirmed(prompt, decision), "mood": "cheerful"}


class OwnDecisions(Broken):
    """Knows more decisions than two."""

    breaks, with_it = "CONF-022", frozenset({"TERM-005", "LVL-037"})

    def confirmed(self, prompt: Json, decision: str) -> Json:
        return super().confirmed(prompt, "approve")


class RepliesUnasked(Broken):
    """Replies although that was not granted."""

    breaks = "CONF-063"

    def decide(self, prompt: Json) -> None:
        self.terms["supports_confirmation_reply"] = True
        super().decide(prompt)


class ConfirmsQuestions(Broken):
    """Answers questions with a confirmation."""

    breaks = "LVL-041"

    def clarified(self, question: Json, response: Any) -> Json:
        return self.confirmed(question, "accept")


class TextAsNumber(Broken):
    """Answers a question for a text with a number."""

    breaks = "CLAR-006"

    def response(self, question: Json) -> Any:
        return 3 if question["accepted_response_kinds"] == ["freetext"] else super().response(question)


class YesAsText(Broken):
    """Answers yes with the word."""

    breaks = "CLAR-007"

    def response(self, question: Json) -> Any:
        return "yes" if question["accepted_response_kinds"] == ["yes_no"] else super().response(question)


class SendsLabel(Broken):
    """Sends the label of a choice."""

    breaks = "CLAR-008"

    def response(self, question: Json) -> Any:
        choices = question.get("choices")
        return choices[0]["label"] if choices else super().response(question)


class NumberAsText(Broken):
    """Sends a number as text."""

    breaks = "CLAR-009"

    def response(self, question: Json) -> Any:
        return "7" if question["accepted_response_kinds"] == ["numeric"] else super().response(question)


class AnswersExpired(Broken):
    """Answers when the time is over."""

    breaks = "CONF-059"

    def open(self, prompt: Json) -> bool:
        return prompt["reply_token"] in self.prompts


class AnswersWithdrawn(Broken):
    """Answers what is not open any more."""

    breaks = "CONF-073"

    def settle(self, event: Json, kind: str) -> None:
        """Whatever happens, a question stays."""


class OldVersion(Broken):
    """Names no version that there is."""

    breaks = "SUB-007"

    def request(self) -> Json:
        return {**super().request(), "aaep_version": "one"}


ALL: list[type[Broken]] = [
    one for one in vars().values() if isinstance(one, type) and issubclass(one, Broken) and hasattr(one, "breaks")
]
