"""The agent of ``aaep demo``: a scripted bank assistant that needs no model, key or network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..producer.producer import Producer
from ..producer.session import Session

__all__ = ["DEMO_SCENARIOS", "run_scenario"]

Pause = Callable[[], None]


class BankAssistant:
    """The assistant's tools; ``pause`` is called wherever a real agent would need time."""

    def __init__(self, producer: Producer, pause: Pause, timeout: int | None) -> None:
        self.producer = producer
        self.pause = pause
        self.timeout = timeout
        self.has_moved_money = False
        self.check_balance = producer.tool(
            name="check_balance", risk="low", summary="Looking up the balance of your {account} account."
        )(self._check_balance)
        self.transfer_funds = producer.tool(
            name="transfer_funds",
            risk="high",
            irreversible=True,
            action="Transfer {amount} from checking to {to}.",
            consequence="The money moves at once and cannot be called back.",
            summary="Moving {amount} to {to}.",
            timeout=timeout,
        )(self._transfer_funds)
        self.fetch_statement = producer.tool(
            name="fetch_statement", risk="low", summary="Fetching the statement for {month}."
        )(self._fetch_statement)

    def _check_balance(self, account: str) -> str:
        """Reads the balance of an account."""
        self.pause()
        return f"1,240 dollars in {account}"

    def _transfer_funds(self, amount: str, to: str) -> str:
        """Moves money between two accounts of the same owner."""
        self.pause()
        self.has_moved_money = True
        return f"{amount} moved to {to}."

    def _fetch_statement(self, month: str) -> str:
        """Fetches a bank statement."""
        self.pause()
        raise ConnectionError(f"the bank does not answer ({month})")

    def write(self, session: Session, text: str) -> None:
        """Write text to the session word by word, as a model does."""
        with session.output() as output:
            for word in text.split(" "):
                output.write(word + " ")
        self.pause()


def _run_transfer(bank: BankAssistant, session: Session) -> None:
    with session.thinking("Thinking about your request."):
        bank.pause()
    bank.check_balance("checking")
    bank.transfer_funds("500 dollars", to="savings")
    if bank.has_moved_money:
        bank.write(session, "Your money has moved. Savings now holds 1,740 dollars, and checking 740.")
        session.result("500 dollars are in your savings.")
    else:
        bank.write(session, "Your money stays where it is.")


def _run_error(bank: BankAssistant, session: Session) -> None:
    with session.thinking():
        bank.pause()
    bank.fetch_statement("October")


def _run_clarification(bank: BankAssistant, session: Session) -> None:
    with session.thinking():
        bank.pause()
    ask = session.clarify(
        "Which account do you mean?",
        choices={"checking": "Checking, ending in 12", "savings": "Savings, ending in 77"},
        why="You have two accounts with that name.",
        timeout=bank.timeout,
    )
    answer = ask.wait()
    if not answer:
        session.handoff("The assistant needs to know which account is meant and got no answer.")
        session.handed_over("A colleague will call you.")
        return
    bank.check_balance(str(answer.response))
    bank.write(session, f"Your {answer.response} account holds 1,240 dollars.")


def _run_handoff(bank: BankAssistant, session: Session) -> None:
    with session.deciding("Weighing whether this can be done here."):
        bank.pause()
    session.handoff(
        "A lost card can only be blocked by a person.",
        context={"topic": "lost card", "done_so_far": "nothing"},
        priority="high",
    )
    bank.pause()
    session.handed_over("A colleague has taken over.")


def _run_cancellation(bank: BankAssistant, session: Session) -> None:
    with session.thinking():
        bank.pause()
    bank.check_balance("checking")
    session.cancel(
        (
            "Stopped.",
            "You stopped the assistant. Nothing was moved.",
            "You stopped the assistant before it moved money.",
        ),
        by="user",
        reason="user_request",
    )


def _run_long_task(bank: BankAssistant, session: Session) -> None:
    steps = ("collecting bookings", "sorting them", "comparing with last year", "writing it up")
    with session.thinking("Going through a year of bookings."):
        for number, step in enumerate(steps, start=1):
            session.progress(100 * number / len(steps), step=number, total=len(steps), description=step.capitalize())
            bank.pause()
    bank.write(
        session,
        "Here is your year. You spent most on rent, then on food, then on travel. "
        "Travel grew by a third. Everything else stayed about the same.\n\nShall I look at travel more closely?",
    )


DEMO_SCENARIOS: Final[dict[str, tuple[str, Callable[[BankAssistant, Session], None]]]] = {
    "money": ("Moving 500 dollars to your savings.", _run_transfer),
    "error": ("Fetching your statement.", _run_error),
    "clarification": ("Looking up your balance.", _run_clarification),
    "handoff": ("Blocking your lost card.", _run_handoff),
    "cancel": ("Moving 500 dollars to your savings.", _run_cancellation),
    "long": ("Going through your bookings of this year.", _run_long_task),
}


def run_scenario(producer: Producer, scenario: str, pause: Pause, timeout: int | None) -> Any:
    """Run a scenario to its end, and return the assistant, or None if the scenario failed as it should."""
    summary, script = DEMO_SCENARIOS[scenario]
    bank = BankAssistant(producer, pause, timeout)
    try:
        with producer.session(summary, requested_by="user:demo") as session:
            script(bank, session)
    except ConnectionError:
        return None  # the session has already reported the error
    return bank
