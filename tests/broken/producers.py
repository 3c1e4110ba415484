"""
Producers that break one rule each: the good one with one thing changed.

``breaks`` is the rule each has to be failed for. ``with_it`` are rules that say
the same in other words, or that cannot be kept by one who breaks the first.
"""

from __future__ import annotations

import base64
import itertools
import json
import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, ClassVar

from tests.broken.good_plain import Json, Plain, Prompt, Session, Subscription, stamp

CONSENT = frozenset({"TOOL-002", "HITL-001", "HITL-020", "CONF-006"})  # what running something unasked breaks too


class Broken(Plain):
    """One that breaks a rule."""

    breaks: ClassVar[str]
    with_it: ClassVar[frozenset[str]] = frozenset()


# -- sessions ------------------------------------------------------------------------------------


class FourTools(Broken):
    """Runs four irreversible tools and asks nobody."""

    breaks, with_it = "TOOL-002", frozenset({"HITL-001", "CAP-015"})

    def confirm(self, session: Session) -> None:
        session.move("thinking")
        for number in range(4):
            session.move("calling_tool")
            session.tool(f"delete_{number}", irreversible=True)
        session.write(["All is done. "])


class AnnouncedFirst(Broken):
    """Announces the tool, and asks then."""

    breaks, with_it = "TOOL-002", CONSENT | {"HITL-018", "CAP-015"}

    def letter(self, session: Session, timeout: int | None = None) -> None:
        session.move("calling_tool")
        session.calls += 1
        call = f"call_{time.monotonic_ns()}"
        about = {"tool": "send_letter", "tool_call_id": call}
        session.say("tool.invoked", "Sending.", **about, risk_level="high", irreversible=True)
        session.say("tool.completed", "Sent.", **about, status="success", duration_ms=1)
        session.move("thinking")
        session.granted(call, timeout)


class StartedAndCompleted(Broken):
    """Tells only that it began and that it ended."""

    breaks = "LVL-007"

    def work(self, task: str) -> None:
        session = Session(self)
        session.begin()
        session.finish()


