"""
An agent in a process of its own, which does what it is told on its standard input, a word on each line.

It takes the URL to listen at, a file for its journal or ``-`` for none, and a
file that its tool writes to. It says on its standard output what it has done.
"""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from types import FrameType

import tests.end_to_end.pipes  # noqa: F401  # which makes an address known
from aaep.producer.producer import Producer
from aaep.producer.session import Session

SENTENCES = 2000


def stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def say(word: str) -> None:
    print(word, flush=True)


def linger() -> None:
    """Until the process is ended. In short waits: a signal that comes in the moment before a wait does not end it."""
    while not threading.Event().wait(0.1):
        pass


def main(url: str, journal: str, ledger: str) -> None:
    signal.signal(signal.SIGTERM, stop)
    with Producer("bank", name="Bank", listen=url, journal=None if journal == "-" else journal) as producer:

        @producer.tool(action="Transfer {amount}.", consequence="Funds move at once.")
        def transfer(amount: str) -> str:
            with Path(ledger).open("a") as file:
                file.write(f"{amount}\n")
            say("running")
            linger()
            return "moved"

        def write(session: Session) -> None:
            with session.output() as out:
                for number in range(SENTENCES):
                    out.write(f"This is sentence {number}. ")
                linger()

        say(producer.addresses[0])
        for word in sys.stdin:
            match word.strip():
                case "write":  # without an end
                    with producer.session("Telling a story.") as session:
                        write(session)
                case "transfer":
                    with producer.session("Moving money.") as session:
                        session.write("First something to listen to. Then a question.")
                        transfer("$500")
                case "greet":
                    with producer.session("Back again.") as session:
                        session.write("Hello again.")
                    say("greeted")
                case "wait":  # with a session open
                    with producer.session("Waiting."):
                        say("waiting")
                        linger()


if __name__ == "__main__":
    main(*sys.argv[1:])
