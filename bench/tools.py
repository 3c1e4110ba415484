"""
How fast captures are written and played, beside how fast they are validated: one recording, one run.

Capture: a real subscriber, whose channel gives what it is asked for at once,
records into a file. Replay: a real producer plays the file with no delay to one
reader in the same process. Validate: what `aaep validate` does with the same
file. The three take turns; the best of a few rounds counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from aaep.hub.hub import Hub
from aaep.identity.peer import Peer
from aaep.producer.producer import Producer
from aaep.protocol.attend_extension import attend_registry
from aaep.protocol.audit import Audit
from aaep.protocol.framing import encode_ndjson
from aaep.protocol.messages import Capabilities, SubscriptionClose, SubscriptionRequest
from aaep.recording import recordings
from aaep.recording.capture import CaptureWriter, LineFile
from aaep.recording.replay_plan import ReplayPlan
from aaep.recording.replayer import Replayer
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import ReceivedMessage

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench._recording import PRODUCER, recording

EVENTS = 20_000
ROUNDS = 3
_ACCEPTED = (
    b'{"type":"subscription.accepted","subscription_id":"sub_7Kq2ZtVb91RmXeWc40LdYpNs","aaep_version":"1.0.0",'
    b'"producer":{"agent_id":"%b"},"honored_capabilities":{"supported_conformance_levels":[1]}}'
)


class Ready:
    """A channel on which everything has come already."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    async def manifest(self) -> bytes:
        raise NotImplementedError

    async def request(self, message: bytes) -> bytes:
        return _ACCEPTED % PRODUCER["agent_id"].encode()

    async def send(self, message: bytes) -> None:
        return None

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncIterator[ReceivedMessage]:
        for line in self._lines:
            yield ReceivedMessage(line)

    async def close(self) -> None:
        return None


class Reader:
    """A reader in this process that only counts what it is sent."""

    frame: Callable[[str, bytes], bytes]

    def __init__(self) -> None:
        self.frame = _frame
        self.got = 0

    def write(self, data: bytes) -> None:
        self.got += data.count(b"\n")

    def count_unsent_bytes(self) -> int:
        return 0

    def close(self, message: SubscriptionClose | None) -> None:
        return None


def _frame(_id: str, data: bytes) -> bytes:
    return encode_ndjson(data)


def main() -> None:
    lines = [*recording(EVENTS)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.ndjson"
        best: dict[str, float] = {}
        for _ in range(ROUNDS):
            path.unlink(missing_ok=True)
            for name, work in (("capture", _capture), ("validate", _validate), ("replay", _replay)):
                seconds = work(lines, path)
                best[name] = min(seconds, best.get(name, seconds))
    size = sum(map(len, lines)) / len(lines)
    print(f"{EVENTS} events of {size:.0f} bytes on average:")
    for name, seconds in best.items():
        each, rate = seconds / EVENTS * 1e6, EVENTS / seconds
        print(f"  {name}: {rate:,.0f} events a second, {each:.1f} microseconds each")
    for name in ("capture", "replay"):
        print(f"{name.capitalize()} takes {best[name] / best['validate']:.1f} times as long as validating.")


def _capture(lines: list[bytes], path: Path) -> float:
    start = time.perf_counter()
    with CaptureWriter(LineFile(path), source="bench", transport="sse") as capture:
        with Subscriber(Ready(lines), replies=False, reconnect=False, on_message=capture.record) as subscriber:
            for _number, _ in zip(range(EVENTS), subscriber, strict=False):
                pass
        seconds = time.perf_counter() - start
        if capture.event_count != EVENTS:
            raise SystemExit(f"{capture.event_count} of {EVENTS} events were recorded.")
    return seconds


def _validate(_lines: list[bytes], path: Path) -> float:
    start = time.perf_counter()
    audit = Audit()
    with path.open("rb") as file:
        recordings.audit_recording(recordings.open_recording(file), audit, lambda *_: None, lambda _: None)
    audit.finish()
    if audit.events != EVENTS:
        raise SystemExit(f"{audit.events} of {EVENTS} events were judged.")
    return time.perf_counter() - start


def _replay(_lines: list[bytes], path: Path) -> float:
    with Producer("bench", journal=None) as producer:
        reader = Reader()
        _join(producer.hub, reader)
        rehearsal = Replayer(producer, ReplayPlan(lambda: path.open("rb"), attend_registry()), speed=None)
        start = time.perf_counter()
        rehearsal.play()
        seconds = time.perf_counter() - start
    if rehearsal.played_count != EVENTS or reader.got < EVENTS // 2:  # shaping may merge some of them
        raise SystemExit(f"{rehearsal.played_count} events were played and {reader.got} arrived.")
    return seconds


def _join(hub: Hub, reader: Reader) -> None:
    request = SubscriptionRequest(
        aaep_version="1.0.0", subscriber_id="bench", subscriber_name="Bench", capabilities=Capabilities()
    )

    async def join() -> None:
        answer = hub.subscribe(request, Peer())
        hub.connect(getattr(answer, "subscription_id"), Peer(), reader)  # noqa: B009  # accepted, as all here are

    hub.run(join())


if __name__ == "__main__":
    main()
