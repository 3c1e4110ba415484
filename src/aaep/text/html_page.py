"""
Render self-contained HTML pages that load no other file and use no network.

The content security policy names the style and the script by their digests, so
recorded text could not run even if it got through the escaping.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from re import compile
from typing import Final

__all__ = ["escape_xml", "isolate_text", "load_asset", "render_page"]

_ILLEGAL_CHARACTER: Final = compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE_TAG: Final = compile(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*")


@cache
def load_asset(name: str, package: str = __package__) -> str:
    """Return the text of a style or script file that is part of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def escape_xml(text: object) -> str:
    """Escape text for use in HTML and XML, in an element or between quotes."""
    return escape(_ILLEGAL_CHARACTER.sub("\ufffd", str(text)))


def isolate_text(text: str, language: str = "") -> str:
    """Escape text from elsewhere, in its own language if known, so that its direction cannot spill over."""
    lang = f' lang="{language}"' if _LANGUAGE_TAG.fullmatch(language) else ""
    return f"<bdi{lang}>{escape_xml(text)}</bdi>"


def render_page(title: str, body: Iterable[str], *, style: str = "", script: str = "") -> Iterator[str]:
    """Yield the parts of a complete page."""
    style = load_asset("page.css") + style
    policy = f"default-src 'none'; style-src {_csp_hash(style)}; base-uri 'none'; form-action 'none'"
    if script:
        policy += f"; script-src {_csp_hash(script)}"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
    yield f"<title>{escape_xml(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    yield from body
    if script:
        yield f"<script>{script}</script>\n"
    yield "</body>\n</html>\n"


def _csp_hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
