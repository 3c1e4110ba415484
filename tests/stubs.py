"""A gRPC client made from ``aaep.proto`` by gRPC's own tools: nothing of ours but the file is in it."""

from __future__ import annotations

import importlib
import queue
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import grpc

import aaep

PROTO: Final = Path(aaep.__file__).parent / "transports" / "grpc" / "aaep.proto"
LONG: Final = 180.0  # seconds that no stream in a test lives
NARROW: Final = (  # a window that does not grow, so that who does not read is noticed
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 16_384),
)


@cache
def generated() -> tuple[Any, Any]:
    """The messages and the service, as modules."""
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as folder:
        done = protoc.main(
            ["protoc", f"-I{PROTO.parent}", f"--python_out={folder}", f"--grpc_python_out={folder}", str(PROTO)]
        )
        assert done == 0
        sys.path.insert(0, folder)
        try:
            return importlib.import_module("aaep_pb2"), importlib.import_module("aaep_pb2_grpc")
        finally:
            sys.path.remove(folder)


class Stream:
    """One call of Subscribe."""

    def __init__(
        self,
        place: str,
        *,
        metadata: tuple[tuple[str, str], ...] = (),
        timeout: float = LONG,
        credentials: grpc.ChannelCredentials | None = None,
        channel: grpc.Channel | None = None,
    ) -> None:
        self.messages, service = generated()
        self._own = channel is None
        self.channel = open_channel(place, credentials) if channel is None else channel
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.call = service.AaepServiceStub(self.channel).Subscribe(
            iter(self._outgoing.get, None), timeout=timeout, metadata=metadata
        )

    def send(self, json: bytes, hint: str = "") -> None:
        self._outgoing.put(self.messages.AaepMessage(json=json, message_type=hint))

    def finish(self) -> None:
        """There is no more to say."""
        self._outgoing.put(None)

    def receive(self) -> Any | None:
        """The next message; None at the end, whatever the status."""
        try:
            return next(self.call)
        except (StopIteration, grpc.RpcError):
            return None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.receive, None)

    @property
    def code(self) -> grpc.StatusCode:
        code: grpc.StatusCode = self.call.code()
        return code

    def cut(self) -> None:
        self.call.cancel()
        self.finish()  # lets go of the thread that waits for more to send
        if self._own:
            self.channel.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()


def open_channel(place: str, credentials: grpc.ChannelCredentials | None = None) -> grpc.Channel:
    if credentials is None:
        return grpc.insecure_channel(place, NARROW)
    return grpc.secure_channel(place, credentials, NARROW)
