"""Ways to have a foreign producer start a task: by a command, or by a request to a URL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Final

import aiohttp

from ...errors import AaepError
from ...identity.origins import split_url
from ..commands import split_command
from .harness import TaskStarter

__all__ = ["TASK_DESCRIPTIONS", "make_command_starter", "make_url_starter"]

# What each scenario needs the producer to do. A producer that can do only one thing does it each time.
TASK_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "confirm": "Do something irreversible, which has to be confirmed first, and write a sentence about it.",
    "expire": "The same, with a question that times out after a few seconds.",
    "withdraw": "Ask for a confirmation, and withdraw it a moment later.",
    "cancel": "Ask for a confirmation, and cancel the session a moment later.",
    "clarify": "Ask which of two things is meant.",
    "talk": "Write some thirty sentences, ten a second, and then do something irreversible.",
    "fail": "Fail.",
    "handoff": "Hand over to a person.",
}
_TASK_PLACEHOLDER: Final = "{task}"
_REQUEST_TIMEOUT: Final = 30.0  # seconds


def make_command_starter(command: str) -> TaskStarter:
    """
    Return a starter that runs a command without a shell, and does not wait for it to end.

    ``{task}`` in the command stands for the task.
    """
    words = split_command(command)
    if not words:
        raise AaepError("The command that starts a session is empty.")
    running: set[asyncio.Task[str]] = set()

    async def start(task: str) -> asyncio.Task[str]:
        try:
            process = await asyncio.create_subprocess_exec(
                *(word.replace(_TASK_PLACEHOLDER, task) for word in words),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
            )
        except OSError as error:
            raise AaepError(f"The command that starts a session cannot be run: {error}.") from error
        failure_task = asyncio.get_running_loop().create_task(_wait_for_failure(process))
        running.add(failure_task)
        failure_task.add_done_callback(running.discard)
        return failure_task

    return start


async def _wait_for_failure(process: asyncio.subprocess.Process) -> str:
    """Return how a process has failed; empty if it ended well."""
    status = await process.wait()
    if not status:
        return ""
    cause = f"with exit status {status}" if status > 0 else f"by signal {-status}"
    return f"The command that starts a session failed: it was ended {cause}."


def make_url_starter(url: str, body: str) -> TaskStarter:
    """Return a starter that posts to a URL; ``{task}`` in the URL and in the JSON body stands for the task."""
    try:
        json.loads(body.replace(_TASK_PLACEHOLDER, "confirm"))
    except ValueError as error:
        raise AaepError(f"The body that starts a session is not JSON: {error}.") from error
    split_url(url.replace(_TASK_PLACEHOLDER, "confirm"))  # a wrong URL is reported before the run begins

    async def start(task: str) -> None:
        timeout = aiohttp.ClientTimeout(total=_REQUEST_TIMEOUT)
        data = body.replace(_TASK_PLACEHOLDER, task).encode()
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(
                    url.replace(_TASK_PLACEHOLDER, task), data=data, headers={"Content-Type": "application/json"}
                ) as response,
            ):
                if response.status >= 400:
                    raise AaepError(f"{url} answered {response.status} when a session was to be started.")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise AaepError(f"No session can be started at {url}: {str(error) or type(error).__name__}.") from error

    return start
