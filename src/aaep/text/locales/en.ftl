# checked-by-speaker: source
# language: en
#
# Everything that the library itself says to a person, in English. README.md beside this file is for translators.
# A comment before each message says when it is heard, and what fills its gaps: a kind and an example of each.

## The work

# When: work begins; then what it is, in the author's words.
started = Started.

# When: work begins that belongs to other work.
# $parent (text): Planning a trip.
part = Part of: { $parent }

# When: all that was asked for is done; then the result.
completed = Done.

# When: the work ends, and something that was asked for was not done.
ended = Ended.

# When: after Ended, or when nobody agreed to it.
# $action (text): Delete a.txt
undone = { $action } was not done.

# When: two were named, and there are others.
# $count (number): 3
undone-more =
    { $count ->
        [one] 1 more was not done.
       *[other] { $count } more were not done.
    }

# When: after Ended; it began and did not finish.
# $action (text): Pay Ada
possible = { $action } may have happened.

# When: two were named, and there are others.
# $count (number): 3
possible-more =
    { $count ->
        [one] 1 more may have happened.
       *[other] { $count } more may have happened.
    }

# When: after that.
possible-check = Check before you try again.

# When: after Ended.
# $action (text): Pay Ada
undone-failed = { $action } failed.

# When: two were named, and there are others.
# $count (number): 3
undone-failed-more =
    { $count ->
        [one] 1 more failed.
       *[other] { $count } more failed.
    }

# When: something final failed half way.
failed-check = Check what was done before you try again.

# When: the work fails; then why, and what to do.
errored = Failed.

# When: the work is stopped before its end.
cancelled = Stopped.

# When: after Stopped.
unfinished = The work is not finished.

# When: at the end, detailed.
# $count (number): 2
tools =
    { $count ->
        [one] 1 tool was used.
       *[other] { $count } tools were used.
    }

# When: at the end of work or of a tool, detailed.
# $duration (text): 4 seconds
took = It took { $duration }.

# When: at the beginning, detailed.
# $duration (text): 30 seconds
takes = This takes about { $duration }.

# When: with progress, detailed.
# $duration (text): 12 seconds
left = About { $duration } left.

# When: after Stopped, detailed.
by-user = The user stopped it.

# When: after Stopped, detailed.
by-producer = The agent stopped it.

# When: after Stopped, detailed.
by-timeout = It took too long.

# When: after Stopped, detailed.
by-system = The system stopped it.

# When: after Stopped, detailed.
# $result (text): Only the balance was read.
partial = So far: { $result }

# When: after Failed, detailed.
# $code (text): BANK_UNREACHABLE
code = Error code { $code }.

# When: after Failed, where there is no better advice.
category-transient = Trying again may help.

# When: after Failed, where there is no better advice.
category-permanent = Trying again will not help.

# When: after Failed, without better advice.
category-requires_user = You have to do something first.

# When: after Failed, for a network or a timeout.
hint-transient = Trying again later may help.

# When: after Failed, for a mistake in the agent.
hint-permanent = Trying again will not help. Tell whoever runs the agent.

# When: after Failed, for a missing permission.
hint-requires_user = Check whether the agent is allowed to do this, then try again.

# When: after Failed, otherwise.
hint-unknown = Try again. If it fails again, tell whoever runs the agent.

# When: the agent's program died.
lost = The agent stopped unexpectedly. The work is not finished.

# When: after that.
lost-hint = Check what was done before you start it again.

# When: the agent's program died, detailed.
lost-detailed = The agent stopped unexpectedly. The work is not finished. What it had begun may have happened.

# When: the agent gives the work to a person; then why.
handoff-human = Handing over to a person.

# When: the agent gives the work away.
handoff-specialist_agent = Handing over to another agent.

# When: the agent gives the work away.
handoff-escalation_queue = Handing over. Somebody will take it up.

# When: the agent gives the work away, and does not say to whom.
handoff-other = Handing over.

# When: the work ends after it was handed over in vain.
not_taken = Nobody has taken over.

## What goes on

# When: the agent has nothing to do.
state-idle = Idle.

# When: at most once in five seconds.
state-thinking = Thinking.

# When: the same, detailed.
state-thinking-detailed = Thinking about what to do next.

# When: to who joins in the middle of it.
state-calling_tool = Using a tool.

# When: to who joins in the middle of it.
state-writing_output = Writing.

# When: to who joins in the middle of it.
state-awaiting_input = Waiting for you.

# When: the agent weighs what to do.
state-deciding = Deciding.

# When: the same, detailed.
state-deciding-detailed = Deciding how to go on.

# When: to who joins in the middle of it.
state-handing_off = Handing over.

# When: the agent names a state that is not ours.
# $state (text): day dreaming
state-other = Now { $state }.

# When: the agent's state has no readable name.
state-unnamed = Something else now.

# When: to who joins, before what goes on.
resync = Catching up.

# When: progress; at most once in five seconds and ten percent.
# $percent (number): 40
percent = { $percent } percent.

# When: progress; at most once in five seconds.
# $step (number): 2
step = Step { $step }.

# When: progress; at most once in five seconds.
# $step (number): 2
# $total (number): 5
step-of = Step { $step } of { $total }.

# When: progress without a number or a word.
progress-none = Still working.

# When: a tool begins, and its author gave it no sentence.
# $tool (text): fetch
invoked = Calling { $tool }.

# When: in place of a tool's name that cannot be read.
tool = a tool

# When: after Calling, detailed; in a prompt, after what a tool does, without an author's sentence.
# $arguments (text): url: a.txt
with = With { $arguments }.

# When: a tool begins that nobody was asked about.
undo-warning = This cannot be undone.

# When: a tool without its own sentence is done; terse always.
# $tool (text): fetch
success = { $tool } finished.

# When: a tool that changes nothing was cancelled.
# $tool (text): look up
stopped = { $tool } was stopped.

# When: no more of it was wanted, detailed.
# $tool (text): search
stopped-early = { $tool } was stopped early.

# When: a tool with its own sentence is done.
# $call (text): Fetching a.txt
success-summary = { $call }: done.

# When: in place of what failed, where nothing says it.
error-unnamed = an error

# When: in place of what failed.
error-mistake = a mistake in the agent

# When: in place of what failed.
# $count (number): 2
# $name (text): timeout error
error-several =
    { $count ->
        [one] 1 error: { $name }
       *[other] { $count } errors: { $name } and others
    }

# When: a tool failed, and nothing says why.
# $call (text): Fetching a.txt
error = { $call } failed.

# When: a tool failed.
# $call (text): Fetching a.txt
# $reason (text): runtime error.
error-reason = { $call } failed: { $reason }

# When: nobody knows whether a tool took effect.
# $call (text): Pay
timeout = { $call } did not finish. It may have happened. Check before you try again.

# When: a tool ended in a way that is not ours.
# $status (text): cached
status = It reported the status { $status }.

# When: somebody agreed, and the agent no longer waited.
# $action (text): Pay Ada
skipped = { $action } was not done: the agent stopped waiting.

# When: before the first sentence of an answer.
# $agent (text): Bank Assistant
says = { $agent }:

# When: before a sentence of an agent that begins like one of these.
# $agent (text): Bank Assistant
says-quoted = Quote from { $agent }:

