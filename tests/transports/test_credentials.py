"""The token that a client shows, over every transport that takes one."""

from __future__ import annotations

import pytest

from aaep.errors import AaepError
from aaep.producer.producer import Producer
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import build_authorization_header

LONG = 60.0
SCHEMES = ["http", "ws", "grpc", "asgi+http"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_function_gives_the_token_of_the_day(scheme: str) -> None:
    with Producer("bank", listen=f"{scheme}://127.0.0.1:0", token="of-the-day", journal=None) as producer:
        asked: list[int] = []

        def token() -> str:
            asked.append(1)
            return "of-the-day\n"  # as it is read from a file

        with Subscriber(producer.addresses[0], token=token) as subscriber:
            subscriber.ready().wait(LONG)
        assert asked


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("token", "why"),
    [("two\nlines", "holds what no token holds"), ("é", "holds what no token holds"), (" \n", "is empty")],
)
def test_what_can_be_no_token_is_told_before_it_is_sent(scheme: str, token: str, why: str) -> None:
    with Producer("bank", listen=f"{scheme}://127.0.0.1:0", token="right", journal=None) as producer:
        subscriber = Subscriber(producer.addresses[0], token=token)
        with pytest.raises(AaepError, match=f"^The token {why}"):
            subscriber.ready().wait(LONG)


def test_what_is_shown() -> None:
    for token in ("aaep_Az0-_.~+/==", lambda: " aaep_Az0-_.~+/==\n"):
        assert build_authorization_header(token) == {"Authorization": "Bearer aaep_Az0-_.~+/=="}
    assert build_authorization_header(None) == {}
