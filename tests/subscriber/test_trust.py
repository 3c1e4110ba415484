"""A subscriber that wants proof of who it listens to, and one that finds another way when the first fails."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import UNSET

from aaep.errors import AaepError
from aaep.hub.manifest import build_manifest
from aaep.identity.manifests import ManifestInvalid
from aaep.identity.signed_manifests import sign_manifest, verify_manifest
from aaep.identity.signing_keys import KeyUnusable, SigningKey, TrustedKeys
from aaep.producer.producer import Producer
from aaep.protocol import codec
from aaep.protocol.events import Envelope, ProducerInfo, ProgressUpdated
from aaep.protocol.messages import Manifest, SubscriptionClose, SubscriptionRenegotiate, SubscriptionRequest
from aaep.protocol.negotiation import Offer, negotiate, renegotiate
from aaep.subscriber.connection import Reconnect, SubscriberRuntime
from aaep.subscriber.fallback import FallbackChannel, may_fall_back
from aaep.subscriber.request import Terms
from aaep.subscriber.status import SubscriptionRefused
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import Channel, ChannelLost, ChannelRefused, ReceivedMessage, serve
from aaep.transports.options import ConnectOptions, Tls
from tests.options import producer as build_producer
from tests.options import subscriber as build_subscriber

LONG = 60.0  # seconds that nothing here should take
NOW = 1_779_632_531.0
HERE = "https://agent.example"
KEY = SigningKey.generate(kid="bank-2026")
TRUSTED = TrustedKeys([KEY.public_key])
ATTEND = "https://aaep.readthedocs.io/extensions/attend/v1"
OFFER = Offer(producer=ProducerInfo(agent_id="bank"), namespaces=(ATTEND,))
MANIFEST = Manifest(
    agent_id="bank",
    aaep_versions_supported=("1.0.0",),
    conformance_levels_supported=(1, 2, 3),
    transports_supported=("sse",),
    languages_supported=("en-US",),
)


def signed(manifest: Manifest = MANIFEST, key: SigningKey = KEY, **more: Any) -> str:
    return sign_manifest(manifest, key, **{"now": NOW, "origins": [HERE], **more})


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.getLogger("aaep.subscriber").setLevel(logging.CRITICAL)
    yield
    logging.getLogger("aaep.subscriber").setLevel(logging.NOTSET)


class Script:
    """A channel to a producer that presents a certain manifest."""

    def __init__(
        self, inline: str | None, published: bytes | Exception = b"", *, url: str = HERE, offer: Offer = OFFER
    ) -> None:
        self.url, self.offer = url, offer
        self.inline, self.published = inline, published
        self.asked: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.listened = 0
        self.failures: list[Exception] = []
        self._capabilities: Any = None

    async def manifest(self) -> bytes:
        if self.failures:
            raise self.failures.pop(0)
        if isinstance(self.published, Exception):
            raise self.published
        return self.published

    async def request(self, message: bytes) -> bytes:
        self.asked.append(json.loads(message))
        read = codec.decode(message)
        # What it has to show is decided below, so it is let in here whatever it demands.
        offer = Offer(producer=self.offer.producer, namespaces=(ATTEND,), signed_manifest="e30.e30.e30")
        if isinstance(read, SubscriptionRenegotiate):
            answer = renegotiate(self._capabilities, read, offer)
        else:
            assert isinstance(read, SubscriptionRequest)
            self._capabilities = read.capabilities
            answer = negotiate(read, offer, f"sub_{len(self.asked)}")
        shown = json.loads(codec.encode(answer))
        shown.pop("signed_manifest", None)
        return json.dumps({**shown, **({"signed_manifest": self.inline} if self.inline is not None else {})}).encode()

    async def send(self, message: bytes) -> None:
        self.sent.append(json.loads(message))

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncIterator[ReceivedMessage]:
        self.listened += 1
        yield ReceivedMessage(
            codec.encode(SubscriptionClose(subscription_id=subscription_id, reason_code="producer_shutdown"))
        )

    async def close(self) -> None:
        pass


async def at_once(_: float) -> None:
    await asyncio.sleep(0)  # in place of the wait between two tries


def connected(channel: Channel | str, **more: Any) -> Subscriber:
    return build_subscriber(channel, **{"trust": TRUSTED, "wall": lambda: NOW + 60, "sleep": at_once, **more})


def proven(subscriber: Subscriber) -> bool:
    return subscriber.trusted


def refused(script: Script, **more: Any) -> ManifestInvalid:
    """What is raised to whoever waits and to whoever iterates."""
    with connected(script, **more) as subscriber:
        with pytest.raises(ManifestInvalid) as error:
            subscriber.ready().wait(LONG)
        with pytest.raises(ManifestInvalid):
            next(iter(subscriber))
        assert subscriber.status.kind == "ended" and subscriber.status.text == str(error.value)
        assert not subscriber.trusted
    return error.value


# -- asking and verifying --------------------------------------------------------------------


def test_a_producer_that_proves_who_it_is_is_trusted() -> None:
    """MAN-021"""
    script = Script(signed())
    with connected(script) as subscriber:
        subscriber.ready().wait(LONG)
        assert subscriber.trusted
        assert subscriber.proof is not None and subscriber.proof.signed is not None
        assert subscriber.proof.text == "This is bank, signed with the key bank-2026."
        assert subscriber.proof.signed.manifest.agent_id == "bank"
        assert [*subscriber] == []
    assert script.asked[0]["capabilities"]["accept_signed_manifests_only"] is True  # CAP-043
    assert script.listened == 1


def test_nothing_is_asked_for_and_nothing_is_proven_without_trust() -> None:
    script = Script(None)
    with Subscriber(script) as subscriber:
        subscriber.ready().wait(LONG)
        assert not subscriber.trusted and subscriber.proof is None
    assert script.asked[0]["capabilities"]["accept_signed_manifests_only"] is False


def test_one_that_is_only_published_is_taken_too() -> None:
    """MAN-021, CF-068"""
    script = Script(None, signed().encode())
    with connected(script) as subscriber:
        subscriber.ready().wait(LONG)
        assert subscriber.trusted


OTHER = codec.replace(MANIFEST, agent_id="bank2")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (lambda: Script(signed(key=SigningKey.generate(kid="bank-2026"))), "signature"),
        (lambda: Script(signed(key=SigningKey.generate())), "key"),
        (lambda: Script(signed(now=NOW - 31 * 86_400)), "date"),
        (lambda: Script(signed(now=NOW + 86_400)), "date"),
        (lambda: Script(signed(origins=["https://other.example"])), "origin"),
        (lambda: Script(signed(), url="https://evil.example"), "origin"),
        (lambda: Script(signed(origins=["http://agent.example"]), url="http://agent.example"), "origin"),
        (lambda: Script(signed(), url=""), "origin"),
        (lambda: Script(signed(OTHER)), "agent"),
        (lambda: Script(signed(), offer=Offer(producer=ProducerInfo(agent_id="bank2"))), "agent"),
        (lambda: Script(signed(codec.replace(MANIFEST, languages_supported=("ja",)))), "claims"),
        (lambda: Script(signed(codec.replace(MANIFEST, conformance_levels_supported=(1,)))), "claims"),
        (lambda: Script("e30.e30.e30"), "malformed"),
        (lambda: Script(None, codec.encode(MANIFEST)), "unsigned"),
        (lambda: Script(None, b"<html>"), "malformed"),
        (lambda: Script(None, ChannelRefused("404", gone=True)), "unsigned"),
    ],
)
def test_who_cannot_prove_it_is_left_at_once_and_not_tried_again(script: Callable[[], Script], reason: str) -> None:
    """MAN-022, MAN-023, MAN-024, MAN-025, MAN-026, CF-123"""
    made = script()
    assert refused(made).reason == reason
    assert len(made.asked) == 1
    assert made.listened == 0  # nothing of it was heard
    assert [one["reason_code"] for one in made.sent] == ["manifest_invalid"]
    assert made.sent[0]["subscription_id"] == "sub_1"


def test_the_transport_in_use_has_to_be_in_the_manifest() -> None:
    """MAN-025"""
    script = Script(signed(codec.replace(MANIFEST, transports_supported=("websocket",))))
    assert refused(script).reason == "claims"


def test_a_manifest_that_could_not_be_fetched_now_is_fetched_again_before_anything_is_heard() -> None:
    script = Script(None, signed().encode())
    script.failures = [ChannelLost("The line broke."), ChannelLost("Again.")]
    with connected(script) as subscriber:
        subscriber.ready().wait(LONG)
        assert subscriber.trusted
        assert [*subscriber] == []
    assert len(script.asked) == 3 and script.listened == 1


def test_a_subscriber_that_does_not_require_it_is_told_what_is_not_proven() -> None:
    script = Script(signed(key=SigningKey.generate()))
    with connected(script, require_signed=False) as subscriber:
        subscriber.ready().wait(LONG)
        assert not subscriber.trusted
        assert subscriber.proof is not None
        assert subscriber.proof.text.startswith("Identity not proven. The manifest is signed with the key")
        assert [*subscriber] == []
    assert script.asked[0]["capabilities"]["accept_signed_manifests_only"] is False
    assert script.listened == 1


@pytest.mark.parametrize(
    ("url", "proven"),
    [
        ("https://agent.example", True),
        ("wss://agent.example", True),
        ("unix:bank", True),
        ("stdio:bank", True),
        ("http://127.0.0.1:8137", False),
        ("ws://localhost:8137", False),
    ],
)
def test_a_connection_that_anybody_could_have_answered_proves_nothing(url: str, proven: bool) -> None:
    """CF-120: on a port of this machine another user may be listening."""
    names = ("sse", "websocket", "unix-socket", "stdio-jsonrpc")
    manifest = codec.replace(MANIFEST, transports_supported=names)
    script = Script(signed(manifest, origins=[HERE, "local", "http://127.0.0.1:8137"]), url=url)
    with connected(script) as subscriber:
        subscriber.ready().wait(LONG)
        assert subscriber.trusted is proven
        assert subscriber.proof is not None and subscriber.proof.signed is not None


def test_a_change_of_terms_is_verified_as_the_first_terms_were() -> None:
    script = Script(signed())
    waiting = threading.Event()

    async def receive_messages(subscription_id: str, after: str = "") -> AsyncIterator[ReceivedMessage]:
        waiting.set()
        await asyncio.Event().wait()
        yield ReceivedMessage(b"")

    script.receive_messages = receive_messages  # type: ignore[method-assign]  # put in its place for this test
    with connected(script) as subscriber:
        subscriber.ready().wait(LONG)
        assert waiting.wait(LONG)
        subscriber.renegotiate(verbosity="terse").wait(LONG)
        assert proven(subscriber)
        script.inline = signed(OTHER)
        with pytest.raises(ManifestInvalid):
            subscriber.renegotiate(verbosity="detailed").wait(LONG)
        with pytest.raises(ManifestInvalid):  # it subscribes again, and finds the same
            next(iter(subscriber))
        assert not proven(subscriber)
    assert {one["reason_code"] for one in script.sent} == {"manifest_invalid"}


def test_signatures_cannot_be_required_of_nobody_in_particular() -> None:
    with pytest.raises(AaepError, match="trust="):
        Subscriber(Script(None), terms=Terms(require_signed=True))
    with pytest.raises(KeyUnusable):
        Subscriber(Script(None), trust="no-such-file.json")


def test_what_is_required_cannot_be_taken_back() -> None:
    with connected(Script(signed())) as subscriber, pytest.raises(TypeError, match="signed"):
        subscriber.renegotiate(require_signed=False)  # type: ignore[call-arg]  # what is tested


# -- real producers ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate for this machine, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert, secret = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return str(cert), str(secret)


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose name leaves room for a socket's, and that is the user's own."""
    with tempfile.TemporaryDirectory(prefix="aaep") as folder:
        yield Path(folder)