# When: in place of a name that is missing.
agent = Agent

# When: a name that begins like one of these.
# $name (text): quote Attention end quote
agent-named = Agent { $name }

# When: several things go on, and this is another one.
# $work (text): Looking for a hotel
# $text (text): Done.
session = { $work }: { $text }

# When: something that this reader does not know; then what it says of itself.
notice = Notice.

# When: it says nothing.
# $type (text): medical: dose given
notice-type = Something this reader does not know: { $type }.

# When: something came with parts missing.
incomplete = Incomplete message.

# When: a prompt came with parts missing.
incomplete-prompt = It cannot be accepted or answered here.

# When: a text is too long to be said at once.
# $count (number): 580
cut =
    { $count ->
        [one] Cut here, 1 character left.
       *[other] Cut here, { $count } characters left.
    }

## Prompts

# When: the agent asks whether it may; then the action.
confirm = Confirm.

# When: the action cannot be read.
action-none = The agent does not say what it would do.

# When: after the action.
# $consequence (text): The file is gone for good.
consequence = If you accept: { $consequence }

# When: the consequence cannot be read.
consequence-none = The agent does not say what would happen.

# When: the tool's author did not classify it; once for each tool.
consequence-unstated = Nobody stated what this changes. Take it as final.

# When: the author gave no consequence, but the risk.
consequence-unknown = What this changes is not stated.

# When: the same tool again.
consequence-again = Effect not stated.

# When: in a prompt.
risk-low = Low risk

# When: in a prompt.
risk-medium = Medium risk

# When: in a prompt.
risk-high = High risk

# When: in the first prompt.
risk-none = Risk not stated: take it for high

# When: in a later prompt.
risk-unstated = Unstated risk

# When: in a prompt.
undo-irreversible = cannot be undone

# When: in a prompt.
undo-reversible_with_effort = can be undone with effort

# When: in a prompt.
undo-reversible = can be undone

# When: in a prompt.
undo-none = undo not stated

# When: in a prompt: how risky, and whether it can be undone.
# $risk (text): High risk
# $undo (text): cannot be undone
risk = { $risk }, { $undo }.

# When: in the first prompt.
# $duration (text): 5 minutes
default-reject = Refused after { $duration } without an answer.

# When: in the first prompt.
# $duration (text): 1 minute
default-accept = Accepted after { $duration } without an answer.

# When: in a later prompt.
# $duration (text): 5 minutes
default-reject-short = Refused after { $duration }.

# When: in a later prompt.
# $duration (text): 1 minute
default-accept-short = Accepted after { $duration }.

# When: a prompt is said again too late.
expired = The time to answer is over.

# When: only yes is offered.
unrefusable = Refusing is not offered.

# When: only no is offered.
unacceptable = Accepting is not offered.

# When: a prompt was cut; the key, or the command word, to hear all of it.
# $key (text): m
uncut = Hear the whole text before you can accept: { $key }.

# When: a prompt was cut, and no key is known.
uncut-plain = Hear the whole text before you can accept.

# When: a prompt that was cut is heard further.
# $text (text): to the end.
rest = It goes on: { $text }

# When: the same, of the action.
# $text (text): to the end.
rest-action = The action goes on: { $text }

# When: the same, of the consequence.
# $text (text): to the end.
rest-consequence = What happens if you accept goes on: { $text }

# When: in the first prompt: a key and what it does; these are joined by list.
# $key (text): a
# $effect (text): accept
key = { $key } { $effect }

# When: a key.
key-accept = accept

# When: a key.
key-reject = refuse

# When: a key.
key-yes = yes

# When: a key.
key-no = no

# When: a key.
key-more = more

# When: a key.
key-time = more time

# When: a key.
key-close = quit

# When: in the first prompt, where lines are typed: command words, the last one apart.
# $words (text): accept, reject
# $last (text): time
write = Write { $words } or { $last }.

# When: in the first prompt, where lines are typed.
# $word (text): time
write-one = Write { $word }.

# When: the agent asks something; then the question.
question = Question.

# When: the question cannot be read.
question-none = The agent does not say what it asks.

# When: after a question, if the agent gives a reason.
# $reason (text): You have two accounts.
why = Why: { $reason }

# When: after a question.
# $number (number): 1
# $label (text): a.txt.
choice = { $number }: { $label }

# When: after the first question, or detailed.
kind-freetext = Answer in your own words.

# When: after the first question, or detailed.
kind-yes_no = Answer { word-yes } or { word-no }.

# When: after the first question, or detailed.
kind-numeric = Answer with a number.

# When: after a question.
# $duration (text): 3 minutes
time = { $duration } to answer.

# When: after a question with a default.
# $duration (text): 3 minutes
# $answer (text): a.txt.
time-default = { $duration } to answer, else: { $answer }

# When: more time was granted.
# $duration (text): 10 minutes
longer = You have { $duration } now.

# When: half and a tenth of the time are left.
# $duration (text): 1 minute
# $action (text): Pay.
countdown = { $duration } left to answer. { $action }

# When: the same, from the agent.
# $duration (text): 1 minute
time_left = { $duration } left to answer.

# When: what an urgent message interrupted is said again.
again = Again.

# When: the prompt being answered is said again.
still = Still waiting for you.

# When: after one was closed; then the prompt.
other = Another prompt is waiting for you.

# When: one is being answered; then the key to hear it.
prompt-waiting = Another question is waiting.

# When: several prompts are open.
# $action (text): Pay Ada.
about = That was about this: { $action }

# When: once a minute at most.
flood = Many urgent messages are coming. They wait their turn from now on.

## Values in what is asked

# When: the tool says nothing of itself; then its arguments.
# $tool (text): fetch
tool-use = Use { $tool }.

# When: after With, for a tool without arguments.
with-nothing = nothing more

# When: a value that is more than a word.
# $value (text): to Bob; amount 1
value-quoted = quote { $value } end quote

# When: a value holds one of the words that mark it off (see value-marks).
# $word (text): quote
value-word = the word { $word }

# When: a value of several lines.
# $number (number): 2
# $text (text): rm a.txt
value-line = line { $number }: { $text }

# When: a number like that of a card or a person.
# $digits (text): 4 2 4 2
value-ending = number ending in { $digits }

# When: a text without characters.
value-empty = empty text

# When: a text of nothing but spaces.
value-blank = blank text

# When: a character that is neither seen nor heard.
# $character (text): hangul filler
value-invisible = invisible { $character }

# When: a character that everybody may draw as they like.
# $character (text): U+E000
value-private = private character { $character }

# When: a character without a name.
# $character (text): U+0007
value-unknown = unknown character { $character }

# When: the same such character again and again.
# $character (text): invisible tag space
# $count (number): 9
value-times =
    { $count ->
        [one] { $character }
       *[other] { $character }, { $count } times
    }

# When: a value that is not there.
value-none = nothing

# When: a switch that is on.
value-yes = yes

# When: a switch that is off.
value-no = no

# When: a list, told with how many items it has.
# $count (number): 2
# $items (text): a.txt, b.txt
value-items =
    { $count ->
        [0] empty list
        [one] 1 item: { $items }
       *[other] { $count } items: { $items }
    }

