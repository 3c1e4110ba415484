"""
What people hear of small agents, at each verbosity, line by line.

The lines are written by hand and judged by the conventions of the field: the
label and the news first, nothing twice, no words of the protocol, nothing final
before a yes, and never "Done." of what was not done. A line that changes here has
to be better for somebody who listens to it at 400 words a minute.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from contextlib import suppress

import pytest

from aaep.protocol.fields import Verbosity
from tests.hearing.stage import TRANSCRIPTS, VERBOSITIES, Stage, Transcript, heard, perform

# -- answers ---------------------------------------------------------------------------------


@heard(
    normal="""
        Started. Looking up your train.
        Files: It leaves at 9.15.
        Done.
    """
)
def a_short_answer(stage: Stage) -> None:
    with stage.producer.session("Looking up your train.") as session:
        session.write("It leaves at 9.15.")


@heard(
    normal="""
        Started.
        Files: Hello.
        Done.
    """
)
def a_session_without_a_summary(stage: Stage) -> None:
    with stage.producer.session() as session:
        session.write("Hello.")


@heard(
    normal="""
        Started. Looking up your train.
        Files: Your train leaves at 9.15.
        Dr. Ada waits on platform 4.
        Have a good trip!
        Done.
    """
)
def a_streamed_answer(stage: Stage) -> None:
    tokens = [
        "Your ",
        "train leaves",
        " at 9.",
        "15. Dr",
        ". Ada ",
        "waits on plat",
        "form 4. Have",
        " a good",
        " trip!",
    ]
    with stage.producer.session("Looking up your train.") as session, session.output() as out:
        for token in tokens:
            out.write(token)


@heard(
    normal="""
        Started. Explaining.
        Files: One sentence is here.
        Another follows it.
        And a third one ends it.
        Done.
    """
)
def an_answer_in_one_piece(stage: Stage) -> None:
    with stage.producer.session("Explaining.") as session:
        session.write("One sentence is here. Another follows it. And a third one ends it.")


@heard(
    normal="""
        Started. Explaining.
        Files: first we open the drawer on the left side of the desk near the window,
        then we take out the old letters that nobody has read for years and put them away.
        Done.
    """
)
def an_answer_without_full_stops(stage: Stage) -> None:
    with stage.producer.session("Explaining.") as session:
        session.write(
            "first we open the drawer on the left side of the desk near the window, then we take out "
            "the old letters that nobody has read for years and put them away"
        )


@heard(
    normal="""
        Started. 天气.
        Files: 今天天气很好。
        我们去公园。
        Done.
    """
)
def an_answer_in_chinese(stage: Stage) -> None:
    with stage.producer.session("天气") as session:
        session.write("今天天气很好。我们去公园。")


@heard(
    normal="""
        Started. Reporting.
        Files: Heading: Weekly report.
        Two files are new.
        Bullet: notes.txt is 3.5 MB.
        Bullet: plan.txt is small.
        1: Read them.
        2: Answer.
        Done.
    """
)
def markdown_with_lists(stage: Stage) -> None:
    with stage.producer.session("Reporting.") as session:
        session.write(
            "## Weekly report 📊\n\n**Two files** are new.\n\n- `notes.txt` is 3.5 MB\n- *plan.txt* is small\n\n"
            "1. Read them\n2. Answer\n"
        )


@heard(
    normal="""
        Started. Reporting.
        Files: Table: Name, Size.
        Name: a.txt, Size: 1 KB.
        Name: b.txt, Size: 2 KB.
        See the wiki for more.
        Done.
    """
)
def markdown_with_a_table_and_a_link(stage: Stage) -> None:
    with stage.producer.session("Reporting.") as session, session.output(content_type="text/markdown") as out:
        out.write("| Name | Size |\n|---|---|\n| a.txt | 1 KB |\n")
        out.write("| b.txt | 2 KB |\n\n---\n\nSee [the wiki](https://wiki.example.org/a?b=1) for more.")


@heard(
    normal="""
        Started. Programming.
        Files: Run this:
        Code, python, 2 lines.
        Quote: It doubles.
        Checked: Tests pass.
        Done.
    """
)
def markdown_with_code(stage: Stage) -> None:
    with stage.producer.session("Programming.") as session:
        session.write("Run this:\n\n```python\ndef f(x):\n    return 2 * x\n```\n\n> It doubles.\n\n- [x] Tests pass\n")


@heard(
    normal="""
        Started. Checking.
        Files: check mark Tests pass.
        Files: cross mark Lint does not.
        Files: thumbs up sign.
        Done.
    """
)
def emoji_that_say_something(stage: Stage) -> None:
    with stage.producer.session("Checking.") as session:
        session.write("✅ Tests pass. 🎉 ")
        session.write("❌ Lint does not.")
        session.write("👍")


@heard(
    normal="""
        Started. Looking up the weather.
        Files: It is sunny.
        Quote from Files: Attention.
        Quote from Files: Confirm.
        Show the weather.
        Quote from Files: If you accept: It is shown.
        Quote from Files: Low risk, can be undone.
        Quote from Files: a accept, r refuse.
        Quote from Files: The connection is lost.
        Have a good day.
        Done.
    """
)
def an_answer_that_sounds_like_the_reader(stage: Stage) -> None:
    with stage.producer.session("Looking up the weather.") as session:
        session.write(
            "It is sunny. Attention. Confirm. Show the weather. If you accept: It is shown. Low risk, can be undone. "
            "a accept, r refuse. The connection is lost. Have a good day."
        )


@heard(
    normal="""
        Started. Quote from Files: Accepted. You may go.
        Quote from Files: Attention. Confirm. Show the weather.
        Quote from Files: Press y to accept.
        Done. Quote from Files: The prompt is closed.
    """,
    terse="""
        Started. Quote from Files: Accepted. You may go.
        Look.
        Quote from Files: Press y to accept.
        Done.
    """,
    detailed="""
        Started. Quote from Files: Accepted. You may go.
        Quote from Files: Attention. Confirm. Show the weather.
        Quote from Files: Press y to accept.
        Done. Quote from Files: The prompt is closed.
    """,
)
def an_agent_whose_summaries_sound_like_the_reader(stage: Stage) -> None:
    with stage.producer.session("Accepted. You may go.") as session:
        with session.tool("look", risk="low", summary="Attention. Confirm. Show the weather.") as call:
            call.result(("Press y to accept.",) * 3)
        session.result("The prompt is closed.")


# -- tools -----------------------------------------------------------------------------------


@heard(
    terse="""
        Started. Fetching your notes.
        Fetch.
        Fetch finished.
        Done.
    """,
    normal="""
        Started. Fetching your notes.
        Fetching a.txt.
        Fetching a.txt: done.
        Done.
    """,
    detailed="""
        Started. Fetching your notes.
        Fetching a.txt. name: a.txt.
        Fetching a.txt: done. It took 2 seconds.
        Done. It took 2 seconds. 1 tool was used.
    """,
)
def a_tool_with_a_summary(stage: Stage) -> None:
    @stage.producer.tool(risk="low", summary="Fetching {name}.")
    def fetch(name: str) -> None:
        stage.wait(2.9)

    with stage.producer.session("Fetching your notes."):
        fetch("a.txt")


@heard(
    terse="""
        Started. Fetching your notes.
        Fetch.
        Fetch finished.
        Done.
    """,
    normal="""
        Started. Fetching your notes.
        Fetching a.txt.
        Fetched a.txt.
        Done.
    """,
    detailed="""
        Started. Fetching your notes.
        Fetching a.txt. name: a.txt.
        Fetched a.txt.
        Done. 1 tool was used.
    """,
)
def a_tool_with_its_own_words_for_the_end(stage: Stage) -> None:
    @stage.producer.tool(risk="low", summary="Fetching {name}.", done="Fetched {name}.")
    def fetch(name: str) -> None:
        pass

    with stage.producer.session("Fetching your notes."):
        fetch("a.txt")


@heard(
    terse="""
        Started. Looking.
        Look up.
        Look up finished.
        Done.
    """,
    normal="""
        Started. Looking.
        Calling look up.
        Look up finished.
        Done.
    """,
    detailed="""
        Started. Looking.
        Calling look up. With word: quince.
        Look up finished.
        Done. 1 tool was used.
    """,
)
def a_tool_without_any_words(stage: Stage) -> None:
    @stage.producer.tool(risk="low")
    def look_up(word: str) -> None:
        pass

    with stage.producer.session("Looking."):
        look_up("quince")


@heard(
    terse="""
        Started. Looking.
        Search web.
        Searching the web failed: HTTP status error.
        Done.
    """,
    normal="""
        Started. Looking.
        Searching the web.
        Searching the web failed: HTTP status error.
        Done.
    """,
    detailed="""
        Started. Looking.
        Searching the web.
        Searching the web failed: HTTP status error.
        Done. 1 tool was used.
    """,
)
def a_tool_that_fails(stage: Stage) -> None:
    class HTTPStatusError(Exception):
        pass

    @stage.producer.tool(risk="low", summary="Searching the web.")
    def search_web() -> None:
        raise HTTPStatusError("secret text")

    with stage.producer.session("Looking."), suppress(HTTPStatusError):
        search_web()


@heard(
    terse="""
        Started. Fetching three.
        Fetch.
        Fetch.
        Fetch.
        Fetching b: done.
        Fetching c failed: runtime error.
        Fetching a: done.
        Done.
    """,
    normal="""
        Started. Fetching three.
        Fetching a.
        Fetching b.
        Fetching c.
        Fetching b: done.
        Fetching c failed: runtime error.
        Fetching a: done.
        Done.
    """,
    detailed="""
        Started. Fetching three.
        Fetching a. name: a.
        Fetching b. name: b.
        Fetching c. name: c.
        Fetching b: done.
        Fetching c failed: runtime error.
        Fetching a: done.
        Done. 3 tools were used.
    """,
)
def tools_in_parallel_say_which_one_ended(stage: Stage) -> None:
    turns = {name: asyncio.Event() for name in "abc"}

    @stage.producer.tool(risk="low", summary="Fetching {name}.")
    async def fetch(name: str) -> None:
        await turns[name].wait()
        if name == "c":
            raise RuntimeError

    async def act() -> None:
        async with stage.producer.session("Fetching three."):
            tasks = {name: asyncio.create_task(fetch(name)) for name in "abc"}
            await asyncio.sleep(0)
            for name in "bca":
                turns[name].set()
                with suppress(RuntimeError):
                    await tasks[name]

    asyncio.run(act())


@heard(
    terse="""
        Started. Summing up.
        Summarise.
        Files: Part 1 is read.
        Part 2 is read.
        Summarise finished.
        Done.
    """,
    normal="""
        Started. Summing up.
        Calling summarise.
        Files: Part 1 is read.
        Part 2 is read.
        Summarise finished.
        Done.
    """,
    detailed="""
        Started. Summing up.
        Calling summarise.
        Files: Part 1 is read.
        Part 2 is read.
        Summarise finished.
        Done. 1 tool was used.
    """,
)
def a_tool_that_streams_is_heard_while_it_runs(stage: Stage) -> None:
    @stage.producer.tool(risk="low")
    def summarise() -> Iterator[str]:
        yield from ("Part 1 is read. ", "Part 2 is read. ")

    with stage.producer.session("Summing up.") as session, session.output() as out:
        for token in summarise():
            out.write(token)


@heard(
    terse="""
        Started. Searching.
        Search.
        Search finished.
        Done.
    """,
    normal="""
        Started. Searching.
        Calling search.
        Search finished.
        Done.
    """,
    detailed="""
        Started. Searching.
        Calling search.
        Search was stopped early.
        Done. 1 tool was used.
    """,
)
def a_generator_that_is_left_early(stage: Stage) -> None:
    @stage.producer.tool(risk="low")
    def search() -> Iterator[int]:
        yield from range(10)

    with stage.producer.session("Searching."):
        next(iter(search()))


# -- asking ----------------------------------------------------------------------------------


def delete_file(stage: Stage, *names: str) -> None:
    @stage.producer.tool(
        action="Delete {name}.", consequence="The file is gone for good.", risk="high", irreversible=True
    )
    def delete(name: str) -> None:
        pass

    with stage.producer.session("Tidying up."):
        for name in names:
            delete(name)


@heard(
    answer="accept",
    terse="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Accepted.
        Delete.
        Delete finished.
        Done.
    """,
    normal="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling delete.
        Delete a.txt: done.
        Done.
    """,
    detailed="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling delete. With name: a.txt.
        Delete a.txt: done.
        Done. 1 tool was used.
    """,
)
def what_is_accepted(stage: Stage) -> None:
    delete_file(stage, "a.txt")


