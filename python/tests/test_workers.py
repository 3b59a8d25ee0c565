"""Threads that work for one other."""

from __future__ import annotations

import contextlib
import gc
import threading
import weakref
from collections import deque

import pytest

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


@pytest.mark.parametrize("taken", [False, True])
def test_what_failed_work_had_open_ends_with_its_error(taken: bool) -> None:
    opened: list[weakref.ref[Job]] = []

    def fail() -> None:
        chunk = Job(lambda: None)
        opened.append(weakref.ref(chunk))
        raise OSError("no more")

    gc.collect()
    gc.disable()
    try:
        job = Job(fail)
        job.run()
        assert opened[0]() is not None
        if taken:
            with contextlib.suppress(OSError):
                job.result(0)
        del job
        assert opened[0]() is None
    finally:
        gc.enable()


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


def test_a_job_without_a_turn_keeps_no_later_job_from_being_done() -> None:
    workers = Workers(1, 10, "here")
    # So an interrupt in the middle of `submit` leaves it.
    workers._jobs._soon.append(Job(lambda: None))
    for number in range(3):
        job = workers.submit(lambda number=number: number)
        assert workers.wait(job, "wait_read_s", "a number") == number
    workers.close()


def test_many_jobs_at_once_are_all_done_and_leave_few_turns() -> None:
    workers = Workers(3, 10, "here")
    jobs = [workers.submit(lambda number=number: number, later=number % 3 == 0) for number in range(5000)]
    assert [workers.wait(job, "wait_read_s", "a number") for job in jobs] == list(range(5000))
    assert workers._jobs._turns.qsize() <= 64
    workers.close()
