"""
The phrases that announcements are made of, and functions that turn values into words.

Everything that the library itself says to a person is in :data:`CATALOGUE`, with when it is heard. It is
written for somebody who listens at 400 words a minute: the news first, nothing twice, no words of the protocol.
``docs/phrases.md`` is made from it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from .sanitize import MAX_SPOKEN_LENGTH, truncate

__all__ = [
    "CATALOGUE",
    "CLOSE_REASONS",
    "PHRASES",
    "Phrase",
    "capitalize",
    "describe_close_reason",
    "describe_goodbye",
    "ensure_full_stop",
    "format_duration",
    "format_time_left",
    "get_phrase",
    "humanize_name",
    "truncate_with_notice",
]


class Phrase(NamedTuple):
    """Something that is said: its name, its text with numbered gaps, when it is heard, and what may fill the gaps."""

    name: str
    text: str
    when: str
    example: tuple[str, ...] = ()


# All phrases are English, and all of them are here, grouped as on the page that lists them.
CATALOGUE: Final[Mapping[str, tuple[Phrase, ...]]] = {
    "The work": (
        Phrase("started", "Started.", "work begins; then what it is, in the author's words"),
        Phrase("part", "Part of: {0}", "work begins that belongs to other work", ("Planning a trip.",)),
        Phrase("completed", "Done.", "all that was asked for is done; then the result"),
        Phrase("ended", "Ended.", "the work ends, and something that was asked for was not done"),
        Phrase("undone", "{0} was not done.", "after Ended, or when nobody agreed to it", ("Delete a.txt",)),
        Phrase("undone.more.one", "1 more was not done.", "two were named, and there is another"),
        Phrase("undone.more", "{0} more were not done.", "two were named, and there are others", ("3",)),
        Phrase("possible", "{0} may have happened.", "after Ended; it began and did not finish", ("Pay Ada",)),
        Phrase("possible.more", "{0} more may have happened.", "two were named, and there are others", ("3",)),
        Phrase("possible.check", "Check before you try again.", "after that"),
        Phrase("undone.failed", "{0} failed.", "after Ended", ("Pay Ada",)),
        Phrase("undone.failed.more", "{0} more failed.", "two were named, and there are others", ("3",)),
        Phrase("failed.check", "Check what was done before you try again.", "something final failed half way"),
        Phrase("errored", "Failed.", "the work fails; then why, and what to do"),
        Phrase("cancelled", "Stopped.", "the work is stopped before its end"),
        Phrase("unfinished", "The work is not finished.", "after Stopped"),
        Phrase("tools.one", "1 tool was used.", "at the end, detailed"),
        Phrase("tools", "{0} tools were used.", "at the end, detailed", ("2",)),
        Phrase("took", "It took {0}.", "at the end of work or of a tool, detailed", ("4 seconds",)),
        Phrase("takes", "This takes about {0}.", "at the beginning, detailed", ("30 seconds",)),
        Phrase("left", "About {0} left.", "with progress, detailed", ("12 seconds",)),
        Phrase("by.user", "The user stopped it.", "after Stopped, detailed"),
        Phrase("by.producer", "The agent stopped it.", "after Stopped, detailed"),
        Phrase("by.timeout", "It took too long.", "after Stopped, detailed"),
        Phrase("by.system", "The system stopped it.", "after Stopped, detailed"),
        Phrase("partial", "So far: {0}", "after Stopped, detailed", ("Only the balance was read.",)),
        Phrase("code", "Error code {0}.", "after Failed, detailed", ("BANK_UNREACHABLE",)),
        Phrase("category.transient", "Trying again may help.", "after Failed, where there is no better advice"),
        Phrase("category.permanent", "Trying again will not help.", "after Failed, where there is no better advice"),
        Phrase("category.requires_user", "You have to do something first.", "after Failed, without better advice"),
        Phrase("hint.transient", "Trying again later may help.", "after Failed, for a network or a timeout"),
        Phrase(
            "hint.permanent",
            "Trying again will not help. Tell whoever runs the agent.",
            "after Failed, for a mistake in the agent",
        ),
        Phrase(
            "hint.requires_user",
            "Check whether the agent is allowed to do this, then try again.",
            "after Failed, for a missing permission",
        ),
        Phrase("hint.unknown", "Try again. If it fails again, tell whoever runs the agent.", "after Failed, otherwise"),
        Phrase("lost", "The agent stopped unexpectedly. The work is not finished.", "the agent's program died"),
        Phrase("lost.hint", "Check what was done before you start it again.", "after that"),
        Phrase(
            "lost.detailed",
            "The agent stopped unexpectedly. The work is not finished. What it had begun may have happened.",
            "the agent's program died, detailed",
        ),
        Phrase("handoff.human", "Handing over to a person.", "the agent gives the work to a person; then why"),
        Phrase("handoff.specialist_agent", "Handing over to another agent.", "the agent gives the work away"),
        Phrase("handoff.escalation_queue", "Handing over. Somebody will take it up.", "the agent gives the work away"),
        Phrase("handoff.other", "Handing over.", "the agent gives the work away, and does not say to whom"),
        Phrase("not_taken", "Nobody has taken over.", "the work ends after it was handed over in vain"),
    ),
    "What goes on": (
        Phrase("state.idle", "Idle.", "the agent has nothing to do"),
        Phrase("state.thinking", "Thinking.", "at most once in five seconds"),
        Phrase("state.thinking.detailed", "Thinking about what to do next.", "the same, detailed"),
        Phrase("state.calling_tool", "Using a tool.", "to who joins in the middle of it"),
        Phrase("state.writing_output", "Writing.", "to who joins in the middle of it"),
        Phrase("state.awaiting_input", "Waiting for you.", "to who joins in the middle of it"),
        Phrase("state.deciding", "Deciding.", "the agent weighs what to do"),
        Phrase("state.deciding.detailed", "Deciding how to go on.", "the same, detailed"),
        Phrase("state.handing_off", "Handing over.", "to who joins in the middle of it"),
        Phrase("state.other", "Now {0}.", "the agent names a state that is not ours", ("day dreaming",)),
        Phrase("state.unnamed", "Something else now.", "the agent's state has no readable name"),
        Phrase("resync", "Catching up.", "to who joins, before what goes on"),
        Phrase("percent", "{0} percent.", "progress; at most once in five seconds and ten percent", ("40",)),
        Phrase("step", "Step {0}.", "progress; at most once in five seconds", ("2",)),
        Phrase("step.of", "Step {0} of {1}.", "progress; at most once in five seconds", ("2", "5")),
        Phrase("progress.none", "Still working.", "progress without a number or a word"),
        Phrase("invoked", "Calling {0}.", "a tool begins, and its author gave it no sentence", ("fetch",)),
        Phrase("tool", "a tool", "in place of a tool's name that cannot be read"),
        Phrase(
            "with",
            "With {0}.",
            "after Calling, detailed; in a prompt, after what a tool does, without an author's sentence",
            ("url: a.txt",),
        ),
        Phrase("undo.warning", "This cannot be undone.", "a tool begins that nobody was asked about"),
        Phrase("success", "{0} finished.", "a tool without its own sentence is done; terse always", ("Fetch",)),
        Phrase("stopped", "{0} was stopped.", "a tool that changes nothing was cancelled", ("Look up",)),
        Phrase("stopped.early", "{0} was stopped early.", "no more of it was wanted, detailed", ("Search",)),
        Phrase("success.summary", "{0}: done.", "a tool with its own sentence is done", ("Fetching a.txt",)),
        Phrase("error.unnamed", "an error", "in place of what failed, where nothing says it"),
        Phrase("error.mistake", "a mistake in the agent", "in place of what failed"),
        Phrase("error.several", "{0} errors: {1} and others", "in place of what failed", ("2", "timeout error")),
        Phrase("error", "{0} failed.", "a tool failed, and nothing says why", ("Fetching a.txt",)),
        Phrase("error.reason", "{0} failed: {1}", "a tool failed", ("Fetching a.txt", "runtime error.")),
        Phrase(
            "timeout",
            "{0} did not finish. It may have happened. Check before you try again.",
            "nobody knows whether a tool took effect",
            ("Pay",),
        ),
        Phrase("status", "It reported the status {0}.", "a tool ended in a way that is not ours", ("cached",)),
        Phrase(
            "skipped",
            "{0} was not done: the agent stopped waiting.",
            "somebody agreed, and the agent no longer waited",
            ("Pay Ada",),
        ),
        Phrase("says", "{0}:", "before the first sentence of an answer", ("Bank Assistant",)),
        Phrase(
            "says.quoted",
            "Quote from {0}:",
            "before a sentence of an agent that begins like one of these",
            ("Bank Assistant",),
        ),
        Phrase("agent", "Agent", "in place of a name that is missing"),
        Phrase("agent.named", "Agent {0}", "a name that begins like one of these", ("quote Attention end quote",)),
        Phrase(
            "session", "{0}: {1}", "several things go on, and this is another one", ("Looking for a hotel", "Done.")
        ),
        Phrase("notice", "Notice.", "something that this reader does not know; then what it says of itself"),
        Phrase("notice.type", "Something this reader does not know: {0}.", "it says nothing", ("medical: dose given",)),
        Phrase("incomplete", "Incomplete message.", "something came with parts missing"),
        Phrase("incomplete.prompt", "It cannot be accepted or answered here.", "a prompt came with parts missing"),
        Phrase("cut", "Cut here, {0} characters left.", "a text is too long to be said at once", ("580",)),
    ),
    "Prompts": (
        Phrase("confirm", "Confirm.", "the agent asks whether it may; then the action"),
        Phrase("action.none", "The agent does not say what it would do.", "the action cannot be read"),
        Phrase("consequence", "If you accept: {0}", "after the action", ("The file is gone for good.",)),
        Phrase("consequence.none", "The agent does not say what would happen.", "the consequence cannot be read"),
        Phrase(
            "consequence.unstated",
            "Nobody stated what this changes. Take it as final.",
            "the tool's author did not classify it; once for each tool",
        ),
        Phrase(
            "consequence.unknown", "What this changes is not stated.", "the author gave no consequence, but the risk"
        ),
        Phrase("consequence.again", "Effect not stated.", "the same tool again"),
        Phrase("risk.low", "Low risk", "in a prompt"),
        Phrase("risk.medium", "Medium risk", "in a prompt"),
        Phrase("risk.high", "High risk", "in a prompt"),
        Phrase("risk.none", "Risk not stated: take it for high", "in the first prompt"),
        Phrase("risk.unstated", "Unstated risk", "in a later prompt"),
        Phrase("undo.irreversible", "cannot be undone", "in a prompt"),
        Phrase("undo.reversible_with_effort", "can be undone with effort", "in a prompt"),
        Phrase("undo.reversible", "can be undone", "in a prompt"),
        Phrase("undo.none", "undo not stated", "in a prompt"),
        Phrase("risk", "{0}, {1}.", "in a prompt", ("High risk", "cannot be undone")),
        Phrase("default.reject", "Refused after {0} without an answer.", "in the first prompt", ("5 minutes",)),
        Phrase("default.accept", "Accepted after {0} without an answer.", "in the first prompt", ("1 minute",)),
        Phrase("default.reject.short", "Refused after {0}.", "in a later prompt", ("5 minutes",)),
        Phrase("default.accept.short", "Accepted after {0}.", "in a later prompt", ("1 minute",)),
        Phrase("expired", "The time to answer is over.", "a prompt is said again too late"),
        Phrase("unrefusable", "Refusing is not offered.", "only yes is offered"),
        Phrase("unacceptable", "Accepting is not offered.", "only no is offered"),
        Phrase("uncut", "Hear the whole text before you can accept: {0}.", "a prompt was cut", ("m",)),
        Phrase("uncut.plain", "Hear the whole text before you can accept.", "a prompt was cut, and no key is known"),
        Phrase("rest", "It goes on: {0}", "a prompt that was cut is heard further", ("to the end.",)),
        Phrase("rest.action", "The action goes on: {0}", "the same, of the action", ("to the end.",)),
        Phrase(
            "rest.consequence",
            "What happens if you accept goes on: {0}",
            "the same, of the consequence",
            ("to the end.",),
        ),
        Phrase("key", "{0} {1}", "in the first prompt: the keys", ("a", "accept")),
        Phrase("key.accept", "accept", "a key"),
        Phrase("key.reject", "refuse", "a key"),
        Phrase("key.yes", "yes", "a key"),
        Phrase("key.no", "no", "a key"),
        Phrase("key.more", "more", "a key"),
        Phrase("key.time", "more time", "a key"),
        Phrase("key.close", "quit", "a key"),
        Phrase("write", "Write {0} or {1}.", "in the first prompt, where lines are typed", ("accept, reject", "time")),
        Phrase("write.one", "Write {0}.", "in the first prompt, where lines are typed", ("time",)),
        Phrase("question", "Question.", "the agent asks something; then the question"),
        Phrase("question.none", "The agent does not say what it asks.", "the question cannot be read"),
        Phrase("why", "Why: {0}", "after a question, if the agent gives a reason", ("You have two accounts.",)),
        Phrase("choice", "{0}: {1}", "after a question", ("1", "a.txt.")),
        Phrase("kind.freetext", "Answer in your own words.", "after the first question, or detailed"),
        Phrase("kind.yes_no", "Answer yes or no.", "after the first question, or detailed"),
        Phrase("kind.numeric", "Answer with a number.", "after the first question, or detailed"),
        Phrase("time", "{0} to answer.", "after a question", ("3 minutes",)),
        Phrase("time.default", "{0} to answer, else: {1}", "after a question with a default", ("3 minutes", "a.txt.")),
        Phrase("longer", "You have {0} now.", "more time was granted", ("10 minutes",)),
        Phrase("countdown", "{0} left to answer. {1}", "half and a tenth of the time are left", ("1 minute", "Pay.")),
        Phrase("time_left", "{0} left to answer.", "the same, from the agent", ("1 minute",)),
        Phrase("again", "Again.", "what an urgent message interrupted is said again"),
        Phrase("still", "Still waiting for you.", "the prompt being answered is said again"),
        Phrase("other", "Another prompt is waiting for you.", "after one was closed; then the prompt"),
        Phrase("prompt.waiting", "Another question is waiting.", "one is being answered; then the key to hear it"),
        Phrase("about", "That was about this: {0}", "several prompts are open", ("Pay Ada.",)),
        Phrase("flood", "Many urgent messages are coming. They wait their turn from now on.", "once a minute at most"),
    ),
    "Values in what is asked": (
        Phrase("tool.use", "Use {0}.", "the tool says nothing of itself; then its arguments", ("fetch",)),
        Phrase("with.nothing", "nothing more", "after With, for a tool without arguments"),
        Phrase("value.quoted", "quote {0} end quote", "a value that is more than a word", ("to Bob; amount 1",)),
        Phrase("value.word", "the word {0}", "a value holds one of the words that mark it off", ("quote",)),
        Phrase("value.line", "line {0}: {1}", "a value of several lines", ("2", "rm a.txt")),
        Phrase("value.ending", "number ending in {0}", "a number like that of a card or a person", ("4 2 4 2",)),
        Phrase("value.empty", "empty text", "a text without characters"),
        Phrase("value.blank", "blank text", "a text of nothing but spaces"),
        Phrase("value.invisible", "invisible {0}", "a character that is neither seen nor heard", ("hangul filler",)),
        Phrase(
            "value.private", "private character {0}", "a character that everybody may draw as they like", ("U+E000",)
        ),
        Phrase("value.unknown", "unknown character {0}", "a character without a name", ("U+0007",)),
        Phrase(
            "value.times", "{0}, {1} times", "the same such character again and again", ("invisible tag space", "9")
        ),
        Phrase("value.none", "nothing", "a value that is not there"),
        Phrase("value.yes", "yes", "a switch that is on"),
        Phrase("value.no", "no", "a switch that is off"),
        Phrase("value.item", "1 item: {0}", "a list", ("a.txt",)),
        Phrase("value.items", "{0} items: {1}", "a list", ("2", "a.txt, b.txt")),
        Phrase("value.items.none", "empty list", "a list"),
        Phrase("value.entry", "1 entry: {0}", "a table of names and values", ("size: 3",)),
        Phrase("value.entries", "{0} entries: {1}", "a table of names and values", ("2", "size: 3; owner: ada")),
        Phrase("value.entries.none", "no entries", "a table of names and values"),
        Phrase("value.part", "1 part: {0}", "a record", ("amount: 3",)),
        Phrase("value.parts", "{0} parts: {1}", "a record", ("2", "amount: 3; to: ada")),
        Phrase("value.parts.none", "no parts", "a record"),
        Phrase("value.byte", "1 byte", "data"),
        Phrase("value.bytes", "{0} bytes", "data", ("2048",)),
        Phrase("value.digest", "{0}, SHA-256 begins {1}", "data", ("2048 bytes", "9f86d081")),
        Phrase("value.other", "a {0}", "a value that has no words, where nobody is asked about it", ("Connection",)),
    ),
    "Outcomes of prompts": (
        Phrase("outcome.accepted", "Accepted.", "it was accepted, by you or where nobody knows by whom"),
        Phrase("outcome.rejected", "Refused.", "it was refused, by you or where nobody knows by whom"),
        Phrase("outcome.answered", "Answered.", "the question was answered"),
        Phrase("outcome.accepted.elsewhere", "Accepted elsewhere.", "another reader accepted"),
        Phrase("outcome.rejected.elsewhere", "Refused elsewhere.", "another reader refused; then what was not done"),
        Phrase("outcome.answered.elsewhere", "Answered elsewhere.", "another reader answered"),
        Phrase("outcome.timed_out", "Time ran out.", "no answer came in time; then what was not done"),
        Phrase("outcome.withdrawn", "No longer asked.", "the agent takes it back; then what was not done"),
        Phrase("outcome.unavailable", "Nobody is left to answer.", "the last reader left; then what was not done"),
        Phrase("outcome.no_reply_channel", "Nobody can answer.", "no reader is connected; then what was not done"),
        Phrase("outcome.other", "The prompt is closed.", "it was closed in a way that is not ours"),
        Phrase("outcome.modified", "Something else is wanted. The agent has to ask again.", "after Refused"),
        Phrase("outcome.granted", "It counts as accepted.", "after Time ran out, where that was announced"),
        Phrase("outcome.defaulted", "The agent goes on with the answer it named.", "after Time ran out"),
        Phrase("outcome.unanswered", "The agent goes on without an answer.", "after Time ran out"),
        Phrase("outcome.longer", "There is more time. It is asked again.", "to a reader that does not know of it"),
    ),
    "Markdown": (
        Phrase("markdown.heading", "Heading: {0}", "a heading", ("Weekly report.",)),
        Phrase("markdown.bullet", "Bullet: {0}", "an item of a list", ("Milk",)),
        Phrase("markdown.bullet.nested", "Sub-bullet: {0}", "an item within an item", ("Oat milk",)),
        Phrase("markdown.number", "{0}: {1}", "a numbered item", ("1", "First")),
        Phrase("markdown.checked", "Checked: {0}", "a task that is ticked", ("Paid",)),
        Phrase("markdown.unchecked", "Not checked: {0}", "a task that is not ticked", ("Sent",)),
        Phrase("markdown.quote", "Quote: {0}", "a quotation", ("Be brief.",)),
        Phrase("markdown.code", "Code", "code, then its language and length; the code itself on request"),
        Phrase("markdown.coming", "coming", "after Code, while long code is being written"),
        Phrase("markdown.line", "{0} line", "the length of code", ("1",)),
        Phrase("markdown.lines", "{0} lines", "the length of code", ("12",)),
        Phrase("markdown.table", "Table: {0}.", "the header of a table", ("Name, Size",)),
        Phrase("markdown.cell", "{0}: {1}", "a cell of a table, with its column", ("Name", "a.txt")),
        Phrase("markdown.image", "Image: {0}", "an image with a description", ("A chart",)),
        Phrase("markdown.picture", "Image", "an image without one"),
    ),
    "The connection": (
        Phrase("connected", "Connected.", "the reader is connected"),
        Phrase("connected.name", "Connected to {0}.", "the reader is connected, and knows to whom", ("Office Helper",)),
        Phrase("reconnected", "Connected again.", "after the connection was lost; nothing was missed"),
        Phrase("arrived", "{0} is here.", "an agent was found, and is listened to from now on", ("Office Helper",)),
        Phrase("discover.none", "No agent is running yet. Each that begins is listened to.", "at the beginning"),
        Phrase("reconnected.name", "Connected to {0} again.", "one of several agents is back", ("Office Helper",)),
        Phrase(
            "gap.name",
            "Connected to {0} again. Something was missed meanwhile.",
            "one of several agents is back",
            ("Office Helper",),
        ),
        Phrase(
            "connection.lost.name",
            "The connection to {0} is lost. {1}",
            "the connection to one of several agents breaks",
            ("Office Helper", "Nothing answers."),
        ),
        Phrase(
            "connection.ended.name",
            "The connection to {0} has ended for good. {1}",
            "the connection to one of several agents cannot go on",
            ("Office Helper", "Access was denied."),
        ),
        Phrase(
            "waiting.name",
            "Waiting for {0}. This goes on by itself.",
            "one of several agents is not there yet",
            ("unix:office",),
        ),
        Phrase(
            "no_answers.name",
            "{0} takes no answers from this reader.",
            "one of several agents does not let it answer",
            ("Office Helper",),
        ),
        Phrase("unread.name", "This is about {0}.", "before that something could not be read", ("Office Helper",)),
        Phrase("asker.gone", "The agent that asked is not connected any more.", "an answer could not be sent"),
        Phrase("gap", "Connected again. Something was missed meanwhile.", "after the connection was lost"),
        Phrase("connection.lost", "The connection is lost. {0}", "the connection breaks", ("Nothing answers.",)),
        Phrase("retrying", "{0} Trying again in {1} seconds.", "while the reader waits", ("Nothing answers.", "0.4")),
        Phrase(
            "gave_up",
            "Gave up after {0} without a connection. {1}",
            "a limit was set",
            ("1 minute", "Nobody is there."),
        ),
        Phrase("resume.slow_consumer", "We were too slow, and go on from where we were.", "after a break"),
        Phrase(
            "resume.authentication_expired",
            "Our credential expired. We show what we have now, and go on from where we were.",
            "after a break",
        ),
        Phrase("absent", "{0} is not reachable at the moment.", "a hub has lost an agent", ("Office Helper",)),
        Phrase("absent.terse", "{0} is not reachable.", "the same, terse", ("Office Helper",)),
        Phrase("absent.asking", "It gets your answer when it is back.", "after that, if it asks something"),
        Phrase("returned", "{0} is reachable again.", "the agent is back", ("Office Helper",)),
        Phrase("waiting", "Waiting. This goes on by itself.", "the reader tries again until it succeeds"),
        Phrase(
            "connection.ended", "The connection has ended for good. {0}", "it cannot go on", ("Access was denied.",)
        ),
        Phrase(
            "unreadable",
            "Something came that could not be read. If the agent asks something, it may be waiting for an answer.",
            "what came is no message",
        ),
        Phrase("no_answers", "The agent takes no answers from this reader.", "the agent does not let it answer"),
        Phrase("proven", "This is {0}, signed with the key {1}.", "who it is was proven", ("bank", "2026-11")),
        Phrase("unproven", "Identity not proven.", "who it is cannot be known; then why"),
        Phrase(
            "unproven.local",
            "It is signed as {0} with the key {1}, but another user of this machine could be presenting it.",
            "after that, for an address on the same machine",
            ("bank", "2026-11"),
        ),
        Phrase("refused", "The agent refused the connection", "the reader is not let in; then why, and what to do"),
        Phrase("closed.producer_shutdown", "{0} has ended.", "the agent or the hub says goodbye", ("Office Helper",)),
        Phrase("closed.authentication_expired", "Your access has expired. Connect again with a new one.", "it ends"),
        Phrase("closed.slow_consumer", "This reader was too slow. Connect again to go on where it stopped.", "it ends"),
        Phrase("closed.superseded", "Another reader took over.", "it ends"),
        Phrase("closed.subscriber_shutdown", "This reader has stopped.", "it ends"),
        Phrase("closed.rate_violation", "This reader sent too much.", "it ends"),
        Phrase("closed.protocol_error", "This reader sent something that is not allowed.", "it ends"),
        Phrase("closed.manifest_invalid", "The other side could not prove who it is.", "it ends"),
        Phrase("closed.other", "{0} ended the connection: {1}.", "it ends, nobody here knows why", ("Shop", "night")),
    ),
    "Why a connection is refused": (
        Phrase("refused.version_unsupported", "it speaks no version of the protocol that we speak.", "then why"),
        Phrase("refused.manifest_invalid", "a proof could not be checked.", "then why"),
        Phrase("refused.manifest_signature_required", "it has no signed proof of who it is.", "then why"),
        Phrase("refused.capabilities_incompatible", "it cannot give what we asked for.", "then why"),
        Phrase("refused.rate_limit", "too much is asked of it at the moment.", "then why"),
        Phrase("refused.authentication_required", "it does not know who we are.", "then why"),
        Phrase("refused.authentication_expired", "our credential has expired.", "then why"),
        Phrase("refused.authorization_denied", "we do not have access.", "then why"),
        Phrase("refused.transport_unavailable", "it cannot be used in this way at the moment.", "then why"),
        Phrase("refused.unknown", "it names no reason.", "then why"),
        Phrase("refused.slow_consumer", "we were too slow.", "then why"),
        Phrase("refused.rate_violation", "we sent too much.", "then why"),
        Phrase("refused.protocol_error", "we sent what the protocol does not allow.", "then why"),
        Phrase("advice.version_unsupported", "Use a version of this library that speaks theirs.", "then what to do"),
        Phrase(
            "advice.manifest_invalid", "Ask whoever runs the agent for a proof that can be checked.", "then what to do"
        ),
        Phrase(
            "advice.manifest_signature_required",
            "Ask whoever runs the agent for a signed proof of who it is.",
            "then what to do",
        ),
        Phrase(
            "advice.capabilities_incompatible", "Ask for less, or for a language that is offered.", "then what to do"
        ),
        Phrase("advice.rate_limit", "Try again later.", "then what to do"),
        Phrase("advice.authentication_required", "Give a valid credential with {0}.", "then what to do", ("--token",)),
        Phrase("advice.authentication_expired", "Connect again with a fresh credential.", "then what to do"),
        Phrase("advice.authorization_denied", "Ask whoever runs the agent for access.", "then what to do"),
        Phrase("advice.transport_unavailable", "Try again later, or use another transport.", "then what to do"),
        Phrase("advice.slow_consumer", "Ask for less, or read faster.", "then what to do"),
        Phrase("advice.rate_violation", "Send fewer replies and changes.", "then what to do"),
        Phrase("advice.unknown", "Ask whoever runs the agent what it means.", "then what to do"),
    ),
    "Settings": (
        Phrase(
            "settings.line",
            "Line {0} of the settings cannot be read, and does not count: {1}",
            "at the beginning",
            ("3", "rate ="),
        ),
        Phrase(
            "settings.repeated",
            "Line {0} of the settings names {1} a second time. The first one counts.",
            "at the beginning",
            ("3", "speech.rate"),
        ),
        Phrase(
            "settings.unknown",
            "Line {0} of the settings names {1}, which is no setting.",
            "at the beginning",
            ("3", "speech.raet"),
        ),
        Phrase("settings.similar", "Did you mean {0}?", "after that", ("speech.rate",)),
        Phrase(
            "settings.value",
            "Line {0} of the settings does not count: {1} has to be {2}.",
            "at the beginning",
            ("3", "verbosity", "terse, normal or detailed"),
        ),
        Phrase(
            "settings.variable",
            "The variable {0} does not count. It has to be {1}.",
            "at the beginning",
            ("AAEP_VERBOSITY", "terse, normal or detailed"),
        ),
        Phrase("settings.more", "{0} more lines of the settings do not count.", "several were named", ("7",)),
        Phrase("settings.unreadable", "The settings cannot be read, so defaults count. {0}", "then why", ("…",)),
        Phrase("settings.missing", "There is no file {0}, so defaults count.", "AAEP_SETTINGS names it", ("a.toml",)),
        Phrase("settings.encoding", "Line {0} has other characters than UTF-8.", "why settings are not read", ("3",)),
        Phrase(
            "settings.unsafe",
            "Other users can change {0}, so defaults count. Run chmod go-w on it.",
            "at the beginning",
            ("settings.toml",),
        ),
        Phrase(
            "settings.stranger",
            "{0} belongs to another user, so defaults count.",
            "at the beginning",
            ("settings.toml",),
        ),
        Phrase(
            "settings.allow",
            "The rules of your settings cannot be read, so everything is asked. {0}",
            "at the beginning, then why",
            ("Rule 1 of allow has tool, which is unknown.",),
        ),
    ),
    "At the terminal": (
        Phrase("attention", "Attention. {0}", "before what is urgent", ("Confirm. Delete a.txt.",)),
        Phrase("greeting.keys", "Press ? for help, q to quit.", "at the beginning"),
        Phrase("greeting.lines", "Write help and Enter for help.", "at the beginning, where lines are typed"),
        Phrase(
            "greeting.pipe", "Not interactive: commands are read from standard input, one on each line.", "at a pipe"
        ),
        Phrase("greeting.none", "Not interactive: prompts will be shown and not answered.", "nobody can type"),
        Phrase("greeting.daemon", "Listening in the background.", "a reader without a terminal begins"),
        Phrase(
            "notifications.none",
            "There are no notifications here: no service of the desktop answers.",
            "a reader without a terminal begins",
        ),
        Phrase("notifications.gone", "Notifications have ended: the desktop has closed.", "the connection is lost"),
        Phrase("notification.answer", "Answer in a terminal: aaep listen", "it takes more than a click"),
        Phrase("prompts.shown", "Prompts will be shown and not answered.", "answers are no longer possible"),
        Phrase("input.ended", "Standard input has ended. Listening goes on.", "the pipe is closed"),
        Phrase("goodbye", "Stopped listening.", "at the end"),
        Phrase("goodbye.open.one", "1 question was not answered.", "at the end, if there is one"),
        Phrase("goodbye.open", "{0} questions were not answered.", "at the end, if there are any", ("2",)),
        Phrase("other_session", "Other work asks something that is not shown here.", "only one session is shown"),
        Phrase("typed_before", "What was typed before this line does not count.", "keys came before a prompt was read"),
        Phrase("draft", "You were writing: {0}", "something was said in between", ("On Mon",)),
        Phrase("nothing_said", "Nothing was said yet.", "something is to be repeated"),
        Phrase("nothing_before", "Nothing was said before that.", "going back has come to the beginning"),
        Phrase("nothing_after", "That was the last.", "going forward has come to the end"),
        Phrase("backlog.one", "1 more update.", "the same of one"),
        Phrase("backlog", "{0} more updates.", "speech has fallen behind; then the last of them", ("5",)),
        Phrase("quiet.begin", "Do not disturb. Only questions and warnings are said.", "that was switched on"),
        Phrase("quiet.end.none", "Nothing happened meanwhile.", "it was switched off"),
        Phrase("quiet.end.one", "1 update meanwhile.", "it was switched off"),
        Phrase("quiet.end", "{0} updates meanwhile.", "it was switched off; then how to hear them", ("7",)),
        Phrase("quiet.hear.key", "Press f for the first.", "after that"),
        Phrase("quiet.hear.line", "Write forward for the first.", "after that, where lines are typed"),
        Phrase("verbosity", "Verbosity: {0}.", "how much is said was changed", ("terse",)),
        Phrase("speech.paused", "Speech is paused.", "the pause key; it is printed only"),
        Phrase("speech.nothing", "Nothing is being spoken.", "the pause key, and nothing is being spoken"),
        Phrase("speech.gone", "Speech is gone. The text goes on here.", "the speech server has stopped"),
        Phrase("speech.back", "Speech is back.", "the speech server answers again"),
        Phrase(
            "speech.no_voice",
            "No voice for {0} here. It is read with the voice for {1}.",
            "once for each language without a voice",
            ("Yoruba", "English"),
        ),
        Phrase("speech.none", "Nothing is spoken here.", "speech was asked for and there is none; then why"),
        Phrase("speech.unavailable", "Speech Dispatcher does not answer. Install or start it.", "after that"),
        Phrase(
            "speech.none.prism", "The Prism library is needed. Install it with: pip install prismatoid.", "after that"
        ),
        Phrase(
            "speech.address",
            "SPEECHD_ADDRESS is {0}. Write unix_socket:path or inet_socket:host:port.",
            "after that",
            ("tcp:1",),
        ),
        Phrase("speech.refused", "Speech Dispatcher does not know {0}.", "after that", ("klatt9",)),
        Phrase("speech.rate", "{0} words a minute.", "speech was made faster or slower", ("240",)),
        Phrase("asking_time", "Asking for {0}.", "more time is asked for", ("10 minutes",)),
        Phrase("sending.accept", "Sending: accept.", "an answer is sent"),
        Phrase("sending.reject", "Sending: refuse.", "an answer is sent"),
        Phrase("sending", "Sending: {0}", "an answer is sent", ("On Monday",)),
        Phrase("no_time", "The agent does not grant more time.", "after Asking for"),
        Phrase("unsent", "It could not be sent. {0}", "the connection is lost, for instance", ("Nobody is there.",)),
        Phrase("still_open", "The prompt is still open.", "after an answer could not be sent"),
        Phrase("may_have_arrived", "It took too long, and may have arrived or not.", "an answer was not confirmed"),
        Phrase("not_connected", "There is no connection yet.", "an answer could not be sent"),
    ),
    "Notifications of the desktop": (
        Phrase("notification.title", "{0} asks", "the title of a notification", ("Bank",)),
        Phrase("notification.accept", "Accept", "a button of a notification"),
        Phrase("notification.reject", "Refuse", "a button of a notification"),
    ),
    "Words for sounds": (
        Phrase("earcon.sent", "Sent.", "in place of a sound, where a listener wants a word"),
        Phrase("earcon.working", "Working.", "in place of a sound, where a listener wants a word"),
        Phrase("earcon.done", "Finished.", "in place of a sound, where a listener wants a word"),
        Phrase("earcon.needs-you", "Your turn.", "in place of a sound, where a listener wants a word"),
        Phrase("earcon.error", "Error.", "in place of a sound, where a listener wants a word"),
    ),
    "Languages": (
        Phrase("language.en", "English", "the name of a language"),
        Phrase("language.es", "Spanish", "the name of a language"),
        Phrase("language.fr", "French", "the name of a language"),
        Phrase("language.de", "German", "the name of a language"),
        Phrase("language.pt", "Portuguese", "the name of a language"),
        Phrase("language.ar", "Arabic", "the name of a language"),
        Phrase("language.he", "Hebrew", "the name of a language"),
        Phrase("language.hi", "Hindi", "the name of a language"),
        Phrase("language.ja", "Japanese", "the name of a language"),
        Phrase("language.zh", "Chinese", "the name of a language"),
        Phrase("language.cmn", "Chinese", "the name of a language"),
        Phrase("language.sw", "Swahili", "the name of a language"),
        Phrase("language.yo", "Yoruba", "the name of a language"),
        Phrase("language.ha", "Hausa", "the name of a language"),
        Phrase("language.ig", "Igbo", "the name of a language"),
    ),
    "Answering": (
        Phrase(
            "help.keys",
            "Keys: a accepts, r refuses, m says more, s says it again, o goes to the next open prompt,",
            "help",
        ),
        Phrase("help.keys.more", "v changes how much is said, t asks for more time, q quits, ? says this.", "help"),
        Phrase("help.keys.history", "b goes back, f forward. s twice says all of it. d is do not disturb.", "help"),
        Phrase(
            "help.second",
            "Accepting takes a second {0} if it is risky, or if several prompts are open.",
            "help",
            ("key",),
        ),
        Phrase("help.answer", "Answer a question with its number, or y or n, and then Enter.", "help"),
        Phrase("help.freetext", "To answer in your own words press Enter, write, and press Enter again.", "help"),
        Phrase(
            "help.lines",
            "Commands, one on each line: accept, reject, more, repeat, next, verbosity, time, quit, help.",
            "help, where lines are typed",
        ),
        Phrase(
            "help.lines.history",
            "Back and forward go through what was said. Repeat twice says all of it. Quiet is do not disturb.",
            "help, where lines are typed",
        ),
        Phrase(
            "help.speech",
            "Space stops speech, p pauses it and goes on, the full stop is faster, the comma slower.",
            "help, where speech is on",
        ),
        Phrase(
            "help.speech.lines",
            "Silence stops speech, pause pauses it and goes on. There are also faster and slower.",
            "help, where speech is on and lines are typed",
        ),
        Phrase("help.next", "Next goes to the next open prompt.", "help, where lines are typed"),
        Phrase(
            "help.answer.lines",
            "Answer a question with its number, yes, no, or your own words.",
            "help, where lines are typed",
        ),
        Phrase(
            "help.command.answer",
            "Words that are commands are sent as an answer with answer in front of them.",
            "help, where lines are typed",
        ),
        Phrase("several_open", "{0} prompts are open. You answer this one now. {1}", "a prompt is shown", ("2", "…")),
        Phrase("prompt.hear.key", "Press o to hear it.", "after Another question is waiting"),
        Phrase("prompt.hear.line", "Write next to hear it.", "the same, where lines are typed"),
        Phrase("next.key", "Press o for the next prompt.", "several prompts are open"),
        Phrase("next.line", "Write next for the next prompt.", "several prompts are open, where lines are typed"),
        Phrase("still_answering", "You still answer this: {0}", "a line is about another prompt", ("Pay Ada.",)),
        Phrase("draft.unsent", "What you were writing was not sent: {0}", "the question was closed", ("On Mon",)),
        Phrase("accept.void", "Nothing was accepted here.", "a prompt was closed before the second key"),
        Phrase("accept.taken_back", "Taken back. Nothing was accepted.", "another key than the second one"),
        Phrase(
            "accept.second.key",
            "Not accepted yet. Press y to accept {0} Any other key takes it back.",
            "accepting needs a second key",
            ("this: Pay Ada.",),
        ),
        Phrase(
            "accept.second.line",
            "Not accepted yet. Write yes to accept {0} Any other line takes it back.",
            "accepting needs a second line",
            ("this: Pay Ada.",),
        ),
        Phrase("accept.this", "this: {0}", "in that sentence", ("Pay Ada.",)),
        Phrase("accept.beginning", "what begins like this: {0}…", "in that sentence, for a long action", ("Pay",)),
        Phrase("leaving.one", "1 question is open.", "quitting is wanted"),
        Phrase("leaving.several", "{0} questions are open.", "quitting is wanted", ("2",)),
        Phrase("leaving.keys", "Press l to leave {0} open, Escape to stay.", "then", ("it",)),
        Phrase(
            "leaving.keys.refuse",
            "Press r to refuse {0} and leave, l to leave {1} open, Escape to stay.",
            "then, where they can be refused",
            ("it", "it"),
        ),
        Phrase("leaving.lines", "Write leave to leave {0} open, stay to stay.", "then, with lines", ("it",)),
        Phrase(
            "leaving.lines.refuse",
            "Write refuse to refuse {0} and leave, leave to leave {1} open, stay to stay.",
            "then, with lines, where they can be refused",
            ("it", "it"),
        ),
        Phrase("leaving.it", "it", "in that sentence, of one question"),
        Phrase("leaving.them", "them", "in that sentence, of several"),
        Phrase("leaving.some", "only {0} of them", "in that sentence, where others cannot be refused", ("1",)),
        Phrase("stay", "You stay. Nothing was answered.", "leaving was taken back"),
        Phrase("keys.several", "Several keys came at once. None of them counts. Press one key at a time.", "so it was"),
        Phrase("keys.unknown", "The key {0} does nothing here. Press ? for help.", "a key has no meaning", ("x",)),
        Phrase(
            "keys.too_soon",
            "That key came too soon and does not count. Wait a moment, then press it once.",
            "a key came before the prompt can have been read",
        ),
        Phrase(
            "line.too_soon",
            "That came too soon and does not count. Hear the prompt to its end first.",
            "a line came while a prompt was being spoken",
        ),
        Phrase("draft.begin", "Write your answer. Enter sends it. Escape leaves it unsent.", "Enter at a question"),
        Phrase("draft.empty", "Nothing was written. Nothing was sent.", "Enter with nothing written"),
        Phrase("draft.left", "Left. Nothing was sent.", "Escape while writing"),
        Phrase("draft.removed", "What you wrote was removed. Write your answer.", "Control-U while writing"),
        Phrase("enter.prompt", "Enter alone answers nothing. Press s to hear the prompt again.", "Enter at a prompt"),
        Phrase("enter.nothing", "There is nothing to answer. Press ? for help.", "Enter without a prompt"),
        Phrase("line.empty", "An empty line answers nothing.", "an empty line"),
        Phrase("line.no_prompt", "There is no prompt, so that line answers nothing. Write help for help.", "a line"),
        Phrase(
            "line.unknown", "That line was not understood. Nothing was sent. Write accept, reject or help.", "a line"
        ),
        Phrase("no_other", "No other prompt is open.", "the next prompt is wanted"),
        Phrase("no_more_time", "There is no more time to be had.", "more time is wanted"),
        Phrase("time_asked", "More time was asked for already.", "more time is wanted again"),
        Phrase("cannot_reply", "This reader cannot answer prompts. Nothing was sent.", "an answer is tried"),
        Phrase("answer_sent", "Your answer was sent. Wait for what the agent says.", "an answer is tried again"),
        Phrase("nothing_to.accept", "There is nothing to accept.", "it is tried without a prompt"),
        Phrase("nothing_to.reject", "There is nothing to refuse.", "it is tried without a prompt"),
        Phrase("nothing_to.answer", "There is nothing to answer.", "it is tried without a prompt"),
        Phrase("nothing_to.time", "There is nothing to have more time for.", "it is tried without a prompt"),
        Phrase("another_open", "Another prompt is open. {0}", "an answer is tried without a prompt", ("…",)),
        Phrase("is_question", "This is a question. {0}", "accepting a question is tried", ("Answer yes or no.",)),
        Phrase("answer.word", "To send that word as your answer, write answer in front of it.", "the same, with lines"),
        Phrase("answer.freetext", "Press Enter, write your answer, and press Enter again.", "how to answer"),
        Phrase("answer.own_words", "Press Enter before you write your own words.", "how to answer"),
        Phrase("answer.impossible", "This question cannot be answered here.", "how to answer"),
        Phrase("answer.forms", "Answer with {0}, and Enter.", "how to answer", ("yes or no",)),
        Phrase("answer.or", "{0} or {1}", "how to answer", ("a number", "your own words")),
        Phrase("answer.number", "A number that is no choice is written with = in front of it.", "how to answer"),
        Phrase("answer.unsent", "Nothing was sent. {0}", "an answer does not fit", ("Answer yes or no.",)),
        Phrase("form.multiple_choice", "the number of a choice", "how to answer"),
        Phrase("form.yes_no", "yes or no", "how to answer"),
        Phrase("form.numeric", "a number", "how to answer"),
        Phrase("form.freetext", "your own words", "how to answer"),
    ),
    "Coding agents": (
        Phrase("code.started", "{0} is at work.", "a prompt was sent to a coding agent", ("goose",)),
        Phrase("code.run", "Run {0}.", "what it wants to do", ("quote git push end quote",)),
        Phrase("code.create", "Create {0}, {1}: {2}.", "what it wants to do", ("a.txt", "1 line", "hello")),
        Phrase(
            "code.change",
            "Change {0}: {1} added, {2} removed.",
            "what it wants to do; then each place",
            ("a.py", "2 lines", "1 line"),
        ),
        Phrase("code.change.nothing", "Write {0} again without a change.", "what it wants to do", ("a.py",)),
        Phrase("code.hunk.add", "At line {0}, add {1}.", "a place that is changed", ("3", "x")),
        Phrase("code.hunk.remove", "At line {0}, remove {1}.", "a place that is changed", ("3", "x")),
        Phrase("code.hunk.replace", "At line {0}, replace {1} with {2}.", "a place that is changed", ("3", "x", "y")),
        Phrase("code.hunk.blank", "Only spaces or line breaks differ there.", "after that"),
        Phrase(
            "code.own_words",
            "The agent does not say what it runs, only this: {0}.",
            "what it wants to do, where nothing but its own words is known",
            ("quote touch a end quote",),
        ),
        Phrase("code.effect.run", "It runs with all your rights.", "what follows from a yes"),
        Phrase("code.effect.change", "The file is written.", "what follows from a yes"),
        Phrase("code.effect.delete", "It is gone, unless you have a copy.", "what follows from a yes"),
        Phrase("code.effect.move", "It is somewhere else then.", "what follows from a yes"),
        Phrase("code.effect.read", "The agent and its model read it.", "what follows from a yes"),
        Phrase("code.effect.search", "The agent and its model read what is found.", "what follows from a yes"),
        Phrase("code.effect.think", "Nothing is changed.", "what follows from a yes"),
        Phrase(
            "code.effect.fetch", "The address and what is sent there leave this machine.", "what follows from a yes"
        ),
        Phrase("code.effect.switch_mode", "The agent may ask about less from then on.", "what follows from a yes"),
        Phrase("code.effect.other", "What this changes is not known. Take it as final.", "what follows from a yes"),
        Phrase("code.running", "Running {0}.", "it was allowed, or ran by itself", ("quote git push end quote",)),
        Phrase("code.creating", "Creating {0}.", "it was allowed", ("a.txt",)),
        Phrase("code.changing", "Changing {0}.", "it was allowed", ("a.py",)),
        Phrase("code.reading", "Reading {0}.", "it reads a file", ("a.py",)),
        Phrase("code.searching", "Searching for {0}.", "it searches files", ("main",)),
        Phrase("code.described", "In its own words: {0}.", "nothing else is known of what it does", ("List files",)),
        Phrase("code.using", "Using {0}.", "it uses some other tool", ("web fetch",)),
        Phrase("code.ruled", "Allowed by your own rule. {0}", "a rule of the person allowed it", ("Reading a.py.",)),
        Phrase(
            "code.unasked",
            "Warning. It did this without asking: {0}",
            "something ran that nobody was asked about",
            ("Run ls.",),
        ),
        Phrase(
            "code.unasked.failed",
            "Warning. It tried this without asking, and it failed: {0}",
            "the same, and it failed",
            ("Run ls.",),
        ),
        Phrase(
            "code.despite",
            "Warning. It did this although it was refused: {0}",
            "something ran that was refused",
            ("Run ls.",),
        ),
        Phrase("code.stopping", "It is being stopped.", "after one of these warnings"),
        Phrase("code.undescribed", "something that cannot be told", "in one of these warnings"),
        Phrase(
            "code.too_long",
            "Refused: it is too long to be read out in full. {0} Ask for smaller steps.",
            "a change or a command does not fit into a question",
            ("Changing a.py.",),
        ),
        Phrase(
            "code.unreadable",
            "Refused: it cannot be read out in full, as it seems to hold a secret. {0}",
            "a change or a command holds a secret",
            ("Changing a.py.",),
        ),
        Phrase(
            "code.unofferable",
            "Refused: the agent offers no way to allow this only once. {0}",
            "an agent offers to allow something always, or nothing at all",
            ("Running make.",),
        ),
        Phrase(
            "code.between",
            "Refused: the agent asked for this when it was not at work. {0}",
            "an agent asks after its turn",
            ("Running make.",),
        ),
        Phrase("code.mode", "Mode: {0}.", "the agent works in another mode", ("Plan",)),
        Phrase(
            "code.mode.unasked",
            "Warning. In the mode {0} it acts without asking.",
            "the agent works in another mode",
            ("Auto",),
        ),
        Phrase("code.mode.back", "It is set back.", "after that"),
        Phrase(
            "code.mode.unknown",
            "Whether this agent asks before it acts is not known. What it does without asking is told, and stops it.",
            "an agent that is not in the table begins",
        ),
        Phrase("code.subagent", "Helper {0}: {1}.", "an agent of the agent", ("tests", "running")),
        Phrase("code.stop.refusal", "The model refuses to go on.", "the end of a turn"),
        Phrase("code.stop.max_tokens", "The answer became too long for the model.", "the end of a turn"),
        Phrase("code.stop.max_turn_requests", "It took more steps than it may.", "the end of a turn"),
        Phrase("code.stop.other", "It stopped, and does not say why.", "the end of a turn"),
        Phrase("code.stop.error", "The agent reports an error.", "the end of a turn"),
        Phrase("code.stop.gone", "The agent's program has ended.", "the end of a turn"),
        Phrase("code.stop.stuck", "It did not stop, so its program was ended.", "the end of a turn"),
        Phrase("code.stop.fault", "Something in this program failed, so the agent was stopped.", "the end of a turn"),
        Phrase("code.refused", "The agent ended its turn after a refusal.", "the end of a turn"),
        Phrase("compose.begin", "Write to the agent. Enter sends it. Escape leaves it for later.", "p or Enter"),
        Phrase("compose.left", "Left. Press p to go on with it.", "Escape while writing to the agent"),
        Phrase("compose.left.empty", "Left. Nothing was written.", "Escape before anything was written"),
        Phrase("compose.removed", "The line was removed.", "Control-U while writing to the agent"),
        Phrase("compose.joined", "The line before:", "Backspace at the beginning of a line"),
        Phrase("compose.history.none", "Nothing was sent yet.", "what was sent is to be listed"),
        Phrase("compose.help", "p or Enter writes to the agent. A backslash at the end begins another line.", "help"),
        Phrase("compose.help.history", "h lists what you sent. Control-P fetches it back. @name names a file.", "help"),
        Phrase(
            "compose.help.lines",
            "Any other line is sent to the agent, also after the word prompt. History lists what you sent.",
            "help, where lines are typed",
        ),
        Phrase("code.ready", "{0} is ready. Press p to write to it.", "a coding agent has started", ("goose",)),
        Phrase("code.ready.lines", "{0} is ready. Write to it.", "the same, where lines are typed", ("goose",)),
        Phrase("code.queued", "Still at work. This is sent next.", "something was written during a turn"),
        Phrase("code.interrupt", "Stopping. Press Control-C again to end.", "Control-C during a turn"),
        Phrase("code.interrupt.idle", "Press Control-C again to end.", "Control-C while nothing goes on"),
        Phrase("code.file", "With the file {0}.", "a file was named in what was written", ("a.py",)),
        Phrase(
            "code.file.missing",
            "There is no file {0} here. It was sent as a word.",
            "a file was named that is not there",
            ("a.pi",),
        ),
        Phrase("code.error", "The agent says: {0}", "after The agent reports an error", ("No model.",)),
        Phrase("code.last_words", "Its last words were these.", "its program has ended; then the lines that it wrote"),
        Phrase("code.hint.again", "Write to it again to go on.", "after that"),
    ),
    "Durations": (
        Phrase("moment", "less than a second", "never rounded up"),
        Phrase("day", "{0} day", "a duration", ("1",)),
        Phrase("days", "{0} days", "a duration", ("2",)),
        Phrase("hour", "{0} hour", "a duration", ("1",)),
        Phrase("hours", "{0} hours", "a duration", ("2",)),
        Phrase("minute", "{0} minute", "a duration", ("1",)),
        Phrase("minutes", "{0} minutes", "a duration", ("2",)),
        Phrase("second", "{0} second", "a duration", ("1",)),
        Phrase("seconds", "{0} seconds", "a duration", ("2",)),
        Phrase("and", "{0} and {1}", "a duration of two units", ("2 minutes", "30 seconds")),
    ),
}

PHRASES: Final[Mapping[str, str]] = {phrase.name: phrase.text for group in CATALOGUE.values() for phrase in group}

# CF-066: the sentence sent to the peer for each reason to close a subscription.
CLOSE_REASONS: Final[Mapping[str, str]] = {
    "producer_shutdown": "The agent's side is shutting down.",
    "authentication_expired": "The credential of this reader counts no longer. Connect again with a new one.",
    "slow_consumer": "The reader does not keep up. Connect again to go on where it stopped.",
    "superseded": "Another reader took over this subscription.",
    "subscriber_shutdown": "The reader has stopped.",
    "rate_violation": "The reader sent too much.",
    "protocol_error": "The reader sent what the protocol does not allow.",
    "manifest_invalid": "A manifest could not be verified.",
}


def get_phrase(name: str, fallback: str = "") -> str:
    """Return the phrase of that name, else the fallback's, else an empty string."""
    return PHRASES.get(name, PHRASES.get(fallback, ""))


