"""A run, ready to be told, and how its rules are spoken of."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

import msgspec

from ..protocol.catalogue import rules
from ..protocol.fields import AAEP_VERSION
from . import SUITE, VERDICTS, Result
from .judge import granted

__all__ = ["NAMES", "OPEN", "WORDS", "Report", "todo"]

Side = Literal["producer", "subscriber"]
NAMES: Final = {1: "Notification", 2: "Interactive", 3: "Negotiated"}
WORDS: Final = {
    "failed": "Failed",
    "warning": "Warning",
    "not shown": "Not shown",
    "passed": "Passed",
    "not applicable": "Not applicable",
}
OPEN: Final = ("failed", "warning", "not shown")  # what somebody should look at


class Report(msgspec.Struct):
    """A run, ready to be told. ``date`` is a day, like 2026-11-15."""

    side: Side
    name: str  # of what was judged
    version: str
    source: str
    date: str
    wanted: int  # the level that was asked about
    results: list[Result]
    remarks: list[str] = []
    live: bool = True  # False: a recording, of which no level can be claimed
    suite: str = SUITE

    @property
    def level(self) -> int:
        """The level that is granted; of a recording, that nothing in it stands against."""
        return min(granted(self.results), self.wanted)

    @property
    def reached(self) -> bool | None:
        """Whether it reaches the level that was asked about. A recording cannot: nobody provoked anything."""
        return self.level >= self.wanted if self.live else None

    @property
    def good(self) -> bool:
        """Whether the level is reached; of a recording, whether nothing in it is failed."""
        return not self.of("failed") if self.reached is None else self.reached

    def of(self, *verdicts: str) -> list[Result]:
        return [one for one in self.results if one.verdict in verdicts]

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(one.verdict for one in self.results)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def claim(self) -> str:
        """LVL-004, LVL-071 §9.8: what may be said of it. Empty when nothing may."""
        if not self.live or not self.level:
            return ""
        name = f"{self.name} {self.version}".strip()
        return (
            f"{name} conforms to AAEP {AAEP_VERSION} as a {self.side} at Level {self.level} ({NAMES[self.level]}), "
            f"verified with the aaep conformance suite {self.suite} on {self.date}."
        )

    @property
    def hindrances(self) -> list[Result]:
        """What keeps it from the level that was asked about; nothing keeps a recording from what it cannot have."""
        return [
            one
            for one in (self.results if self.live else ())
            if (one.verdict == "failed" and rules()[one.rule].level <= self.wanted)
            or (one.verdict == "failed" and rules()[one.rule].always)
            or (one.verdict == "not shown" and one.required is not None and one.required <= self.wanted)
        ]

    @property
    def headline(self) -> str:
        what = f"{self.name} {self.version}".strip() or self.source
        if not self.live:
            many = len(self.of("failed"))
            return f"{what}: nothing in the recording breaks a rule." if not many else f"{what}: {_rules(many)} broken."
        if self.level:
            return f"{what} keeps what Level {self.level} ({NAMES[self.level]}) asks of a {self.side}."
        return f"{what} reaches no level as a {self.side}."


def _rules(many: int) -> str:
    return "1 rule is" if many == 1 else f"{many} rules are"


def todo(result: Result) -> str:
    """What to do about it; what the rule says itself is not said again."""
    if result.verdict not in OPEN:
        return ""
    advice = result.advice.removeprefix(rules()[result.rule].statement).strip()
    if advice != result.advice:  # nobody had more to say than the rule itself
        do = "See that it happens in the run" if result.verdict == "not shown" else "Do what the rule asks"
        advice = f"{do}. {advice}"
    return advice
