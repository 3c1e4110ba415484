"""The socket transport, spoken to with plain sockets: nothing of ours is trusted to judge it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aaep.errors import AaepError
from aaep.hub.hub import Hub
from aaep.identity.credentials import Credentials, Identity, Local, Unauthenticated, Unauthorised
from aaep.identity.peer import Peer
from aaep.producer.producer import Producer
from aaep.protocol.events import AwaitingConfirmation
from aaep.subscriber.subscriber import Subscriber
from aaep.transports import unix
from aaep.transports.base import ChannelLost, ChannelRefused, find_transport, serve
from aaep.transports.options import ConnectOptions
from aaep.transports.unix.paths import (
    MAX_PATH_BYTES,
    bind_privately,
    choose_socket_path,
    get_peer_ids,
    list_socket_folders,
)
from tests import asking
from tests.asking import WAIT, Asker, parting, renegotiation, reply, request
from tests.options import connect_options
from tests.serving import served

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
NOBODY = 65_534


class Client:
    """Appendix B.4 with a socket: a length in front of each message, or a line for each."""

    def __init__(self, url: str, *, lines: bool = False, buffer: int = 0) -> None:
        self.lines = lines
        self.id = ""
        self.accepted: dict[str, Any] = {}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(WAIT)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.connect(unquote(urlsplit(url).path))
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def framed(self, message: dict[str, Any] | bytes) -> bytes:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        return data + b"\n" if self.lines else len(data).to_bytes(4, "big") + data

    def send(self, message: dict[str, Any] | bytes) -> None:
        self.socket.sendall(self.framed(message))

    def next(self) -> Any:
        """The next message; None when the connection has ended."""
        try:
            if self.lines:
                line = self.file.readline()
                assert not line or line.endswith(b"\n")
                return json.loads(line) if line else None
            head = self.file.read(4)
            if not head:
                return None
            size = int.from_bytes(head, "big")
            data = self.file.read(size)
        except ConnectionResetError:
            return None
        assert len(data) == size
        return json.loads(data)

    def subscribe(self, **capabilities: Any) -> Self:
        self.send(request(**capabilities))
        self.accepted = self.next()
        assert self.accepted["type"] == "subscription.accepted", self.accepted
        self.id = self.accepted["subscription_id"]
        return self

    def ended_for(self, reason: str) -> None:
        """The producer says why, and ends the connection."""
        said = self.next()
        assert (said["type"], said["reason_code"], said["subscription_id"]) == ("subscription.close", reason, self.id)
        assert self.next() is None


class Server:
    def __init__(self, url: str, door: dict[str, Any] | None = None, **options: Any) -> None:
        self.hub = asking.hub(**options)
        try:
            self.url = served(self.hub, url, **(door or {}))
        except BaseException:
            self.hub.close()
            raise
        self.path = Path(unquote(urlsplit(self.url).path))
        self.agent = Asker(self.hub)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hub.close()

    def client(self, *, lines: bool = False, buffer: int = 0) -> Client:
        return Client(self.url, lines=lines, buffer=buffer)


@pytest.fixture
def folder() -> Iterator[Path]:
    """One with a short name: there is not much room for it in the address of a socket."""
    with tempfile.TemporaryDirectory(prefix="aaep-") as made:
        yield Path(made)


@pytest.fixture
def place(folder: Path) -> Path:
    return folder / "run" / "bank.sock"


@pytest.fixture
def url(place: Path) -> str:
    return f"unix://{place}"


@pytest.fixture
def server(url: str) -> Iterator[Server]:
    with Server(url) as made:
        yield made


def refused(url: str, **door: Any) -> str:
    """What a person is told who cannot serve there."""
    with pytest.raises(AaepError) as error:
        Server(url, door).hub.close()
    return str(error.value)


# -- where it is -----------------------------------------------------------------------------------


def test_uds_001_to_003_the_places_by_convention() -> None:
    run, last = Path("/run/user/7/aaep"), Path("/tmp/aaep-7")
    assert list_socket_folders({"XDG_RUNTIME_DIR": "/there"}, "linux", 7) == [Path("/there/aaep"), last]
    assert list_socket_folders({}, "linux", 7) == [run, last]
    assert list_socket_folders({"XDG_RUNTIME_DIR": "relative"}, "freebsd14", 7) == [run, last]
    home = Path.home() / "Library" / "Application Support" / "AAEP"
    assert list_socket_folders({"XDG_RUNTIME_DIR": "/there"}, "darwin", 7) == [home, last]


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("bank", "bank.sock"),
        ("a.b_c-D9", "a.b_c-D9.sock"),
        ("..", None),
        ("../../etc/passwd", None),
        ("urn:agent:bank", None),
        ("a" * 65, None),
        ("é", None),
        ("a\nb", None),
    ],
)
def test_cf_103_only_a_harmless_id_is_a_file_name(
    monkeypatch: pytest.MonkeyPatch, folder: Path, agent: str, name: str | None
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    path = choose_socket_path("unix:", agent)
    assert path.parent == folder / "aaep"
    if name is None:
        assert path.name.startswith("id-") and len(path.name) == len("id-.sock") + 32
    else:
        assert path.name == name


def test_an_agent_is_found_by_its_id(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    with Server("unix:") as server:
        assert server.url == f"unix://{folder}/aaep/bank.sock"
        assert json.loads(asyncio.run(unix.connect("unix:bank").manifest()))["agent_id"] == "bank"
    with Server("unix:teller%20two") as server:
        assert server.path.name.startswith("id-")
        assert json.loads(asyncio.run(unix.connect("unix:teller two").manifest()))["agent_id"] == "bank"


@root
def test_a_runtime_folder_of_somebody_else_is_not_used(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    os.chown(folder, NOBODY, NOBODY)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    assert choose_socket_path("unix:", "bank") == Path("/tmp/aaep-0/bank.sock")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("unix://host/run/x.sock", "names a host"),
        ("unix:./x.sock", "from the root"),
        ("unix:~/x.sock", "from the root"),
        ("unix:///run/../x.sock", "not the path"),
        ("unix:///run/x/", "not the path"),
        ("unix:///x.sock", "not the path"),
        ("unix:///run/a%00b.sock", "not the path"),
        (f"unix:///tmp/{'x' * 200}.sock", f"{MAX_PATH_BYTES} at most"),
    ],
)
def test_an_address_that_is_none_is_refused_in_words(url: str, said: str) -> None:
    assert said in refused(url)


def test_a_subscriber_names_an_agent() -> None:
    with pytest.raises(AaepError, match="Which agent"):
        unix.connect("unix:")
    with pytest.raises(AaepError, match="no framing"):
        unix.connect("unix:bank", ConnectOptions(framing="tea"))  # type: ignore[arg-type]  # that is the test


def test_a_path_with_other_characters(folder: Path) -> None:
    path = folder / "a b#c?d%é" / "x.sock"
    with Server("unix://" + str(path).replace("%", "%25")) as server:
        assert server.path == path and path.is_socket()
        with server.client() as client:
            client.subscribe()
        accepted = urlsplit(client.accepted["manifest_uri"])
        assert Path(unquote(accepted.path)) == path.with_name("x.manifest.json")


# -- whose it is -----------------------------------------------------------------------------------


def test_cf_104_folder_and_socket_are_for_their_owner_alone(server: Server) -> None:
    """SEC-027, SEC-003"""
    assert stat.S_IMODE(server.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.path.with_name("bank.manifest.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_cf_104_a_socket_is_private_whatever_the_umask(folder: Path, platform: str) -> None:
    before = os.umask(0)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
            bind_privately(made, folder / "x.sock", platform)
        assert os.umask(0) == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "x.sock").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o710, 0o701, 0o770, 0o755, 0o777])
def test_cf_104_a_folder_that_others_may_use_is_refused(place: Path, url: str, mode: int) -> None:
    place.parent.mkdir()
    place.parent.chmod(mode)
    assert "chmod 700" in refused(url)
    assert not place.exists()


def test_cf_104_a_folder_that_others_could_exchange_is_refused(place: Path, url: str) -> None:
    place.parent.mkdir(mode=0o700)
    place.parent.parent.chmod(0o777)
    assert "chmod go-w" in refused(url)


def test_cf_104_a_link_instead_of_the_folder_is_not_followed(place: Path, url: str, folder: Path) -> None:
    real = folder / "real"
    real.mkdir(mode=0o700)
    place.parent.symlink_to(real)
    assert "is a link" in refused(url)
    assert [*real.iterdir()] == []


def test_a_file_instead_of_the_folder(place: Path, url: str) -> None:
    place.parent.touch()
    assert "Cannot use the folder" in refused(url) or "not a folder" in refused(url)


@root
def test_cf_104_a_folder_of_somebody_else_is_refused(place: Path, url: str) -> None:
    place.parent.mkdir(mode=0o700)
    os.chown(place.parent, NOBODY, NOBODY)
    assert "belongs to another user" in refused(url)


@root
def test_cf_104_a_folder_within_one_of_somebody_else_is_refused(folder: Path) -> None:
    theirs = folder / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, NOBODY, NOBODY)
    assert "belongs to another user" in refused(f"unix://{theirs}/ours/x.sock")


def stale(path: Path) -> None:
    """What an agent leaves behind that was killed."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.bind(str(path))
        made.listen()