@heard(
    answer="reject",
    terse="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Delete a.txt was not done.
    """,
    normal="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Refused.
        Ended. Delete a.txt was not done.
    """,
)
def what_is_refused(stage: Stage) -> None:
    delete_file(stage, "a.txt")


@heard(
    answer=lambda prompt: "accept" if "a.txt" in prompt.action else "reject",
    terse="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Accepted.
        Delete.
        Delete finished.
        Confirm. Delete b.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Delete b.txt was not done.
    """,
    normal="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling delete.
        Delete a.txt: done.
        Confirm. Delete b.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Delete b.txt was not done.
    """,
    detailed="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling delete. With name: a.txt.
        Delete a.txt: done.
        Confirm. Delete b.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Delete b.txt was not done. 1 tool was used.
    """,
)
def a_second_prompt_is_shorter(stage: Stage) -> None:
    delete_file(stage, "a.txt", "b.txt")


@heard(
    listens="without answers",
    normal="""
        Started. Tidying up.
        Nobody can answer. Delete a.txt was not done.
        Ended. Delete a.txt was not done.
    """,
    terse="""
        Started. Tidying up.
        Nobody can answer.
        Ended. Delete a.txt was not done.
    """,
)
def nobody_can_answer(stage: Stage) -> None:
    delete_file(stage, "a.txt")


@heard(
    listens="without answers",
    terse="""
        Started. Tidying up.
        Look.
        Nobody can answer.
        Look finished.
        Ended. Delete a.txt was not done.
    """,
    normal="""
        Started. Tidying up.
        Calling look.
        Nobody can answer. Delete a.txt was not done.
        Look finished.
        Ended. Delete a.txt was not done.
    """,
    detailed="""
        Started. Tidying up.
        Calling look.
        Nobody can answer. Delete a.txt was not done.
        Look finished.
        Ended. Delete a.txt was not done. 1 tool was used.
    """,
)
def nobody_can_answer_while_a_tool_runs(stage: Stage) -> None:
    with stage.producer.session("Tidying up.") as session, session.tool("look", risk="low"):
        session.confirm("Delete a.txt.", "The file is gone for good.").wait(30)


@heard(
    terse="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 1 minute.
        Time ran out.
        Ended. Delete a.txt was not done.
    """,
    normal="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 1 minute without an answer. a accept, r refuse, t more time.
        Time ran out. Delete a.txt was not done.
        Ended. Delete a.txt was not done.
    """,
    detailed="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 1 minute without an answer. a accept, r refuse, t more time.
        Time ran out. Delete a.txt was not done.
        Ended. Delete a.txt was not done. It took 1 minute.
    """,
)
def time_runs_out(stage: Stage) -> None:
    with stage.producer.session("Tidying up.") as session:
        ask = session.confirm("Delete a.txt.", "The file is gone for good.", timeout=60)
        stage.wait(60)
        ask.wait(30)


