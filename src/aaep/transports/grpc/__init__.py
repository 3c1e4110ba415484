"""
gRPC: Appendix B.5. Needs the extra ``aaep[grpc]``.

The service is in ``aaep.proto``, beside this file. ``Subscribe`` is one
subscription: messages go both ways on its stream. ``GetManifest`` gives the
manifest. Both want the credential in the ``authorization`` metadata.
"""

from __future__ import annotations

from ...errors import AaepError

try:
    import grpc as _grpc  # noqa: F401  # the modules below need it, and a missing one is told here
except ImportError as error:
    raise AaepError("gRPC needs a library that is not installed. Add it: pip install 'aaep[grpc]'.") from error

from .client import connect
from .server import serve

__all__ = ["connect", "serve"]
