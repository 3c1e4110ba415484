"""Every test that takes ``wire`` is run over every transport there is."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from aaep.producer.producer import Producer
from aaep.producer.session import Session
from tests.end_to_end.readers import Raw
from tests.end_to_end.relay import PATHS, Relay
from tests.end_to_end.wires import LONG, WIRES, Json, Wire, transports
from tests.options import producer as producer_with


@pytest.fixture(params=[name for name in transports() if name in WIRES])
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test for ``only`` some wires is not there for the others, which cannot do by nature what it asks."""
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        wanted = [mark.args[0] for mark in item.iter_markers("only")]
        name = getattr(item, "callspec", None) and item.callspec.params.get("wire")  # type: ignore[attr-defined]  # pytest gives one to parametrised tests
        fits = name is None or all(getattr(WIRES[name], one) for one in wanted)
        (kept if fits else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """That connections are lost here is what is tested."""
    logger = logging.getLogger("aaep.subscriber")
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(logging.NOTSET)


class Bank:
    """A producer behind a real socket, with one tool that needs a yes and one that does not."""

    def __init__(self, wire: Wire, producer: Producer) -> None:
        self.wire, self.producer = wire, producer
        self.url = producer.addresses[0]
        self.ran: list[str] = []
        self.look = producer.tool(name="look", risk="low")(self._look)
        self.transfer = producer.tool(name="transfer", action="Transfer {amount}.", consequence="Funds move at once.")(
            self._transfer
        )
        self._threads: list[threading.Thread] = []
        self._failures: list[BaseException] = []

    def _look(self) -> str:
        return "1,240"

    def _transfer(self, amount: str) -> str:
        self.ran.append(amount)
        return "moved"

    def reader(self, **capabilities: Any) -> Raw:
        return Raw(self.wire, self.url, **capabilities)

    @property
    def journal(self) -> list[Json]:
        """Everything that was said, as it was said."""
        return [json.loads(entry.data) for entry in self.producer.hub.journal.read(limit=100_000)]

    def errand(self, session: Session) -> None:
        """Something of everything, with a question in the middle."""
        with session.thinking():
            session.progress(50)
        self.look()
        self.transfer("$500")
        with session.output() as out:
            for number in range(4):
                out.write(f"This is sentence {number}. ")

    def start(self, script: Callable[[Session], None] | None = None) -> threading.Thread:
        """The agent at work, in a thread. What goes wrong there fails the test."""

        def work() -> None:
            try:
                with self.producer.session("Moving money.") as session:
                    (script or self.errand)(session)
            except BaseException as error:
                self._failures.append(error)

        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def finish(self) -> None:
        """Wait until the agent is done with everything."""
        for thread in self._threads:
            thread.join(LONG)
            assert not thread.is_alive()
        if self._failures:
            raise self._failures[0]


@pytest.fixture
def bank(wire: Wire) -> Iterator[Bank]:
    with Producer("bank", name="Bank", listen=wire.listen, journal=None) as producer:
        yield Bank(wire, producer)


@pytest.fixture
def relay(wire: Wire) -> Iterator[Relay]:
    with Relay(wire) as made:
        yield made


@pytest.fixture
def far_bank(wire: Wire, relay: Relay) -> Iterator[Bank]:
    """A bank that is reached through a relay."""
    settings = wire.through(relay.host)
    with producer_with("bank", name="Bank", listen=wire.listen, journal=None, **settings) as producer:
        made = Bank(wire, producer)
        relay.target, made.url = made.url, relay.url
        yield made


@pytest.fixture
def address(wire: Wire) -> str:
    """A URL at which something can be started, ended and started again."""
    if urlsplit(wire.listen).scheme in PATHS:
        return wire.listen
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"{urlsplit(wire.listen).scheme}://127.0.0.1:{taken.getsockname()[1]}"