def test_cf_104_a_stale_socket_is_replaced(place: Path, url: str) -> None:
    stale(place)
    with Server(url) as server, server.client() as client:
        client.subscribe()


def test_cf_104_a_socket_in_use_is_not(server: Server) -> None:
    assert "already" in refused(server.url)
    with server.client() as client:
        client.subscribe()


@root
def test_cf_104_a_stale_socket_of_somebody_else_is_not(place: Path, url: str) -> None:
    stale(place)
    os.chown(place, NOBODY, NOBODY)
    assert "belongs to another user" in refused(url)
    assert place.is_socket()


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_cf_104_nothing_else_is_removed(place: Path, url: str, kind: str, folder: Path) -> None:
    place.parent.mkdir(mode=0o700)
    if kind == "link":
        stale(folder / "other.sock")
        place.symlink_to(folder / "other.sock")
    else:
        place.touch() if kind == "file" else place.mkdir()
    assert "is no socket" in refused(url)
    assert os.path.lexists(place)


def test_of_many_that_find_a_stale_socket_one_gets_it(place: Path, url: str) -> None:
    stale(place)
    servers: list[Server] = []
    problems: list[str] = []
    gate = threading.Barrier(8)

    def begin() -> None:
        gate.wait(WAIT)
        try:
            servers.append(Server(url))
        except AaepError as error:
            problems.append(str(error))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert len(servers) == 1 and len(problems) == 7
    with servers[0] as server, server.client() as client:
        client.subscribe()


