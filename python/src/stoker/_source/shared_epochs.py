"""How far a feed has come, across the worker processes of a DataLoader."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from multiprocessing import util
from typing import Any, NamedTuple

from stoker._source.position import Start
from stoker.errors import StokerError

try:
    import fcntl
except ImportError:  # Windows, where no worker process can have the memory of its parent's position

    def _lock(fd: int, wanted: bool) -> None:
        pass

    def _keep(fd: int, at: int, wanted: bool) -> bool:
        return False
else:

    def _lock(fd: int, wanted: bool) -> None:
        fcntl.lockf(fd, fcntl.LOCK_EX if wanted else fcntl.LOCK_UN, 1, 0)

    def _keep(fd: int, at: int, wanted: bool) -> bool:
        """Locks a byte for as long as this process lives, or unlocks it. False if another process has locked it."""
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB if wanted else fcntl.LOCK_UN, 1, at)
        except OSError:
            return False
        return True


_PASSES, _WORKERS = 128, 256
"""Passes that are remembered for workers that begin late, and workers whose end is noticed."""
_LOOK_S = 1.0
"""A loader that ends a worker that does not answer waits five seconds before it kills it."""


class _Head:
    """What all processes know. `epoch`, `batch`, `version`: where the next pass begins."""

    LAYOUT = struct.Struct("<8Q")
    __slots__ = ("batch", "begun", "epoch", "failed", "failures", "newest", "settings", "version")

    def __init__(self, values: tuple[int, ...]) -> None:
        self.epoch, self.batch, self.version, self.settings, self.begun, self.newest = values[:6]
        self.failures, self.failed = values[6:]
        # settings: positions set so far; begun: passes since the last one; newest: epoch of the newest pass;
        # failures: workers that failed and have not come to the end of their share; failed: the epoch of the last one

    def values(self) -> tuple[int, ...]:
        place = self.epoch, self.batch, self.version, self.settings, self.begun, self.newest
        return (*place, self.failures, self.failed)

    def next_at(self, start: Start) -> None:
        self.epoch, self.batch, self.version = start.epoch, start.batch, start.version or 0


class _Pass(NamedTuple):
    number: int
    settings: int
    epoch: int
    batch: int
    version: int


class _Worker(NamedTuple):
    """A worker process that has begun a pass. It removes this when it ends in good order."""

    pid: int
    settings: int
    epoch: int


_PASS, _WORKER = struct.Struct("<5Q"), struct.Struct("<3Q")
_WORKERS_AT = _Head.LAYOUT.size + _PASSES * _PASS.size
_SIZE = _WORKERS_AT + _WORKERS * _WORKER.size


class SharedEpochs:
    """Where the next pass of a DataLoader begins, seen by the feed's process and all its workers.

    DataLoader starts new worker processes for each pass, and their state dies with them. The first worker of a pass
    takes the next epoch and records it here; the other workers of that pass follow it, also if another pass has begun
    since. Each worker locks its own byte, so that others notice if it was killed. The memory has no name, so
    nothing is left behind.
    """

    def __init__(self, fd: int | None = None, seen: int = 0) -> None:
        if fd is None:
            if hasattr(os, "memfd_create"):
                fd = os.memfd_create("stoker")
            else:
                with tempfile.TemporaryFile() as f:
                    fd = os.dup(f.fileno())
            os.ftruncate(fd, _SIZE)
        self._fd = fd
        self._memory = mmap.mmap(fd, _SIZE)
        self._key = (0, 0)
        self._latest = Start(0)
        self._mine: int | None = None
        """The place of this worker process in the memory."""
        self._seen, self._seen_by = seen, os.getpid()
        """How often the position had been set when this process last looked, and the process."""

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        fd = self.__dict__.pop("_fd", None)
        if fd is not None:
            close(fd)

    def __reduce__(self) -> tuple[Any, ...]:
        from multiprocessing import reduction

        return _attach, (reduction.DupFd(self._fd), self._seen)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[_Head]:
        try:  # an interrupt between the lock and this would keep it; to unlock what is not locked is harmless
            _lock(self._fd, True)
            head = _Head(_Head.LAYOUT.unpack_from(self._memory))
            yield head
            _Head.LAYOUT.pack_into(self._memory, 0, *head.values())
        finally:
            _lock(self._fd, False)

    # ---- the process of the feed

    def set(self, start: Start) -> None:
        """The next pass begins here, whatever was before."""
        with self._locked() as head:
            head.next_at(start)
            head.settings += 1
            head.begun = head.failures = 0
            self._seen = head.settings

    def read(self) -> tuple[bool, Start]:
        """(whether workers have begun since the last `set`, where the next pass begins)."""
        with self._locked() as head:
            return head.begun != 0, Start(head.epoch, head.batch, version=head.version or None)

    def has_failed(self) -> bool:
        """Whether a worker has failed or was killed since the last `set`, and has not come to the end of its share."""
        with self._locked() as head:
            return head.failures != 0 or self._killed(head) is not None

    # ---- its workers

    def setting(self) -> int:
        """How often the position had been set when the pass was begun that an iteration made now is of.

        The first iteration of a worker process is of the pass that the process was started for.
        """
        with self._locked() as head:
            if self._seen_by == os.getpid():
                self._seen = head.settings
            self._seen_by = os.getpid()
            return self._seen

    def begin(self, the_pass: int, following: Callable[[Start], Start], setting: int | None = None) -> Start:
        """Returns where this worker begins in a pass; `following` says where the one after an iteration begins.

        `setting`: the setting of the pass. It stops a late worker from taking a position that was set for the next
        pass.
        """
        with self._locked() as head:
            key = (the_pass, head.settings)
            if setting not in (None, head.settings):
                raise StokerError(
                    "the position of this feed was set after this pass of the DataLoader: begin a new one"
                )
            known = self._find(key, head)
            if key == self._key or known is None:
                self._require_whole(head)
            if key == self._key:  # workers that stay: they pass over the data several times under one number
                known = following(self._latest)
                after = following(known)
                head.epoch, head.batch = max((head.epoch, head.batch), (after.epoch, after.batch))
                head.version = 0
            elif known is None:
                known = Start(head.epoch, head.batch, version=head.version or None)
                self._record(key, known, head)
                head.next_at(following(known))
            self._key, self._latest = key, known
            self._note(_Worker(os.getpid(), head.settings, known.epoch))
            return known

    def adopt(self, the_pass: int, start: Start, following: Callable[[Start], Start]) -> None:
        """This worker begins where its own state says; the pass after this one follows that iteration."""
        with self._locked() as head:
            key = (the_pass, head.settings)
            if self._find(key, head) is None:
                self._record(key, start, head)
                head.next_at(following(start))
                head.failures = 0
                while (place := self._killed(head)) is not None:
                    self._write(place, _Worker(0, 0, 0))
            self._key, self._latest = key, start
            self._note(_Worker(os.getpid(), head.settings, start.epoch))

    def count_failure(self, change: int, setting: int) -> None:
        """A worker has failed (1), or come to the end of its share after all (-1).

        `setting`: the setting of its pass. If the position was set since, a late worker does not fail the new pass.
        """
        with self._locked() as head:
            if setting == head.settings:
                head.failures = max(0, head.failures + change)
                if change > 0:
                    head.failed = self._latest.epoch

    def leave(self) -> None:
        """This worker ends in good order. Any thread; needs no lock, since nobody else writes there meanwhile."""
        place, self._mine = self._mine, None
        if place is not None:
            self._write(place, _Worker(0, 0, 0))
            _keep(self._fd, place + 1, False)

    # ---- under the lock

    def _find(self, key: tuple[int, int], head: _Head) -> Start | None:
        """Where a pass began that has a worker already."""
        for at in range(min(head.begun, _PASSES)):
            found = _Pass._make(_PASS.unpack_from(self._memory, _Head.LAYOUT.size + at * _PASS.size))
            if (found.number, found.settings) == key:
                return Start(found.epoch, found.batch, version=found.version or None)
        return None

    def _record(self, key: tuple[int, int], start: Start, head: _Head) -> None:
        at = _Head.LAYOUT.size + head.begun % _PASSES * _PASS.size
        _PASS.pack_into(self._memory, at, *key, start.epoch, start.batch, start.version or 0)
        head.begun += 1
        head.newest = start.epoch

    def _require_whole(self, head: _Head) -> None:
        """Raises `StokerError` if a worker has failed, and nobody knows which batches of its epoch were used."""
        killed = self._killed(head)
        if not head.failures and killed is None:
            return
        epoch = head.failed if killed is None else self._worker(killed).epoch
        why = "failed" if killed is None else "lost a worker that was killed"
        raise StokerError(
            f"the previous pass of the DataLoader {why} in epoch {epoch}, and the feed does not know which batches it "
            "used. Resume with feed.load_state_dict(batch.state) of the last batch, read the epoch again with "
            f"feed.set_epoch({epoch}), or begin a later one with feed.set_epoch({head.epoch})"
        )

    def _worker(self, place: int) -> _Worker:
        return _Worker._make(_WORKER.unpack_from(self._memory, _WORKERS_AT + place * _WORKER.size))

    def _write(self, place: int, worker: _Worker) -> None:
        _WORKER.pack_into(self._memory, _WORKERS_AT + place * _WORKER.size, *worker)

    def _is_dead(self, place: int, worker: _Worker) -> bool:
        """Whether a worker has ended without `leave`: its lock is gone."""
        if worker.pid in (0, os.getpid()) or not _keep(self._fd, place + 1, True):
            return False
        _keep(self._fd, place + 1, False)
        return True

    def _killed(self, head: _Head) -> int | None:
        """The place of a worker that was killed since the position was set."""
        for place in range(_WORKERS):
            worker = self._worker(place)
            if worker.pid and worker.settings == head.settings and self._is_dead(place, worker):
                return place
        return None

    def _note(self, worker: _Worker) -> None:
        """Records what this worker reads."""
        if self._mine is not None:
            self._write(self._mine, worker)
            return
        for place in range(_WORKERS):
            there = self._worker(place)
            is_past = there.settings != worker.settings and self._is_dead(place, there)
            if (not there.pid or is_past) and _keep(self._fd, place + 1, True):
                self._mine = place
                self._write(place, worker)
                util.Finalize(None, self.leave, exitpriority=0)
                done = _done_event()
                if done is not None:
                    given = (done, self.leave)
                    threading.Thread(target=_leave_when, args=given, name="stoker-leave", daemon=True).start()
                return


def _done_event() -> Any:
    """The event with which a DataLoader ends this worker, which it kills if it does not end within seconds."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_worker_loop":
            return frame.f_locals.get("done_event")
        frame = frame.f_back
    return None


def _leave_when(done: Any, leave: Callable[[], None]) -> None:
    never = threading.Event()
    while not done.is_set():
        never.wait(_LOOK_S)
    leave()


def _attach(duplicate: Any, seen: int) -> SharedEpochs:
    shared = SharedEpochs(duplicate.detach(), seen)
    shared._seen_by = 0  # that was another process
    return shared