class OldDates(Broken):
    """Says that everything happened a minute ago."""

    breaks, with_it = "ENV-026", frozenset({"ENV-025"})

    def send(self, event: Json) -> None:
        now = datetime.fromisoformat(event["timestamp"])
        event["timestamp"] = (now - timedelta(minutes=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        super().send(event)


class NoLanguage(Broken):
    """Does not say in which language its texts are."""

    breaks, with_it = "I18N-002", frozenset({"I18N-004", "I18N-018", "ENV-050"})

    def send(self, event: Json) -> None:
        event.pop("localization_hints")
        super().send(event)


class LeaksASecret(Broken):
    """Tells the key that it calls a tool with."""

    breaks = "TOOL-005"

    def send(self, event: Json) -> None:
        if event["type"] == "aaep:agent.tool.invoked":
            event["args_summary"] = "to: the bank; password: hunter2horse; card: 4111 1111 1111 1111"
        super().send(event)


class NumbersChunks(Broken):
    """Takes the number of a chunk for its position."""

    breaks, with_it = "OUT-001", frozenset({"OUT-002", "OUT-003"})

    def confirm(self, session: Session) -> None:
        session.move("writing_output")
        for number, chunk in enumerate(("Dear bank. ", "Here is my letter. ", "Yours. ")):
            session.chunk(chunk, number, last=number == 2)


class CountsBytes(Broken):
    """Counts the position of a chunk in bytes."""

    breaks = "OUT-001"

    def confirm(self, session: Session) -> None:
        session.move("writing_output")
        session.chunk("Die Brücke über die Öre. ", 0)
        session.chunk("Alles ist getan. ", len("Die Brücke über die Öre. ".encode()), last=True)


class SameToken(Broken):
    """Uses one token for every question."""

    breaks, with_it = "CONF-012", CONSENT | {"CONF-014", "CONF-075"}

    def send(self, event: Json) -> None:
        if "reply_token" in event:
            prompt = self.prompts.pop(event["reply_token"])
            event["reply_token"] = "rpl_" + "7" * 32
            self.prompts[event["reply_token"]] = prompt
        super().send(event)


# -- replies ---------------------------------------------------------------------------------------


class TakesAnyToken(Broken):
    """Takes a token that it never issued for the open question's."""

    breaks, with_it = "CONF-033", CONSENT | {"HITL-011", "CONF-040"}

    def find(self, message: Json) -> Prompt | None:
        return super().find(message) or next((one for one in self.prompts.values() if not one.outcome), None)


class TakesAPart(Broken):
    """Compares the end of a token only."""

    breaks, with_it = "HITL-011", CONSENT

    def same(self, one: str, other: str) -> bool:
        return one[-12:] == other[-12:]

    def find(self, message: Json) -> Prompt | None:
        return next((one for token, one in self.prompts.items() if self.same(token, message["reply_token"])), None)


class TakesTheBeginning(TakesAPart):
    """Compares the beginning of a token only."""

    def same(self, one: str, other: str) -> bool:
        return one[:16] == other[:16]


class TakesAnyCase(TakesAPart):
    """Compares tokens without regard to capitals."""

    def same(self, one: str, other: str) -> bool:
        return one.lower() == other.lower()


class TakesOtherSessions(Broken):
    """Takes the token of an earlier session for the open question's."""

    breaks, with_it = "CONF-075", CONSENT

    def find(self, message: Json) -> Prompt | None:
        found = super().find(message)
        if found is None or not found.outcome:
            return found
        return next((one for one in self.prompts.values() if not one.outcome), found)


class AnswersAll(Broken):
    """Takes one accept for an answer to every open question."""

    breaks, with_it = "CONF-075", CONSENT | {"HITL-004"}

    def take(self, prompt: Prompt, message: Json) -> None:
        super().take(prompt, message)
        for one in self.prompts.values():
            if not one.outcome and one.kind == prompt.kind:
                self.end(one, prompt.outcome)


class TakesReplays(Broken):
    """Runs the action once for every accept."""

    breaks, with_it = "CONF-034", CONSENT | {"CONF-041"}

    def __init__(self) -> None:
        super().__init__()
        self.accepts: dict[str, int] = {}

    def reply(self, message: Json) -> tuple[int, Json | None]:
        if message.get("decision") == "accept":
            with self.changed:
                found = self.prompts.get(str(message.get("reply_token")))
                if found is not None and found.outcome in ("", "accepted"):
                    call = found.event["extra_context"]["tool_call_id"]
                    self.accepts[call] = self.accepts.get(call, 0) + 1
                    self.changed.notify_all()
        return super().reply(message)

    def letter(self, session: Session, timeout: int | None = None) -> None:
        call = f"call_{time.monotonic_ns()}"
        if session.granted(call, timeout):
            with self.changed:
                self.changed.wait_for(lambda: self.accepts.get(call, 1) > 1, 1.0)  # for a second reply to come
            for number in range(self.accepts.get(call, 1)):
                session.move("calling_tool")
                about = {"tool": "send_letter", "tool_call_id": call}
                session.calls += 1
                session.say("tool.invoked", "Sending.", **about, risk_level="high", irreversible=True)
                session.say("tool.completed", "Sent.", **about, status="success", duration_ms=1 + number)
                session.move("thinking")

    with_it = CONSENT | {"TOOL-004"}


class TakesLate(Broken):
    """Takes replies from after the deadline."""

    breaks, with_it = "CONF-035", CONSENT

    def late(self, message: Json, prompt: Prompt) -> bool:
        return False


class TakesOtherKinds(Broken):
    """Takes the answer to a question for a yes."""

    breaks, with_it = "CLAR-020", CONSENT

    def other_kind(self, message: Json, prompt: Prompt) -> bool:
        return False

    def take(self, prompt: Prompt, message: Json) -> None:
        super().take(prompt, {"decision": message.get("response"), **message})

    def ill_typed(self, message: Json, prompt: Prompt) -> str:
        return super().ill_typed({"response": message.get("decision"), **message}, prompt)


class TakesStrangers(Broken):
    """Takes replies on a subscription that was never issued."""

    breaks, with_it = "SEC-011", CONSENT

    def stranger(self, message: Json) -> bool:
        return False


class TakesListeners(Broken):
    """Takes replies of readers that may not answer."""

    breaks, with_it = "SEC-011", CONSENT

    def stranger(self, message: Json) -> bool:
        return message["subscription_id"] not in self.subscriptions


class TakesFragments(Broken):
    """Takes a reply without the members it has to have."""

    breaks, with_it = "CONF-032", CONSENT

    def reply(self, message: Json) -> tuple[int, Json | None]:
        whole = {"timestamp": stamp(), "subscription_id": next(iter(self.subscriptions), ""), **message}
        return super().reply(whole)


class TakesAnyDecision(Broken):
    """Takes everything that is not a no for a yes."""

    breaks, with_it = "CONF-037", CONSENT | {"CONF-032"}

    def reply(self, message: Json) -> tuple[int, Json | None]:
        if message.get("decision") == "approve":
            message = {**message, "decision": "accept"}
        return super().reply(message)


class TakesCapitals(Broken):
    """Reads decisions without regard to capitals."""

    breaks, with_it = "CONF-037", CONSENT

    def reply(self, message: Json) -> tuple[int, Json | None]:
        decision = message.get("decision")
        return super().reply({**message, "decision": decision.lower()} if isinstance(decision, str) else message)


class UsesUpTheToken(Broken):
    """Lets a wrong reply spoil the right one."""

    breaks, with_it = "CONF-038", frozenset({"SEQ-003"})

    def __init__(self) -> None:
        super().__init__()
        self.spoilt: set[str] = set()

    def problem(self, message: Json) -> str:
        found = super().problem(message)
        if found == "kind":
            self.spoilt.add(message["reply_token"])
        return "spoilt" if message["reply_token"] in self.spoilt else found


class TellsWhy(Broken):
    """Says what was wrong with a reply."""

    breaks = "CONF-040"

    def answer(self, problem: str) -> tuple[int, Json | None]:
        return (400, {"error": problem, "message": f"The reply is {problem}."}) if problem else (204, None)


class LastCounts(Broken):
    """Waits a moment, and lets the last reply count."""

    breaks, with_it = "CONF-041", CONSENT | {"HITL-018"}

    def spent(self, prompt: Prompt) -> bool:
        return prompt.outcome not in ("", "accepted", "rejected")

    def letter(self, session: Session, timeout: int | None = None) -> None:
        call = f"call_{time.monotonic_ns()}"
        if not self.repliers():
            session.move("deciding")
            return
        prompt = session.ask(call, timeout)
        session.wait(prompt)
        with self.changed:
            self.changed.wait_for(lambda: prompt.outcome == "rejected", 1.0)  # the last reply, which it takes to count
        session.move("thinking", "normal")
        if prompt.outcome == "accepted":
            session.move("calling_tool")
            session.tool("send_letter", call, irreversible=True)


class IgnoresNo(Broken):
    """Does it although the answer was no."""

    breaks, with_it = "HITL-020", CONSENT | {"CONF-028"}

    def take(self, prompt: Prompt, message: Json) -> None:
        self.end(prompt, "accepted")


class AnotherCall(Broken):
    """Does what was refused as another call, which it says is harmless."""

    breaks, with_it = "HITL-020", frozenset({"CONF-028"})

    def letter(self, session: Session, timeout: int | None = None) -> None:
        call = f"call_{time.monotonic_ns()}"
        granted = session.granted(call, timeout)
        if granted or self.repliers():
            session.move("calling_tool")
            session.tool("send_letter", call if granted else "", irreversible=granted)


class TakesChanges(Broken):
    """Takes a yes to something else for a yes."""

    breaks, with_it = "CONF-028", CONSENT

    def modified(self, message: Json) -> bool:
        return False


class WaitsForEver(Broken):
    """Does not mind that the time is up."""

    breaks, with_it = "CONF-043", frozenset({"HITL-005", "SEQ-003"})

    def end(self, prompt: Prompt, outcome: str) -> None:
        if outcome != "timed out":
            super().end(prompt, outcome)


class SilenceIsConsent(Broken):
    """Does it when the time is up, though the default is no."""

    breaks, with_it = "CONF-043", CONSENT | {"HITL-005"}

    def end(self, prompt: Prompt, outcome: str) -> None:
        super().end(prompt, "accepted" if outcome == "timed out" else outcome)


class DoesNotWait(Broken):
    """Asks, and does not wait for the answer."""

    breaks, with_it = "CONF-002", CONSENT | {"CONF-001", "HITL-004", "CONF-071"}

    def letter(self, session: Session, timeout: int | None = None) -> None:
        call = f"call_{time.monotonic_ns()}"
        if self.repliers():
            session.ask(call, timeout)
            session.move("calling_tool")
            session.tool("send_letter", call, irreversible=True)


class KeepsWithdrawn(Broken):
    """Does what was withdrawn, if somebody still agrees."""

    breaks, with_it = "CONF-072", CONSENT

    def spent(self, prompt: Prompt) -> bool:
        return prompt.outcome not in ("", "withdrawn")

    def withdraw(self, session: Session) -> None:
        session.move("thinking")
        call = f"call_{time.monotonic_ns()}"
        prompt = session.ask(call)
        time.sleep(0.3)  # for the reader to have heard it
        with self.changed:
            self.withdrawn(prompt)
        session.move("deciding", "normal")
        with self.changed:
            self.changed.wait_for(lambda: prompt.outcome == "accepted", 1.0)
        if prompt.outcome == "accepted":
            session.move("calling_tool")
            session.tool("send_letter", call, irreversible=True)


class EndsAfterNo(Broken):
    """Ends the session when something is refused, and tells nothing else."""

    breaks, with_it = "HITL-019", frozenset({"HITL-022", "CONF-004", "STATE-001"})

    def letter(self, session: Session, timeout: int | None = None) -> None:
        call = f"call_{time.monotonic_ns()}"
        if not self.repliers():
            session.move("deciding")
            return
        prompt = session.ask(call, timeout)
        if session.wait(prompt) == "accepted":
            session.move("thinking", "normal")
            session.move("calling_tool")
            session.tool("send_letter", call, irreversible=True)
        else:
            session.state = "idle"  # as if it had said so

    def confirm(self, session: Session) -> None:
        session.move("thinking")
        self.letter(session)


class TellsTheReplier(Broken):
    """Tells the outcome of a question to who has answered it, and to nobody else."""

    breaks, with_it = "CONF-067", frozenset({"SUB-075", "TERM-014", "TR-013"})

    def admits(self, subscription: Subscription, event: Json) -> bool:
        is_outcome = event.get("from_state") == "awaiting_input"
        is_first = subscription is next(iter(self.subscriptions.values()))  # the one that answers here
        return super().admits(subscription, event) and (is_first or not is_outcome)


class OtherOrder(Broken):
    """Tells all but the first that a tool is done, and then that it was begun."""

    breaks, with_it = "TR-009", frozenset({"ENV-027", "TOOL-007", "TOOL-008", "TOOL-010"})

    def __init__(self) -> None:
        super().__init__()
        self.begun: dict[str, Json] = {}  # by subscription: what it is told only with the next event

    def offer(self, subscription: Subscription, event: Json) -> None:
        events = [begun] if (begun := self.begun.pop(subscription.id, None)) else []
        is_first = subscription is next(iter(self.subscriptions.values()))
        if event["type"] == "aaep:agent.tool.invoked" and not is_first:
            self.begun[subscription.id] = event
        else:
            events.insert(0 if event["type"] == "aaep:agent.tool.completed" else len(events), event)
        for one in events:
            super().offer(subscription, one)


class LosesSome(Broken):
    """Loses what all but the first should hear of a tool that is done."""

    breaks, with_it = "TR-013", frozenset({"TERM-014"})

    def admits(self, subscription: Subscription, event: Json) -> bool:
        is_first = subscription is next(iter(self.subscriptions.values()))
        return super().admits(subscription, event) and (is_first or event["type"] != "aaep:agent.tool.completed")


class GaveUp(Exception):
    """The agent goes no further, and tells nobody."""


class SilentNo(Broken):
    """Says nothing when something is refused, and never goes on."""

    breaks, with_it = "HITL-019", frozenset({"SEQ-003", "CONF-028", "CONF-038"})

    def take(self, prompt: Prompt, message: Json) -> None:
        if message.get("decision") == "accept":
            super().take(prompt, message)
        else:
            prompt.outcome = "rejected"

    def work(self, task: str) -> None:
        with suppress(GaveUp):  # it gives up by design
            super().work(task)

    def letter(self, session: Session, timeout: int | None = None) -> None:
        call = f"call_{time.monotonic_ns()}"
        if not self.repliers():
            session.move("deciding")
            return
        prompt = session.ask(call, timeout)
        session.wait(prompt)
        if prompt.outcome == "rejected":
            raise GaveUp
        session.move("thinking", "normal")
        session.move("calling_tool")
        session.tool("send_letter", call, irreversible=True)


class AsksNobody(Broken):
    """Asks when nobody can answer, and waits."""

    breaks, with_it = "CAP-015", frozenset({"CAP-014", "CAP-019", "SEQ-003"})

    def repliers(self) -> bool:
        return True


def _harmless(rule: str, *others: str) -> type[Broken]:
    """One that does it when nobody can answer, and says that it is harmless."""

    class Harmless(Broken):
        breaks, with_it = rule, frozenset(others)

        def letter(self, session: Session, timeout: int | None = None) -> None:
            super().letter(session, timeout)
            if not self.repliers():
                session.move("calling_tool")
                session.tool("send_letter")

    Harmless.__name__ = f"Harmless{rule}"
    return Harmless


HarmlessUnasked = _harmless("TOOL-002", "CAP-015", "SUB-069")
HarmlessDefault = _harmless("CAP-015", "TOOL-002", "SUB-069")
HarmlessWhenLeft = _harmless("SUB-069", "TOOL-002", "CAP-015")


class OpenWhenLeft(Broken):
    """Goes on waiting when the only one who could answer has left."""

    breaks, with_it = "SUB-069", frozenset({"SEQ-003"})

    def end(self, prompt: Prompt, outcome: str) -> None:
        if outcome != "left":
            super().end(prompt, outcome)


class TakesAnyAnswer(Broken):
    """Takes an answer that was not offered."""

    breaks, with_it = "CLAR-018", frozenset({"CLAR-017", "CLAR-019"})

    def ill_typed(self, message: Json, prompt: Prompt) -> str:
        return ""


# -- terms -----------------------------------------------------------------------------------------


class RejectsAll(Broken):
    """Rejects every subscription."""

    breaks, with_it = "SUB-016", frozenset({"LVL-045"})

    def rejects(self, request: Json) -> str:
        return "unknown"


class RejectsTheUnknown(Broken):
    """Rejects a request with something in it that it does not know."""

    breaks = "CAP-048"

    def rejects(self, request: Json) -> str:
        known = {*self.honour({}), "max_events_per_second", "pace_wpm", "accept_signed_manifests_only", "attend"}
        return super().rejects(request) or ("capabilities_incompatible" if {*request["capabilities"]} - known else "")

    with_it = frozenset({"TR-031"})


class SaysYesToEverything(Broken):
    """Answers 200 to whatever comes."""

    breaks, with_it = "SUB-005", frozenset({"SUB-001", "SUB-039"})

    def subscribe(self, request: Json) -> tuple[int, Json]:
        return 200, {"status": "ok"}

    def renegotiate(self, message: Json) -> tuple[int, Json]:
        return 200, {"status": "ok"}

    def reply(self, message: Json) -> tuple[int, Json | None]:
        return 200, {"status": "ok"}


class AnswersAnything(Broken):
    """A web server that says yes to whatever is asked of it, and knows nothing of AAEP."""

    breaks, with_it = "SUB-005", frozenset({"SUB-001", "SUB-039"})

    def __init__(self) -> None:
        super().__init__()
        requests: Any = self._server.RequestHandlerClass

        def answer(self: Any) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._say(200, {"status": "ok"})

        requests.do_GET = requests.do_POST = answer


def _wider(rule: str, **terms: Any) -> type[Broken]:
    """One that grants more than was asked for."""

    class Wider(Broken):
        breaks = rule

        def honour(self, asked: Json) -> Json:
            return {**super().honour(asked), **terms}

    Wider.__name__ = f"Wider{rule}"
    return Wider


# Members whose absence has a meaning of its own have a rule for that too.
WiderVerbosity = _wider("SUB-028", preferred_verbosity="detailed")
WiderVerbosity.with_it = frozenset({"CAP-006"})
WiderRate = _wider("SUB-029", max_events_per_second=900)
WiderLanguages = _wider("SUB-030", languages=["en-US", "en", "fr"])
WiderLanguages.with_it = frozenset({"CAP-010"})
WiderBoundaries = _wider("SUB-031", coalesce_boundaries=["sentence", "completion", "none"])
WiderBoundaries.with_it = frozenset({"CAP-021"})
WiderFilters = _wider("SUB-032", event_filters={"include": ["aaep:agent.*"], "exclude": []})
WiderReplies = _wider("SUB-033", supports_confirmation_reply=True, supports_clarification_reply=True)
WiderReplies.with_it = frozenset({"CAP-013", "CAP-018", "CAP-015", "CAP-014", "CAP-019"})
WiderLevels = _wider("SUB-034", supported_conformance_levels=[1, 2, 3])
WiderLevels.with_it = frozenset({"CAP-031"})


class TooFast(Broken):
    """Knows no rate."""

    breaks, with_it = "CAP-004", frozenset({"BP-004"})

    def interval(self, subscription: Subscription) -> float:
        return 0.0


class FiltersCritical(Broken):
    """Lets filters hold back a question."""

    breaks, with_it = "BP-001", frozenset({"CONF-065"})

    def send(self, event: Json) -> None:
        with self.changed:
            for subscription in self.subscriptions.values():
                if self.admits(subscription, event):
                    self.offer(subscription, event)
            self.changed.notify_all()


class FiltersErrors(Broken):
    """Lets filters hold back that a session has failed."""

    breaks = "BP-001"

    def send(self, event: Json) -> None:
        with self.changed:
            for subscription in self.subscriptions.values():
                passes = self.critical(event) and event["type"] != "aaep:agent.session.errored"
                if passes or self.admits(subscription, event):
                    self.offer(subscription, event)
            self.changed.notify_all()


class DelaysCritical(Broken):
    """Lets the rate hold back a question."""

    breaks = "BP-010"

    def offer(self, subscription: Subscription, event: Json) -> None:
        if self.critical(event) and self.interval(subscription):
            subscription.held.append(event)
        else:
            super().offer(subscription, event)


class IgnoresFilters(Broken):
    """Sends everything to everybody."""

    breaks, with_it = "CAP-028", frozenset({"SUB-037", "SUB-061"})

    def admits(self, subscription: Subscription, event: Json) -> bool:
        return True


class FiltersTooMuch(Broken):
    """Takes a pattern with a star for a literal type."""

    breaks = "CAP-027"

    def admits(self, subscription: Subscription, event: Json) -> bool:
        include = subscription.terms["event_filters"].get("include", ["aaep:agent.*"])
        return super().admits(subscription, event) and ("aaep:agent.*" in include or event["type"] in include)


class IgnoresBoundaries(Broken):
    """Sends each sentence to one who wants the whole."""

    breaks, with_it = "TERM-029", frozenset({"OUT-006", "CAP-022"})

    def ripe(self, subscription: Subscription, event: Json) -> bool:
        return True


class SlowsEverybody(Broken):
    """Sends to everybody as slowly as the slowest wants it."""

    breaks, with_it = "SUB-073", frozenset({"CAP-003"})

    def interval(self, subscription: Subscription) -> float:
        return max(super(SlowsEverybody, self).interval(one) for one in self.subscriptions.values())


class DropsText(Broken):
    """Drops the text that the rate holds back."""

    breaks = "BP-008"

    def offer(self, subscription: Subscription, event: Json) -> None:
        if "chunk" in event and self.interval(subscription) and not event["complete"]:
            return
        super().offer(subscription, event)


class RenegotiatesNothing(Broken):
    """Says yes to new terms and keeps the old ones."""

    breaks = "SUB-061"

    def renegotiate(self, message: Json) -> tuple[int, Json]:
        subscription = self.subscriptions[message["subscription_id"]]
        before = subscription.terms
        answer = super().renegotiate(message)
        subscription.terms = before
        return answer


class RenegotiatesEverything(Broken):
    """Sets back what a renegotiation leaves out."""

    breaks, with_it = "SUB-060", frozenset({"SUB-031", "SUB-028", "SUB-030"})

    def renegotiate(self, message: Json) -> tuple[int, Json]:
        subscription = self.subscriptions[message["subscription_id"]]
        subscription.terms = self.honour({"supports_confirmation_reply": True, **message["capabilities"]})
        return 200, self.accepted(subscription)


class NeverRenegotiates(Broken):
    """Knows no renegotiation."""

    breaks = "SUB-057"

    def renegotiate(self, message: Json) -> tuple[int, Json]:
        return 404, {"error": "not_found", "message": "Nothing is here."}


class SendsAfterClose(Broken):
    """Sends on to who has left."""

    breaks = "SUB-068"

    def forget(self, subscription: Subscription) -> None:
        subscription.terms["supports_confirmation_reply"] = False


class DropsOnDisconnect(Broken):
    """Forgets what somebody missed."""

    breaks = "TR-013"

    def missed(self, subscription: Subscription, last: str) -> int:
        return len(subscription.sent) if last else 0


class SilentAfterUnknownId(Broken):
    """Goes on as if nothing were missing when it does not know what a reader heard last."""

    breaks = "SSE-020"

    def missed(self, subscription: Subscription, last: str) -> int:
        is_known = not last or any(event["event_id"] == last for event in subscription.sent)
        return super().missed(subscription, last) if is_known else len(subscription.sent)


class SendsToStrangers(Broken):
    """Sends events to whoever connects, whatever subscription they name."""

    breaks, with_it = "SUB-001", frozenset({"SUB-004"})

    def subscription(self, subscription_id: str) -> Subscription | None:
        known = super().subscription(subscription_id)
        if known is None and subscription_id not in self.closed:
            known = self.subscriptions[subscription_id] = Subscription(self.honour({}))
        return known

    def __init__(self) -> None:
        super().__init__()
        self.closed: set[str] = set()

    def forget(self, subscription: Subscription) -> None:
        self.closed.add(subscription.id)
        super().forget(subscription)


class SendsToTheRejected(Broken):
    """Rejects a subscription, and sends events on it all the same."""

    breaks, with_it = "SUB-004", frozenset({"SUB-001", "SUB-047"})

    def subscribe(self, request: Json) -> tuple[int, Json]:
        status, answer = super().subscribe(request)
        if status != 201:
            made = Subscription(self.honour(request["capabilities"]))
            self.subscriptions[made.id] = made
            answer = {**answer, "subscription_id": made.id}
        return status, answer


class DiesOnDisconnect(Broken):
    """Goes down when somebody lets go."""

    breaks, with_it = "SUB-066", frozenset({"SEQ-003"})

    def lost(self, subscription: Subscription) -> None:
        self._server.server_close()


class NoManifest(Broken):
    """Publishes no manifest."""

    breaks = "MAN-002"

    def __init__(self) -> None:
        super().__init__()
        self._server.RequestHandlerClass.manifest = lambda _: {"error": "not_found"}  # type: ignore[attr-defined]  # replaced in the class for this peer


class PromisesASignature(Broken):
    """Lets those in who demand a signed manifest, and has none."""

    breaks, with_it = "MAN-020", frozenset({"MAN-016", "CAP-046"})

    def rejects(self, request: Json) -> str:
        reason = super().rejects(request)
        return "" if reason == "manifest_signature_required" else reason

    def honour(self, asked: Json) -> Json:
        signed = asked.get("accept_signed_manifests_only", False)
        return {**super().honour(asked), "accept_signed_manifests_only": signed}


class SignsSomethingElse(PromisesASignature):
    """What is signed is no manifest."""

    breaks, with_it = "MAN-017", frozenset()

    def accepted(self, subscription: Subscription) -> Json:
        parts = ({"alg": "ES256", "kid": "mine"}, {"hello": "world"})
        text = ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts)
        return {**super().accepted(subscription), "signed_manifest": text + "." + "A" * 86}


class NamesAnotherPage(Broken):
    """Names something as its manifest that is none."""

    breaks = "ENV-036"

    def __init__(self) -> None:
        super().__init__()
        requests: Any = self._server.RequestHandlerClass
        usual = requests.do_GET

        def about(self: Any) -> None:
            if self.path == "/about":
                self._say(200, {"hello": "world"})
            else:
                usual(self)

        requests.do_GET = about

    def accepted(self, subscription: Subscription) -> Json:
        told = super().accepted(subscription)
        return {**told, "producer": {**told["producer"], "manifest_uri": f"{self.url}/about"}}


class SignsWithASecret(PromisesASignature):
    """Signs with an algorithm whose key both sides would have to know."""

    breaks, with_it = "MAN-018", frozenset()

    def accepted(self, subscription: Subscription) -> Json:
        manifest = self._server.RequestHandlerClass.manifest(None)  # type: ignore[attr-defined]  # it needs nothing of a request
        parts = ({"alg": "HS256"}, manifest)
        text = ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in parts)
        return {**super().accepted(subscription), "signed_manifest": text + "." + "A" * 43}


