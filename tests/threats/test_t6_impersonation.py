"""T6: an agent that poses as another, or a place that is not where it seems. SEC-027, CF-103, CF-104, CF-145"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aaep.errors import AaepError
from aaep.hub import expiry
from aaep.hub.hub import Hub
from aaep.hub.relay import relay
from aaep.hub.relay.audience import make_audience_lookup
from aaep.hub.relay.relay import AgentRegistry
from aaep.hub.settings import HubSettings
from aaep.identity.credentials import Credentials
from aaep.identity.peer import Peer
from aaep.journal.base import Journal
from aaep.journal.memory import MemoryJournal
from aaep.journal.sqlite import SqliteJournal
from aaep.producer.producer import Producer
from aaep.protocol.attend_extension import ATTEND, attend_registry
from aaep.protocol.codec import encode
from aaep.protocol.events import ProducerInfo
from aaep.protocol.negotiation import Offer
from aaep.testing import Listener
from aaep.transports.unix.paths import choose_socket_path, list_socket_folders, parse_unix_url
from tests.end_to_end.readers import ANSWERS, ENDS, PROMPT, Raw, stamp
from tests.end_to_end.wires import LONG, Http, Json, Line, Unix
from tests.serving import served
from tests.threats.hall import Doorman


class Guests:
    """The agents come over a socket, as whom a test says; readers over HTTP, with tokens."""

    is_multi_user = True

    def __init__(self) -> None:
        self.coming = Peer("ada", "unix-socket", frozenset({"agent"}))

    def authenticate(self, _: Credentials) -> Peer:
        return self.coming


class Place:
    """A hub for agents of several people, as ``aaep serve`` runs it."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.hub, self.guests = hub, Guests()
        self.doorman = Doorman(folder / "tokens.jsonl")
        self.socket = served(hub, f"unix://{folder}/hub.sock", identity=self.guests)
        self.url = served(hub, "http://127.0.0.1:0", identity=self.doorman)

    def reader(self, who: str, role: str = "replier") -> Raw:
        return Raw(Http(self.doorman.headers(who, role)), self.url, **ANSWERS)

    def agent(self, who: str, agent_id: str = "bank", role: str = "agent", instance: str = "") -> RawAgent:
        self.guests.coming = Peer(who, "unix-socket", frozenset({role}))
        return RawAgent(self.socket, agent_id, self.hub, instance)


@contextmanager
def place(folder: Path, journal: Journal | None = None, window: float = 30.0) -> Iterator[Place]:
    offer = Offer(producer=ProducerInfo(agent_id="hub"), registry=attend_registry(), namespaces=(ATTEND.namespace,))
    kept = MemoryJournal() if journal is None else journal
    hub = Hub(
        offer, kept, settings=HubSettings(resume_window=window), audience=make_audience_lookup(kept, is_multi_user=True)
    )
    hub.agents = relays = AgentRegistry(hub, is_multi_user=True)
    hub.start()
    hub.run(_recalled(relays))
    try:
        yield Place(folder, hub)
    finally:
        hub.run(relays.close())
        hub.close()


async def _recalled(relays: AgentRegistry) -> None:
    relays.restore_sessions()


class RawAgent:
    """An agent without our library, which says what it wants."""

    def __init__(self, url: str, agent_id: str, hub: Hub, instance: str) -> None:
        self.id = agent_id
        self.line: Line = Unix().dial(url)
        told = json.loads(encode(hub.manifest())) | {"agent_id": agent_id, "agent_name": agent_id.title()}
        if instance:
            told["extensions"] = {"attend": {"instance": instance}}
        self.line.send(json.dumps(told).encode())

    def __enter__(self) -> RawAgent:
        """The hub subscribes, and is accepted."""
        asked = self.line.receive()
        assert asked is not None
        self.wishes: Json = json.loads(asked)["capabilities"]
        accepted = {
            "type": "subscription.accepted",
            "aaep_version": "1.0.0",
            "subscription_id": "sub_1",
            "honored_capabilities": self.wishes,
            "producer": {"agent_id": self.id},
        }
        self.line.send(json.dumps(accepted).encode())
        return self

    def __exit__(self, *_: object) -> None:
        self.line.cut()

    def say(self, kind: str, session: str, event: str, **members: Any) -> None:
        said = {
            "@context": "https://aaep-protocol.org/context/v1",
            "aaep_version": "1.0.0",
            "type": f"aaep:agent.{kind}",
            "event_id": event,
            "session_id": session,
            "timestamp": stamp(),
            "producer": {"agent_id": self.id},
            "verbosity": "normal",
            "urgency": "normal",
            "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
            "summary_normal": f"{self.id} says {kind}.",
        }
        self.line.send(json.dumps(said | members).encode())