# When: a table of names and values.
# $count (number): 2
# $items (text): size: 3; owner: ada
value-entries =
    { $count ->
        [0] no entries
        [one] 1 entry: { $items }
       *[other] { $count } entries: { $items }
    }

# When: a record.
# $count (number): 2
# $items (text): amount: 3; to: ada
value-parts =
    { $count ->
        [0] no parts
        [one] 1 part: { $items }
       *[other] { $count } parts: { $items }
    }

# When: data.
# $count (number): 2048
value-bytes =
    { $count ->
        [one] 1 byte
       *[other] { $count } bytes
    }

# When: data.
# $size (text): 2048 bytes
# $digest (text): 9f86d081
value-digest = { $size }, SHA-256 begins { $digest }

# When: a value that has no words, where nobody is asked about it.
# $kind (text): Connection
value-other = a { $kind }

## Outcomes of prompts

# When: it was accepted, by you or where nobody knows by whom.
outcome-accepted = Accepted.

# When: it was refused, by you or where nobody knows by whom.
outcome-rejected = Refused.

# When: the question was answered.
outcome-answered = Answered.

# When: another reader accepted.
outcome-accepted-elsewhere = Accepted elsewhere.

# When: another reader refused; then what was not done.
outcome-rejected-elsewhere = Refused elsewhere.

# When: another reader answered.
outcome-answered-elsewhere = Answered elsewhere.

# When: no answer came in time; then what was not done.
outcome-timed_out = Time ran out.

# When: the agent takes it back; then what was not done.
outcome-withdrawn = No longer asked.

# When: the last reader left; then what was not done.
outcome-unavailable = Nobody is left to answer.

# When: no reader is connected; then what was not done.
outcome-no_reply_channel = Nobody can answer.

# When: it was closed in a way that is not ours.
outcome-other = The prompt is closed.

# When: after Refused.
outcome-modified = Something else is wanted. The agent has to ask again.

# When: after Time ran out, where that was announced.
outcome-granted = It counts as accepted.

# When: after Time ran out.
outcome-defaulted = The agent goes on with the answer it named.

# When: after Time ran out.
outcome-unanswered = The agent goes on without an answer.

# When: to a reader that does not know of it.
outcome-longer = There is more time. It is asked again.

## Markdown

# When: a heading.
# $text (text): Weekly report.
markdown-heading = Heading: { $text }

# When: an item of a list.
# $text (text): Milk
markdown-bullet = Bullet: { $text }

# When: an item within an item.
# $text (text): Oat milk
markdown-bullet-nested = Sub-bullet: { $text }

# When: a numbered item.
# $number (number): 1
# $text (text): First
markdown-number = { $number }: { $text }

# When: a task that is ticked.
# $text (text): Paid
markdown-checked = Checked: { $text }

# When: a task that is not ticked.
# $text (text): Sent
markdown-unchecked = Not checked: { $text }

# When: a quotation.
# $text (text): Be brief.
markdown-quote = Quote: { $text }

# When: code, then its language and length; the code itself on request.
markdown-code = Code

# When: after Code, while long code is being written.
markdown-coming = coming

# When: the length of code.
# $count (number): 12
markdown-lines =
    { $count ->
        [one] 1 line
       *[other] { $count } lines
    }

# When: the header of a table.
# $columns (text): Name, Size
markdown-table = Table: { $columns }.

# When: a cell of a table, with its column.
# $column (text): Name
# $cell (text): a.txt
markdown-cell = { $column }: { $cell }

# When: an image with a description.
# $text (text): A chart
markdown-image = Image: { $text }

# When: an image without one.
markdown-picture = Image

## The connection

# When: the reader is connected.
connected = Connected.

# When: the reader is connected, and knows to whom.
# $agent (text): Office Helper
connected-name = Connected to { $agent }.

# When: after the connection was lost; nothing was missed.
reconnected = Connected again.

# When: after the connection was lost.
gap = Connected again. Something was missed meanwhile.

# When: the connection breaks.
# $reason (text): Nothing answers.
connection-lost = The connection is lost. { $reason }

# When: while the reader waits.
# $reason (text): Nothing answers.
# $seconds (number): 0.4
retrying =
    { $seconds ->
        [one] { $reason } Trying again in 1 second.
       *[other] { $reason } Trying again in { $seconds } seconds.
    }

# When: a limit was set.
# $duration (text): 1 minute
# $reason (text): Nobody is there.
gave_up = Gave up after { $duration } without a connection. { $reason }

# When: after a break.
resume-slow_consumer = We were too slow, and go on from where we were.

# When: after a break.
resume-authentication_expired = Our credential expired. We show what we have now, and go on from where we were.

# When: a hub has lost an agent.
# $agent (text): Office Helper
absent = { $agent } is not reachable at the moment.

# When: the same, terse.
# $agent (text): Office Helper
absent-terse = { $agent } is not reachable.

# When: after that, if it asks something.
absent-asking = It gets your answer when it is back.

# When: the agent is back.
# $agent (text): Office Helper
returned = { $agent } is reachable again.

# When: the reader tries again until it succeeds.
waiting = Waiting. This goes on by itself.

# When: it cannot go on.
# $reason (text): Access was denied.
connection-ended = The connection has ended for good. { $reason }

# When: what came is no message.
unreadable = Something came that could not be read. If the agent asks something, it may be waiting for an answer.

# When: the agent does not let it answer.
no_answers = The agent takes no answers from this reader.

# When: who it is was proven.
# $agent (text): bank
# $key (text): 2026-11
proven = This is { $agent }, signed with the key { $key }.

# When: who it is cannot be known; then why.
unproven = Identity not proven.

# When: after that, for an address on the same machine.
# $agent (text): bank
# $key (text): 2026-11
unproven-local = It is signed as { $agent } with the key { $key }, but another user of this machine could be presenting it.

# When: the reader is not let in; then what to do.
# $reason (text): it does not know who we are.
refused = The agent refused the connection: { $reason }

# When: the same, with a reason code that this reader does not know.
# $code (text): closed_today
# $reason (text): Come back on Monday.
refused-code = The agent refused the connection, { $code }: { $reason }

# When: the same, without a reason.
# $code (text): closed_today
refused-code-only = The agent refused the connection, { $code }.

# When: the agent or the hub says goodbye.
# $agent (text): Office Helper
closed-producer_shutdown = { $agent } has ended.

# When: it ends.
closed-authentication_expired = Your access has expired. Connect again with a new one.

# When: it ends.
closed-slow_consumer = This reader was too slow. Connect again to go on where it stopped.

# When: it ends.
closed-superseded = Another reader took over.

# When: it ends.
closed-subscriber_shutdown = This reader has stopped.

# When: it ends.
closed-rate_violation = This reader sent too much.

# When: it ends.
closed-protocol_error = This reader sent something that is not allowed.

# When: it ends.
closed-manifest_invalid = The other side could not prove who it is.

# When: it ends, nobody here knows why.
# $agent (text): Shop
# $reason (text): night
closed-other = { $agent } ended the connection: { $reason }.

# When: an agent was found, and is listened to from now on.
# $agent (text): Office Helper
arrived = New agent: { $agent }.

# When: at the beginning.
discover-none = No agent is running yet. Each that begins is listened to.

# When: one of several agents is back.
# $agent (text): Office Helper
reconnected-name = Connected to { $agent } again.

