"""What the end of a process leaves with the feeders."""

import multiprocessing
import subprocess
import sys

import pytest

from feed_fakes import FakeFeed, OpaqueStream, pieces_of
from stoker import Feed

_FORGETFUL = """
import sys
from stoker import Feed

feed = Feed(sys.argv[1], batch_size=4, lanes=4)
for batch in feed:
    pass
print(batch.number)
"""


def test_a_process_that_does_not_close_its_feed_still_delivers_its_receipts():
    with FakeFeed(OpaqueStream(lane_rows=(12, 10, 9, 7))) as feed:
        subprocess.run([sys.executable, "-W", "error", "-c", _FORGETFUL, feed.feeder.address], check=True)
        assert feed.acked() == pieces_of(feed.stream.expected(0, 0, 1, feed.stream.plan().batches))
        session = feed.feeder.sessions[0]
        feed.state.wait_for(lambda: session.said_goodbye)


def _read_all(address):
    feed = Feed(address)
    for _ in feed:
        pass
    _read_all.kept = feed  # nothing closes it, as in a worker of a DataLoader


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_process_says_goodbye_to_its_feed(method):
    with FakeFeed(OpaqueStream(lane_rows=(12, 10, 9, 7))) as feed:
        process = multiprocessing.get_context(method).Process(target=_read_all, args=(feed.feeder.address,))
        process.start()
        process.join(60)
        assert process.exitcode == 0
        assert feed.acked() == pieces_of(feed.stream.expected(0, 0, 1, feed.stream.plan().batches))
        feed.state.wait_for(lambda: feed.feeder.sessions[0].said_goodbye)