STARTED = "aaep:agent.session.started"


def test_t6_an_agent_is_heard_by_those_it_works_for(folder: Path) -> None:
    with place(folder) as hub:
        ada, mallory = hub.reader("ada"), hub.reader("mallory")
        with (
            ada.connect() as hers,
            mallory.connect() as its,
            hub.agent("ada") as one,
            hub.agent("mallory") as two,
        ):
            one.say("session.started", "sess_1", "evt_1")
            two.say("session.started", "sess_2", "evt_2")
            assert ada.wait(hers, STARTED)["session_id"] == "sess_1"
            assert mallory.wait(its, STARTED)["session_id"] == "sess_2"


LOCAL = Peer("local", "unix-socket", frozenset({"replier", "agent"}))


def test_t6_a_session_of_a_local_agent_is_for_those_it_names(folder: Path) -> None:
    """CF-145: an audience goes with the session to the hub. Bob has a token there too, and knows everything."""
    ran: list[str] = []
    with place(folder) as hub:
        hub.guests.coming = LOCAL
        bob, carol = hub.reader("bob"), hub.reader("carol")
        with (
            bob.connect() as his,
            carol.connect() as hers,
            Producer("assistant", hub=hub.socket, journal=None, audience={"carol"}) as producer,
        ):

            @producer.tool(action="Transfer {amount}.", consequence="The money moves at once.")
            def transfer(amount: str) -> None:
                ran.append(amount)

            producer.reader().wait(LONG)
            with producer.session("Private.", request="My diary."), ThreadPoolExecutor() as pool:
                work = pool.submit(copy_context().run, transfer, "$500")
                prompt = carol.wait(hers, PROMPT)
                for one in (bob.id, carol.id):
                    bob.send(prompt, subscription_id=one)
                assert not work.done() and not ran
                carol.send(prompt, "reject")
                work.result(LONG)
            carol.wait(hers, *ENDS)
            with hub.agent("bob") as other:
                other.say("session.started", "sess_bob", "evt_bob")
                bob.wait(his, STARTED)
        assert [event["session_id"] for event in bob.got] == ["sess_bob"] and not ran
        assert not any("extensions" in event for event in carol.got if event["type"] == STARTED)


@pytest.mark.parametrize(
    ("who", "said", "to"),
    [
        ("local", {}, {"local"}),
        ("local", {"requested_by": "user:carol"}, {"carol"}),
        ("local", {"audience": ["carol", "bob"]}, {"carol", "bob"}),
        ("local", {"audience": []}, set()),
        ("local", {"audience": "carol"}, set()),
        ("carol", {}, {"carol"}),
        ("carol", {"requested_by": "user:bob"}, {"carol"}),
        ("carol", {"audience": ["bob"]}, set()),
        ("carol", {"audience": ["bob", "carol"]}, {"carol"}),
    ],
)
def test_t6_at_a_hub_of_several_people_a_session_is_for_nobody_else(
    folder: Path, who: str, said: Json, to: set[str]
) -> None:
    """CF-145: those it names are heard as far as it may speak to them, and what cannot be read is for none."""
    with place(folder) as hub:
        readers = {name: hub.reader(name) for name in ("bob", "carol")} | {"audit": hub.reader("audit", "auditor")}
        with ExitStack() as stack:
            streams = {name: stack.enter_context(one.connect()) for name, one in readers.items()}
            listener = Listener(cast(Producer, SimpleNamespace(hub=hub.hub)))
            agent = stack.enter_context(hub.agent(who))
            members = {"requested_by": said["requested_by"]} if "requested_by" in said else {}
            if "audience" in said:
                members["extensions"] = {"attend": {"audience": said["audience"]}}
            agent.say("session.started", "sess_1", "evt_1", **members)
            agent.say("state.changed", "sess_1", "evt_2", from_state="idle", to_state="thinking")
            readers["audit"].take(streams["audit"], lambda event: event["event_id"] == "evt_2")
            # Whatever was meant for them has been written by now; another session follows it.
            with hub.agent("bob", "other") as other, hub.agent("carol", "other") as another:
                other.say("session.started", "sess_2", "evt_3")
                another.say("session.started", "sess_3", "evt_4")
                for name in ("bob", "carol"):
                    readers[name].take(streams[name], lambda event: event["producer"]["agent_id"] == "other")
        heard = {name for name in ("bob", "carol") if any(one["session_id"] == "sess_1" for one in readers[name].got)}
        assert heard | ({"local"} if listener.events else set()) == to


