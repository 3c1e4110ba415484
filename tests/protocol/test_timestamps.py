"""RFC 3339 timestamps: what is sound, what is not, and which moment is meant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.protocol.timestamps import find_defect, is_clean, parse_instant


@pytest.mark.parametrize(
    "value",
    [
        "2026-05-24T14:22:11.342Z",
        "2026-05-24T14:22:11.342+02:00",
        "2024-02-29T00:00:00.000Z",
        "2000-01-01T23:59:59.999-14:00",
    ],
)
def test_three_digits_are_sound(value: str) -> None:
    assert find_defect(value) is None


@pytest.mark.parametrize(
    ("value", "rule", "severity"),
    [
        ("", "ENV-021", ""),
        ("yesterday", "ENV-021", ""),
        ("2026-05-24", "ENV-021", ""),
        ("2026-05-24T14:22:11.342", "ENV-021", ""),  # no offset
        ("2026-05-24t14:22:11.342Z", "ENV-021", ""),
        ("2026-05-24T14:22:11.342z", "ENV-021", ""),
        ("2026-05-24 14:22:11.342Z", "ENV-021", ""),
        ("2026-05-24T14:22:11,342Z", "ENV-021", ""),
        ("2026-05-24T14:22:11.Z", "ENV-021", ""),
        ("2026-05-24T14:22:11.342Z\n", "ENV-021", ""),  # C-10
        (" 2026-05-24T14:22:11.342Z", "ENV-021", ""),
        ("٢026-05-24T14:22:11.342Z", "ENV-021", ""),  # C-10: a digit, but not one of ours
        ("2026-05-24T14:22:11.342+0200", "ENV-021", ""),
        ("2026-5-24T14:22:11.342Z", "ENV-021", ""),
        ("12026-05-24T14:22:11.342Z", "ENV-021", ""),
        ("2026-05-24T14:22:11Z", "ENV-022", ""),
        ("2026-05-24T14:22:11.342117Z", "ENV-022", ""),
        ("2026-05-24T14:22:11.3Z", "ENV-023", ""),
        ("2026-05-24T14:22:11.3421Z", "ENV-023", ""),
        ("2026-05-24T14:22:11.342117000Z", "ENV-023", ""),
        ("2026-02-29T14:22:11.342Z", "ENV-024", ""),
        ("2026-13-01T14:22:11.342Z", "ENV-024", ""),
        ("2026-05-24T25:00:00.000Z", "ENV-024", ""),
        ("2026-05-24T24:00:00.000Z", "ENV-024", ""),  # C-13
        ("2026-05-24T23:59:60.000Z", "ENV-024", ""),
        ("2026-05-24T14:22:11.342+25:00", "ENV-024", ""),
        ("0000-01-01T00:00:00.000Z", "ENV-024", ""),
        ("0001-01-01T00:00:00.000Z", "ENV-024", "warning"),
        ("9999-12-31T23:59:59.999Z", "ENV-024", "warning"),
        ("1970-01-01T00:00:00.000Z", "ENV-024", "warning"),
        ("1970-01-01T02:00:00.000+02:00", "ENV-024", "warning"),
    ],
)
def test_what_is_wrong_is_told_by_its_rule(value: str, rule: str, severity: str) -> None:
    found = find_defect(value)
    assert found is not None
    assert found[:2] == (rule, severity)


def test_the_first_millisecond_of_the_epoch_is_a_moment_like_any_other() -> None:
    assert find_defect("1970-01-01T00:00:00.001Z") is None


@given(st.datetimes(datetime(2, 1, 2), datetime(9998, 12, 30)), st.integers(-23 * 60, 23 * 60))
def test_an_instant_is_the_moment_that_was_written(moment: datetime, minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    written = moment.replace(tzinfo=zone).isoformat(timespec="milliseconds")
    exact = moment.replace(tzinfo=zone, microsecond=moment.microsecond // 1000 * 1000)
    assert parse_instant(written) == pytest.approx((exact - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds(), abs=1e-4)


@pytest.mark.parametrize(
    ("lenient", "strict"),
    [
        ("2026-05-24t14:22:11.342z", "2026-05-24T14:22:11.342Z"),
        ("2026-05-24T14:22:11Z", "2026-05-24T14:22:11.000Z"),
        ("2026-05-24T14:22:11.342000000Z", "2026-05-24T14:22:11.342Z"),
        ("2026-05-24T16:22:11.342+02:00", "2026-05-24T14:22:11.342Z"),
        ("2026-05-24T23:59:60.000Z", "2026-05-24T23:59:59.000Z"),  # C-13: clamped
    ],
)
def test_reading_is_lenient(lenient: str, strict: str) -> None:
    assert parse_instant(lenient) == pytest.approx(parse_instant(strict))


@pytest.mark.parametrize("value", ["", "yesterday", "2026-02-30T00:00:00Z", "2026-05-24T14:22:11.342Z\n"])
def test_what_names_no_moment_is_none(value: str) -> None:
    assert parse_instant(value) is None


@given(
    st.one_of(
        st.text(max_size=30), st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}(Z|\+[0-9]{2}:[0-9]{2})")
    )
)
def test_nothing_is_raised_and_clean_never_says_more_than_defect(value: str) -> None:
    parse_instant(value)
    for _ in range(2):  # the second time from memory
        if is_clean(value):
            assert find_defect(value) is None


@given(st.datetimes(datetime(2, 1, 2), datetime(9998, 12, 30)))
def test_the_usual_form_is_clean(moment: datetime) -> None:
    value = moment.isoformat(timespec="milliseconds") + "Z"
    if not value.startswith("1970-01-01T00:00:00.000"):
        assert is_clean(value) and is_clean(value)


def test_a_placeholder_is_never_clean_even_when_its_date_is_known() -> None:
    """clean() remembers dates; the epoch is a placeholder only at its first moment."""
    assert is_clean("1970-01-01T12:00:00.000Z")
    assert not is_clean("1970-01-01T00:00:00.000Z")