# When: one of several agents is back.
# $agent (text): Office Helper
gap-name = Connected to { $agent } again. Something was missed meanwhile.

# When: the connection to one of several agents breaks.
# $agent (text): Office Helper
# $reason (text): Nothing answers.
connection-lost-name = The connection to { $agent } is lost. { $reason }

# When: the connection to one of several agents cannot go on.
# $agent (text): Office Helper
# $reason (text): Access was denied.
connection-ended-name = The connection to { $agent } has ended for good. { $reason }

# When: one of several agents is not there yet.
# $agent (text): unix:office
waiting-name = Waiting for { $agent }. This goes on by itself.

# When: one of several agents does not let it answer.
# $agent (text): Office Helper
no_answers-name = { $agent } takes no answers from this reader.

# When: before that something could not be read.
# $agent (text): Office Helper
unread-name = This is about { $agent }.

# When: an answer could not be sent.
asker-gone = The agent that asked is not connected any more.

## Why a connection is refused

# When: then why.
refused-version_unsupported = it speaks no version of the protocol that we speak.

# When: then why.
refused-manifest_invalid = a proof could not be checked.

# When: then why.
refused-manifest_signature_required = it has no signed proof of who it is.

# When: then why.
refused-capabilities_incompatible = it cannot give what we asked for.

# When: then why.
refused-rate_limit = too much is asked of it at the moment.

# When: then why.
refused-authentication_required = it does not know who we are.

# When: then why.
refused-authentication_expired = our credential has expired.

# When: then why.
refused-authorization_denied = we do not have access.

# When: then why.
refused-transport_unavailable = it cannot be used in this way at the moment.

# When: then why.
refused-unknown = it names no reason.

# When: then why.
refused-slow_consumer = we were too slow.

# When: then why.
refused-rate_violation = we sent too much.

# When: then why.
refused-protocol_error = we sent what the protocol does not allow.

# When: then what to do.
advice-version_unsupported = Use a version of this library that speaks theirs.

# When: then what to do.
advice-manifest_invalid = Ask whoever runs the agent for a proof that can be checked.

# When: then what to do.
advice-manifest_signature_required = Ask whoever runs the agent for a signed proof of who it is.

# When: then what to do.
advice-capabilities_incompatible = Ask for less, or for a language that is offered.

# When: then what to do.
advice-rate_limit = Try again later.

# When: then what to do.
# $options (text): --token
advice-authentication_required = Give a valid credential with { $options }.

# When: then what to do.
advice-authentication_expired = Connect again with a fresh credential.

# When: then what to do.
advice-authorization_denied = Ask whoever runs the agent for access.

# When: then what to do.
advice-transport_unavailable = Try again later, or use another transport.

# When: then what to do.
advice-slow_consumer = Ask for less, or read faster.

# When: then what to do.
advice-rate_violation = Send fewer replies and changes.

# When: then what to do.
advice-unknown = Ask whoever runs the agent what it means.

## At the terminal

# When: before what is urgent.
# $text (text): Confirm. Delete a.txt.
attention = Attention. { $text }

# When: at the beginning.
greeting-keys = Press ? for help, q to quit.

# When: at the beginning, where lines are typed.
greeting-lines = Write { command-help } and Enter for help.

# When: at a pipe.
greeting-pipe = Not interactive: commands are read from standard input, one on each line.

# When: nobody can type.
greeting-none = Not interactive: prompts will be shown and not answered.

# When: answers are no longer possible.
prompts-shown = Prompts will be shown and not answered.

# When: the pipe is closed.
input-ended = Standard input has ended. Listening goes on.

# When: at the end.
goodbye = Stopped listening.

# When: at the end, if there are any.
# $count (number): 2
goodbye-open =
    { $count ->
        [one] 1 question was not answered.
       *[other] { $count } questions were not answered.
    }

# When: only one session is shown.
other_session = Other work asks something that is not shown here.

# When: keys came before a prompt was read.
typed_before = What was typed before this line does not count.

# When: something was said in between.
# $text (text): On Mon
draft = You were writing: { $text }

# When: something is to be repeated.
nothing_said = Nothing was said yet.

# When: going back has come to the beginning.
nothing_before = Nothing was said before that.

# When: going forward has come to the end.
nothing_after = That was the last.

# When: speech has fallen behind; then the last of them.
# $count (number): 5
backlog =
    { $count ->
        [one] 1 more update.
       *[other] { $count } more updates.
    }

# When: do not disturb was switched on.
quiet-begin = Do not disturb. Only questions and warnings are said.

# When: do not disturb was switched off; then how to hear them.
# $count (number): 7
quiet-end =
    { $count ->
        [0] Nothing happened meanwhile.
        [one] 1 update meanwhile.
       *[other] { $count } updates meanwhile.
    }

# When: after that.
quiet-hear-key = Press f for the first.

# When: after that, where lines are typed.
quiet-hear-line = Write { command-forward } for the first.

# When: how much is said was changed.
# $verbosity (text): terse
verbosity =
    { $verbosity ->
        [terse] Verbosity: terse.
        [detailed] Verbosity: detailed.
       *[normal] Verbosity: normal.
    }

# When: more time is asked for.
# $duration (text): 10 minutes
asking_time = Asking for { $duration }.

# When: an answer is sent.
sending-accept = Sending: accept.

# When: an answer is sent.
sending-reject = Sending: refuse.

# When: an answer is sent.
# $answer (text): On Monday
sending = Sending: { $answer }

# When: after Asking for.
no_time = The agent does not grant more time.

# When: the connection is lost, for instance.
# $reason (text): Nobody is there.
unsent = It could not be sent. { $reason }

# When: after an answer could not be sent.
still_open = The prompt is still open.

# When: an answer was not confirmed.
may_have_arrived = It took too long, and may have arrived or not.

# When: an answer could not be sent.
not_connected = There is no connection yet.

# When: the pause key; it is printed only.
speech-paused = Speech is paused.

# When: the pause key, and nothing is being spoken.
speech-nothing = Nothing is being spoken.

# When: the speech server has stopped.
speech-gone = Speech is gone. The text goes on here.

# When: the speech server answers again.
speech-back = Speech is back.

# When: once for each language without a voice.
# $language (text): Yoruba
# $other (text): English
speech-no_voice = No voice for { $language } here. It is read with the voice for { $other }.

# When: speech was asked for and there is none; then why.
speech-none = Nothing is spoken here.

# When: after that.
speech-unavailable = Speech Dispatcher does not answer. Install or start it.

# When: after that.
speech-none-prism = The Prism library is needed. Install it with: pip install prismatoid.

# When: after that.
# $address (text): tcp:1
speech-address = SPEECHD_ADDRESS is { $address }. Write unix_socket:path or inet_socket:host:port.

# When: after that.
# $value (text): klatt9
speech-refused = Speech Dispatcher does not know { $value }.

# When: braille was asked for, and there is no display.
# $address (text): 127.0.0.1:4101
braille-unavailable = Nothing answers at { $address }. Start BRLTTY, or set BRLAPI_HOST. On Debian: apt install brltty.

# When: the same.
braille-library = Braille needs liblouis, which is not installed. On Debian: apt install liblouis20 liblouis-data.

# When: speech was made faster or slower.
# $count (number): 240
speech-rate = { $count } words a minute.