def test_t6_an_agent_cannot_take_over_the_session_of_another(folder: Path) -> None:
    """Mallory's agent knows the session of Ada's, and begins and ends it as its own; under Ada's agent's name too."""
    with place(folder) as hub:
        ada, mallory = hub.reader("ada"), hub.reader("mallory")
        with ada.connect() as hers, mallory.connect() as its, hub.agent("ada") as bank:
            bank.say("session.started", "sess_1", "evt_1")
            ada.wait(hers, STARTED)
            for name in ("evil", "bank"):
                with hub.agent("mallory", name) as evil:
                    evil.say("session.started", "sess_1", f"evt_{name}")
                    evil.say("session.errored", "sess_1", f"evt_{name}2", error_code="x", error_message="x")
                    evil.say("session.started", f"sess_{name}", f"evt_{name}3")
                    assert mallory.wait(its, STARTED)["session_id"] == f"sess_{name}"
            late = hub.reader("ada")
            with late.connect() as joined:  # it is still hers, and open
                assert late.wait(joined, STARTED)["event_id"] == "evt_1"
            bank.say("state.changed", "sess_1", "evt_3", from_state="idle", to_state="thinking")
            assert ada.wait(hers, "aaep:agent.state.changed")["event_id"] == "evt_3"
        assert {event["session_id"] for event in ada.got} == {"sess_1"}
        assert "sess_1" not in {event["session_id"] for event in mallory.got}


@pytest.mark.parametrize(("who", "instance"), [("mallory", "inst_1"), ("mallory", ""), ("ada", "inst_2"), ("ada", "")])
def test_t6_after_a_restart_no_other_agent_takes_a_session_over(folder: Path, who: str, instance: str) -> None:
    """Its name and its session are known: that makes nobody the agent that began it."""
    path = folder / "hub.db"
    with place(folder, first := SqliteJournal(path)) as hub, hub.agent("ada", instance="inst_1") as bank:
        ada = hub.reader("ada")
        with ada.connect() as hers:
            bank.say("session.started", "sess_1", "evt_1", request_text="Nobody may know.")
            ada.wait(hers, STARTED)
    first.close()
    with place(folder, second := SqliteJournal(path)) as hub:
        ada, mallory = hub.reader("ada"), hub.reader("mallory")
        with ada.connect() as hers, mallory.connect() as its, hub.agent(who, instance=instance) as evil:
            evil.say("session.started", "sess_1", "evt_2")
            evil.say("state.changed", "sess_1", "evt_3", from_state="idle", to_state="thinking")
            evil.say("session.started", "sess_2", "evt_4")
            (ada if who == "ada" else mallory).take(
                hers if who == "ada" else its, lambda event: event["event_id"] == "evt_4"
            )
            with hub.agent("ada", instance="inst_1") as bank, hub.agent("mallory", "other") as other:
                bank.say("state.changed", "sess_1", "evt_5", from_state="idle", to_state="thinking")
                ada.take(hers, lambda event: event["event_id"] == "evt_5")
                other.say("session.started", "sess_6", "evt_6")
                mallory.take(its, lambda event: event["event_id"] == "evt_6")
        assert {"evt_2", "evt_3"}.isdisjoint(event["event_id"] for event in (*ada.got, *mallory.got))
        assert "sess_1" not in {event["session_id"] for event in mallory.got}
    second.close()


