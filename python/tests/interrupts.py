"""Raises KeyboardInterrupt at the k-th place of the package's code where Python could deliver a signal.

CPython looks for signals when a function begins, after a call has returned and when a loop goes round; a C function may
also be interrupted itself, which is like an interrupt before it. Between two stores, or between the end of a `with`
block and the release of its lock, it does not look.
"""

from __future__ import annotations

import dis
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import rounds
import stoker

PACKAGE = str(Path(stoker.__file__).parent) + os.sep
UNRAISABLE = {"__del__", "_give_back"}
"""Called where an exception is only printed."""
_places: dict[CodeType, frozenset[int]] = {}


def places(code: CodeType) -> frozenset[int]:
    """Offsets of a function before which a signal may be delivered."""
    found = _places.get(code)
    if found is not None:
        return found
    steps = list(dis.get_instructions(code))
    out = set()
    for at, step in enumerate(steps):
        before = steps[at - 1].opname if at else ""
        # After the call of `return f()` in a `with` block, the signal is raised in the block, and not where it ends.
        ends = step.opname == "SWAP" and [s.argval for s in steps[at + 1 : at + 4]] == [None] * 3
        if before in ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "RESUME") and not ends:
            out.add(step.offset)
        if "JUMP_BACKWARD" in step.opname and "NO_INTERRUPT" not in step.opname:
            out.add(step.argval)
        called = step.opname in ("PRECALL", "BEFORE_WITH") or (
            step.opname.startswith("CALL") and before != "PRECALL" and "INTRINSIC" not in step.opname
        )
        if called and [s.argval for s in steps[max(0, at - 3) : at]] != [None] * 3:
            out.add(step.offset)
    _places[code] = found = frozenset(out)
    return found


class Interrupt:
    """Counts places while it is on, and raises at one of them."""

    def __init__(self, at: int | None = None) -> None:
        self.at, self.count = at, 0
        self.where = ""

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) or code.co_name in UNRAISABLE:
            return None
        if code.co_name == "<lambda>" and code.co_filename.endswith("buffers.py"):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode" and frame.f_lasti in places(frame.f_code):
            self.count += 1
            if self.count == self.at:
                sys.settrace(None)
                code = frame.f_code
                self.where = f"{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}, place {self.at}"
                raise KeyboardInterrupt(self.where)
        return self._step

    @contextmanager
    def on(self) -> Iterator[None]:
        """Within the block, in this thread."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)


def everywhere(run: Callable[[Interrupt], None], samples: int) -> None:
    """Runs with an interrupt at drawn places, `samples` at least; with TEST_EXHAUSTIVE=1 at every place."""
    counting = Interrupt()
    run(counting)
    total = counting.count

    def interrupted(place: int) -> None:
        interrupt = Interrupt(place)

        def late(number: int, frame: Any) -> None:
            raise TimeoutError(f"hangs after an interrupt at {interrupt.where}")

        signal.signal(signal.SIGALRM, late)
        signal.alarm(20)
        try:
            run(interrupt)
        except BaseException as e:
            raise AssertionError(f"after an interrupt at {interrupt.where}: {e!r}") from e
        finally:
            signal.alarm(0)

    if rounds.EXHAUSTIVE:
        for place in range(1, total + 1):
            interrupted(place)
    else:
        rounds.rounds(lambda rng: interrupted(rng.randrange(1, total + 1)), seconds=1, at_least=samples)
