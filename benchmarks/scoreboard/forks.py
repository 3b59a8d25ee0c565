"""Runs functions in forked processes, so that a system is imported once for all measurements."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any


class ChildError(RuntimeError):
    """A forked process failed; the message is its error."""


def kill_group(pid: int) -> None:
    """Ends a child and whatever it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def fork(work: Callable[[], None]) -> int:
    """Starts a process in a new group and returns its id. The process runs no exit handlers."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):  # the child does the same, and either may be first
            os.setpgid(pid, pid)
        return pid
    status = 1
    try:
        os.setpgid(0, 0)
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def call(work: Callable[[], Any], timeout: float) -> Any:
    """Returns the result of a function that a forked process calls; `ChildError` if it fails or takes too long."""
    reading, writing = os.pipe()

    def answer() -> None:
        os.close(reading)
        try:
            result = (True, work())
        except BaseException as e:
            traceback.print_exc()
            result = (False, f"{type(e).__name__}: {e}")
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(result, pipe)

    pid = fork(answer)
    os.close(writing)
    found = b""
    end = time.monotonic() + timeout
    try:
        while True:
            if not select.select([reading], [], [], max(0, end - time.monotonic()))[0]:
                raise ChildError(f"no end within {timeout:.0f} s")
            part = os.read(reading, 1 << 16)
            if not part:
                break
            found += part
            with contextlib.suppress(Exception):  # not all of it yet; processes that a child left may hold the pipe
                pickle.loads(found)
                break
    finally:
        os.close(reading)
        kill_group(pid)
        os.waitpid(pid, 0)
    if not found:
        raise ChildError("the process ended without a result")
    good, result = pickle.loads(found)
    if not good:
        raise ChildError(result)
    return result
