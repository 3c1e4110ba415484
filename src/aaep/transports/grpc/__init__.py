"""
Transport over gRPC (Appendix B.5). Needs the library ``grpcio``.

The service is defined in ``aaep.proto``, beside this file. ``Subscribe`` is a
bidirectional stream that carries one subscription. ``GetManifest`` returns the
manifest. Both expect the credential in the ``authorization`` metadata.
"""

from __future__ import annotations

from typing import Final

from ...errors import AaepError

try:
    import grpc as _grpc  # noqa: F401  # the modules below need it; here a missing one gets a helpful error
except ImportError as error:
    raise AaepError("gRPC needs a library that is not installed. Add it: pip install grpcio.") from error

from .client import connect
from .server import serve

__all__ = ["CONNECT_OPTIONS", "SERVER_OPTIONS", "connect", "serve"]

SERVER_OPTIONS: Final = frozenset({"identity", "token", "tls", "max_message_bytes", "request_timeout"})
CONNECT_OPTIONS: Final = frozenset({"token", "tls", "timeout", "max_silence"})
