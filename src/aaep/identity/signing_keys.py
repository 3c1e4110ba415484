"""
Keys that manifests are signed with, and keys that are trusted. CF-121

A key has one algorithm, which follows from its type: ES256 for an elliptic
curve key on P-256, RS256 for an RSA key, EdDSA for one on Ed25519. What a
signature says about its own algorithm is compared with that and decides
nothing. A secret shared by both sides is not a key here.

Keys come as PEM or as JWK, trusted ones also as a JWK Set. Without a name of
its own a key is called by its thumbprint (RFC 7638).
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

__all__ = ["Algorithm", "KeyUnusable", "SigningKey", "TrustedKey", "TrustedKeys"]

Algorithm = Literal["ES256", "RS256", "EdDSA"]
JoseKey = ECKey | RSAKey | OKPKey

_MAX_KEY_FILE_BYTES: Final = 1 << 20  # bytes of a file of keys
_MIN_RSA_BITS: Final = 2048  # bits of an RSA key
_RSA_TOO_SHORT: Final = f"This RSA key is too short. It needs {_MIN_RSA_BITS} bits, or better be an ES256 key."
_KID_PATTERN: Final = re.compile(r"[!-~]{1,128}")  # what a kid of ours may be
_KEY_TYPES: Final[dict[str, type[JoseKey]]] = {"EC": ECKey, "RSA": RSAKey, "OKP": OKPKey}


class KeyUnusable(AaepError):
    """A key cannot be read, or is of a kind that is not used here. The message says what to do."""


class TrustedKey(msgspec.Struct, frozen=True):
    """The public half of somebody's key."""

    kid: str
    algorithm: Algorithm
    jose_key: JoseKey


class SigningKey(msgspec.Struct, frozen=True):
    """A private key and the name under which others know its public half."""

    kid: str
    algorithm: Algorithm
    jose_key: JoseKey

    @classmethod
    def generate(cls, algorithm: Algorithm = "ES256", kid: str = "") -> SigningKey:
        """A fresh key. MAN-019: ES256 unless there is a reason for another."""
        made: JoseKey
        if algorithm == "ES256":
            made = ECKey.generate_key("P-256")
        elif algorithm == "RS256":
            made = RSAKey.generate_key(3072)
        else:
            made = OKPKey.generate_key("Ed25519")
        return cls(_resolve_kid(made, kid), algorithm, made)

    @classmethod
    def parse(cls, text: bytes | str, kid: str = "") -> SigningKey:
        """The private key that a PEM or JWK text holds."""
        found = _parse_keys(text)
        if len(found) != 1:
            raise KeyUnusable(f"One key was expected, and there are {len(found)}. Give the private key alone.")
        key = found[0]
        if not key.is_private:
            raise KeyUnusable("This is the public half of a key, which cannot sign. Give the private one.")
        return cls(_resolve_kid(key, kid), _algorithm_for(key), key)

    @classmethod
    def load(cls, path: str | os.PathLike[str], kid: str = "") -> SigningKey:
        """The private key in a file that nobody else can read."""
        place = Path(path)
        text, exposed = _read_key_file(place)
        with _name_file_in_errors(place):
            key = cls.parse(text, kid)  # first, for of a public key there is something else to say
        if exposed:
            raise KeyUnusable(f"Others on this machine can read the private key {place}. Do: chmod 600 {place}")
        return key

    @property
    def public_key(self) -> TrustedKey:
        """What others need to check its signatures."""
        return TrustedKey(self.kid, self.algorithm, _to_public(self.jose_key))

    def to_jwk(self, *, private: bool = False) -> dict[str, Any]:
        """The key as a JWK."""
        return {**self.jose_key.as_dict(private=private), "kid": self.kid, "alg": self.algorithm, "use": "sig"}


