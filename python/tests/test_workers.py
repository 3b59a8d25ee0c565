"""Threads that work for one other."""

from __future__ import annotations

import threading
from collections import deque

from stoker._memory.workers import Job, Workers, _Jobs


def test_what_is_needed_soon_comes_before_what_is_not() -> None:
    workers, started, go, done = Workers(1, 60, "a test"), threading.Event(), threading.Event(), []

    def block() -> None:
        started.set()
        assert go.wait(60)

    jobs = [workers.submit(block)]
    assert started.wait(60)
    jobs += [workers.submit(lambda: done.append("later"), later=True), workers.submit(lambda: done.append("soon"))]
    go.set()
    for job in jobs:
        workers.wait(job, "wait_read_s", "it")
    assert done == ["soon", "later"]
    workers.close()


def test_a_job_can_be_done_at_once() -> None:
    job = Job.done_by(lambda: 7)
    assert job.done
    assert job.result(0) == 7


def test_a_job_is_found_if_another_thread_takes_the_one_that_was_seen() -> None:
    jobs = _Jobs()
    taken, left = Job(lambda: None), Job(lambda: None)

    class Raced(deque[Job]):
        """Is seen empty; then a job comes, and another thread takes the one in the other queue."""

        def _race(self) -> None:
            if jobs._soon:
                jobs.put(left, later=True)
                assert jobs._soon.popleft() is taken

        def __bool__(self) -> bool:
            there = len(self) > 0
            self._race()
            return there

        def popleft(self) -> Job:
            if not len(self):
                self._race()
                raise IndexError
            return super().popleft()

    jobs._later = Raced()
    jobs.put(taken, later=False)
    assert jobs.get(later_first=True) is left