def test_t6_a_session_that_is_over_is_not_begun_again_by_another(folder: Path) -> None:
    """Else the journal would have it as the other's, with all that was said in it."""
    path = folder / "hub.db"
    with place(folder, first := SqliteJournal(path)) as hub, hub.agent("ada") as bank:
        ada = hub.reader("ada")
        with ada.connect() as hers:
            bank.say("session.started", "sess_1", "evt_1", request_text="Nobody may know.")
            bank.say("session.completed", "sess_1", "evt_2", duration_ms=1)
            ada.wait(hers, *ENDS)
    first.close()
    with place(folder, second := SqliteJournal(path)) as hub, hub.agent("mallory") as evil:
        mallory = hub.reader("mallory")
        with mallory.connect() as its:
            evil.say("session.started", "sess_1", "evt_3")
            evil.say("session.started", "sess_2", "evt_4")
            assert mallory.wait(its, STARTED)["session_id"] == "sess_2"
        late = hub.reader("mallory")
        late.last = "evt_1"
        with late.connect() as joined:
            late.take(joined, lambda event: event["event_id"] == "evt_4")
        assert {event["session_id"] for event in (*mallory.got, *late.got)} == {"sess_2"}
    second.close()


@pytest.mark.parametrize("ended", [True, False])
def test_whose_session_it_is_outlives_the_hub(folder: Path, ended: bool) -> None:
    """
    Who comes back hears how a session of theirs ended: before the hub died, or because its agent died too.

    CF-145, CF-004; and nobody else does.
    """
    path = folder / "hub.db"
    with place(folder, first := SqliteJournal(path)) as hub, hub.agent("ada") as bank:
        ada = hub.reader("ada")
        with ada.connect() as hers:
            bank.say("session.started", "sess_1", "evt_1")
            ada.wait(hers, STARTED)
            if ended:
                bank.say("session.completed", "sess_1", "evt_2", duration_ms=1)
                ada.wait(hers, *ENDS)
    first.close()
    with place(folder, second := SqliteJournal(path), window=0.2) as hub:
        ada, mallory = hub.reader("ada"), hub.reader("mallory")
        ada.last = mallory.last = "evt_1"
        with ada.connect() as hers, mallory.connect() as its:
            end = ada.wait(hers, *ENDS)
            assert (end["session_id"], end["event_id"] == "evt_2") == ("sess_1", ended)
            with hub.agent("mallory") as other:
                other.say("session.started", "sess_2", "evt_3")
                assert mallory.wait(its, STARTED)["session_id"] == "sess_2"
        assert {event["session_id"] for event in mallory.got} == {"sess_2"}
    second.close()


def test_t6_after_a_restart_a_session_is_for_nobody_else(folder: Path) -> None:
    """And still for whom it was, before its agent is back."""
    path = folder / "hub.db"
    with place(folder, first := SqliteJournal(path)) as hub, hub.agent("ada") as bank:
        ada = hub.reader("ada")
        with ada.connect() as hers:
            bank.say("session.started", "sess_1", "evt_1", request_text="Nobody may know.")
            ada.wait(hers, STARTED)
    first.close()
    with place(folder, second := SqliteJournal(path)) as hub:
        ada, mallory = hub.reader("ada"), hub.reader("mallory")
        # Under the name of Ada's agent.
        with ada.connect() as hers, mallory.connect() as its, hub.agent("mallory", "bank") as evil:
            evil.say("session.started", "sess_2", "evt_2")
            assert mallory.wait(its, STARTED)["session_id"] == "sess_2"
            late = hub.reader("mallory")
            with late.connect() as joined:
                assert late.wait(joined, STARTED)["session_id"] == "sess_2"
            with hub.agent("ada", "bank") as bank:
                bank.say("state.changed", "sess_1", "evt_3", from_state="idle", to_state="thinking")
                assert ada.wait(hers, "aaep:agent.state.changed")["session_id"] == "sess_1"
            evil.say("state.changed", "sess_2", "evt_4", from_state="idle", to_state="thinking")
            mallory.wait(its, "aaep:agent.state.changed")
        assert {event["session_id"] for one in (mallory, late) for event in one.got} == {"sess_2"}
    second.close()