class TrustedKeys:
    """The public keys of those who may vouch for a producer, by their names. Looked up here and nowhere else."""

    def __init__(self, keys: Iterable[TrustedKey] = ()) -> None:
        self._keys: dict[str, TrustedKey] = {}
        for key in keys:
            if key.kid in self._keys:
                raise KeyUnusable(f"Two keys are called {key.kid!r}. Rename one of them.")
            self._keys[key.kid] = key

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, kid: str) -> TrustedKey | None:
        return self._keys.get(kid)

    @classmethod
    def parse(cls, text: bytes | str, kid: str = "") -> TrustedKeys:
        """The keys in a JWK Set, a JWK or a PEM text. Of a private key, only the public half is kept."""
        found = _parse_keys(text)
        if not found:
            raise KeyUnusable("There is no key in it that can check a signature. ES256, RS256 or EdDSA keys can.")
        if kid and len(found) > 1:
            raise KeyUnusable("A name was given for one key, and there are several. They need names of their own.")
        return cls(TrustedKey(_resolve_kid(key, kid), _algorithm_for(key), _to_public(key)) for key in found)

    @classmethod
    def load(cls, path: str | os.PathLike[str], kid: str = "") -> TrustedKeys:
        """The keys in a file."""
        text = _read_key_file(Path(path))[0]
        with _name_file_in_errors(Path(path)):
            return cls.parse(text, kid)


# -- reading -------------------------------------------------------------------------------


def _read_key_file(path: Path) -> tuple[bytes, bool]:
    """What a file holds, and whether others on this machine can read or write it."""
    try:
        with open_without_waiting(
            path
        ) as file:  # it may come through a pipe, as a shell hands over what a program prints
            mode = os.fstat(file.fileno()).st_mode
            exposed = os.name == "posix" and stat.S_ISREG(mode) and bool(mode & 0o007)
            text = file.read(_MAX_KEY_FILE_BYTES + 1)
    except OSError as error:
        raise KeyUnusable(f"{path}: {error.strerror or error}. Give the path of a key file.") from error
    if not text:
        raise KeyUnusable(f"{path} is empty. Give the path of a key file.")
    if len(text) > _MAX_KEY_FILE_BYTES:
        raise KeyUnusable(f"{path} is too large to be a file of keys.")
    return text, exposed


@contextmanager
def _name_file_in_errors(path: Path) -> Iterator[None]:
    """What is wrong with a key is told with the file that it is in."""
    try:
        yield
    except KeyUnusable as error:
        raise KeyUnusable(f"{path}: {error}") from error


def _parse_keys(text: bytes | str) -> list[JoseKey]:
    data = text.encode() if isinstance(text, str) else text
    if data.lstrip().startswith(b"-----BEGIN"):
        return [_parse_pem(data)]
    try:
        given = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise KeyUnusable("This is neither PEM nor JSON, so it is no key. Make one: aaep manifest key new") from None
    if isinstance(given, Mapping) and isinstance(given.get("keys"), list):
        # RFC 7517 §5: of a set, what is for something else is left alone.
        return [_parse_jwk(one) for one in given["keys"] if isinstance(one, Mapping) and _is_signature_key(one)]
    if not isinstance(given, Mapping):
        raise KeyUnusable("This JSON is no JWK and no JWK Set. Make a key: aaep manifest key new")
    return [_parse_jwk(given)]


def _is_signature_key(jwk: Mapping[str, Any]) -> bool:
    curves = {"EC": "P-256", "OKP": "Ed25519"}
    return (
        jwk.get("kty") in _KEY_TYPES
        and jwk.get("use", "sig") == "sig"
        and jwk.get("crv") == curves.get(str(jwk["kty"]))
    )


def _parse_jwk(jwk: Mapping[str, Any]) -> JoseKey:
    kind = _KEY_TYPES.get(str(jwk.get("kty")))
    if kind is None:
        raise KeyUnusable("Only public-key signatures are used here: a key of the type EC, RSA or OKP.")
    # The key itself and its name. What else stands there is for others, and joserfc would act on some of it.
    parts = ("kty", "crv", "x", "y", "d", "n", "e", "p", "q", "dp", "dq", "qi", "kid")
    if kind is RSAKey and len(str(jwk.get("n", ""))) * 6 < _MIN_RSA_BITS:  # base64: six bits in each character
        raise KeyUnusable(_RSA_TOO_SHORT)
    try:
        key = kind.import_key({name: jwk[name] for name in parts if name in jwk})
        key.raw_value  # noqa: B018  # joserfc reads the numbers only when they are needed
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
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:  # encrypted ones are a TypeError
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
    """CF-121: what it signs with follows from what it is."""
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
    name = kid or key.kid or key.thumbprint()
    if not _KID_PATTERN.fullmatch(name):
        raise KeyUnusable("A kid is up to 128 visible ASCII characters, without spaces.")
    return name
