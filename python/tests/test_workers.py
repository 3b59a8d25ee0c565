"""Threads that work for one other."""

from __future__ import annotations

import threading

from stoker._memory.workers import Job, Workers


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