# -- what no level waits for -----------------------------------------------------------------------


def _assumed(rule: str, member: str, value: Any, *others: str) -> type[Broken]:
    """One that takes what was not said for more than it means."""

    class Assumed(Broken):
        breaks, with_it = rule, frozenset(others)

        def honour(self, asked: Json) -> Json:
            terms = super().honour(asked)
            return terms if member in asked else {**terms, member: value}

    Assumed.__name__ = f"Assumed{rule}"
    return Assumed


AssumedFilters = _assumed("CAP-025", "event_filters", {"include": ["*"], "exclude": []}, "SUB-032")
AssumedExtensions = _assumed("CAP-034", "supported_extensions", ["https://else.example/v1"], "SUB-034")
AssumedLoad = _assumed("CAP-038", "cognitive_load", "high", "SUB-028")
AssumedSignature = _assumed("CAP-044", "accept_signed_manifests_only", True)


def _reason(rule: str, right: str, *others: str) -> type[Broken]:
    """One that rejects for the right reason and names another."""

    class Reason(Broken):
        breaks, with_it = rule, frozenset(others)

        def rejects(self, request: Json) -> str:
            return "unknown" if super().rejects(request) == right else super().rejects(request)

    Reason.__name__ = f"Reason{rule}"
    return Reason


