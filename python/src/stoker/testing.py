"""Helps to test code that uses `Feed`: serves a feed in this process, with the real protocol.

    from stoker import Feed
    from stoker.testing import serve

    def test_my_training_step():
        with serve({"image": images, "label": labels}, order={"batch_size": 8}) as feed:
            for batch in Feed(feed.target):
                ...

Needs no Java, cluster or files. Tests can cut, delay, damage, stop and start the feed: see `ServedFeed.feeders`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stoker._batch.batch import Batch
from stoker._feed.feed import Feed
from stoker._order.spec import OrderSpec
from stoker._testing.server import FakeFeeder
from stoker._testing.state import Fault, FeedState
from stoker._testing.streams import ArrayStream, DatasetStream
from stoker._wire import encoding as _encoding

__all__ = ["FakeFeeder", "Fault", "ServedFeed", "check_resume", "serve"]


class ServedFeed:
    """A feed that `serve` has started."""

    def __init__(self, state: FeedState, feeders: Sequence[FakeFeeder]) -> None:
        self.state = state
        self.feeders = list(feeders)

    @property
    def target(self) -> str:
        """The target to open with `Feed`."""
        return ",".join(feeder.address for feeder in self.feeders)

    def receipts(self) -> list[tuple[int, int, int]]:
        """Returns (epoch, batch number, piece) of each piece acknowledged so far, sorted and without repeats."""
        with self.state.changed:
            return sorted({(seen.epoch, seen.entry.number, seen.entry.piece) for seen in self.state.acks})

    def wait_for_receipts(self, count: int, timeout: float = 10.0) -> None:
        """Waits until `count` pieces are acknowledged; `AssertionError` after `timeout` seconds."""
        self.state.wait_for(lambda: len(self.receipts()) >= count, timeout)

    def publish(self, lanes: Sequence[Sequence[int]]) -> None:
        """Sends a newer lane map to all sessions: for each lane the indexes of feeders, most preferred first."""
        self.state.generation += 1
        self.state.lanes = [list(lane) for lane in lanes]
        for feeder in self.feeders:
            for session in feeder.live:
                session.say(_encoding.lane_map(self.state.lane_map(len(session.stream.lane_rows))))


@contextlib.contextmanager
def serve(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    keys: Sequence[str] | None = None,
    classes: Mapping[str, Sequence[str]] | None = None,
    order: Mapping[str, Any] | None = None,
    split: str = "train",
    version: int | None = None,
    feeders: int = 1,
    name: str = "test",
    token: str | None = None,
    epochs: int | None = None,
) -> Iterator[ServedFeed]:
    """Serves a dataset directory, or rows in memory, until the block ends.

    Rows in memory are a mapping of field names to columns of one length: a NumPy array of numbers or bools (one
    dimension: a small field, more: a payload field of fixed shape), of `datetime64` or `timedelta64`, a list of `str`
    (utf8), of `bytes` (a binary payload field), of one-dimensional arrays (a payload field of varying length), or of
    lists of one of these (a small field). A field named in `classes` is
    categorical; its column holds class names or their indexes. `keys` default to the row numbers.

    `order` gives some or all values of the feed's default order. `feeders` is the number of servers.
    """
    spec = OrderSpec.from_json(order or {})
    if isinstance(source, Mapping):
        stream: ArrayStream | DatasetStream = ArrayStream(source, keys, classes or {}, spec)
    else:
        stream = DatasetStream(source, split, version, spec)
    state = FeedState(stream, name=name, token=token, epochs=epochs)
    servers = [FakeFeeder(state) for _ in range(feeders)]
    lanes = len(stream.lane_rows)
    state.lanes = [[(lane + i) % feeders for i in range(feeders)] for lane in range(lanes)]
    try:
        for server in servers:
            server.start()
        yield ServedFeed(state, servers)
    finally:
        for server in servers:
            server.stop()


def _keys(batch: Batch) -> list[str]:
    return list(batch.keys) if "key" in batch else []


def check_resume(make_feed: Callable[[], Feed], *, every: int = 1, epochs: int = 1) -> int:
    """Checks that a new feed with the state of any batch delivers exactly the rest; returns the positions checked.

    `make_feed` opens the feed as your trainer does (rank, tail, decoding). Raises `AssertionError`, which names the
    position.
    """
    seen: list[tuple[int, int, list[str], Mapping[str, Any]]] = []
    with make_feed() as feed:
        for _ in range(epochs):
            seen += [(batch.epoch, batch.number, _keys(batch), batch.state) for batch in feed]
    expected = [entry[:3] for entry in seen]
    checked = range(0, len(seen), every)
    for step in checked:
        with make_feed() as feed:
            feed.load_state_dict(seen[step][3])
            rest: list[tuple[int, int, list[str]]] = []
            while len(rest) < len(expected) - step - 1:
                before = len(rest)
                rest += [(batch.epoch, batch.number, _keys(batch)) for batch in feed]
                assert len(rest) > before, f"resumed after batch {step}: the feed ended early"
        epoch, number, *_ = seen[step]
        assert rest[: len(expected) - step - 1] == expected[step + 1 :], (
            f"resumed after epoch {epoch} batch {number}: the rest differs from the uninterrupted run"
        )
    return len(checked)