def describe_goodbye(code: str, name: str) -> str:
    """Return what a person hears when the other side, called ``name``, ends the connection."""
    text = get_phrase(f"closed.{code}", "closed.other").format(name or PHRASES["agent"], code)
    return capitalize(text)


def describe_close_reason(code: str, *, is_hub: bool) -> str:
    """Return the sentence for a reason code; empty for an unknown code."""
    if code == "producer_shutdown" and is_hub:
        return "The hub is shutting down."
    return CLOSE_REASONS.get(code, "")


def format_duration(seconds: float) -> str:
    """Format how long something took, in its two largest units and never rounded up."""
    remaining = max(0, int(seconds))
    parts = []
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, remaining = divmod(remaining, size)
        if count:
            parts.append(PHRASES[unit if count == 1 else unit + "s"].format(count))
    if not parts:
        return PHRASES["moment"]
    return parts[0] if len(parts) == 1 else PHRASES["and"].format(*parts[:2])


def format_time_left(seconds: float) -> str:
    """Format how much time is left, to the nearest second and in its two largest units."""
    return format_duration(math.floor(seconds + 0.5))


# -- formatting other text ------------------------------------------------------------------

_SENTENCE_ENDS: Final = tuple(".!?…,–—،、，:;。！？؟।。：；")
# Before a capital after a small letter, and where a word follows an acronym: HTTP Error, but URLs.
_CAMEL_CASE_BREAK: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
_ACRONYM: Final = re.compile(r"[A-Z]{2}")
_WORD_SEPARATOR: Final = re.compile(r"[\s_.-]+")
_CLOSING_MARKS: Final = "\"')]”’»」』）\u2069"


def truncate_with_notice(text: str, max_length: float = MAX_SPOKEN_LENGTH) -> str:
    """Return sanitized text as a sentence; of a longer one its beginning and a notice that it was cut."""
    if len(text) <= max_length:
        return ensure_full_stop(text)
    short = truncate(text, int(max_length))
    return f"{short}… {PHRASES['cut'].format(len(text) - len(short))}"


def humanize_name(name: str) -> str:
    """Turn a name into words: check_balance and checkBalance become "check balance", HTTPError "HTTP error"."""
    words = [word for word in _WORD_SEPARATOR.split(_CAMEL_CASE_BREAK.sub(" ", name)) if word]
    has_lower_case = any(char.islower() for char in name)  # otherwise capitals mark no acronym
    kept = [word if has_lower_case and _ACRONYM.match(word) else word.lower() for word in words]
    return " ".join(kept) or name


def capitalize(text: str) -> str:
    """Return a text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]


def ensure_full_stop(text: str) -> str:
    """Add a full stop unless the text ends with a sentence mark."""
    return text if not text or text.rstrip(_CLOSING_MARKS).endswith(_SENTENCE_ENDS) else text + "."