WrongVersion = _reason("SUB-048", "version_unsupported")
WrongSignature = _reason("CAP-045", "manifest_signature_required", "SUB-049")


class SpeaksAnyVersion(Broken):
    """Accepts whatever version is asked for, and says that it speaks it."""

    breaks = "SUB-048"

    def rejects(self, request: Json) -> str:
        reason = super().rejects(request)
        return "" if reason == "version_unsupported" else reason

    def subscribe(self, request: Json) -> tuple[int, Json]:
        status, answer = super().subscribe(request)
        return status, {**answer, "aaep_version": request["aaep_version"]} if status == 201 else answer


class EndsBadly(Broken):
    """Says that it failed when all went well."""

    breaks = "SEQ-006"

    def confirm(self, session: Session) -> None:
        super().confirm(session)
        session.error()


class HurriesTheTerse(Broken):
    """Leaves out changes of state for those who want short texts."""

    breaks, with_it = "TERM-014", frozenset({"TR-013", "CONF-067", "SUB-075"})

    def admits(self, subscription: Subscription, event: Json) -> bool:
        short = subscription.terms["preferred_verbosity"] == "terse" and "to_state" in event
        return super().admits(subscription, event) and not short


class GoesOnUnanswered(Broken):
    """Asks a question and does not wait for the answer."""

    breaks, with_it = "HITL-024", frozenset({"CONF-008"})

    def clarify(self, session: Session) -> None:
        session.move("thinking")
        session.question()
        session.move("thinking", "normal")
        session.write(["It is the first, I suppose. "])


