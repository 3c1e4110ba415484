"""Secrets in text: found where they are, and nowhere else."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.producer.producer import Producer
from aaep.protocol import codec
from aaep.protocol.events import OutputStreaming
from aaep.protocol.messages import Capabilities
from aaep.testing import Listener
from aaep.text.redaction import REDACTED, find_secrets, is_secret_name, may_contain_secret, redact

# Made up: the right form, and no use to anybody.
SECRETS = {
    "a model key": "sk-proj-" + "Ab1" * 10,
    "a payment key": "sk_live_" + "a1" * 12,
    "a GitHub token": "ghp_" + "A1b2" * 9,
    "a fine-grained GitHub token": "github_pat_" + "A1b2" * 9,
    "a GitLab token": "glpat-" + "x" * 20,
    "a Slack token": "xoxb-1234567890-abc",
    "an AWS key id": "AKIA" + "ABCD" * 4,
    "a Google key": "AIza" + "a" * 35,
    "a JWT": "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
    "a card": "4111 1111 1111 1111",
    "a card without spaces": "5555555555554444",
    "a social security number": "123-45-6789",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
}
CUT_SHORT = "-----BEGIN PRIVATE KEY-----\nMIIE"
# The name stays, so that the reader knows what was there.
NAMED = {
    "password=hunter22": f"password={REDACTED}",
    "Password: hunter22, then": f"Password: {REDACTED}, then",
    '{"api_key": "abcd1234"}': f'{{"api_key": "{REDACTED}"}}',
    "?access_token=abcd1234&x=1": f"?access_token={REDACTED}&x=1",
    "client-secret = abcd1234": f"client-secret = {REDACTED}",
    "Authorization: Bearer " + "a1." * 10: f"Authorization: Bearer {REDACTED}",
    "postgres://amara:pa55@db.example/x": f"postgres://amara:{REDACTED}@db.example/x",
    "https://x.example/?token=abc": f"https://x.example/?token={REDACTED}",
    "https://x.example/a?x=1&api_key=z.1#top": f"https://x.example/a?x=1&api_key={REDACTED}#top",
    "https://x.example/#access_token=a.b&x=1": f"https://x.example/#access_token={REDACTED}&x=1",
    "/a?authToken=abc and /b?x-amz-signature=ff": f"/a?authToken={REDACTED} and /b?x-amz-signature={REDACTED}",
}
# CF-143: what people write about every day.
HARMLESS = [
    "Open the task-list and the risk-register-for-the-next-quarter.",
    "desk-1234567890123456789012345",  # ends in sk-
    "The monkey met the author of the keynote; a turkey key lime pie.",
    "Which key opens the door? The token of my affection. It is no secret that passwords matter.",
    "Your password must have eight characters.",
    "The secret is in the sauce.",
    "Order 1234567890123456, invoice 2026-000123.",
    "Call +49 30 901820 or 555-0123-4567, or (020) 7946 0958.",
    "123e4567-e89b-12d3-a456-426614174000",
    "evt_00000000000000000000000000000000 in sess_8e3b9d2a6f4c7b0e",
    "2026-05-24T14:22:11.342Z",
    "See https://bank.example:8443/a/b and mailto:a@bank.example.",
    "https://x.example/?token_count=5&max_tokens=7&author=eve",
    "0000 0000 0000 0000",
    "The number 12345678901234567890123 is long.",
    "IBAN DE89 3704 0044 0532 0130 00",
    "eyJ is how a token starts.",
    "Transfer 50 dollars from checking to savings.",
    "",
]


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("around", ["{}", "Use {} now.", "({})", "'{}'"])
def test_a_secret_is_taken_out_and_the_rest_stays(secret: str, around: str) -> None:
    assert redact(around.format(secret)) == around.format(REDACTED)


def test_a_private_key_cut_short_runs_to_the_end() -> None:
    assert redact(f"Use {CUT_SHORT}\nAb1") == f"Use {REDACTED}"


@pytest.mark.parametrize(("text", "left"), NAMED.items())
def test_the_name_of_a_secret_stays(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize("text", HARMLESS)
def test_no_false_alarm(text: str) -> None:
    assert [text[start:stop] for start, stop in find_secrets(text)] == []
    assert redact(text) == text


@pytest.mark.parametrize("secret", [*SECRETS.values(), *NAMED])
def test_the_cheap_look_misses_nothing(secret: str) -> None:
    assert may_contain_secret(secret)


pieces = st.one_of(
    st.sampled_from([*SECRETS.values(), *NAMED, *HARMLESS, CUT_SHORT, REDACTED]),
    st.sampled_from(
        [
            "ABCDEFGHIJKLMNOP",
            "abcdefghij.klmnopqrst",
            "eyJ",
            "AIza",
            "sk-",
            "AKIA",
            "password",
            "=",
            ": ",
            "secret ",
            "bearer ",
            "://",
            ":",
            "@",
            "-",
            " ",
            "'",
            "4111",
            "1",
        ]
    ),
    st.text(max_size=6),
)
texts = st.lists(pieces, max_size=6).map("".join)


@given(texts)
def test_nothing_is_found_in_what_was_redacted(text: str) -> None:
    once = redact(text)
    assert [once[start:stop] for start, stop in find_secrets(once)] == []
    assert redact(once) == once


@given(texts)
def test_the_cheap_look_never_rules_out_what_the_closer_one_finds(text: str) -> None:
    assert may_contain_secret(text) or [*find_secrets(text)] == []


@pytest.mark.parametrize("text", ["AKIAABCDEFGHIJKLMNOP", "Bearer abcdefghijklmnopqrst", "eyJabcdefgh.abcdefgh."])
def test_a_secret_of_letters_alone_is_found(text: str) -> None:
    assert may_contain_secret(f"It is {text} here.") and REDACTED in redact(f"It is {text} here.")


@given(texts)
def test_spans_are_in_order_and_do_not_overlap(text: str) -> None:
    end = 0
    for start, stop in find_secrets(text):
        assert end <= start < stop <= len(text)
        end = stop


# -- in pieces ---------------------------------------------------------------------------------------------------------


@st.composite
def in_pieces(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> list[str]:
    """A text, cut anywhere."""
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)))) | {0, len(text)})
    return [text[start:end] for start, end in pairwise(cuts)]


def written(parts: list[str], boundary: Any) -> str:
    """What leaves of a text that is written piece by piece."""
    with Producer("bank", journal=None) as producer:
        with producer.session("Working.") as session, session.output(boundary=boundary) as output:
            for part in parts:
                output.write(part)
        kept = [codec.decode(entry.data) for entry in producer.hub.journal.read(limit=10_000)]
    return "".join(one.chunk for one in kept if isinstance(one, OutputStreaming))


BOUNDARIES = st.sampled_from(["none", "word", "sentence"])
AROUND = st.sampled_from(["", "Well, ", "It is (", "a. ", "5 ", "12\n", "desk ", "my password is ", "-- "])


@given(
    in_pieces(
        st.tuples(AROUND, st.sampled_from([*SECRETS.values(), *NAMED]), st.sampled_from([" then.", ".", ""])).map(
            "".join
        )
    ),
    BOUNDARIES,
)
def test_a_secret_that_comes_in_pieces_is_taken_out(parts: list[str], boundary: str) -> None:
    assert written(parts, boundary) == redact("".join(parts))


@given(in_pieces(st.sampled_from(HARMLESS)), BOUNDARIES)
def test_what_is_none_stays_in_pieces_too(parts: list[str], boundary: str) -> None:
    assert written(parts, boundary) == "".join(parts)


@pytest.mark.parametrize("boundary", ["none", "word", "sentence"])
def test_words_are_not_held_longer_than_they_could_be_secret(boundary: Any) -> None:
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        output = session.output(boundary=boundary)
        for letter in "The key to the secret is asking, says the author. A":
            output.write(letter)
        assert output._position == len("The key to the secret is asking, says the author. ")


def test_a_private_key_is_held_while_something_else_is_told() -> None:
    lines = "It is:\n-----BEGIN PRIVATE KEY-----\nMIIEabcd\n|wxyzwxyz\n-----END PRIVATE KEY-----\nDone."
    first, second = lines.split("|")
    with Producer("bank", journal=None) as producer, producer.session("Working.") as session:
        with session.output() as output:
            output.write(first)
            with session.tool("look", risk="low"):
                pass
            output.write(second)
        told = b"".join(entry.data for entry in producer.hub.journal.read(limit=1000))
    assert b"MIIE" not in told and b"wxyz" not in told and b"Done." in told


def test_one_reader_s_wish_for_small_pieces_tells_nobody_a_secret() -> None:
    asking = Capabilities(supported_conformance_levels=(1, 2, 3), coalesce_boundaries=("none", "completion"))
    with Producer("bank", journal=None) as producer:
        listener = Listener(producer, capabilities=asking)
        with producer.session("Working.") as session, session.output() as output:
            for letter in "The password: hunter22 is for you.":
                output.write(letter)
        listener.wait_for_end()
        assert listener.output == f"The password: {REDACTED} is for you."


@pytest.mark.parametrize(
    "name",
    "token access_token apiKey api-key authToken password2 X-Api-Key Authorization pin cvv CVV2 APIKey ACCESS_TOKEN "
    "accessTokens private_key user.password auth client_secret credentials".split(),
)
def test_a_name_announces_a_secret_by_its_whole_words(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    "token_count tokenCount secretary tokenizer max_tokens num_tokens tokens token_limit passenger pinned author key "
    "keyboard pint authority".split(),
)
def test_part_of_a_word_announces_no_secret(name: str) -> None:
    assert not is_secret_name(name)
