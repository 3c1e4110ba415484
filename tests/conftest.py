"""How the tests are run. Hypothesis profiles: a short run for ``make test``, a long one for ``make fuzz``."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from aaep.producer.session import CURRENT_SESSIONS

# Machines differ in speed; how long one example takes says nothing about whether it is right.
# Where a change is judged, the same examples are tried each time; contributors and `make fuzz` look further.
settings.register_profile("short", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("fuzz", deadline=None, max_examples=50_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("short")

# What the person who runs the tests has set is not what the tests are about.
for name in [name for name in os.environ if name.startswith("AAEP_") and name != "AAEP_BROWSER"]:
    del os.environ[name]
os.environ.pop("ACCESSIBLE", None)
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="aaep-config-")
atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)

# A shell that starts the tests in the background has them ignore Control-C, and the programs they start would too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # and so does nohup with the end of a terminal
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have each worker begin with one of the longest tests: tests are dealt out in runs of equal length."""
    longest = [item for item in items if item.get_closest_marker("longest") is not None]
    others = [item for item in items if item not in longest]
    for number, item in enumerate(longest):
        others.insert(number * len(items) // len(longest), item)
    items[:] = others


@pytest.fixture(autouse=True)
def nobody_s_session() -> Iterator[None]:
    """A session that a test leaves open on purpose is not that of the next test."""
    token = CURRENT_SESSIONS.set(())
    yield
    CURRENT_SESSIONS.reset(token)