class MistakesTheQuestion(Broken):
    """Takes the answer to one question for the answer to another."""

    breaks = "CLAR-016"

    def find(self, message: Json) -> Prompt | None:
        open_ = [one for one in self.prompts.values() if not one.outcome and one.kind == "clarification"]
        return open_[-1] if open_ and message["type"] == "clarification.reply" else super().find(message)


class TakesNoAnswer(Broken):
    """Offers choices and takes none of them."""

    breaks, with_it = "CLAR-022", frozenset({"CLAR-021", "SEQ-003"})

    def ill_typed(self, message: Json, prompt: Prompt) -> str:
        return "type"


class TakesNumbers(Broken):
    """Takes a number where choices were offered."""

    breaks = "CLAR-017"

    def ill_typed(self, message: Json, prompt: Prompt) -> str:
        return "" if type(message["response"]) is int else super().ill_typed(message, prompt)


class TakesYes(Broken):
    """Takes a yes where choices were offered, and goes on."""

    breaks = "CLAR-019"

    def ill_typed(self, message: Json, prompt: Prompt) -> str:
        return "" if message["response"] is True else super().ill_typed(message, prompt)


class TakesOneKind(Broken):
    """Offers two kinds of answers and takes the second."""

    breaks, with_it = "CLAR-011", frozenset({"CLAR-021", "CLAR-022", "SEQ-003"})

    def send(self, event: Json) -> None:
        if "accepted_response_kinds" in event:
            event["accepted_response_kinds"] = ["multiple_choice", "yes_no"]
        super().send(event)

    def ill_typed(self, message: Json, prompt: Prompt) -> str:
        return "" if isinstance(message["response"], bool) else "type"