@heard(
    terse="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        No longer asked.
        Ended. Delete a.txt was not done.
    """,
    normal="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        No longer asked. Delete a.txt was not done.
        Ended. Delete a.txt was not done.
    """,
)
def a_question_is_taken_back(stage: Stage) -> None:
    with stage.producer.session("Tidying up.") as session:
        session.confirm("Delete a.txt.", "The file is gone for good.").withdraw()


@heard(
    terse="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Refused elsewhere.
        Ended. Delete a.txt was not done.
    """,
    normal="""
        Started. Tidying up.
        Confirm. Delete a.txt. If you accept: The file is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Refused elsewhere. Delete a.txt was not done.
        Ended. Delete a.txt was not done.
    """,
)
def somebody_else_refuses(stage: Stage) -> None:
    stage.let_another_answer("reject")
    delete_file(stage, "a.txt")


@heard(
    answer="accept",
    terse="""
        Started. Sharing.
        Confirm. Share the album. If you accept: Your friends can see it. Medium risk, can be undone with effort. Refused after 2 minutes.
        Accepted.
        Share.
        Share finished.
        Done.
    """,
    normal="""
        Started. Sharing.
        Confirm. Share the album. If you accept: Your friends can see it. Medium risk, can be undone with effort. Refused after 2 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling share.
        Share the album: done.
        Done.
    """,
    detailed="""
        Started. Sharing.
        Confirm. Share the album. If you accept: Your friends can see it. Medium risk, can be undone with effort. Refused after 2 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling share.
        Share the album: done.
        Done. 1 tool was used.
    """,
)
def a_milder_question(stage: Stage) -> None:
    with stage.producer.session("Sharing.") as session:
        ask = session.confirm(
            "Share the album.",
            "Your friends can see it.",
            tool="share",
            risk="medium",
            irreversible=False,
            reversibility="reversible_with_effort",
        )
        if ask.wait(30):
            with session.tool("share", risk="medium", irreversible=False, ask=ask):
                pass


@heard(
    answer="accept",
    terse="""
        Started. Writing to Bob.
        Confirm. Send an email. With to: bob; body: hello. If you accept: Nobody stated what this changes. Take it as final. Refused after 5 minutes.
        Accepted.
        Send email.
        Send email finished.
        Confirm. Send an email. With to: eve; body: hello. Effect not stated. High risk, cannot be undone. Refused after 5 minutes.
        Accepted.
        Send email.
        Send email finished.
        Done.
    """,
    normal="""
        Started. Writing to Bob.
        Confirm. Send an email. With to: bob; body: hello. If you accept: Nobody stated what this changes. Take it as final. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling send email.
        Send an email: done.
        Confirm. Send an email. With to: eve; body: hello. Effect not stated. High risk, cannot be undone. Refused after 5 minutes.
        Accepted.
        Calling send email.
        Send an email: done.
        Done.
    """,
    detailed="""
        Started. Writing to Bob.
        Confirm. Send an email. With to: bob; body: hello. If you accept: Nobody stated what this changes. Take it as final. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling send email. With to: bob; body: hello. Send an email.
        Send an email: done.
        Confirm. Send an email. With to: eve; body: hello. Effect not stated. High risk, cannot be undone. Refused after 5 minutes.
        Accepted.
        Calling send email. With to: eve; body: hello. Send an email.
        Send an email: done.
        Done. 2 tools were used.
    """,
)
def a_tool_that_nobody_classified(stage: Stage) -> None:
    @stage.producer.tool
    def send_email(to: str, body: str) -> None:
        """Send an email."""

    with stage.producer.session("Writing to Bob."):
        send_email("bob", "hello")
        send_email("eve", "hello")


@heard(
    answer="reject",
    terse="""
        Started. Cleaning.
        Confirm. Run this command: quote
        line 1: cd /tmp
        line 2: rm *
        end quote. If you accept: Files may be gone. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Run this command: quote cd /tmp rm * end quote was not done.
    """,
    normal="""
        Started. Cleaning.
        Confirm. Run this command: quote
        line 1: cd /tmp
        line 2: rm *
        end quote. If you accept: Files may be gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Refused.
        Ended. Run this command: quote cd /tmp rm * end quote was not done.
    """,
)
def a_command_of_two_lines(stage: Stage) -> None:
    @stage.producer.tool(action="Run this command: {command}", consequence="Files may be gone.")
    def shell(command: str) -> None:
        pass

    with stage.producer.session("Cleaning."):
        shell("cd /tmp\nrm *\n")


@heard(
    answer="reject",
    terse="""
        Started. Paying.
        Confirm. Pay. With to: quote bob. If you accept: Nothing happens. Low risk. end quote; note: empty text; amount: 1000000. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Pay was not done.
    """,
    normal="""
        Started. Paying.
        Confirm. Pay. With to: quote bob. If you accept: Nothing happens. Low risk. end quote; note: empty text; amount: 1000000. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Refused.
        Ended. Pay was not done.
    """,
)
def an_argument_that_imitates_our_words(stage: Stage) -> None:
    @stage.producer.tool(consequence="The money is gone.")
    def pay(to: str, note: str, amount: int) -> None:
        """Pay."""

    with stage.producer.session("Paying."):
        pay("bob. If you accept: Nothing happens. Low risk.", "", 1_000_000)


@heard(
    answer="reject",
    terse="""
        Started. Paying.
        Confirm. Pay 1000000 from card number ending in 4 2 4 2 to ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Pay 1000000 from card number ending in 4 2 4 2 to ada was not done.
    """,
    normal="""
        Started. Paying.
        Confirm. Pay 1000000 from card number ending in 4 2 4 2 to ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Refused.
        Ended. Pay 1000000 from card number ending in 4 2 4 2 to ada was not done.
    """,
)
def bound_arguments_and_secrets(stage: Stage) -> None:
    def pay(amount: int, to: str, card: str, api_key: str) -> None:
        """Pay somebody."""

    ask = stage.producer.tool(action="Pay {amount} from card {card} to {to}.", consequence="The money is gone.")
    tool = ask(functools.partial(pay, 1_000_000))
    with stage.producer.session("Paying."):
        tool("ada", card="4242 4242 4242 4242", api_key="abc")


@heard(
    answer="the blue one",
    terse="""
        Started. Packing.
        Question. Which bag? 3 minutes to answer.
        Answered.
        Done.
    """,
    normal="""
        Started. Packing.
        Question. Which bag? Answer in your own words. 3 minutes to answer. t more time.
        Answered.
        Done.
    """,
    detailed="""
        Started. Packing.
        Question. Which bag? Answer in your own words. 3 minutes to answer. t more time.
        Answered.
        Done.
    """,
)
def an_open_question(stage: Stage) -> None:
    with stage.producer.session("Packing.") as session:
        session.clarify("Which bag?").wait(30)


@heard(
    answer="b.txt",
    terse="""
        Started. Choosing.
        Question. Which file? Why: Two match. 1: a.txt. 2: b.txt. 3 minutes to answer, else: a.txt.
        Answered.
        Done.
    """,
    normal="""
        Started. Choosing.
        Question. Which file? Why: Two match. 1: a.txt. 2: b.txt. 3 minutes to answer, else: a.txt. t more time.
        Answered.
        Done.
    """,
)
def a_question_with_choices(stage: Stage) -> None:
    with stage.producer.session("Choosing.") as session:
        session.clarify("Which file?", choices=["a.txt", "b.txt"], why="Two match.", default="a.txt").wait(30)


# -- what may have happened --------------------------------------------------------------------


@heard(
    answer="accept",
    terse="""
        Started. Paying.
        Confirm. Pay 5 to Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes.
        Accepted.
        Pay.
        Pay 5 to Ada did not finish. It may have happened. Check before you try again.
        Ended. Pay 5 to Ada may have happened. Check before you try again.
    """,
    normal="""
        Started. Paying.
        Confirm. Pay 5 to Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling pay.
        Pay 5 to Ada did not finish. It may have happened. Check before you try again.
        Ended. Pay 5 to Ada may have happened. Check before you try again.
    """,
    detailed="""
        Started. Paying.
        Confirm. Pay 5 to Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling pay.
        Pay 5 to Ada did not finish. It may have happened. Check before you try again.
        Ended. Pay 5 to Ada may have happened. Check before you try again. 1 tool was used.
    """,
)
def a_payment_that_times_out(stage: Stage) -> None:
    @stage.producer.tool(action="Pay 5 to Ada.", consequence="The money is gone.")
    def pay() -> None:
        raise TimeoutError

    with stage.producer.session("Paying."), suppress(TimeoutError):
        pay()


@heard(
    answer="accept",
    terse="""
        Started. Paying.
        Confirm. Pay 5 to Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes.
        Accepted.
        Pay.
        Pay 5 to Ada failed: connection error. Check what was done before you try again.
        Ended. Pay 5 to Ada failed.
    """,
    normal="""
        Started. Paying.
        Confirm. Pay 5 to Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling pay.
        Pay 5 to Ada failed: connection error. Check what was done before you try again.
        Ended. Pay 5 to Ada failed.
    """,
    detailed="""
        Started. Paying.
        Confirm. Pay 5 to Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Accepted.
        Calling pay.
        Pay 5 to Ada failed: connection error. Check what was done before you try again.
        Ended. Pay 5 to Ada failed. 1 tool was used.
    """,
)
def a_payment_that_fails(stage: Stage) -> None:
    @stage.producer.tool(action="Pay 5 to Ada.", consequence="The money is gone.")
    def pay() -> None:
        raise ConnectionError

    with stage.producer.session("Paying."), suppress(ConnectionError):
        pay()


# -- order -----------------------------------------------------------------------------------


@heard(
    answer="reject",
    terse="""
        Started. Tidying up.
        Files: I found a copy of your thesis.
        Careful, it is newer than the original.
        Confirm. Delete thesis-copy.docx. If you accept: It is gone for good. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        I leave it.
        Ended. Delete thesis-copy.docx was not done.
    """,
    normal="""
        Started. Tidying up.
        Files: I found a copy of your thesis.
        Careful, it is newer than the original.
        Confirm. Delete thesis-copy.docx. If you accept: It is gone for good. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Refused.
        I leave it.
        Ended. Delete thesis-copy.docx was not done.
    """,
)
def a_warning_is_heard_before_the_question(stage: Stage) -> None:
    @stage.producer.tool(action="Delete {name}.", consequence="It is gone for good.")
    def delete(name: str) -> None:
        pass

    with stage.producer.session("Tidying up.") as session, session.output() as out:
        out.write("I found a copy of your thesis. ")
        out.write("Careful, it is newer than the original.")
        delete("thesis-copy.docx")
        out.write(" I leave it.")


@heard(
    answer="reject",
    terse="""
        Started. Paying.
        Confirm. Pay Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes.
        Refused.
        Ended. Pay Ada was not done.
    """,
    normal="""
        Started. Paying.
        Confirm. Pay Ada. If you accept: The money is gone. High risk, cannot be undone. Refused after 5 minutes without an answer. a accept, r refuse, t more time.
        Refused.
        Ended. Pay Ada was not done.
    """,
)
def a_refusal_for_a_model_is_not_read_out(stage: Stage) -> None:
    @stage.producer.tool(action="Pay Ada.", consequence="The money is gone.")
    def pay() -> str:
        return "Paid."

    with stage.producer.session("Paying.") as session:
        session.write(pay())


# -- progress and states -----------------------------------------------------------------------


@heard(
    normal="""
        Started. Copying.
        0 percent.
        100 percent.
        Done.
    """,
    detailed="""
        Started. Copying.
        0 percent.
        100 percent.
        Done. It took 1 second.
    """,
)
def a_flood_of_progress(stage: Stage) -> None:
    with stage.producer.session("Copying.") as session:
        for percent in range(101):
            session.progress(percent)
            stage.clock.advance(0.012)


@heard(
    terse="""
        Started. Copying.
        0 percent.
        15 percent.
        45 percent.
        75 percent.
        90 percent.
        Done.
    """,
    normal="""
        Started. Copying.
        Copying photos. 0 percent.
        Copying photos. 15 percent.
        Copying photos. 45 percent.
        Copying photos. 75 percent.
        Copying photos. 90 percent.
        Done.
    """,
    detailed="""
        Started. Copying.
        Copying photos. 0 percent.
        Copying photos. 15 percent.
        Copying photos. 45 percent.
        Copying photos. 75 percent.
        Copying photos. 90 percent.
        Done. It took 21 seconds.
    """,
)
def slow_progress(stage: Stage) -> None:
    with stage.producer.session("Copying.") as session:
        for percent in range(0, 91, 15):
            session.progress(percent, description="Copying photos.")
            stage.wait(3)


@heard(
    normal="""
        Started. Installing.
        Step 1 of 3.
        Step 3 of 3.
        Done.
    """
)
def steps(stage: Stage) -> None:
    with stage.producer.session("Installing.") as session:
        for step in (1, 2, 3):
            session.progress(step=step, total=3)


@heard(
    terse="""
        Started. Planning.
        Thinking.
        Deciding.
        Files: I have it.
        Done.
    """,
    normal="""
        Started. Planning.
        Thinking.
        Weighing it.
        Files: I have it.
        Done.
    """,
    detailed="""
        Started. Planning.
        Thinking about what to do next.
        Weighing it.
        Files: I have it.
        Done.
    """,
)
def states_are_said_once(stage: Stage) -> None:
    with stage.producer.session("Planning.") as session:
        for _ in range(3):
            with session.thinking():
                pass
            with session.deciding("Weighing it."):
                pass
        session.write("I have it.")


# -- ends --------------------------------------------------------------------------------------


@heard(
    normal="""
        Started. Fetching.
        Failed. Connection error. Trying again later may help.
    """,
    terse="""
        Started. Fetching.
        Failed. Trying again later may help.
    """,
)
def work_that_fails(stage: Stage) -> None:
    with suppress(ConnectionError), stage.producer.session("Fetching."):
        raise ConnectionError("host 10.0.0.1")


@heard(
    normal="""
        Started. Fetching.
        Failed. Runtime error. Try again. If it fails again, tell whoever runs the agent.
    """,
    terse="""
        Started. Fetching.
        Failed. Try again. If it fails again, tell whoever runs the agent.
    """,
)
def work_that_fails_in_a_group(stage: Stage) -> None:
    with suppress(ExceptionGroup), stage.producer.session("Fetching."):
        raise ExceptionGroup("several", [RuntimeError()])


@heard(
    terse="""
        Started. Searching.
        Stopped.
    """,
    normal="""
        Started. Searching.
        Stopped. The work is not finished.
    """,
    detailed="""
        Started. Searching.
        Stopped. The work is not finished. The user stopped it.
    """,
)
def work_that_is_stopped(stage: Stage) -> None:
    with suppress(KeyboardInterrupt), stage.producer.session("Searching."):
        raise KeyboardInterrupt


@heard(
    normal="""
        Started. Tidying up.
        Done. Three files are gone.
    """,
    terse="""
        Started. Tidying up.
        Done.
    """,
)
def work_with_a_result(stage: Stage) -> None:
    with stage.producer.session("Tidying up.") as session:
        session.result("Three files are gone.")


@heard(
    normal="""
        Started. Refunding.
        Handing over to a person. The amount is above my limit.
        Done. Somebody has it now.
    """,
    terse="""
        Started. Refunding.
        Handing over to a person. The amount is above my limit.
        Done.
    """,
)
def work_that_is_handed_over(stage: Stage) -> None:
    with stage.producer.session("Refunding.") as session:
        session.handoff("The amount is above my limit.")
        session.handed_over("Somebody has it now.")


@heard(
    normal="""
        Started. Refunding.
        Handing over to a person. The amount is above my limit.
        Stopped. Nobody has taken over. The work is not finished.
    """,
    terse="""
        Started. Refunding.
        Handing over to a person. The amount is above my limit.
        Stopped. Nobody has taken over.
    """,
)
def work_that_nobody_takes_over(stage: Stage) -> None:
    with stage.producer.session("Refunding.") as session:
        session.handoff("The amount is above my limit.")


# -- several at once -----------------------------------------------------------------------------


@heard(
    normal="""
        Started. Planning a trip.
        Started. Looking for a hotel. Part of: Planning a trip.
        Files: I found one.
        Looking for a hotel: Done.
        Files: All is booked.
        Done.
    """
)
def a_sub_agent_says_whose_it_is(stage: Stage) -> None:
    with stage.producer.session("Planning a trip.") as trip:
        with stage.producer.session("Looking for a hotel.", parent=trip) as hotel:
            hotel.write("I found one.")
        trip.write("All is booked.")


@heard(
    normal="""
        Started. Reading the mail.
        Started. Copying photos.
        Reading the mail: Files: Two are new.
        Copying photos: 50 percent.
        Reading the mail: Done.
        Done.
    """
)
def two_sessions_are_told_apart(stage: Stage) -> None:
    mail = stage.producer.session("Reading the mail.").start()
    photos = stage.producer.session("Copying photos.").start()
    mail.write("Two are new.")
    photos.progress(50)
    mail.complete()
    photos.complete()


@heard(
    listens="later",
    terse="""
        Started. Cleaning the disk.
        Catching up. Fetching a.txt. 40 percent.
        Fetch finished.
        Done.
    """,
    normal="""
        Started. Cleaning the disk.
        Catching up. Fetching a.txt. 40 percent.
        Fetch finished.
        Done.
    """,
    detailed="""
        Started. Cleaning the disk.
        Catching up. Fetching a.txt. 40 percent.
        Fetch finished.
        Done. 1 tool was used.
    """,
)
def who_joins_late_hears_what_goes_on(stage: Stage) -> None:
    with (
        stage.producer.session("Cleaning the disk.") as session,
        session.tool("fetch", risk="low", summary="Fetching a.txt."),
    ):
        session.progress(40)
        stage.listen()
        stage.settle()


# -- the test ------------------------------------------------------------------------------------


def test_there_are_enough() -> None:
    assert len(TRANSCRIPTS) >= 40


@pytest.mark.parametrize("verbosity", VERBOSITIES)
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda transcript: transcript.name)
def test_what_is_heard(transcript: Transcript, verbosity: Verbosity) -> None:
    assert perform(transcript, verbosity) == transcript.lines[verbosity]