## Answering

# When: help.
help-keys = Keys: a accepts, r refuses, m says more, s says it again, o goes to the next open prompt.

# When: help.
help-keys-more = v changes how much is said, t asks for more time, q quits, ? says this.

# When: help.
help-keys-history = b goes back, f forward. s twice says all of it. d is do not disturb.

# When: help.
help-second-key = Accepting takes a second key if it is risky, or if several prompts are open.

# When: help, where lines are typed.
help-second-line = Accepting takes a second line if it is risky, or if several prompts are open.

# When: help.
help-answer = Answer a question with its number, or y or n, and then Enter.

# When: help.
help-freetext = To answer in your own words press Enter, write, and press Enter again.

# When: help, where lines are typed.
help-lines = Commands, one on each line: { command-accept }, { command-reject }, { command-more }, { command-repeat }, { command-next }, { command-verbosity }, { command-time }, { command-quit }, { command-help }.

# When: help, where lines are typed.
help-lines-history = With { command-back } and { command-forward } you go through what was said. With { command-repeat } twice you hear all of it. With { command-quiet } you are not disturbed.

# When: help, where lines are typed.
help-next = With { command-next } you go to the next open prompt.

# When: help, where lines are typed.
help-answer-lines = Answer a question with its number, { word-yes }, { word-no }, or your own words.

# When: help, where lines are typed.
help-command-answer = Words that are commands are sent as an answer with { command-answer } in front of them.

# When: a prompt is shown.
# $count (number): 2
# $hint (text): Press o for the next prompt.
several_open =
    { $count ->
        [one] 1 prompt is open. You answer this one now. { $hint }
       *[other] { $count } prompts are open. You answer this one now. { $hint }
    }

# When: after Another question is waiting.
prompt-hear-key = Press o to hear it.

# When: the same, where lines are typed.
prompt-hear-line = Write { command-next } to hear it.

# When: several prompts are open.
next-key = Press o for the next prompt.

# When: several prompts are open, where lines are typed.
next-line = Write { command-next } for the next prompt.

# When: a line is about another prompt.
# $action (text): Pay Ada.
still_answering = You still answer this: { $action }

# When: the question was closed.
# $text (text): On Mon
draft-unsent = What you were writing was not sent: { $text }

# When: a prompt was closed before the second key.
accept-void = Nothing was accepted here.

# When: another key than the second one.
accept-taken_back = Taken back. Nothing was accepted.

# When: accepting needs a second key.
# $action (text): Pay Ada.
accept-second-key = Not accepted yet. Press y to accept this: { $action } Any other key takes it back.

# When: the same, for a long action of which only the beginning is said.
# $action (text): Pay Ada and…
accept-second-key-long = Not accepted yet. Press y to accept what begins like this: { $action } Any other key takes it back.

# When: accepting needs a second line.
# $action (text): Pay Ada.
accept-second-line = Not accepted yet. Write { word-yes } to accept this: { $action } Any other line takes it back.

# When: the same, for a long action of which only the beginning is said.
# $action (text): Pay Ada and…
accept-second-line-long = Not accepted yet. Write { word-yes } to accept what begins like this: { $action } Any other line takes it back.

# When: quitting is wanted.
# $count (number): 2
leaving-open =
    { $count ->
        [one] 1 question is open.
       *[other] { $count } questions are open.
    }

# When: then.
# $count (number): 2
leaving-keys =
    { $count ->
        [one] Press l to leave it open, Escape to stay.
       *[other] Press l to leave them open, Escape to stay.
    }

# When: then, where they can be refused.
# $count (number): 2
leaving-keys-refuse =
    { $count ->
        [one] Press r to refuse it and leave, l to leave it open, Escape to stay.
       *[other] Press r to refuse them and leave, l to leave them open, Escape to stay.
    }

# When: then, where only some can be refused.
# $count (number): 1
leaving-keys-some = Press r to refuse only { $count } of them and leave, l to leave them all open, Escape to stay.

# When: then, with lines.
# $count (number): 2
leaving-lines =
    { $count ->
        [one] Write { command-leave } to leave it open, { command-stay } to stay.
       *[other] Write { command-leave } to leave them open, { command-stay } to stay.
    }

# When: then, with lines, where they can be refused.
# $count (number): 2
leaving-lines-refuse =
    { $count ->
        [one] Write { command-refuse } to refuse it and leave, { command-leave } to leave it open, { command-stay } to stay.
       *[other] Write { command-refuse } to refuse them and leave, { command-leave } to leave them open, { command-stay } to stay.
    }

# When: then, with lines, where only some can be refused.
# $count (number): 1
leaving-lines-some = Write { command-refuse } to refuse only { $count } of them and leave, { command-leave } to leave them all open, { command-stay } to stay.

# When: leaving was taken back.
stay = You stay. Nothing was answered.

# When: several keys came at once.
keys-several = Several keys came at once. None of them counts. Press one key at a time.

# When: a key has no meaning.
# $key (text): x
keys-unknown = The key { $key } does nothing here. Press ? for help.

# When: a key came before the prompt can have been read.
keys-too_soon = That key came too soon and does not count. Wait a moment, then press it once.

# When: Enter at a question.
draft-begin = Write your answer. Enter sends it. Escape leaves it unsent.

# When: Enter with nothing written.
draft-empty = Nothing was written. Nothing was sent.

# When: Escape while writing.
draft-left = Left. Nothing was sent.

# When: Control-U while writing.
draft-removed = What you wrote was removed. Write your answer.

# When: Enter at a prompt.
enter-prompt = Enter alone answers nothing. Press s to hear the prompt again.

# When: Enter without a prompt.
enter-nothing = There is nothing to answer. Press ? for help.

# When: an empty line.
line-empty = An empty line answers nothing.

# When: a line.
line-no_prompt = There is no prompt, so that line answers nothing. Write { command-help } for help.

# When: a line.
line-unknown = That line was not understood. Nothing was sent. Write { command-accept }, { command-reject } or { command-help }.

# When: the next prompt is wanted.
no_other = No other prompt is open.

# When: more time is wanted.
no_more_time = There is no more time to be had.

# When: more time is wanted again.
time_asked = More time was asked for already.

# When: an answer is tried.
cannot_reply = This reader cannot answer prompts. Nothing was sent.

# When: an answer is tried again.
answer_sent = Your answer was sent. Wait for what the agent says.

# When: it is tried without a prompt.
nothing_to-accept = There is nothing to accept.

# When: it is tried without a prompt.
nothing_to-reject = There is nothing to refuse.

# When: it is tried without a prompt.
nothing_to-answer = There is nothing to answer.

# When: it is tried without a prompt.
nothing_to-time = There is nothing to have more time for.

# When: an answer is tried without a prompt.
# $hint (text): Press o for the next prompt.
another_open = Another prompt is open. { $hint }

# When: accepting a question is tried.
# $hint (text): Answer yes or no.
is_question = This is a question. { $hint }

# When: the same, with lines.
answer-word = To send that word as your answer, write { command-answer } in front of it.

# When: how to answer.
answer-freetext = Press Enter, write your answer, and press Enter again.

# When: how to answer.
answer-own_words = Press Enter before you write your own words.

# When: how to answer.
answer-impossible = This question cannot be answered here.