class ActsAfterCancelling(Broken):
    """Cancels a session, and does what was asked about all the same."""

    breaks, with_it = "CONF-070", frozenset({"CONF-072", "SEQ-004"})

    def cancel(self, session: Session) -> None:
        session.move("thinking")
        call = "call_" + "1" * 16
        prompt = session.ask(call)
        time.sleep(0.3)  # for the reader to have heard it
        session.say("session.cancelled", "Cancelled.", cancelled_by="user")
        session.open = False
        if session.wait(prompt) == "accepted":
            session.tool("send_letter", call, irreversible=True)


class NewcomersDoNotCount(Broken):
    """Hears only those who were there when it asked."""

    breaks, with_it = "CONF-064", frozenset({"HITL-018"})

    def __init__(self) -> None:
        super().__init__()
        self.present: dict[str, set[str]] = {}

    def send(self, event: Json) -> None:
        if "reply_token" in event:
            self.present[event["reply_token"]] = {*self.subscriptions}
        super().send(event)

    def stranger(self, message: Json) -> bool:
        known = self.present.get(message["reply_token"], set())
        return super().stranger(message) or message["subscription_id"] not in known


# -- what is only warned of --------------------------------------------------------------------------


class Careless(Plain):
    """One that does not do what is recommended."""

    neglects: ClassVar[str]


