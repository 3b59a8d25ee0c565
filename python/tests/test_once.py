import os
import signal
import threading

import pytest

from stoker._format.once import once


class Made:
    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.waits = False
        self.count = 0

    @once
    def value(self) -> int:
        """The docstring."""
        self.count += 1
        if self.waits:
            self.begun.set()
            self.go_on.wait(60)
        return self.count


def test_a_value_is_made_once() -> None:
    made, other = Made(), Made()
    assert made.value == made.value == 1
    assert other.count == 0
    assert other.value == 1
    assert Made.value.__doc__ == "The docstring."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent() -> None:
    slow = Made()
    slow.waits = True
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        slow.waits = False
        os._exit(0 if slow.value == 2 and Made().value == 1 else 1)
    status = os.waitpid(child, 0)[1]
    slow.go_on.set()
    thread.join()
    assert status == 0
