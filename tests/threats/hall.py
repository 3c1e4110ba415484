"""
What the attacks have in common: a bank with several customers, and an enemy who is one of them.

Ada's agent waits for her yes. Mallory has a valid credential of her own, and
knows everything there is to know: Ada's subscription id, her events, and the
token of the question.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from aaep.identity.credentials import Credentials
from aaep.identity.peer import Peer
from aaep.identity.tokens import Tokens, add_entry, create_token
from aaep.producer.producer import Producer
from tests.end_to_end.readers import ANSWERS, PROMPT, Raw, outcomes, reply
from tests.end_to_end.wires import LONG, WIRES, Grpc, Json, Line, TwoWay, Wire, transports

NAMES: Final = [name for name in transports() if name in WIRES]
_BORN: Final = ("unix-socket", "stdio-jsonrpc")  # where who somebody is comes from the connection itself


class Doorman:
    """Knows people by their tokens; and, where there can be none, as whom a test says is coming."""

    can_verify_bearer = is_multi_user = True

    def __init__(self, file: Path) -> None:
        self.coming = ("nobody", "replier")
        self.turn = threading.Lock()  # one comes at a time, or one would be taken for another
        self.met = threading.Event()
        self._file = file
        self._headers: dict[tuple[str, str], dict[str, str]] = {}
        self.headers("ada", "replier")
        self._tokens = Tokens(file)

    def headers(self, who: str, role: str) -> dict[str, str]:
        """What somebody shows."""
        if (who, role) not in self._headers:
            token, entry = create_token(who, role, now=time.time(), lifetime_seconds=3600)
            add_entry(self._file, entry)
            self._headers[who, role] = {"Authorization": f"Bearer {token}"}
        return self._headers[who, role]

    def authenticate(self, given: Credentials) -> Peer:
        if given.transport in _BORN:
            peer = Peer(self.coming[0], given.transport, frozenset({self.coming[1]}))
            self.met.set()
            return peer
        return self._tokens.authenticate(given)


class Bank:
    """A producer with several customers, over one transport; the agent works for Ada."""

    def __init__(self, name: str, folder: Path, *, life: float = 0.0, **settings: Any) -> None:
        self.name, self._life = name, life
        self.doorman = Doorman(folder / "tokens.jsonl")
        self._wires: dict[tuple[str, str], Wire] = {}
        self.listen = self.wire("ada").listen
        self.producer = Producer(
            "bank", listen=self.listen, journal=None, identity=self.doorman, audience="ada", **settings
        )

    def __enter__(self) -> Self:
        self.producer.start()
        self.url = self.producer.addresses[0]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for wire in self._wires.values():
            if isinstance(wire, TwoWay):
                wire.hang_up()
        self.producer.close()

    def wire(self, who: str, role: str = "replier") -> Wire:
        """The transport, as somebody uses it."""
        if (who, role) not in self._wires:
            made = type(WIRES[self.name])(self.doorman.headers(who, role))  # type: ignore[call-arg]  # a wire of this suite takes them
            if isinstance(made, Grpc) and self._life:
                made.life = self._life
            if isinstance(made, TwoWay) and self.name in ("unix", "stdio"):
                made.dial = self._dialling(made, who, role)  # type: ignore[method-assign]  # put in its place for this test
            self._wires[who, role] = made
        return self._wires[who, role]

    def _dialling(self, wire: TwoWay, who: str, role: str) -> Any:
        dial = wire.dial

        def dialled(url: str) -> Line:
            with self.doorman.turn:
                self.doorman.coming = who, role
                self.doorman.met.clear()
                line = dial(url)
                assert self.doorman.met.wait(LONG)
            return line

        return dialled

    def reader(self, who: str, role: str = "replier", **capabilities: Any) -> Raw:
        return Raw(self.wire(who, role), self.url, **(capabilities or ANSWERS))


class Hall:
    """Ada's agent has asked, Ada has heard it, and nobody has answered."""

    def __init__(self, bank: Bank, stack: ExitStack) -> None:
        self.bank, self.url = bank, bank.url
        self.ada = bank.reader("ada")
        self.hers = stack.enter_context(self.ada.connect())
        self.mallory = bank.reader("mallory")
        self.its = stack.enter_context(self.mallory.connect())
        self.session = stack.enter_context(bank.producer.session("Moving money."))
        self.ask = self.session.confirm("Transfer $500.", "Funds move at once.", tool="transfer", timeout=3600)
        self.prompt = self.ada.wait(self.hers, PROMPT)

    def send(self, who: str, message: bytes | Json, role: str = "replier") -> Any:
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.bank.wire(who, role).send(self.url, raw)

    def yes(self, subscription_id: str, **changes: Any) -> bytes:
        return reply(self.prompt, subscription_id, **changes)

    def undecided(self) -> None:
        """The hub answers, the question is open, and it is still asked of Ada when she joins once more."""
        late = self.bank.reader("ada")
        with late.connect() as joined:
            late.take(joined, lambda event: event == self.prompt)
        assert self.ask.answer is None
        late.ask(type="subscription.close", reason_code="subscriber_shutdown", reason_message="Done.")

    def decides(self, decision: str = "accept") -> None:
        """Ada's own answer counts, as the first."""
        self.undecided()
        self.ada.send(self.prompt, decision)
        assert self.ask.wait(LONG).outcome == f"{decision}ed"
        if decision == "accept":
            with self.session.tool("transfer", ask=self.ask) as call:
                call.result("Moved.")
        self.ada.take(self.hers, lambda event: bool(outcomes([event], self.prompt)))
        assert outcomes(self.ada.got, self.prompt) == [f"{decision}ed"]
        assert self.ada.errors() == []


@contextmanager
def hall(name: str, folder: Path, *, life: float = 0.0) -> Iterator[Hall]:
    """``life``: the seconds that it may last, where that is long."""
    with Bank(name, folder, life=life) as bank, ExitStack() as stack:
        yield Hall(bank, stack)


class Trouble(logging.Handler):
    """What a hub complains of that nothing from outside should bring about."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(("aaep", "asyncio")):
            self.said.append(self.format(record))


@contextmanager
def no_trouble() -> Iterator[None]:
    """Whatever is sent, nothing here fails."""
    trouble = Trouble()
    root = logging.getLogger()
    root.addHandler(trouble)
    try:
        yield
    finally:
        root.removeHandler(trouble)
    assert trouble.said == []