class NumbersTokens(Careless):
    """Makes its tokens of a number."""

    neglects = "CONF-011"

    def number(self, count: int) -> str:
        return f"rpl_{count:032d}"

    def send(self, event: Json) -> None:
        if "reply_token" in event:
            prompt = self.prompts.pop(event["reply_token"])
            event["reply_token"] = self.number(len(self.prompts) + 1)
            self.prompts[event["reply_token"]] = prompt
        super().send(event)


class NumbersInFront(NumbersTokens):
    """Puts the number before something that stays the same."""

    def number(self, count: int) -> str:
        return f"rpl_{count:08d}5eeda8c0ffee5eeda8c0ffee"


class ShortTokens(NumbersTokens):
    """Numbers its tokens and does not even fill them up."""

    def number(self, count: int) -> str:
        return f"rpl_{count}"


class FramesWithoutId(Careless):
    """Sends events without an id to come back with."""

    neglects = "SSE-011"

    def frame(self, event: Json) -> str:
        return f"event: aaep.event\ndata: {json.dumps(event)}\n\n"


class FramesWithAnotherId(Careless):
    """Sends events with an id that is not theirs."""

    neglects = "SSE-011"

    def frame(self, event: Json) -> str:
        return f"id: {event['event_id'][4:]}\nevent: aaep.event\ndata: {json.dumps(event)}\n\n"

    def missed(self, subscription: Subscription, last: str) -> int:
        return super().missed(subscription, f"evt_{last}")


