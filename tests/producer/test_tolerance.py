"""Mistakes that can hurt nobody do not stop the work; those that could are told where they are made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from aaep.producer.producer import Producer
from aaep.protocol.events import Progress, ProgressUpdated
from aaep.testing import Listener
from aaep.text.phrases import humanize_name
from aaep.text.summaries import classify_error


@pytest.fixture
def producer() -> Iterator[Producer]:
    with Producer("bank", name="Bank", journal=None) as one:
        yield one


@pytest.mark.parametrize(
    ("given", "told", "heard"),
    [
        ({"percent": 150}, {"percent": 100}, "100 percent."),
        ({"percent": -3.5}, {"percent": 0}, "0 percent."),
        ({"percent": math.nan}, {"description": "Still working."}, "Still working."),
        ({"percent": math.inf, "step": 2}, {"step": 2}, "Step 2."),
        ({}, {"description": "Still working."}, "Still working."),
        ({"step": 6, "total": 5}, {"step": 6}, "Step 6."),
        ({"step": 0, "total": 5}, {"total_steps": 5}, "Still working."),
        ({"percent": 5, "left_seconds": math.nan}, {"percent": 5}, "5 percent."),
        ({"percent": 5, "left_seconds": -1}, {"percent": 5}, "5 percent."),
    ],
)
def test_progress_that_cannot_be_is_corrected(
    producer: Producer, caplog: pytest.LogCaptureFixture, given: dict[str, Any], told: dict[str, Any], heard: str
) -> None:
    listener = Listener(producer)
    with producer.session("Counting.") as session:
        session.progress(**given)
        session.progress(**given)
    listener.expect("session.completed")
    first, _ = [event for event in listener.events if isinstance(event, ProgressUpdated)]
    assert first.progress == Progress(**told) and first.summary_normal == heard
    assert len([record for record in caplog.records if "Progress was corrected" in record.message]) == bool(given)
    assert listener.findings() == []


def test_a_piece_of_an_answer_that_is_none_is_nothing(producer: Producer) -> None:
    listener = Listener(producer)
    with producer.session("Answering.") as session, session.output() as out:
        for piece in (None, "Hello", None, ".", None):
            out.write(piece)
    listener.expect("session.completed")
    assert listener.output == "Hello."


@pytest.mark.parametrize("requester", ["ada", "user:", ":ada", "", "human:ada"])
def test_cf_145_who_asked_for_the_work_is_named_by_kind(producer: Producer, requester: str) -> None:
    """Else, where there are several users, the session would be for none of that name."""
    with pytest.raises(ValueError, match='requested_by is "user:<id>"'):
        producer.session("Working.", requested_by=requester)
    for good in ("user:ada", "system:cron", "agent:planner"):
        producer.session("Working.", requested_by=good)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("check_balance", "check balance"),
        ("checkBalance", "check balance"),
        ("HTTPStatusError", "HTTP status error"),
        ("htmlPages", "html pages"),
        ("searchHTMLPages", "search HTML pages"),
        ("getURLs", "get URLs"),
        ("DELETE_FILE", "delete file"),
        ("files.read-all", "files read all"),
    ],
)
def test_names_in_words(name: str, words: str) -> None:
    assert humanize_name(name) == words


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError(), ("permanent", "value error")),
        (ExceptionGroup("one", [ValueError()]), ("permanent", "value error")),
        (ExceptionGroup("one", [ExceptionGroup("in one", [TimeoutError()])]), ("transient", "timeout error")),
        (
            ExceptionGroup("three", [RuntimeError(), ValueError(), OSError()]),
            ("unknown", "3 errors: runtime error and others"),
        ),
    ],
)
def test_several_errors_are_named_by_what_they_are(error: Exception, told: tuple[str, str]) -> None:
    assert classify_error(error) == told


def test_a_port_and_a_word_are_told_from_an_address_and_a_media_type() -> None:
    with pytest.raises(TypeError, match=r"such as .http://127\.0\.0\.1:8137"):
        Producer("h", listen=8137, journal=None)  # type: ignore[arg-type]  # the mistake
    with (
        Producer("h", journal=None) as producer,
        producer.session("S.") as session,
        pytest.raises(ValueError, match="such as text/markdown"),
    ):
        session.output(content_type="markdown")