def test_an_agent_that_lost_its_place_leaves_it_to_the_new_one(place: Path, url: str) -> None:
    with Server(url) as first:
        place.unlink()
        with Server(url) as second:
            first.hub.close()
            with second.client() as client:
                client.subscribe()
            assert place.with_name("bank.manifest.json").exists()


# -- who is there ----------------------------------------------------------------------------------


class Gate:
    """An identity that remembers what it was shown, and lets nobody in if it is told so."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.problem = problem
        self.shown: list[Credentials] = []

    def authenticate(self, given: Credentials) -> Peer:
        self.shown.append(given)
        if self.problem is not None:
            raise self.problem
        return Peer("somebody", given.transport)


def test_uds_010_the_kernel_says_who_is_there(url: str) -> None:
    gate = Gate()
    with Server(url, {"identity": gate}) as server, server.client() as client:
        client.subscribe()
    (shown,) = gate.shown
    assert (shown.transport, shown.uid, shown.pid) == ("unix-socket", os.geteuid(), os.getpid())
    assert not shown.is_loopback and not shown.is_over_pipes


@pytest.mark.parametrize(
    ("identity", "reason"),
    [
        (Gate(Unauthenticated("Who are you?")), "authentication_required"),
        (Gate(Unauthorised("Not you.")), "authorization_denied"),
        (Gate(RuntimeError("a secret")), "unknown"),
        (Local(os.geteuid() + 1), "authentication_required"),
    ],
    ids=["unknown", "not allowed", "broken", "another user"],
)
def test_cf_107_who_is_not_let_in_is_told_so_and_is_not_read(url: str, identity: Identity, reason: str) -> None:
    """SUB-052, SUB-053, SUB-055"""
    with Server(url, {"identity": identity}) as server:
        with server.client() as client:
            with contextlib.suppress(BrokenPipeError):  # hung up on before it was written
                client.send(request())
            said = client.next()
            assert (said["type"], said["reason_code"]) == ("subscription.rejected", reason)
            assert "secret" not in json.dumps(said)
            assert client.next() is None
        assert "aaep_subscriptions 0" in server.hub.metrics()


@root
def test_uds_011_another_user_is_not_let_in_even_where_the_files_would_let_him() -> None:
    """SEC-003, SEC-036"""
    place = Path(tempfile.mkdtemp(prefix="aaep-"))
    program = (
        "import socket, sys\n"
        "with socket.socket(socket.AF_UNIX) as line:\n"
        "    line.settimeout(20)\n"
        "    line.connect(sys.argv[1])\n"
        "    sys.stdout.buffer.write(line.makefile('rb').read())\n"
    )
    try:
        with Server(f"unix://{place}/x.sock") as server:
            place.chmod(0o711)
            server.path.chmod(0o666)
            command = [shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable, "-S", "-c", program]
            command += [str(server.path)]
            done = subprocess.run(command, check=True, user=NOBODY, capture_output=True, timeout=WAIT)
            assert json.loads(done.stdout[4:])["reason_code"] == "authentication_required"
            place.chmod(0o700)
    finally:
        shutil.rmtree(place)


def test_cf_105_where_the_kernel_tells_nothing_nobody_is_known() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert get_peer_ids(one) == (os.geteuid(), os.getpid())
        assert get_peer_ids(one, "another") == (None, None)
    with pytest.raises(Unauthenticated):
        Local(os.geteuid()).authenticate(Credentials(transport="unix-socket", uid=None))


# -- messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [False, True], ids=["length", "lines"])
def test_cf_106_a_connection_is_answered_in_its_own_framing(server: Server, lines: bool) -> None:
    """TR-005"""
    with server.client(lines=lines) as client:
        client.subscribe()
        assert client.accepted["honored_capabilities"]["supports_confirmation_reply"] is True
        asked = server.agent.ask("Pay\nthe bill – now.")
        came = client.next()
        assert (came["event_id"], came["action"]) == (asked.event_id, "Pay\nthe bill – now.")
        client.send(reply(client.id, came["reply_token"]))
        assert server.agent.heard.wait(WAIT)
        assert server.agent.replies[0][1] == client.id
        client.send(renegotiation(client.id, preferred_verbosity="terse"))
        answer = client.next()
        assert answer["honored_capabilities"]["preferred_verbosity"] == "terse"
        client.send(parting(client.id))
        assert client.next() is None
        assert server.agent.gone.wait(WAIT)


def test_two_framings_beside_one_another(server: Server) -> None:
    with server.client() as one, server.client(lines=True) as other:
        one.subscribe()
        other.subscribe()
        server.agent.ask()
        assert one.next() == other.next()


@pytest.mark.parametrize("lines", [False, True], ids=["length", "lines"])
def test_how_a_message_was_cut_does_not_matter(server: Server, lines: bool) -> None:
    with server.client(lines=lines) as client:
        for byte in client.framed(request()):
            client.socket.sendall(bytes([byte]))
        client.id = client.next()["subscription_id"]
        both = [client.framed(reply(client.id, f"rpl_{number}")) for number in (1, 2)]
        client.socket.sendall(b"".join(both) + client.framed(parting(client.id)))
        assert client.next() is None
        assert [one.reply_token for one, _ in server.agent.replies] == ["rpl_1", "rpl_2"]


def test_cf_118_the_manifest_is_beside_the_socket_and_named(server: Server) -> None:
    beside = server.path.with_name("bank.manifest.json")
    manifest = json.loads(beside.read_bytes())
    assert manifest["agent_id"] == "bank" and manifest["transports_supported"] == ["unix-socket"]
    served(server.hub, "http://127.0.0.1:0")
    with server.client() as client:
        client.subscribe()
        assert client.accepted["manifest_uri"] == beside.as_uri()
    assert json.loads(beside.read_bytes())["transports_supported"] == ["unix-socket", "sse", "websocket"]
    server.hub.close()
    assert [*server.path.parent.iterdir()] == []


def test_a_manifest_that_cannot_be_written_is_not_named(server: Server) -> None:
    beside = server.path.with_name("bank.manifest.json")
    beside.unlink()
    beside.mkdir()
    served(server.hub, "http://127.0.0.1:0")  # so that there is something new to write
    with server.client() as client:
        client.subscribe()
        assert "manifest_uri" not in client.accepted


def test_a_rejection_is_said_and_ends_the_connection(server: Server) -> None:
    with server.client() as client:
        client.send(request() | {"aaep_version": "9.0.0"})
        said = client.next()
        assert (said["type"], said["reason_code"]) == ("subscription.rejected", "version_unsupported")
        assert client.next() is None


# -- what is no message ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x01\x00\x00\x02{}",
        b"\xff",
        b"\n",
        b"\x00\xff\xff\xff",  # sixteen million bytes are announced, and none are sent
        b"\x00\x10\x00\x01",  # one more than may come
        b"\x00\x00\x00\x00",
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x01{",
        b"{]\n",
        b'{"type": "confirmation.reply"}\n',
    ],
)
def test_cf_113_what_is_no_request_ends_the_connection(server: Server, data: bytes) -> None:
    with server.client() as client:
        client.socket.sendall(data)
        assert client.next() is None
    with server.client() as client:
        client.subscribe()


@pytest.mark.parametrize("lines", [False, True], ids=["length", "lines"])
def test_sub_039_a_request_that_cannot_be_used_is_answered(server: Server, lines: bool) -> None:
    with server.client(lines=lines) as client:
        client.send({name: value for name, value in request().items() if name != "subscriber_id"})
        said = client.next()
        assert (said["type"], said["reason_code"]) == ("subscription.rejected", "unknown")
        assert said["reason_message"] == "This request cannot be used. subscriber_id is missing. Add it."
        assert client.next() is None


@pytest.mark.parametrize(
    ("lines", "data"),
    [
        (False, b"\x7f\xff\xff\xff"),
        (False, b"\x00\x10\x00\x01"),
        (False, b'{"type": "subscription.close"}\n'),  # UDS-009: the other framing
        (False, b"\x00\x00\x00\x02[]"),
        (True, b"\x00\x00\x00\x02{}\n"),
        (True, b"x" * (1024 * 1024 + 1)),  # and no end of the line
        (True, b'{"type": "agent"}\n'),
        (True, json.dumps(request()).encode() + b"\n"),  # CF-040
    ],
)
def test_cf_114_what_is_no_message_is_a_protocol_error(server: Server, lines: bool, data: bytes) -> None:
    with server.client(lines=lines) as client:
        client.subscribe()
        client.socket.sendall(data)
        client.ended_for("protocol_error")
    assert server.agent.replies == []


def test_cf_012_a_reply_for_another_subscription_is_met_with_silence(server: Server) -> None:
    with server.client() as one, server.client() as other:
        one.subscribe()
        other.subscribe()
        asked = server.agent.ask()
        assert one.next()["event_id"] == other.next()["event_id"] == asked.event_id
        one.send(reply(other.id, "rpl_1"))
        one.send(reply(one.id, "rpl_2"))
        assert server.agent.heard.wait(WAIT)
        assert [message.reply_token for message, _ in server.agent.replies] == ["rpl_2"]


@pytest.mark.parametrize("lines", [False, True], ids=["length", "lines"])
def test_half_a_reply_is_none(server: Server, lines: bool) -> None:
    with server.client(lines=lines) as client:
        client.subscribe()
        client.socket.sendall(client.framed(reply(client.id, "rpl_1"))[:-1])
        client.socket.shutdown(socket.SHUT_WR)
        assert client.next() is None
    assert server.agent.replies == []


def test_who_says_nothing_is_not_waited_for(url: str) -> None:
    with Server(url, {"request_timeout": 0.01}) as server, server.client() as client:
        assert client.next() is None


MESSAGES = st.one_of(
    st.binary(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["confirmation.reply", "clarification.reply", "subscription.renegotiate", "x"])},
        optional={
            "reply_token": st.just("rpl_1") | st.text(max_size=8) | st.integers(),
            "decision": st.sampled_from(["accept", "reject", "yes", None]),
            "subscription_id": st.text(max_size=8),
            "response": st.text(max_size=8),
            "capabilities": st.dictionaries(st.text(max_size=8), st.integers(), max_size=2),
            "timestamp": st.sampled_from(["2026-05-24T14:22:11.000Z", "now"]),
        },
    ).map(lambda value: json.dumps(value).encode()),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sent=st.lists(MESSAGES, min_size=1, max_size=4), lines=st.booleans(), framed=st.booleans(), joined=st.booleans())
def test_nothing_that_is_sent_answers_for_a_person_or_breaks_the_door(
    server: Server, sent: list[bytes], lines: bool, framed: bool, joined: bool
) -> None:
    with server.client(lines=lines) as client:
        if joined:
            client.subscribe()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # hung up on for what was sent before
            for data in sent:
                client.socket.sendall(client.framed(data) if framed else data)
            client.socket.shutdown(socket.SHUT_WR)
        while (said := client.next()) is not None:
            assert said["type"].startswith("subscription."), said
    assert server.agent.replies == []
    with server.client() as after:
        after.subscribe()


# -- coming back, leaving, and being many ----------------------------------------------------------


def test_cf_084_who_comes_back_goes_on_where_it_stopped(server: Server) -> None:
    with server.client() as client:
        client.subscribe()
        first, second = server.agent.ask(), server.agent.ask()
        assert client.next()["event_id"] == first.event_id
    third = server.agent.ask()
    with server.client(lines=True) as client:
        client.subscribe(attend={"resume_after": first.event_id})
        assert [client.next()["event_id"] for _ in range(2)] == [second.event_id, third.event_id]


def test_closing_says_goodbye_to_all_also_to_who_does_not_listen(url: str) -> None:
    with Server(url) as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.client(lines=bool(number % 2))) for number in range(20)]
        for client in clients:
            client.subscribe()
        silent = stack.enter_context(server.client())
        server.hub.close()
        for client in clients:
            client.ended_for("producer_shutdown")
        assert silent.next() is None


def test_closing_does_not_wait_for_who_takes_nothing(url: str) -> None:
    with Server(url) as server, server.client(buffer=4096) as client:
        client.subscribe()
        while "aaep_frames_total 0\n" in server.hub.metrics() or server.agent.count < 40:
            server.agent.ask("word " * 400)
        server.hub.close()
    assert not server.path.exists()


def test_a_reader_that_takes_nothing_is_let_go_and_the_others_are_not_held_up(url: str) -> None:
    with Server(url, max_lag=0.05, high_water_bytes=10_000) as server, contextlib.ExitStack() as stack:
        asleep, awake = (stack.enter_context(server.client(buffer=buffer)).subscribe() for buffer in (4096, 0))
        while "slow_consumers_total 1" not in server.hub.metrics():
            asked = server.agent.ask("word " * 400)
            assert awake.next()["event_id"] == asked.event_id
        said = [*iter(asleep.next, None)]
        assert (said[-1]["type"], said[-1]["reason_code"]) == ("subscription.close", "slow_consumer")


def test_answers_that_nobody_takes_do_not_pile_up(url: str) -> None:
    with Server(url, high_water_bytes=10_000) as server, server.client(buffer=4096) as client:
        client.subscribe()
        client.socket.setblocking(False)
        message, sent = client.framed(renegotiation(client.id, preferred_verbosity="terse")), 0
        with pytest.raises(BlockingIOError):
            while sent < 100_000_000:
                sent += client.socket.send(message * 100)
        assert sent < 10_000_000  # what the kernel keeps, and no more


def test_five_hundred_readers_hear_the_same(url: str) -> None:
    with Server(url) as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.client(lines=number < 100)) for number in range(500)]
        for client in clients:
            client.send(request())
        for client in clients:
            client.id = client.next()["subscription_id"]
        asked = [server.agent.ask() for _ in range(5)]
        for client in clients:
            assert [client.next()["event_id"] for _ in asked] == [one.event_id for one in asked]
        clients[0].send(reply(clients[0].id, "rpl_1"))
        assert server.agent.heard.wait(WAIT)


# -- the subscriber's end --------------------------------------------------------------------------


@pytest.mark.parametrize("framing", ["length", "ndjson"])
def test_a_subscriber_listens_and_answers(url: str, framing: str) -> None:
    ran = []
    with Producer("bank", listen=url, journal=None) as producer:

        @producer.tool(action="Transfer {amount}.", consequence="Funds move at once.")
        def transfer(amount: str) -> None:
            ran.append(amount)

        def work() -> None:
            with producer.session("Moving money."):
                transfer("$5")

        with Subscriber(producer.addresses[0], connect=connect_options(framing=framing)) as subscriber:
            subscriber.ready().wait(WAIT)
            thread = threading.Thread(target=work)
            thread.start()
            for event in subscriber:
                if isinstance(event, AwaitingConfirmation):
                    subscriber.accept(event).wait(WAIT)
                if event.type.endswith("session.completed"):
                    break
            thread.join(WAIT)
            terms = subscriber.renegotiate(verbosity="terse").wait(WAIT)
            assert terms.preferred_verbosity == "terse"
        assert [str(one) for one in subscriber.findings if one.severity == "error"] == []
    assert ran == ["$5"]


def tried(url: str) -> BaseException:
    """How a subscriber fails there."""

    async def dial() -> None:
        channel = find_transport(url).connect(url)
        try:
            await channel.request(json.dumps(request()).encode())
        finally:
            await channel.close()

    with pytest.raises(AaepError) as error:
        asyncio.run(dial())
    return error.value


def test_a_subscriber_waits_for_an_agent_that_is_not_there_yet(place: Path, url: str) -> None:
    assert isinstance(tried(url), ChannelLost)
    stale(place)
    assert isinstance(tried(url), ChannelLost)


@root
@pytest.mark.parametrize("what", ["folder", "socket", "above"])
def test_cf_104_a_subscriber_trusts_no_socket_of_somebody_else(server: Server, what: str) -> None:
    where = {"folder": server.path.parent, "socket": server.path, "above": server.path.parent.parent}[what]
    os.chown(where, NOBODY, NOBODY)
    error = tried(server.url)
    os.chown(where, 0, 0)
    assert isinstance(error, ChannelRefused) and "another user" in str(error)


def test_cf_104_a_subscriber_trusts_no_folder_that_others_may_write_to(server: Server, folder: Path) -> None:
    server.path.parent.chmod(0o770)
    assert isinstance(tried(server.url), ChannelRefused)
    server.path.parent.chmod(0o755)  # others may look
    assert json.loads(asyncio.run(unix.connect(server.url).manifest()))["agent_id"] == "bank"
    server.path.parent.chmod(0o700)
    link = folder / "link"
    link.symlink_to(server.path.parent)
    assert "is a link" in str(tried(f"unix://{link}/bank.sock"))
    assert "not a socket" in str(tried(f"unix://{server.path.with_name('bank.manifest.json')}"))


@pytest.mark.parametrize("kind", ["none", "link", "pipe", "huge"])
def test_a_manifest_that_is_none_is_not_read(server: Server, kind: str, folder: Path) -> None:
    beside = server.path.with_name("bank.manifest.json")
    beside.unlink()
    if kind == "link":
        (folder / "x").write_text("{}")
        beside.symlink_to(folder / "x")
    elif kind == "pipe":
        os.mkfifo(beside)
    elif kind == "huge":
        with beside.open("wb") as file:
            file.truncate(2_000_000)
    with pytest.raises(ChannelRefused):
        asyncio.run(unix.connect(server.url).manifest())


@pytest.mark.parametrize(
    ("said", "kind"),
    [(b"HTTP/1.1 400\r\n\r\n", ChannelLost), (b"\x00\xff\xff\xff", ChannelLost), (b"", ChannelLost)],
)
def test_what_answers_and_is_no_agent(place: Path, url: str, said: bytes, kind: type[Exception]) -> None:
    place.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(place))
        listening.listen()

        def answer() -> None:
            line, _ = listening.accept()
            with line:
                line.recv(65_536)
                line.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        assert type(tried(url)) is kind
        thread.join(WAIT)


def test_a_refusal_reaches_the_subscriber(url: str) -> None:
    with Server(url, {"identity": Gate(Unauthorised("Not you."))}) as server:
        subscriber = Subscriber(server.url)
        with pytest.raises(AaepError, match="Not you"):
            subscriber.ready().wait(WAIT)


def test_it_works_on_the_loop_of_the_standard_library_too(url: str) -> None:
    async def both() -> None:
        hub = Hub(asking.OFFER, asking.hub().journal, loop=asyncio.get_running_loop())
        address = (await serve(hub, url)).url
        agent = Asker(hub)
        channel = unix.connect(address)
        accepted = json.loads(await channel.request(json.dumps(request()).encode()))
        arrivals = channel.receive_messages(accepted["subscription_id"])
        asked = agent.ask()
        assert (await anext(arrivals)).id == asked.event_id
        await channel.send(json.dumps(reply(accepted["subscription_id"], "rpl_1")).encode())
        await channel.request(json.dumps(renegotiation(accepted["subscription_id"])).encode())
        assert agent.replies
        await hub.aclose()
        assert json.loads((await anext(arrivals)).data)["reason_code"] == "producer_shutdown"
        with pytest.raises(ChannelLost):
            await anext(arrivals)
        await channel.close()

    asyncio.run(asyncio.wait_for(both(), WAIT))


def test_what_a_strange_agent_sends_that_is_no_message_is_told_and_the_stream_goes_on(tmp_path: Path) -> None:
    """SEC-009"""
    place = str(tmp_path / "agent.sock")
    accepted = {
        "type": "subscription.accepted",
        "subscription_id": "sub_1",
        "aaep_version": "1.0.0",
        "producer": {"agent_id": "strange"},
        "honored_capabilities": {},
    }
    goodbye = {"type": "subscription.close", "subscription_id": "sub_1", "reason_code": "producer_shutdown"}
    with socket.create_server(place, family=socket.AF_UNIX) as door:

        def agent() -> None:
            line, _ = door.accept()
            with line:
                line.recv(65_536)
                for sent in (json.dumps(accepted).encode(), b'{"action":"\\ud83d"}', json.dumps(goodbye).encode()):
                    line.sendall(sent + b"\n")
                line.recv(65_536)

        threading.Thread(target=agent, daemon=True).start()
        told: list[str] = []
        subscriber = Subscriber(
            f"unix://{place}",
            on_status=lambda status: told.append(status.kind),
            connect=ConnectOptions(framing="ndjson"),
        )
        assert [*subscriber] == []
    assert told == ["connecting", "connected", "unread", "ended"]