def served(**more: Any) -> Producer:
    return build_producer("bank", **{"name": "Bank", "listen": "http://127.0.0.1:0", "journal": None, **more})


def manifest_at(url: str, accept: str | None = None) -> tuple[str, bytes]:
    request = urllib.request.Request(f"{url}/.well-known/aaep-manifest.json", headers={"Accept": accept or "*/*"})
    with urllib.request.urlopen(request, timeout=LONG) as answer:
        assert answer.headers["Vary"] == "Accept"
        return answer.headers["Content-Type"].split(";")[0], answer.read()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A private key and the public one, as ``aaep manifest key new`` writes them."""
    private, public = tmp_path / "bank.json", tmp_path / "bank.public.json"
    private.write_text(json.dumps(KEY.to_jwk(private=True)))
    private.chmod(0o600)
    public.write_text(json.dumps({"keys": [KEY.to_jwk()]}))
    return private, public


def test_over_tls_a_producer_with_a_key_is_trusted(files: tuple[Path, Path], certificate: tuple[str, str]) -> None:
    """MAN-016"""
    cert, key = certificate
    context = ssl.create_default_context(cafile=cert)
    producer = served(listen="https://127.0.0.1:0", cert=cert, key=key, signing_key=files[0])
    with producer, Subscriber(producer.addresses[0], trust=files[1], tls=Tls(context=context)) as subscriber:
        subscriber.ready().wait(LONG)
        producer.reader().wait(LONG)  # uvloop leaks a connection that is cancelled in the middle of its handshake
        assert subscriber.trusted


def test_a_certificate_that_nobody_looks_at_proves_nothing(
    files: tuple[Path, Path], certificate: tuple[str, str]
) -> None:
    cert, key = certificate
    careless = ssl.create_default_context()
    careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
    producer = served(listen="https://127.0.0.1:0", cert=cert, key=key, signing_key=files[0])
    with producer, Subscriber(producer.addresses[0], trust=files[1], tls=Tls(context=careless)) as subscriber:
        subscriber.ready().wait(LONG)
        producer.reader().wait(LONG)
        assert not subscriber.trusted


def test_the_manifest_is_json_and_on_demand_a_jws(files: tuple[Path, Path]) -> None:
    """CF-124"""
    with served(signing_key=files[0]) as producer:
        (url,) = producer.addresses
        plain = ["*/*", "application/json", "application/jose;q=0", "application/jose;q=0.5, application/json"]
        for accept in [*plain, "text/html, application/jose;q=x", "application/jose2"]:
            kind, raw = manifest_at(url, accept)
            assert kind == "application/json" and json.loads(raw)["agent_id"] == "bank", accept
        for accept in ("application/jose", "application/json;q=0.9, Application/JOSE", "application/jose, */*"):
            kind, raw = manifest_at(url, accept)
            assert kind == "application/jose", accept
            found = verify_manifest(raw, TRUSTED, agent_id="bank", origin=url, now=time.time())
            assert found.origins == (url, url.replace("http:", "ws:"))
            assert found.manifest.transports_supported == ("sse", "websocket")


def test_without_a_key_it_is_json_whatever_is_asked() -> None:
    with served() as producer:
        assert manifest_at(producer.addresses[0], "application/jose")[0] == "application/json"


def test_a_producer_without_a_key_refuses_who_demands_a_signature() -> None:
    """CAP-045"""
    with served() as producer, Subscriber(producer.addresses[0], trust=TRUSTED) as subscriber:
        with pytest.raises(SubscriptionRefused) as error:
            subscriber.ready().wait(LONG)
        assert error.value.reason_code == "manifest_signature_required"


def test_an_impostor_with_a_copy_of_the_manifest_is_found_out(files: tuple[Path, Path]) -> None:
    """T6: everything in it is genuine, but it is not for that address."""
    with served(signing_key=files[0]) as genuine, served() as impostor:
        copy = manifest_at(genuine.addresses[0], "application/jose")[1].decode()
        impostor.hub.signer = lambda _: copy
        with Subscriber(impostor.addresses[0], trust=files[1]) as subscriber, pytest.raises(ManifestInvalid) as error:
            subscriber.ready().wait(LONG)
        assert error.value.reason == "origin"


def test_the_signature_is_renewed_while_the_producer_runs(files: tuple[Path, Path]) -> None:
    now = [NOW]
    with served(signing_key=files[0], wall=lambda: now[0]) as producer:
        (url,) = producer.addresses
        first = manifest_at(url, "application/jose")[1]
        assert manifest_at(url, "application/jose")[1] == first
        now[0] += 29 * 86_400
        second = manifest_at(url, "application/jose")[1]
        assert verify_manifest(second, TRUSTED, agent_id="bank", origin=url, now=now[0]).issued_at == now[0]


def test_a_door_that_is_opened_later_is_in_the_signed_manifest(files: tuple[Path, Path]) -> None:
    with served(signing_key=files[0]) as producer:
        later = producer.hub.run(serve(producer.hub, "http://127.0.0.1:0")).url
        with Subscriber(later, trust=files[1]) as subscriber:
            subscriber.ready().wait(LONG)


def test_addresses_beside_those_that_are_listened_on_are_signed_too(files: tuple[Path, Path]) -> None:
    with served(signing_key=files[0], reached_at="https://agent.example/") as producer:
        raw = manifest_at(producer.addresses[0], "application/jose")[1]
        assert verify_manifest(raw, TRUSTED, agent_id="bank", origin=HERE, now=time.time()).kid == KEY.kid


def test_over_a_socket_of_the_user_a_producer_with_a_key_is_trusted(files: tuple[Path, Path], short: Path) -> None:
    """CF-120: there the kernel says whose process answers."""
    producer = served(listen=f"unix://{short / 'bank.sock'}", signing_key=files[0])
    with producer, Subscriber(producer.addresses[0], trust=files[1]) as subscriber:
        subscriber.ready().wait(LONG)
        assert subscriber.trusted
        assert subscriber.proof is not None and subscriber.proof.signed is not None
        assert subscriber.proof.signed.origins == ("local",)  # and not the path, which names the user
        extensions = subscriber.proof.signed.manifest.extensions
        assert isinstance(extensions, dict)
        assert extensions["attend"]["framing"] == ["length-prefixed", "ndjson"]  # MAN-030


def test_a_door_that_leads_out_to_a_hub_is_no_address_of_ours() -> None:
    class Outward:
        url = "wss://hub.example"
        transports = ()

        async def close(self) -> None:
            pass

    told = build_manifest(OFFER, [Outward()])
    assert told.transports_supported == () and told.extensions is UNSET


def test_nobody_pays_for_signatures_who_does_not_use_them() -> None:
    """The library for them takes longer to load than all the rest."""
    code = "import sys, aaep.producer.producer, aaep.subscriber.subscriber; sys.exit('joserfc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_producer_that_nobody_can_name_says_so_at_once(
    files: tuple[Path, Path], certificate: tuple[str, str]
) -> None:
    cert, key = certificate
    producer = served(listen="https://0.0.0.0:0", cert=cert, key=key, token="x" * 40, signing_key=files[0])
    with pytest.raises(AaepError, match="reached_at="):
        producer.start()


def test_a_key_that_cannot_be_used_is_told_before_anything_is_served(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_text("nonsense")
    path.chmod(0o600)
    with pytest.raises(KeyUnusable):
        served(signing_key=path)


# -- another way -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "other", "may"),
    [
        ("https://a.example", "wss://a.example:8443", True),
        ("https://a.example", "https://b.example", False),
        ("https://a.example", "http://a.example", False),
        ("https://a.example", "ws://a.example", False),
        ("http://a.example", "https://a.example", True),
        ("https://a.example", "unix:bank", False),
        ("https://a.example", "http://127.0.0.1:1", False),
        ("http://127.0.0.1:1", "unix:bank", True),
        ("http://127.0.0.1:1", "ws://localhost:2", True),
        ("http://127.0.0.1:1", "https://a.example", False),
        ("unix:bank", "http://127.0.0.1:1", False),
        ("unix:bank", "unix:///run/other.sock", True),
        ("unix:bank", "https://evil.example", False),
        ("https://127.0.0.1:1", "http://127.0.0.1:2", False),
        ("wss://localhost:1", "grpc://[::1]:2", False),
        ("https://127.0.0.1:1", "wss://127.0.0.1:2", True),
        ("https://127.0.0.1:1", "unix:bank", True),
    ],
)
def test_what_was_meant_for_one_host_goes_to_no_other(first: str, other: str, may: bool) -> None:
    """CF-116"""
    assert may_fall_back(first, other) is may


class Way(Script):
    """One of several ways; it works as long as ``works`` has it."""

    works: set[str]

    async def request(self, message: bytes) -> bytes:
        if self.url not in self.works:
            raise ChannelLost(f"Nobody answers at {self.url}.")
        return await super().request(message)


def places(*given: str) -> bytes:
    return codec.encode(codec.replace(MANIFEST, extensions={"attend": {"origins": [*given]}}))


REQUEST = b'{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"x","capabilities":{}}'


def ways(works: set[str], listed: bytes) -> tuple[FallbackChannel, list[str]]:
    tried: list[str] = []

    def connect(url: str) -> Channel:
        tried.append(url)
        made = Way(None, listed, url=url)
        made.works = works
        return made

    return FallbackChannel("https://a.example", connect), tried


def test_ways_are_tried_in_the_order_of_the_manifest_and_around() -> None:
    async def main() -> None:
        works = {"https://a.example"}
        listed = places("https://a.example", "https://evil.example", "wss://a.example", "https://a.example:2", "local")
        channel, tried = ways(works, listed)
        await channel.request(REQUEST)
        works.clear()
        with pytest.raises(ChannelLost):
            await channel.request(REQUEST)
        assert tried == ["https://a.example", "wss://a.example", "https://a.example:2"]
        works.add("https://a.example:2")
        await channel.request(REQUEST)
        assert channel.url == "https://a.example:2"
        await channel.request(REQUEST)  # it stays where it works
        assert channel.url == "https://a.example:2"
        works.symmetric_difference_update({"https://a.example", "https://a.example:2"})
        await channel.request(REQUEST)
        assert channel.url == "https://a.example"
        await channel.close()

    asyncio.run(main())


def test_an_agent_whose_id_is_a_path_leads_to_no_socket() -> None:
    async def main() -> None:
        tried: list[str] = []

        def connect(url: str) -> Channel:
            tried.append(url)
            made = Way(None, listed, url=url)
            made.works = {"http://127.0.0.1:1"} if len(tried) == 1 else set()
            return made

        for agent, expected in (("/etc/other.sock", []), ("..", []), ("a/b", []), ("bank", ["unix:bank"])):
            tried.clear()
            given = codec.replace(MANIFEST, agent_id=agent, extensions={"attend": {"origins": ["local"]}})
            listed = codec.encode(given)
            channel = FallbackChannel("http://127.0.0.1:1", connect)
            await channel.request(REQUEST)
            channel._channel.works = set()  # type: ignore[union-attr]  # the channel of this test
            with pytest.raises(ChannelLost):
                await channel.request(REQUEST)
            assert tried[1:] == expected

    asyncio.run(main())


def test_a_stream_that_cannot_be_had_any_more_is_begun_anew_elsewhere() -> None:
    async def main() -> None:
        channel, _ = ways({"https://a.example"}, places("https://a.example", "https://a.example:2"))
        await channel.request(REQUEST)

        async def broken(subscription_id: str, after: str = "") -> AsyncIterator[ReceivedMessage]:
            for _ in range(1):
                raise ChannelLost("The line broke.")
            yield ReceivedMessage(b"")

        channel._channel.receive_messages = broken  # type: ignore[union-attr, method-assign]  # put in its place for this test
        with pytest.raises(ChannelRefused) as error:
            async for _ in channel.receive_messages("sub_1"):
                pass
        assert error.value.gone
        await channel.close()

    asyncio.run(main())


def test_a_channel_cannot_fall_back() -> None:
    with pytest.raises(AaepError, match="URL"):
        Subscriber(Script(None), reconnect=Reconnect(other_transports=True))


def close_door(producer: Producer, number: int) -> None:
    producer.hub.run(producer.hub.servers[number].close())


@pytest.mark.parametrize("other", ["http://127.0.0.1:0", "ws://127.0.0.1:0"])
def test_when_one_door_closes_the_person_goes_on_hearing_by_another(other: str, files: tuple[Path, Path]) -> None:
    """TERM-027"""
    producer = served(listen=["http://127.0.0.1:0", other], signing_key=files[0])
    with producer:
        first = producer.addresses[0]
        with Subscriber(
            first,
            trust=files[1],
            reconnect=Reconnect(other_transports=True),
            runtime=SubscriberRuntime(sleep=at_once),
            connect=ConnectOptions(max_silence=5.0),
        ) as subscriber:
            subscriber.ready().wait(LONG)
            producer.reader().wait(LONG)
            got: list[Envelope] = []
            with producer.session("Counting.") as session:
                session.progress(1)
                for one in subscriber:
                    got.append(one)
                    if one.type == "aaep:agent.progress.updated":
                        break
                close_door(producer, 0)
                session.progress(2)
            for one in subscriber:
                got.append(one)
                if one.type == "aaep:agent.session.completed":
                    break
            assert subscriber._connection.channel.url == producer.addresses[1]  # type: ignore[attr-defined]  # the channel of this test
            assert subscriber.proof is not None and subscriber.proof.signed is not None
        assert [one.progress.percent for one in got if isinstance(one, ProgressUpdated)] == [1, 2]
        assert len({one.event_id for one in got}) == len(got)
