"""
Private keys that sign manifests, and trusted public keys that verify them. CF-121

A key has one algorithm, which follows from its type: ES256 for an elliptic
curve key on P-256, RS256 for an RSA key, EdDSA for one on Ed25519. The algorithm
in a signature's header has to match and decides nothing. Shared secrets are not
supported.

Keys are read from PEM or JWK, trusted ones also from a JWK Set. A key without a
kid is named by its thumbprint (RFC 7638).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from ..errors import AaepError
from ..runtime.files import open_without_waiting

__all__ = ["ALGORITHMS", "Algorithm", "KeyUnusable", "SigningKey", "TrustedKey", "TrustedKeys"]

Algorithm = Literal["ES256", "RS256", "EdDSA"]
JoseKey = ECKey | RSAKey | OKPKey

ALGORITHMS: Final[tuple[Algorithm, ...]] = ("ES256", "RS256", "EdDSA")

_MAX_KEY_FILE_BYTES: Final = 1 << 20  # bytes
_MIN_RSA_BITS: Final = 2048  # bits
_RSA_TOO_SHORT: Final = f"This RSA key is too short. It needs {_MIN_RSA_BITS} bits, or better be an ES256 key."
_KID_PATTERN: Final = re.compile(r"[!-~]{1,128}")
_KEY_TYPES: Final[dict[str, type[JoseKey]]] = {"EC": ECKey, "RSA": RSAKey, "OKP": OKPKey}


class KeyUnusable(AaepError):
    """A key cannot be read, or is of an unsupported kind. The message says what to do."""


class TrustedKey(msgspec.Struct, frozen=True):
    """A public key with its name and its algorithm."""

    kid: str
    algorithm: Algorithm
    jose_key: JoseKey


class SigningKey(msgspec.Struct, frozen=True):
    """A private key with its name and its algorithm."""

    kid: str
    algorithm: Algorithm
    jose_key: JoseKey

    @classmethod
    def generate(cls, algorithm: Algorithm = "ES256", kid: str = "") -> SigningKey:
        """Generate a key, by default for ES256, which MAN-019 recommends."""
        key: JoseKey
        if algorithm == "ES256":
            key = ECKey.generate_key("P-256")
        elif algorithm == "RS256":
            key = RSAKey.generate_key(3072)
        else:
            key = OKPKey.generate_key("Ed25519")
        return cls(_resolve_kid(key, kid), algorithm, key)

    @classmethod
    def parse(cls, text: bytes | str, kid: str = "") -> SigningKey:
        """Return the private key in a PEM or JWK text."""
        keys = _parse_keys(text)
        if len(keys) != 1:
            raise KeyUnusable(f"One key was expected, and there are {len(keys)}. Give the private key alone.")
        key = keys[0]
        if not key.is_private:
            raise KeyUnusable("This is the public half of a key, which cannot sign. Give the private one.")
        return cls(_resolve_kid(key, kid), _algorithm_for(key), key)

    @classmethod
    def load(cls, path: str | os.PathLike[str], kid: str = "") -> SigningKey:
        """Return the private key in a file, which other users must not be able to read."""
        path = Path(path)
        text, is_exposed = _read_key_file(path)
        with _name_file_in_errors(path):
            key = cls.parse(text, kid)  # first, as a public key has an error of its own
        if is_exposed:
            raise KeyUnusable(f"Others on this machine can read the private key {path}. Do: chmod 600 {path}")
        return key

    @property
    def public_key(self) -> TrustedKey:
        """The public key that verifies its signatures."""
        return TrustedKey(self.kid, self.algorithm, _to_public(self.jose_key))

    def to_jwk(self, *, private: bool = False) -> dict[str, Any]:
        """Return the key as a JWK, by default only its public half."""
        return {**self.jose_key.as_dict(private=private), "kid": self.kid, "alg": self.algorithm, "use": "sig"}


class TrustedKeys:
    """The public keys that are trusted to sign manifests, by their names."""

    def __init__(self, keys: Iterable[TrustedKey] = ()) -> None:
        self._keys: dict[str, TrustedKey] = {}
        for key in keys:
            if key.kid in self._keys:
                raise KeyUnusable(f"Two keys are called {key.kid!r}. Rename one of them.")
            self._keys[key.kid] = key

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, kid: str) -> TrustedKey | None:
        """Return the key with a name, or None."""
        return self._keys.get(kid)

    @classmethod
    def parse(cls, text: bytes | str, kid: str = "") -> TrustedKeys:
        """Return the keys in a JWK Set, a JWK or a PEM text. Of a private key, only the public half is kept."""
        keys = _parse_keys(text)
        if not keys:
            raise KeyUnusable("There is no key in it that can check a signature. ES256, RS256 or EdDSA keys can.")
        if kid and len(keys) > 1:
            raise KeyUnusable("A name was given for one key, and there are several. They need names of their own.")
        return cls(TrustedKey(_resolve_kid(key, kid), _algorithm_for(key), _to_public(key)) for key in keys)

    @classmethod
    def load(cls, path: str | os.PathLike[str], kid: str = "") -> TrustedKeys:
        """Return the keys in a file."""
        text = _read_key_file(Path(path))[0]
        with _name_file_in_errors(Path(path)):
            return cls.parse(text, kid)


# -- parsing keys --------------------------------------------------------------------------


def _read_key_file(path: Path) -> tuple[bytes, bool]:
    """Return the contents of a file, and whether other users can access it."""
    try:
        with open_without_waiting(path) as file:  # it may be a pipe, as in a shell's process substitution
            mode = os.fstat(file.fileno()).st_mode
            is_exposed = os.name == "posix" and stat.S_ISREG(mode) and bool(mode & 0o007)
            text = file.read(_MAX_KEY_FILE_BYTES + 1)
    except OSError as error:
        raise KeyUnusable(f"{path}: {error.strerror or error}. Give the path of a key file.") from error
    if not text:
        raise KeyUnusable(f"{path} is empty. Give the path of a key file.")
    if len(text) > _MAX_KEY_FILE_BYTES:
        raise KeyUnusable(f"{path} is too large to be a file of keys.")
    return text, is_exposed


@contextmanager
def _name_file_in_errors(path: Path) -> Iterator[None]:
    """Put the path of a file in front of the errors about its keys."""
    try:
        yield
    except KeyUnusable as error:
        raise KeyUnusable(f"{path}: {error}") from error


def _parse_keys(text: bytes | str) -> list[JoseKey]:
    data = text.encode() if isinstance(text, str) else text
    if data.lstrip().startswith(b"-----BEGIN"):
        return [_parse_pem(data)]
    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise KeyUnusable("This is neither PEM nor JSON, so it is no key. Make one: aaep manifest key new") from None
    if isinstance(decoded, Mapping) and isinstance(decoded.get("keys"), list):
        # RFC 7517 §5: keys of a set that are for another purpose are ignored.
        return [_parse_jwk(jwk) for jwk in decoded["keys"] if isinstance(jwk, Mapping) and _is_signature_key(jwk)]
    if not isinstance(decoded, Mapping):
        raise KeyUnusable("This JSON is no JWK and no JWK Set. Make a key: aaep manifest key new")
    return [_parse_jwk(decoded)]


def _is_signature_key(jwk: Mapping[str, Any]) -> bool:
    """Whether a JWK is of a supported type and for signatures."""
    curves = {"EC": "P-256", "OKP": "Ed25519"}
    return (
        jwk.get("kty") in _KEY_TYPES
        and jwk.get("use", "sig") == "sig"
        and jwk.get("crv") == curves.get(str(jwk["kty"]))
    )


def _parse_jwk(jwk: Mapping[str, Any]) -> JoseKey:
    key_type = _KEY_TYPES.get(str(jwk.get("kty")))
    if key_type is None:
        raise KeyUnusable("Only public-key signatures are used here: a key of the type EC, RSA or OKP.")
    # Only the key itself and its name: joserfc would act on some of the other members.
    names = ("kty", "crv", "x", "y", "d", "n", "e", "p", "q", "dp", "dq", "qi", "kid")
    if key_type is RSAKey and len(str(jwk.get("n", ""))) * 6 < _MIN_RSA_BITS:  # base64: six bits in each character
        raise KeyUnusable(_RSA_TOO_SHORT)
    try:
        key = key_type.import_key({name: jwk[name] for name in names if name in jwk})
        key.raw_value  # noqa: B018  # joserfc parses the numbers only on access
    except (JoseError, ValueError, TypeError, AttributeError) as error:
        raise KeyUnusable(f"This JWK cannot be used: {_first_sentence(error)}.") from error
    expected = _algorithm_for(key)
    if jwk.get("alg", expected) != expected:
        raise KeyUnusable(f"This JWK is for another algorithm. Such a key is used with {expected} here.")
    if jwk.get("use", "sig") != "sig":
        raise KeyUnusable("This JWK is not for signatures: its use is not sig.")
    return key


def _parse_pem(data: bytes) -> JoseKey:
    try:
        raw = load_pem_private_key(data, None) if b"PRIVATE KEY-----" in data else load_pem_public_key(data)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:  # a TypeError if it is encrypted
        raise KeyUnusable("This PEM cannot be read. It has to hold one key, and not be encrypted.") from error
    if isinstance(raw, (RSAPrivateKey, RSAPublicKey)):
        if raw.key_size < _MIN_RSA_BITS:
            raise KeyUnusable(_RSA_TOO_SHORT)
        return RSAKey.import_key(data)
    if isinstance(raw, (EllipticCurvePrivateKey, EllipticCurvePublicKey)):
        return ECKey.import_key(data)
    if isinstance(raw, (Ed25519PrivateKey, Ed25519PublicKey)):
        return OKPKey.import_key(data)
    raise KeyUnusable("This PEM holds no key that is used here. ES256 (P-256), RS256 and EdDSA (Ed25519) keys are.")


def _first_sentence(error: Exception) -> str:
    return str(error).split(". ", maxsplit=1)[0].rstrip(".") or type(error).__name__


def _algorithm_for(key: JoseKey) -> Algorithm:
    """Return the algorithm of a key, which follows from its type. CF-121"""
    if isinstance(key, RSAKey):
        return "RS256"
    curve = key.as_dict(private=False).get("crv")
    if isinstance(key, ECKey) and curve == "P-256":
        return "ES256"
    if isinstance(key, OKPKey) and curve == "Ed25519":
        return "EdDSA"
    raise KeyUnusable(f"The curve {curve} is not used here. P-256 (ES256) and Ed25519 (EdDSA) are.")


def _to_public(key: JoseKey) -> JoseKey:
    return type(key).import_key(key.as_dict(private=False)) if key.is_private else key


def _resolve_kid(key: JoseKey, kid: str) -> str:
    """Return the name of a key: the given one, its own, or its thumbprint."""
    name = kid or key.kid or key.thumbprint()
    if not _KID_PATTERN.fullmatch(name):
        raise KeyUnusable("A kid is up to 128 visible ASCII characters, without spaces.")
    return name