# When: how to answer.
# $forms (text): yes or no
answer-forms = Answer with { $forms }, and Enter.

# When: how to answer.
# $first (text): a number
# $second (text): your own words
answer-or = { $first } or { $second }

# When: how to answer.
answer-number = A number that is no choice is written with = in front of it.

# When: an answer does not fit.
# $hint (text): Answer yes or no.
answer-unsent = Nothing was sent. { $hint }

# When: how to answer.
form-multiple_choice = the number of a choice

# When: how to answer.
form-yes_no = { word-yes } or { word-no }

# When: how to answer.
form-numeric = a number

# When: how to answer.
form-freetext = your own words

# When: help, where speech is on.
help-speech = Space stops speech, p pauses it and goes on, k skips to now, the full stop is faster, the comma slower.

# When: help, where speech is on and lines are typed.
help-speech-lines = With { command-silence } speech stops, with { command-pause } it pauses and goes on, with { command-skip } it skips to now. There are also { command-faster } and { command-slower }.

# When: a line came while a prompt was being spoken.
line-too_soon = That came too soon and does not count. Hear the prompt to its end first.

## Settings

# When: at the beginning.
# $line (number): 3
# $text (text): rate =
settings-line = Line { $line } of the settings cannot be read, and does not count: { $text }

# When: at the beginning.
# $line (number): 3
# $setting (text): speech.rate
settings-repeated = Line { $line } of the settings names { $setting } a second time. The first one counts.

# When: at the beginning.
# $line (number): 3
# $setting (text): speech.raet
settings-unknown = Line { $line } of the settings names { $setting }, which is no setting.

# When: after that.
# $setting (text): speech.rate
settings-similar = Did you mean { $setting }?

# When: at the beginning.
# $line (number): 3
# $setting (text): verbosity
# $expected (text): terse, normal or detailed
settings-value = Line { $line } of the settings does not count: { $setting } has to be { $expected }.

# When: at the beginning.
# $variable (text): AAEP_VERBOSITY
# $expected (text): terse, normal or detailed
settings-variable = The variable { $variable } does not count. It has to be { $expected }.

# When: several were named.
# $count (number): 7
settings-more =
    { $count ->
        [one] 1 more line of the settings does not count.
       *[other] { $count } more lines of the settings do not count.
    }

# When: then why.
# $reason (text): …
settings-unreadable = The settings cannot be read, so defaults count. { $reason }

# When: AAEP_SETTINGS names it.
# $file (text): a.toml
settings-missing = There is no file { $file }, so defaults count.

# When: why settings are not read.
# $line (number): 3
settings-encoding = Line { $line } has other characters than UTF-8.

# When: at the beginning.
# $file (text): settings.toml
settings-unsafe = Other users can change { $file }, so defaults count. Run chmod go-w on it.

# When: at the beginning.
# $file (text): settings.toml
settings-stranger = { $file } belongs to another user, so defaults count.

# When: at the beginning, then why.
# $reason (text): Rule 1 of allow has tool, which is unknown.
settings-allow = The rules of your settings cannot be read, so everything is asked. { $reason }

## Words for sounds

# When: in place of a sound, where a listener wants a word.
earcon-sent = Sent.

# When: in place of a sound, where a listener wants a word.
earcon-working = Working.

# When: in place of a sound, where a listener wants a word.
earcon-done = Finished.

# When: in place of a sound, where a listener wants a word.
earcon-needs-you = Your turn.

# When: in place of a sound, where a listener wants a word.
earcon-error = Error.

## Coding agents

# When: a prompt was sent to a coding agent.
# $agent (text): goose
code-started = { $agent } is at work.

# When: what it wants to do.
# $command (text): quote git push end quote
code-run = Run { $command }.

# When: what it wants to do.
# $file (text): a.txt
# $size (text): 1 line
# $text (text): hello
code-create = Create { $file }, { $size }: { $text }.

# When: what it wants to do; then each place.
# $file (text): a.py
# $added (text): 2 lines
# $removed (text): 1 line
code-change = Change { $file }: { $added } added, { $removed } removed.

# When: what it wants to do.
# $file (text): a.py
code-change-nothing = Write { $file } again without a change.

# When: a place that is changed.
# $line (number): 3
# $text (text): x
code-hunk-add = At line { $line }, add { $text }.

# When: a place that is changed.
# $line (number): 3
# $text (text): x
code-hunk-remove = At line { $line }, remove { $text }.

# When: a place that is changed.
# $line (number): 3
# $old (text): x
# $new (text): y
code-hunk-replace = At line { $line }, replace { $old } with { $new }.

# When: after that.
code-hunk-blank = Only spaces or line breaks differ there.

# When: what it wants to do, where nothing but its own words is known.
# $text (text): quote touch a end quote
code-own_words = The agent does not say what it runs, only this: { $text }.

# When: what follows from a yes.
code-effect-run = It runs with all your rights.

# When: what follows from a yes.
code-effect-change = The file is written.

# When: what follows from a yes.
code-effect-delete = It is gone, unless you have a copy.

# When: what follows from a yes.
code-effect-move = It is somewhere else then.

# When: what follows from a yes.
code-effect-read = The agent and its model read it.

# When: what follows from a yes.
code-effect-search = The agent and its model read what is found.

# When: what follows from a yes.
code-effect-think = Nothing is changed.

# When: what follows from a yes.
code-effect-fetch = The address and what is sent there leave this machine.

# When: what follows from a yes.
code-effect-switch_mode = The agent may ask about less from then on.

# When: what follows from a yes.
code-effect-other = What this changes is not known. Take it as final.

# When: it was allowed, or ran by itself.
# $command (text): quote git push end quote
code-running = Running { $command }.

# When: it was allowed.
# $file (text): a.txt
code-creating = Creating { $file }.

# When: it was allowed.
# $file (text): a.py
code-changing = Changing { $file }.

# When: it reads a file.
# $file (text): a.py
code-reading = Reading { $file }.

# When: it searches files.
# $text (text): main
code-searching = Searching for { $text }.

# When: nothing else is known of what it does.
# $text (text): List files
code-described = In its own words: { $text }.

# When: it uses some other tool.
# $tool (text): web fetch
code-using = Using { $tool }.

# When: a rule of the person allowed it.
# $text (text): Reading a.py.
code-ruled = Allowed by your own rule. { $text }

# When: something ran that nobody was asked about.
# $text (text): Run ls.
code-unasked = Warning. It did this without asking: { $text }

# When: the same, and it failed.
# $text (text): Run ls.
code-unasked-failed = Warning. It tried this without asking, and it failed: { $text }

# When: something ran that was refused.
# $text (text): Run ls.
code-despite = Warning. It did this although it was refused: { $text }

# When: after one of these warnings.
code-stopping = It is being stopped.

# When: in one of these warnings.
code-undescribed = something that cannot be told

# When: a change or a command does not fit into a question.
# $text (text): Changing a.py.
code-too_long = Refused: it is too long to be read out in full. { $text } Ask for smaller steps.

# When: a change or a command holds a secret.
# $text (text): Changing a.py.
code-unreadable = Refused: it cannot be read out in full, as it seems to hold a secret. { $text }

