"""Threads that open windows and copy payload, and what their results are waited for with."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from stoker.errors import BatchTimeoutError

_TURNS = 64
"""More threads need not wake up at once."""


class Job:
    """Something that a thread does, and what came of it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._out: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.cancelled = False

    @classmethod
    def done_by(cls, work: Callable[[], Any]) -> Job:
        """Returns a job that is already done."""
        job = cls(work)
        job.run()
        return job

    def run(self) -> None:
        if self.cancelled:
            return
        try:
            self._out.put((self._work(), None))
        except BaseException as e:
            self._out.put((None, e))
            del self  # the error holds this frame, and with it what the work had open

    @property
    def done(self) -> bool:
        """Whether the result is there and was not taken."""
        return not self._out.empty()

    def result(self, timeout_s: float) -> Any:
        value, error = self._out.get(timeout=timeout_s)
        if error is not None:
            try:
                raise error
            finally:
                del error  # it holds this frame
        return value


class _Jobs:
    """Jobs that wait for a thread, those that are needed soon apart from those that are not."""

    def __init__(self) -> None:
        self._soon: deque[Job] = deque()
        self._later: deque[Job] = deque()
        self._turns: queue.SimpleQueue[bool] = queue.SimpleQueue()
        """True wakes a thread, which then looks for jobs; False ends one."""

    def put(self, job: Job, later: bool) -> None:
        # An interrupt between the two leaves a job that the next turn also stands for.
        (self._later if later else self._soon).append(job)
        if self._turns.qsize() < _TURNS:  # a turn that is left is taken after this, by a thread that then looks
            self._turns.put(True)

    def get(self, later_first: bool) -> Job | None:
        """Waits for a job; None at the end."""
        order = (self._later, self._soon) if later_first else (self._soon, self._later)
        while True:
            for jobs in order:
                with contextlib.suppress(IndexError):
                    return jobs.popleft()
            if not self._turns.get():
                self.end()  # for the next thread
                return None

    def end(self) -> None:
        self._turns.put(False)


def _serve(jobs: _Jobs, later_first: bool) -> None:
    while (job := jobs.get(later_first)) is not None:
        job.run()
        del job


def _end(jobs: _Jobs) -> None:
    jobs.end()


class Shared:
    """One piece of work in parts that several threads take in turn; `finish` returns when all are done."""

    def __init__(self, parts: Iterable[Any], do: Callable[[Any], bool]) -> None:
        self._parts = deque(parts)
        self._do: Callable[[Any], bool] | None = do
        self._helping = threading.Lock()
        self._failed: list[Any] = []

    def _work(self) -> None:
        while self._parts and self._do is not None:
            try:
                part = self._parts.popleft()
            except IndexError:  # the other thread was quicker
                return
            done = False
            try:
                done = self._do(part)
            finally:
                if not done:
                    self._failed.append(part)

    def help(self) -> None:
        """Takes parts while there are some; one thread at a time beside the one that finishes."""
        with self._helping:
            self._work()

    def finish(self) -> list[Any]:
        """Takes parts while there are some, and waits for the helper's last; those that were not done right."""
        self._work()
        with self._helping:
            self._do = None  # a helper that comes late is to hold nothing
        return self._failed


class Workers:
    """Some threads, started with the first work. One thread submits and waits."""

    def __init__(self, threads: int, timeout_s: float, where: str) -> None:
        self._threads, self._timeout_s, self._where = threads, timeout_s, where
        self._jobs = _Jobs()
        self._finalizer: Any = None
        self._running = 0
        """Threads that were started, at least."""
        self.waited = {"wait_window_s": 0.0, "wait_read_s": 0.0}
        """Seconds, by cause."""

    def submit(self, work: Callable[[], Any], later: bool = False) -> Job:
        """Gives work to the threads. `later`: the first thread does other work first, the others this."""
        if self._running < self._threads:
            self._start()
        job = Job(work)
        self._jobs.put(job, later)
        return job

    def _start(self) -> None:
        """Starts the threads that are missing, maybe after an interrupt. One end ends them all."""
        if self._finalizer is None:
            finalizer = weakref.finalize(self, _end, self._jobs)
            finalizer.atexit = False
            self._finalizer = finalizer
        while self._running < self._threads:
            later_first = self._running > 0  # one of several, so that neither kind of work waits for all of the other
            arguments = self._jobs, later_first
            threading.Thread(target=_serve, args=arguments, name="stoker-read", daemon=True).start()
            self._running += 1

    def offer(self, work: Callable[[], Any]) -> None:
        """Work that a thread may do, if it has time, and that nobody waits for; from any thread."""
        if self._finalizer is not None:
            self._jobs.put(Job(work), later=False)

    def wait(self, job: Job, cause: str, what: str) -> Any:
        """Returns a job's result, and counts the time waited in seconds. Raises `BatchTimeoutError`."""
        if job.done:
            return job.result(0)
        start = time.perf_counter()
        try:
            return job.result(self._timeout_s)
        except queue.Empty:
            raise BatchTimeoutError(
                f"{what} of {self._where} not read within {self._timeout_s:g} s; is its storage reachable?"
            ) from None
        finally:
            self.waited[cause] += time.perf_counter() - start

    def close(self) -> None:
        """Ends the threads once they are through with what they have; later work starts new ones."""
        if self._finalizer is not None:
            self._finalizer()
            jobs = _Jobs()
            self._jobs, self._running, self._finalizer = jobs, 0, None
