"""
What it is like to listen to an agent: how soon something critical is heard, how old what is spoken is, what is lost.

First a real Speech Dispatcher with espeak-ng speaks to a sink that plays in real time and to nobody, for about a
minute. An agent writes 50 to 100 tokens a second, calls tools and asks; the times are from a question, or the outcome
of one, to the beginning of its speech. Beside it stands the time of Speech Dispatcher alone: from a text with the
priority IMPORTANT to its beginning, while another text is being spoken.

Then a clock is simulated, and an answer of 2,000 words is heard at three rates in five ways: twice by our reader, by a
live region of which each update speaks the paragraph again or speaks what was added, both after everything that came
before (what Orca 43 does with Chromium), and as a whole once it is complete. The figures are the same in every run.
There the voice takes a fixed time to begin, so what exceeds that in the time to the first syllable is waiting.
``--simulated`` runs this part only.

A word is whole if it was spoken from its first to its last letter in one utterance. The history is our reader's
list of everything that was announced, which a person can go back to.

Tools are called and questions are asked anywhere, also in the middle of a word. What is not critical then waits for
the rest of the word. Of a word that a question comes within, the beginning is spoken before the question, for it may
well be a whole word, and all of it after that.

The second column is our reader for somebody who skips to now when told that speech is behind, and every 20 seconds
from then on. What was left out stays in the history.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench._real_listening import Spoken, listen_for_real
from bench._simulated_listening import WAYS, Heard, find_late, simulate

RATES: Final = (180, 300, 450)  # words a minute
WORDS: Final = 2000
MAX_MEDIAN_WAIT: Final = 0.150  # seconds from a critical event to the beginning of its speech
MAX_LATE_WAIT: Final = 0.300  # that 95 of 100 do not exceed
PROGRAMS: Final = ("speech-dispatcher", "pulseaudio", "espeak-ng")

ROWS: Final[tuple[tuple[str, Callable[[Heard], str]], ...]] = (
    ("critical events", lambda heard: f"{len(heard.critical_waits)}"),
    ("to the first syllable, median", lambda heard: f"{heard.median_wait:.2f} s"),
    ("to the first syllable, 95th percentile", lambda heard: f"{heard.late_wait:.2f} s"),
    ("age of what is spoken, mean", lambda heard: f"{heard.mean_age:.0f} s"),
    ("age of what is spoken, 95th percentile", lambda heard: f"{heard.late_age:.0f} s"),
    ("words spoken whole", lambda heard: f"{100 * heard.whole_share:.1f} %"),
    ("words spoken again", lambda heard: f"{heard.repeated}"),
    ("words spoken only in part", lambda heard: f"{heard.halved}"),
    ("words not spoken", lambda heard: f"{heard.lost}"),
    ("words lost in the history", lambda heard: _format_count(heard.history_lost)),
    ("words twice in the history", lambda heard: _format_count(heard.history_repeated)),
    ("questions within a word", lambda heard: f"{heard.questions_within_words}"),
    ("words begun before, whole after them", lambda heard: f"{heard.begun}"),
    ("interruptions", lambda heard: f"{heard.interruptions}"),
    ("by nothing critical", lambda heard: f"{heard.cuts_without_cause}"),
    ("not offered again", lambda heard: f"{heard.cuts_without_return}"),
    ("announcements a minute", lambda heard: f"{heard.per_minute:.1f}"),
    ("until everything was heard", lambda heard: f"{heard.minutes:.1f} min"),
)


def _format_count(count: int | None) -> str:
    return "no history" if count is None else f"{count}"


def print_table(rate: int, heard: dict[str, Heard]) -> None:
    """Print the figures of all ways to listen beside each other."""
    print(f"\n{rate} words a minute, an answer of {WORDS} words")
    print(f"{'':<40}" + "".join(f"{name:>20}" for name in heard))
    for label, describe in ROWS:
        print(f"{label:<40}" + "".join(f"{describe(each):>20}" for each in heard.values()))


def find_missed(heard: Heard) -> list[str]:
    """Return the limits that our reader has missed."""
    limits = {
        "the median time to the first syllable": heard.median_wait > MAX_MEDIAN_WAIT,
        "the 95th percentile of it": heard.late_wait > MAX_LATE_WAIT,
        "no word lost or twice in the history": bool(heard.history_lost or heard.history_repeated),
        "every word spoken whole": heard.lost > 0 or heard.whole_share < 1,
        "no word spoken only in part": heard.halved > 0,
        "no word begun but before a question": heard.begun > heard.questions_within_words,
        "no announcement cut by what is not critical": heard.cuts_without_cause > 0,
        "every announcement that was cut offered again": heard.cuts_without_return > 0,
    }
    return [name for name, is_missed in limits.items() if is_missed]


def measure_simulated() -> list[str]:
    """Listen on a simulated clock, print the tables, and return the limits that were missed."""
    missed: list[str] = []
    for rate in RATES:
        heard = {name: simulate(way, rate, WORDS) for name, way in WAYS.items()}
        print_table(rate, heard)
        missed += [f"{name}, simulated at {rate} words a minute" for name in find_missed(heard["aaep"])]
    return missed


def measure_real() -> list[str]:
    """Listen to a real voice, print the times, and return the limits that were missed."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        print(f"Not installed: {', '.join(missing)}. `make setup` installs them; --simulated does without.")
        return ["a real voice"]
    spoken = listen_for_real()
    print("A real Speech Dispatcher, while something else is being spoken")
    print(f"{'from the event to the beginning of speech':<44}{'count':>8}{'median':>10}{'95th':>10}{'longest':>10}")
    for name, times in _group(spoken).items():
        figures = "".join(f"{1000 * value:>7.0f} ms" for value in (median(times), find_late(times), max(times)))
        print(f"{name:<44}{len(times):>8}{figures}")
    print(f"words in the history: {spoken.history_words}, lost {spoken.history_lost}, twice {spoken.history_repeated}")
    ours = spoken.questions + spoken.outcomes
    limits = {
        "the median time to the beginning of speech": median(ours) > MAX_MEDIAN_WAIT,
        "the 95th percentile of it": find_late(ours) > MAX_LATE_WAIT,
        "no word lost or twice in the history": spoken.history_lost + spoken.history_repeated > 0,
    }
    return [f"{name}, with a real voice" for name, is_missed in limits.items() if is_missed]


def _group(spoken: Spoken) -> dict[str, list[float]]:
    return {
        "questions": spoken.questions,
        "outcomes": spoken.outcomes,
        "questions and outcomes": spoken.questions + spoken.outcomes,
        "Speech Dispatcher alone, IMPORTANT": spoken.bare,
    }


def main() -> int:
    """Listen both ways; return 1 if a limit is missed."""
    missed = [] if "--simulated" in sys.argv[1:] else measure_real()
    missed += measure_simulated()
    print()
    for name in missed:
        print(f"MISSED: {name}")
    print(
        f"limits: {1000 * MAX_MEDIAN_WAIT:.0f} ms in the median and {1000 * MAX_LATE_WAIT:.0f} ms in 95 of 100 from "
        "something critical to its speech; no word lost or twice in the history; cut only by what is critical, and "
        f"then offered again: {'MISSED' if missed else 'kept'}"
    )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