# When: an agent offers to allow something always, or nothing at all.
# $text (text): Running make.
code-unofferable = Refused: the agent offers no way to allow this only once. { $text }

# When: an agent asks after its turn.
# $text (text): Running make.
code-between = Refused: the agent asked for this when it was not at work. { $text }

# When: the agent works in another mode.
# $mode (text): Plan
code-mode = Mode: { $mode }.

# When: the agent works in another mode.
# $mode (text): Auto
code-mode-unasked = Warning. In the mode { $mode } it acts without asking.

# When: after that.
code-mode-back = It is set back.

# When: an agent that is not in the table begins.
code-mode-unknown = Whether this agent asks before it acts is not known. What it does without asking is told, and stops it.

# When: an agent of the agent.
# $name (text): tests
# $state (text): running
code-subagent = Helper { $name }: { $state }.

# When: the end of a turn.
code-stop-refusal = The model refuses to go on.

# When: the end of a turn.
code-stop-max_tokens = The answer became too long for the model.

# When: the end of a turn.
code-stop-max_turn_requests = It took more steps than it may.

# When: the end of a turn.
code-stop-other = It stopped, and does not say why.

# When: the end of a turn.
code-stop-error = The agent reports an error.

# When: the end of a turn.
code-stop-gone = The agent's program has ended.

# When: the end of a turn.
code-stop-stuck = It did not stop, so its program was ended.

# When: the end of a turn.
code-stop-fault = Something in this program failed, so the agent was stopped.

# When: the end of a turn.
code-refused = The agent ended its turn after a refusal.

# When: p or Enter.
compose-begin = Write to the agent. Enter sends it. Escape leaves it for later.

# When: Escape while writing to the agent.
compose-left = Left. Press p to go on with it.

# When: Escape before anything was written.
compose-left-empty = Left. Nothing was written.

# When: Control-U while writing to the agent.
compose-removed = The line was removed.

# When: Backspace at the beginning of a line.
compose-joined = The line before:

# When: what was sent is to be listed.
compose-history-none = Nothing was sent yet.

# When: help.
compose-help = p or Enter writes to the agent. A backslash at the end begins another line.

# When: help.
compose-help-history = h lists what you sent. The up arrow fetches it back. @name names a file.

# When: help, where lines are typed.
compose-help-lines = Any other line is sent to the agent, also after the word prompt. History lists what you sent.

# When: a coding agent has started.
# $agent (text): goose
code-ready = { $agent } is ready. Press p to write to it.

# When: the same, where lines are typed.
# $agent (text): goose
code-ready-lines = { $agent } is ready. Write to it.

# When: something was written during a turn.
code-queued = Still at work. This is sent next.

# When: Control-C during a turn.
code-interrupt = Stopping. Press Control-C again to end.

# When: Control-C while nothing goes on.
code-interrupt-idle = Press Control-C again to end.

# When: a file was named in what was written.
# $file (text): a.py
code-file = With the file { $file }.

# When: a file was named that is not there.
# $file (text): a.pi
code-file-missing = There is no file { $file } here. It was sent as a word.

# When: after The agent reports an error.
# $text (text): No model.
code-error = The agent says: { $text }

# When: its program has ended; then the lines that it wrote.
code-last_words = Its last words were these.

# When: after that.
code-hint-again = Write to it again to go on.

# When: a question was answered with yes in the editor.
# $text (text): Running make.
code-editor-allowed = Allowed in the editor. { $text }

# When: a question was answered with no in the editor.
code-editor-refused = Refused in the editor.

# When: what was allowed in the editor has ended.
# $text (text): Running make.
code-editor-done = Finished: { $text }

# When: what was allowed in the editor has failed.
# $text (text): Running make.
code-editor-failed = Failed: { $text }

# When: a question is too long to be read out, or holds a secret.
# $text (text): Changing a.py.
code-editor-only = This can be answered in the editor only. { $text }

# When: the end of what can be told.
code-editor-fault = Something in this program failed. The agent goes on with the editor.

# When: the end of a turn.
code-editor-gone = The editor has ended.

# When: what it wants to do, where that is too long for one question; then its parts.
# $size (text): 300 lines
code-run-long = Run a command of { $size }.

# When: the same.
# $file (text): a.txt
# $size (text): 300 lines
code-create-long = Create { $file }, { $size }.

# When: the same, where the file may be there already.
# $file (text): a.txt
# $size (text): 300 lines
code-write-long = Write { $file }, { $size }.

# When: the same, where a text in a file is replaced.
# $file (text): a.py
# $removed (text): 20 lines
# $added (text): 300 lines
code-edit-long = In { $file }, replace { $removed } with { $added }.

# When: how long a change or a command is.
# $count (number): 60
code-kilobytes =
    { $count ->
        [one] 1 kilobyte
       *[other] { $count } kilobytes
    }

# When: a question with yes or no before the first part of what is long.
# $overview (text): Change a.py: 900 lines added, 3 lines removed.
# $size (text): 60 kilobytes
# $count (number): 20
code-parts =
    { $count ->
        [one] { $overview } It is { $size } long, in 1 part. Nothing is done before you have heard it. Go on?
       *[other] { $overview } It is { $size } long, in { $count } parts. Nothing is done before you have heard them all. Go on?
    }

# When: a question with yes or no; no refuses all of it.
# $number (number): 2
# $count (number): 20
# $text (text): At line 3, add x.
code-part = Part { $number } of { $count }. { $text } Go on?

# When: what is accepted, after all other parts were heard.
# $overview (text): Change a.py: 900 lines added, 3 lines removed.
# $count (number): 20
# $text (text): At line 3, add x.
code-part-last = { $overview } This is the last of its { $count } parts. { $text }

# When: a part that goes on with a quoted text, at a new line.
# $line (number): 80
# $text (text): quote x end quote.
code-part-line = It goes on with line { $line }, counted from 1 again: { $text }

# When: a part that goes on with a quoted text, at a new word.
# $line (number): 80
# $text (text): quote x end quote.
code-part-word = It goes on in line { $line }: { $text }

# When: the same, in the middle of a word.
# $line (number): 80
# $text (text): quote x end quote.
code-part-middle = It goes on in line { $line }, in the middle of a word: { $text }

# When: a part was answered with no.
# $text (text): Change a.py: 900 lines added, 3 lines removed.
code-part-refused = Refused. Nothing was done. { $text }

## Braille

# When: once for each language without a braille table.
# $language (text): Yoruba
braille-no_table = There is no braille table for the language { $language }. English letters are used.

# When: once, when dot 8 is used.
braille-marks = In braille, dot 8 marks a letter with a sign that the table lacks.

# When: BRLTTY stopped.
braille-lost = The braille display is gone. It is shown again when it is back.

# When: BRLTTY answers again.
braille-back = The braille display is back.

# When: accepting, with windows left.
braille-read_on = Read to the end first, then you can accept.

# When: a routing key above a choice.
# $choice (text): 2
braille-choice = Enter sends { $choice }

## Hooks of coding agents

# When: a person has asked a coding agent for something.
# $agent (text): Codex
hooks-started = { $agent } is at work.

# When: what it wants to do.
# $file (text): a.txt
# $size (text): 1 line
# $text (text): hello
hooks-write = Write { $file }, { $size }: { $text }.