class FramesWithoutName(Careless):
    """Sends events that a browser which listens for aaep.event does not hear."""

    neglects = "SSE-009"

    def frame(self, event: Json) -> str:
        return f"id: {event['event_id']}\ndata: {json.dumps(event)}\n\n"


class OpenToEverySite(Plain):
    """Lets every web page send replies. No rule forbids it, so it is warned of without one."""

    def __init__(self) -> None:
        super().__init__()
        requests: Any = self._server.RequestHandlerClass
        usual = requests.end_headers

        def open_to_all(self: Any) -> None:
            self.send_header("Access-Control-Allow-Origin", "*")
            usual(self)

        requests.end_headers = open_to_all


# -- what is never shown -------------------------------------------------------------------------------


class NeverEnds(Plain):
    """Does everything but end its sessions."""

    def work(self, task: str) -> None:
        session = Session(self)
        with self.changed:
            self.sessions.append(session)
            session.begin()
        session.open = False  # who comes later is told nothing of it
        getattr(self, task, self.confirm)(session)


class NeverFallsSilent(NeverEnds):
    """Says again and again that it works, and ends nothing."""

    def work(self, task: str) -> None:
        super().work(task)
        session = Session(self)
        session.begin()
        states = itertools.cycle(("thinking", "idle"))
        while self.running:
            session.move(next(states))
            time.sleep(0.05)


class MislabelsItsStream(Plain):
    """Sends its events as another content type, so that no reader takes them for a stream."""

    stream_type = "application/json"


class GoesNowhere(Plain):
    """Begins sessions, and does nothing in them."""

    def work(self, task: str) -> None:
        session = Session(self)
        session.begin()
        session.move("thinking")


ALL: list[type[Broken]] = [
    one for one in vars().values() if isinstance(one, type) and issubclass(one, Broken) and one is not Broken
]
ALL_CARELESS: list[type[Careless]] = [
    one for one in vars().values() if isinstance(one, type) and issubclass(one, Careless) and one is not Careless
]