@pytest.mark.parametrize("who", ["ada", "local"])
@pytest.mark.parametrize("role", ["listener", "replier", "auditor"])
def test_t6_only_agents_publish(folder: Path, role: str, who: str) -> None:
    """By their role; that somebody is called as the user of this machine is makes them no agent."""
    with place(folder) as hub:
        reader = hub.reader("ada")
        with reader.connect() as stream:
            line = hub.agent(who, role=role).line
            assert json.loads(line.receive() or b"")["reason_code"] == "authorization_denied"
            assert line.receive() is None  # and hung up on
            line.cut()
            with hub.agent("ada") as bank:
                bank.say("session.started", "sess_1", "evt_1")
                reader.wait(stream, STARTED)


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_t8_an_agent_publishes_no_longer_than_its_credential_counts(
    folder: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CF-149, as for readers: it is told, and may come back with another one of the same principal."""
    monkeypatch.setattr(expiry, "CHECK_INTERVAL", 0.05)
    counts = threading.Event()
    counts.set()
    with place(folder) as hub:
        ada = hub.reader("ada")
        until = {"is_still_valid": counts.is_set} if how == "revoked" else {"expires_at": time.time() + 1.0}
        hub.guests.coming = Peer("ada", "unix-socket", frozenset({"agent"}), **until)
        with ada.connect() as hers:
            with RawAgent(hub.socket, "bank", hub.hub, "inst_1") as bank:
                bank.say("session.started", "sess_1", "evt_1")
                ada.wait(hers, STARTED)
                counts.clear()
                said = [json.loads(raw) for raw in iter(bank.line.receive, None)]
                assert said[-1]["reason_code"] == "authentication_required"
                with suppress(OSError):  # hung up on
                    bank.say("state.changed", "sess_1", "evt_2", from_state="idle", to_state="thinking")
            with hub.agent("ada", instance="inst_1") as again:
                again.say("state.changed", "sess_1", "evt_3", from_state="idle", to_state="thinking")
                ada.take(hers, lambda event: event["event_id"] == "evt_3")
        assert "evt_2" not in {event["event_id"] for event in ada.got}


def test_t4_the_agents_of_one_principal_are_bounded_and_who_only_says_a_name_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "MAX_AGENTS_PER_PRINCIPAL", 3)
    with place(folder) as hub, ExitStack() as stack:
        idle = [hub.agent("mallory", instance=f"inst_{number}") for number in range(3)]
        for one in idle:
            stack.callback(one.line.cut)
            assert json.loads(one.line.receive() or b"")["type"] == "subscription.request"
        more = hub.agent("mallory", instance="inst_more")
        assert json.loads(more.line.receive() or b"")["reason_code"] == "rate_limit"
        assert more.line.receive() is None
        more.line.cut()
        with hub.agent("ada") as bank:
            assert bank.wishes
        idle[0].line.cut()
        for number in range(1000):  # one of the first is let in: the place is free as soon as the hub has seen it
            one = hub.agent("mallory", instance=f"inst_again_{number}")
            stack.callback(one.line.cut)
            if json.loads(one.line.receive() or b"")["type"] == "subscription.request":
                break
        else:
            raise AssertionError("The place was not free again.")


IDS = ["evt_1\n\ndata: {}", "evt_1\r", "evt_\x00", "evt_\u2028", "evt_" + "a" * 65, "", "evt_1 ", "\u0435vt_1", "evt_-"]


@pytest.mark.parametrize("bad", IDS)
def test_t6_ids_that_are_none_reach_no_frame_and_stop_nobody(folder: Path, bad: str) -> None:
    with place(folder) as hub:
        reader = hub.reader("ada")
        with reader.connect() as stream, hub.agent("ada") as bank:
            bank.say("session.started", "sess_1", bad)
            bank.say("session.started", bad.replace("evt_", "sess_"), "evt_2")
            bank.say("session.started", "sess_3", "evt_3")
            assert reader.wait(stream, STARTED)["event_id"] == "evt_3"
        assert [event["event_id"] for event in reader.got] == ["evt_3"]


def test_t4_an_agent_that_says_more_than_can_be_passed_on_is_read_no_further(folder: Path) -> None:
    """What it said and nobody has taken is bounded; other agents go on."""
    sent: list[int] = []
    with place(folder) as hub:
        reader = hub.reader("ada")
        with reader.connect() as stream, hub.agent("ada", "flood") as flood:

            def speak() -> None:
                with suppress(OSError):  # it hangs up in the end
                    for number in range(1000):  # before it has even accepted the hub
                        flood.line.send(b'{"type":"x","y":"' + b"z" * 100_000 + b'"}')
                        sent.append(number)

            speaking = threading.Thread(target=speak, daemon=True)
            speaking.start()
            with hub.agent("ada") as bank:
                bank.say("session.started", "sess_1", "evt_1")
                reader.wait(stream, STARTED)
            assert len(sent) < 200, "what it may say is bounded"


def test_t6_a_reply_goes_to_the_agent_that_asked_and_only_from_its_person(folder: Path) -> None:
    with place(folder) as hub:
        hub.guests.coming = Peer("ada", "unix-socket", frozenset({"agent"}))
        ada, mallory = hub.reader("ada"), hub.reader("mallory")
        with (
            ada.connect() as hers,
            mallory.connect(),
            Producer("bank", hub=hub.socket, journal=None) as producer,
        ):
            producer.reader().wait(LONG)
            with producer.session("Moving money.", audience="*") as session:
                ask = session.confirm("Transfer $500.", "Funds move at once.")
                prompt = ada.wait(hers, PROMPT)
                for one in (ada.id, mallory.id):
                    mallory.send(prompt, subscription_id=one)
                assert ask.answer is None
                ada.send(prompt, "reject")
                assert ask.wait(LONG).outcome == "rejected"
            ada.wait(hers, *ENDS)
        assert mallory.got == []


# -- sockets -----------------------------------------------------------------------------------------

TRICKS = [
    "../../../tmp/evil",
    "..",
    ".",
    "a/../../b",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "~root",
    "~",
    "%2e%2e%2fevil",
    "..%2fevil",
    "evil\x00.sock",
    "evil\n",
    "-rf",
    ".hidden",
    "a" * 300,
    "\u2215etc\u2215passwd",
    "evil.sock/../../x",
    "$(reboot)",
    "CON",
]


@pytest.mark.parametrize("trick", TRICKS)
def test_t6_the_name_of_an_agent_leads_to_no_other_place(trick: str) -> None:
    homes = [os.fspath(one) for one in list_socket_folders()]
    for url, agent in (("unix:", trick), (f"unix:{trick}", "")):
        try:
            path = os.fspath(choose_socket_path(url, agent))
        except AaepError:
            continue  # refused, which is one of the two good ends
        named = parse_unix_url(url, agent)
        if isinstance(named, Path):  # a path was asked for, openly; and it goes where it says
            assert ".." not in named.parts and "\0" not in path
            continue
        assert os.path.dirname(os.path.normpath(path)) in homes and os.path.normpath(path) == path
        name = os.path.basename(path)
        assert not {*name} & {*"/\\\0\n%$~"}


def test_t6_a_link_in_place_of_a_socket_is_not_followed(folder: Path) -> None:
    """Somebody with access to the folder points the name of the agent at a socket of their own, or at a file."""
    with Producer("bank", listen=f"unix://{folder}/real.sock", journal=None):
        for target in (folder / "real.sock", folder / "nothing", Path("/etc/passwd")):
            link = folder / "link.sock"
            link.symlink_to(target)
            with pytest.raises(AaepError), Producer("other", listen=f"unix://{link}", journal=None):
                pass
            assert link.is_symlink()
            link.unlink()


def test_t6_what_is_beside_a_socket_cannot_be_replaced_by_a_link(folder: Path) -> None:
    """The manifest is written to a new file that takes the place of the link, and not to where it points."""
    precious = folder / "precious"
    precious.write_text("keep")
    (folder / "bank.manifest.json").symlink_to(precious)
    with Producer("bank", listen=f"unix://{folder}/bank.sock", journal=None):
        assert precious.read_text() == "keep"
        assert not (folder / "bank.manifest.json").is_symlink()


def test_t6_a_folder_that_others_may_write_in_is_no_place(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as open_to_all:
        Path(open_to_all).chmod(0o777)
        with pytest.raises(AaepError), Producer("bank", listen=f"unix://{open_to_all}/bank.sock", journal=None):
            pass