# When: what it wants to do.
# $file (text): a.py
# $old (text): x
# $new (text): y
hooks-edit = In { $file }, replace { $old } with { $new }.

# When: what it wants to do.
# $file (text): a.py
# $old (text): x
# $new (text): y
hooks-edit-all = In { $file }, replace every { $old } with { $new }.

# When: it asks what only its terminal can take.
# $text (text): Use x.
hooks-terminal = Answer at its terminal. { $text }

# When: what it asks is too long, or seems to hold a secret.
# $tool (text): write
hooks-terminal-unread = Answer at its terminal. It wants to use { $tool }, and that cannot be read out in full.

# When: the same, for an agent that cannot be left to ask by itself.
# $tool (text): write
hooks-refused-unread = Refused. It wants to use { $tool }, and that cannot be read out in full.

# When: somebody answered there.
# $text (text): Run ls.
hooks-terminal-allowed = Allowed at its terminal. { $text }

# When: something ran that nobody was asked about.
# $text (text): Run ls.
hooks-unasked = Warning. It did this without asking. { $text }

# When: something ran that was refused.
# $text (text): Run ls.
hooks-despite = Warning. It did this although it was refused. { $text }

# When: in one of these.
# $tool (text): write
hooks-undescribed = It used { $tool }, and that cannot be read out.

# When: it was asked for something else before the end.
hooks-next = Another request came.

# When: it was stopped at its terminal.
# $agent (text): Claude Code
hooks-idle = { $agent } waits for your next request.

# When: the agent's program ends before the end.
# $agent (text): Codex
hooks-closed = { $agent } was closed.

## Falling behind

# When: once, when speech has fallen behind what comes.
# $duration (text): 40 seconds
behind-key = Speech is behind: { $duration } are waiting. Press k to skip to now.

# When: the same, where lines are typed.
# $duration (text): 40 seconds
behind-line = Speech is behind: { $duration } are waiting. Write { command-skip } to skip to now.

# When: after the skip key; then the last of what came.
# $count (number): 12
behind-skipped = { $count } skipped.

# When: the skip key, and nothing waits.
behind-nothing = Nothing to skip. This is now.

## Notifications of the desktop

# When: a reader without a terminal begins.
greeting-daemon = Listening in the background.

# When: a reader without a terminal begins.
notifications-none = There are no notifications here: no service of the desktop answers.

# When: the connection is lost.
notifications-gone = Notifications have ended: the desktop has closed.

# When: it takes more than a click.
notification-answer = Answer in a terminal: aaep listen

# When: the title of a notification.
# $agent (text): Bank
notification-title = { $agent } asks

# When: a button of a notification.
notification-accept = Accept

# When: a button of a notification.
notification-reject = Refuse

## Durations

# When: never rounded up.
duration-moment = less than a second

# When: a duration; the optional attribute .after is said after words like “after”.
# $count (number): 2
duration-days =
    { $count ->
        [one] 1 day
       *[other] { $count } days
    }

# When: the same.
# $count (number): 2
duration-hours =
    { $count ->
        [one] 1 hour
       *[other] { $count } hours
    }

# When: the same.
# $count (number): 2
duration-minutes =
    { $count ->
        [one] 1 minute
       *[other] { $count } minutes
    }

# When: the same.
# $count (number): 2
duration-seconds =
    { $count ->
        [one] 1 second
       *[other] { $count } seconds
    }

# When: a duration of two units.
# $first (text): 2 minutes
# $second (text): 30 seconds
duration-pair = { $first } and { $second }

## Words that a person writes

# When: a command, where lines are typed; the English word is understood as well. One word, in small letters.
command-accept = accept

# When: a command.
command-reject = reject

# When: another word for the same command; may be the same word.
command-refuse = refuse

# When: a command: say more of it.
command-more = more

# When: a command: say it again.
command-repeat = repeat

# When: a command: the next open prompt.
command-next = next

# When: a command: what was said before.
command-back = back

# When: a command: what was said after that.
command-forward = forward

# When: a command: do not disturb.
command-quiet = quiet

# When: a command: change how much is said.
command-verbosity = verbosity

# When: a command: ask for more time.
command-time = time

# When: a command: stop listening.
command-quit = quit

# When: a command.
command-help = help

# When: a word in front of an answer that is itself a command.
command-answer = answer

# When: quitting with open questions: leave them open.
command-leave = leave

# When: quitting with open questions: do not quit.
command-stay = stay

# When: the answer yes; y and yes are understood as well.
word-yes = yes

# When: the answer no; n and no are understood as well.
word-no = no

# When: a command: stop what is being spoken.
command-silence = silence

# When: a command: pause speech, and go on.
command-pause = pause

# When: a command: skip what waits to be spoken.
command-skip = skip

# When: a command: speak faster.
command-faster = faster

# When: a command: speak slower.
command-slower = slower

## Putting words together

# When: joins the parts of any list, one after the other.
# $first (text): a.txt
# $second (text): b.txt
list = { $first }, { $second }

# When: joins parts that may hold commas themselves.
# $first (text): size: 3, 4
# $second (text): owner: ada
list-long = { $first }; { $second }

# When: between whole numbers and fractions, as in 0.4.
decimal-sign = .

# When: never said: the words of value-quoted that a value must not imitate, all forms, with commas.
value-marks = quote, quotes, unquote, unquotes

# When: never said: words of our own sentences about prompts; a value that holds one is marked off as a quotation. Translate all, with the forms they have in these sentences; there may be more or fewer.
value-own_words = accept, accepted, blank, confirm, empty, irreversible, line, low, medium, high, no, nothing, quote, redacted, refuse, refused, reversible, risk, undo, undone, unquote, yes

# When: what a setting can be, after “has to be”.
# $words (text): terse, normal
# $last (text): detailed
expected-word = { $words } or { $last }

# When: the same.
# $lowest (number): 1
# $highest (number): 100
expected-whole_number = a whole number from { $lowest } to { $highest }

# When: the same.
# $lowest (number): 1
# $highest (number): 100
expected-number = a number from { $lowest } to { $highest }

# When: the same.
expected-languages = a list of language tags such as en-GB

# When: the same.
expected-texts = a list of texts

# When: the same.
expected-text = a text

## The language

# When: the name of this language, in this language.
language-name = English

# When: once, where none of the wanted languages is spoken here.
# $languages (text): Icelandic
language-none = This reader has no words in { $languages }. It speaks { language-name }.

## Why a connection is closed, to the other side

# When: sent to the other side when the connection ends.
close-producer_shutdown = The agent's side is shutting down.

# When: sent to the other side when the connection ends.
close-authentication_expired = The credential of this reader counts no longer. Connect again with a new one.

# When: sent to the other side when the connection ends.
close-slow_consumer = The reader does not keep up. Connect again to go on where it stopped.

# When: sent to the other side when the connection ends.
close-superseded = Another reader took over.

# When: sent to the other side when the connection ends.
close-subscriber_shutdown = The reader has stopped.

# When: sent to the other side when the connection ends.
close-rate_violation = The reader sent too much.

# When: sent to the other side when the connection ends.
close-protocol_error = The reader sent what is not allowed.

# When: sent to the other side when the connection ends.
close-manifest_invalid = A proof could not be verified.

# When: the same, from a hub.
close-hub_shutdown = The hub is shutting down.
