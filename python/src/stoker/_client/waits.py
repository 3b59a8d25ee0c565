"""Where a trainer's waits went: by cause, feeder and lane. Costs something per wait and report, nothing per sample."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from stoker._wire import encoding
from stoker._wire import protocol as p

CAUSES: Final = ("start", "origin", "disk", "network", "feeder", "corrupt", "connect")
"""`start`: the first batch of an epoch, beyond what is known closer. `origin`, `disk`: the feeder read from a remote
store, or from a disk of its machine. `network`: the way here. `feeder`: its own work; of a feeder that does not tell,
the way as well. `corrupt`: a piece was fetched again. `connect`: no connection."""
REPORT_S: Final = 1.0
"""Between two STATS."""

_EXPLAINED_S = 0.0005
"""Shorter waits are not looked into: a feeder speaks of pieces that cost it a millisecond."""
_SLOW_READ_S = 0.001
_LOOKS = 64
"""Reads after a slow one that the kernel is asked about."""
try:
    import resource
except ImportError:  # Windows
    _BY_THREAD = False
else:
    _BY_THREAD = hasattr(resource, "RUSAGE_THREAD")
_REMEMBERED = 256
_MAX_WAITS = 64
_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Stall(NamedTuple):
    """Time that the trainer waited."""

    cause: str
    feeder: str
    lane: int
    seconds: float
    times: int


class _Waited(NamedTuple):
    """What is left of a wait that is over and may be found to have had another cause."""

    key: tuple[str, str, int]
    seconds: float


class PageReads:
    """Tells local reads that went to a disk. One thread at a time.

    The kernel is asked only while reads are slow, and so knows nothing of the first slow one.
    """

    def __init__(self, inblock: Callable[[], int] | None = None) -> None:
        """`inblock`: blocks that the kernel has read from disks for the calling thread."""
        self._inblock = inblock or _inblock
        self._looks = 0

    def begin(self) -> tuple[float, int]:
        """A read begins; returns what `end` wants."""
        return time.monotonic(), self._inblock() if self._looks else -1

    def end(self, began: tuple[float, int]) -> float:
        """Seconds that the disk took; 0 if it was not asked, or not long."""
        seconds = time.monotonic() - began[0]
        if seconds < _SLOW_READ_S:
            self._looks -= self._looks > 0
            return 0.0
        self._looks = _LOOKS
        return seconds if began[1] >= 0 and self._inblock() != began[1] else 0.0


def _inblock() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_inblock if _BY_THREAD else 0


class Waits:
    """The waits of one client. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stalls: dict[tuple[str, str, int], list[float]] = {}
        self._recent: dict[tuple[int, int], _Waited] = {}
        self._delays: dict[tuple[int, int], p.Delay] = {}
        self.waiting_since: float | None = None
        """The start of the current wait."""
        self.due = 0.0
        """When the next STATS is to go out."""

    def add(self, cause: str, feeder: str, lane: int, batch: tuple[int, int], seconds: float) -> None:
        """A wait is over. `batch`: (epoch, number)."""
        key = (cause, feeder, lane)
        with self._lock:
            self._book(key, seconds, 1)
            if seconds < _EXPLAINED_S or cause not in ("start", "network"):
                return
            delay = self._delays.pop(batch, None)
            if delay is not None:
                self._split(batch, key, seconds, delay)
            else:
                _remember(self._recent, batch, _Waited(key, seconds))

    def explain(self, delay: p.Delay) -> None:
        """What a piece cost its feeder, or the reading of it here; its wait may be over or still to be added."""
        batch = (delay.epoch, delay.number)
        with self._lock:
            wait = self._recent.pop(batch, None)
            if wait is not None:
                self._split(batch, *wait, delay)
            else:
                known = self._delays.pop(batch, None)
                _remember(self._delays, batch, delay if known is None else _together(known, delay))

    def _split(self, batch: tuple[int, int], key: tuple[str, str, int], seconds: float, delay: p.Delay) -> None:
        """Moves the last moments of a wait, all but the way, to what they went to."""
        _, feeder, lane = key
        left = seconds
        stall, most = self._stalls[key], ("", 0.0)
        for cause, us in (("disk", delay.disk_us), ("origin", delay.origin_us), ("feeder", delay.feeder_us)):
            share = min(left, us / 1e6)
            left -= share
            if share > 0:
                self._book((cause, feeder, lane), share, 0)
                most = max(most, (cause, share), key=lambda found: found[1])
        stall[0] -= seconds - left
        if most[1] > left and stall[1] > 0:
            stall[1] -= 1
            self._book((most[0], feeder, lane), 0.0, 1)
        if stall[0] < 1e-9 and stall[1] < 1:
            del self._stalls[key]
        elif left >= _EXPLAINED_S:
            _remember(self._recent, batch, _Waited(key, left))

    def _book(self, key: tuple[str, str, int], seconds: float, times: int) -> None:
        stall = self._stalls.get(key)
        if stall is None:
            self._stalls[key] = [seconds, times]
        else:
            stall[0] += seconds
            stall[1] += times

    def stalls(self) -> list[Stall]:
        """Returns the waits by cause, longest first."""
        with self._lock:
            found = [Stall(*key, seconds, int(times)) for key, (seconds, times) in self._stalls.items()]
        return sorted(found, key=lambda stall: -stall.seconds)

    def causes(self) -> dict[str, float]:
        """Seconds by cause, every known one."""
        sums = dict.fromkeys(CAUSES, 0.0)
        for stall in self.stalls():
            sums[stall.cause] += stall.seconds
        return sums

    def frame(self, began: float | None, batches: int, samples: int, received: int) -> bytes:
        """A STATS frame. `began`: when the first batch was asked for, by `time.monotonic`."""
        now = time.monotonic()
        self.due = now + REPORT_S
        stalls, since = self.stalls(), self.waiting_since
        causes = {cause: _us(seconds) for cause, seconds in self.causes().items() if seconds > 0}
        values: dict[str, Any] = {
            "time_us": _us(now - began) if began is not None else 0,
            "waited_us": sum(causes.values()) + (_us(now - since) if since is not None else 0),
            "batches": batches,
            "samples": samples,
            "bytes": received,
            "causes": causes,
            "waits": [
                {"feeder": s.feeder, "lane": s.lane, "cause": s.cause, "us": _us(s.seconds), "times": max(0, s.times)}
                for s in stalls[:_MAX_WAITS]
            ],
        }
        return encoding.stats(values)


def _us(seconds: float) -> int:
    return max(0, round(seconds * 1e6))


def _together(a: p.Delay, b: p.Delay) -> p.Delay:
    return replace(
        a, origin_us=a.origin_us + b.origin_us, disk_us=a.disk_us + b.disk_us, feeder_us=a.feeder_us + b.feeder_us
    )


def _remember(store: dict[_K, _V], key: _K, value: _V) -> None:
    store[key] = value
    if len(store) > _REMEMBERED:
        del store[next(iter(store))]


Reporter = Callable[[], bytes]
"""Makes a STATS frame."""
