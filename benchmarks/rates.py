"""How fast something goes in its warm part, and what it costs there."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from feed import cpu_of

LOOK_S = 0.05


class Moment(NamedTuple):
    """How much was done at a time, and the CPU seconds used until then by the system and by the broker."""

    time: float
    done: float
    cpu: float = 0.0
    broker: float = 0.0


class Speed(NamedTuple):
    """Of a system, in its warm part."""

    bytes_per_s: float
    cpu_per_gb: float
    broker_per_gb: float


def speed(moments: Sequence[Moment]) -> Speed:
    """From a third of the work to nearly all of it; what comes last may be a flush or a commit."""
    total = moments[-1].done
    begin = next(m for m in moments if m.done >= total / 3)
    end = next(m for m in moments if m.done >= 0.99 * total)
    done = end.done - begin.done
    return Speed(
        done / (end.time - begin.time), 1e9 * (end.cpu - begin.cpu) / done, 1e9 * (end.broker - begin.broker) / done
    )


def watch(process: subprocess.Popen[Any], broker: int, size: Callable[[], float]) -> list[Moment]:
    """Looks at a growing size until a process ends."""
    moments: list[Moment] = []
    while process.poll() is None:
        with suppress(FileNotFoundError):
            moments.append(Moment(time.monotonic(), size(), cpu_of(process.pid), cpu_of(broker)))
        time.sleep(LOOK_S)
    if process.returncode != 0:
        raise RuntimeError(f"{process.args} ended with {process.returncode}")
    last = moments[-1]
    return [*moments, last._replace(done=max(last.done, size()))]


def bytes_below(directory: Path, pattern: str) -> int:
    return sum(sizes_below(directory, pattern).values())


def sizes_below(directory: Path, pattern: str) -> dict[Path, int]:
    """A topic that is being deleted may go meanwhile."""
    while True:
        with suppress(FileNotFoundError):
            return {file: file.stat().st_size for file in directory.glob(pattern)}
