"""Runs two programs on one directory, one at a time, and switches between them before file system calls.

A program is a function that runs in a separate thread. There is no switch at calls of threads that it starts. A crash
ends a program at a call: nothing that it tries afterwards has an effect.
"""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stoker._commit.local_store import TEMPORARY

LIMIT_S = 120


class Call(NamedTuple):
    """A call to the file system: the first two parts of the name, and whether it changes anything."""

    zone: str
    changes: bool


class Crash(NamedTuple):
    """The end of a program at one of its calls, from 0; `after`: the call still has its effect."""

    program: int
    call: int
    after: bool


class Ended(BaseException):
    """What a program gets whose process has ended."""


class Run:
    """One run of some programs under a schedule: who is first, and how many calls each makes before the next switch.

    After the last number the program that is on runs to its end, and then the other. The condition guards the state.
    """

    def __init__(self, root: Path, first: int, switches: Sequence[int] = (), crash: Crash | None = None) -> None:
        self._root, self._crash = str(root), crash
        self._switches = list(switches)
        self._turn, self._left = first, self._next()
        self._changed = threading.Condition()
        self._mine = threading.local()
        self._running: set[int] = set()
        self._crashed: set[int] = set()
        self.calls: list[list[Call]] = []
        self.failures: list[BaseException | None] = []

    def _next(self) -> int:
        return self._switches.pop(0) if self._switches else 1 << 30

    def __call__(self, programs: Sequence[Callable[[], Any]], patch: pytest.MonkeyPatch) -> Run:
        """Runs the programs to their ends."""
        self._running = set(range(len(programs)))
        self.calls = [[] for _ in programs]
        self.failures = [None for _ in programs]
        threads = [threading.Thread(target=self._whole, args=(i, p), daemon=True) for i, p in enumerate(programs)]
        with patch.context() as patches:
            self._intercept(patches)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(LIMIT_S)
        assert not any(thread.is_alive() for thread in threads), "the schedule hangs"
        return self

    def _intercept(self, patch: pytest.MonkeyPatch) -> None:
        for module, name, changes in (
            (os, "listdir", False),
            (os, "stat", False),
            (builtins, "open", False),
            (os, "link", True),
            (os, "unlink", True),
        ):
            patch.setattr(module, name, self._gated(getattr(module, name), changes, last=name == "link"))

    def _gated(self, real: Callable[..., Any], changes: bool, last: bool) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            program = getattr(self._mine, "program", None)
            at = args[1] if last else args[0]
            if program is None or isinstance(at, int) or not os.fspath(at).startswith(self._root):
                return real(*args, **kwargs)
            name = os.path.relpath(os.fspath(at), self._root)
            if os.path.basename(name).startswith(TEMPORARY):
                if program in self._crashed:
                    raise Ended
                return real(*args, **kwargs)
            number = self._gate(program, name, changes)
            ends = self._crash is not None and self._crash[:2] == (program, number)
            if ends:
                self._crashed.add(program)
                if self._crash is not None and self._crash.after:
                    real(*args, **kwargs)
                raise Ended
            return real(*args, **kwargs)

        return call

    def _gate(self, program: int, name: str, changes: bool) -> int:
        """Waits until the call may take place; returns its number."""
        if program in self._crashed:
            raise Ended
        with self._changed:
            while self._turn != program or self._left == 0:
                if self._turn == program:
                    self._pass()
                    if self._turn == program:
                        self._left = 1 << 30
                    continue
                self._wait()
            self._left -= 1
            parts = name.split("/")
            zone = parts[1] if len(parts) > 1 and parts[0] == "_stoker" else parts[0]
            self.calls[program].append(Call(zone, changes))
            return len(self.calls[program]) - 1

    def _wait(self) -> None:
        if not self._changed.wait(LIMIT_S):
            raise AssertionError("the schedule hangs")

    def _pass(self) -> None:
        others = self._running - {self._turn}
        if others:
            self._turn, self._left = min(others), self._next()
            self._changed.notify_all()

    def _whole(self, program: int, work: Callable[[], Any]) -> None:
        self._mine.program = program
        try:
            with self._changed:
                while self._turn != program:
                    self._wait()
            work()
        except BaseException as e:
            self.failures[program] = e
        finally:
            self._mine.program = None
            with self._changed:
                self._running.discard(program)
                if self._turn == program:
                    self._pass()
