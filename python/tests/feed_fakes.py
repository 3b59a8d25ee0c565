"""Fakes for the tests of the socket client: a stream of opaque messages, and feeds of one or more feeders."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time

from stoker._client.feeder_pool import Timing
from stoker._client.feeder_source import FeederSource
from stoker._order.delivery import BatchPlan, Share
from stoker._order.spec import OrderSpec
from stoker._source.batch_source import Consumer
from stoker._testing.server import FakeFeeder
from stoker._testing.state import FeedState, ServedPiece
from stoker._transport.discovery import FeedTarget
from stoker._transport.security import Security

QUICK = Timing(failover=0.1, ping=0.2, dead=0.4, attempt=1.0, greeting=2.0, forgive=5.0, refetch=0.3, ack=0.01)
"""The client's patience, shortened."""


class OpaqueStream:
    """Messages whose bytes follow from epoch, batch and piece; lanes and rows follow the order function."""

    def __init__(self, lane_rows=(40, 30, 20, 13), batch_size=4, message_bytes=192, seed=1, lane_order="mixed"):
        self.order = OrderSpec(seed=seed, batch_size=batch_size, lanes=len(lane_rows), lane_order=lane_order)
        self.lane_rows = tuple(lane_rows)
        self.fields = [{"name": "x", "type": "int32", "nullable": False, "payload": False}]
        self.classes = {}
        self.dataset_name, self.version, self.split = "opaque", 1, "train"
        self.dataset = "0d9b7a53-5a2b-4a46-9b40-4c37a3a8d001"
        self.fingerprint = hashlib.sha256(repr((lane_rows, batch_size, seed)).encode()).hexdigest()[:32]
        self.message_bytes = message_bytes
        self.largest_batch = message_bytes

    def pieces(self, epoch, number, tail, stride=1):
        planned = BatchPlan(self.order, self.lane_rows).delivered(epoch, number, tail)
        return [ServedPiece(q.lane, q.rows, q.repeated, self.message(epoch, number, i)) for i, q in enumerate(planned)]

    def with_order(self, order):
        rows, size = self.lane_rows, order.batch_size
        return OpaqueStream(rows, size, self.message_bytes, order.seed, order.lane_order)

    def message(self, epoch, number, piece):
        seed = hashlib.sha256(repr((self.fingerprint, epoch, number, piece)).encode()).digest()
        return (seed * (self.message_bytes // 32 + 1))[: self.message_bytes]

    def plan(self):
        return BatchPlan(self.order, self.lane_rows)

    def share(self, tail="pad", start=0, rank=0, world_size=1):
        return Share(self.plan(), tail, start, rank, world_size)

    def expected(self, epoch, first, stride, count, tail="pad"):
        """What must be delivered, as `content` sees it."""
        out = []
        for number in range(first, first + stride * count, stride):
            pieces = self.pieces(epoch, number, tail)
            out.append((epoch, number, tuple((q.lane, q.rows, q.repeated, q.message) for q in pieces)))
        return out


def content(batch):
    """All that matters of a delivered batch, copied out of its buffers."""
    pieces = tuple((q.lane, q.rows, q.repeated, q.buffer.tobytes()) for q in batch.pieces)
    return (batch.epoch, batch.number, pieces)


class FakeFeed:
    """A feed of some fake feeders and the clients that a test opens; a context manager that ends them all."""

    def __init__(self, stream=None, feeders=1, **state):
        self.stream = stream or OpaqueStream()
        self.state = FeedState(self.stream, **state)
        self.feeders = [FakeFeeder(self.state) for _ in range(feeders)]
        self._clients = contextlib.ExitStack()

    def __enter__(self):
        for feeder in self.feeders:
            feeder.start()
        lanes = len(self.stream.lane_rows)
        n = len(self.feeders)
        if not self.state.lanes:
            self.state.lanes = [[(lane + i) % n for i in range(n)] for lane in range(lanes)]
        return self

    def __exit__(self, *_):
        self._clients.close()
        for feeder in self.feeders:
            feeder.stop()

    @property
    def feeder(self):
        return self.feeders[0]

    def publish(self, lanes):
        """A newer lane map, told to every session."""
        from stoker._wire import encoding

        self.state.generation += 1
        self.state.lanes = lanes
        for feeder in self.feeders:
            for session in feeder.live:
                session.say(encoding.lane_map(self.state.lane_map(lanes=len(self.stream.lane_rows))))

    def client(self, *, consumer=None, addresses=None, target=None, timing=QUICK, opened=True, **options):
        given = tuple(addresses or [f.address for f in self.feeders])
        options["security"] = Security(options.pop("token", None))
        options.setdefault("batch_timeout", 60.0)  # so that a lost batch fails its test
        client = FeederSource(target or FeedTarget(given=given), timing=timing, **options)
        self._clients.callback(client.close)
        if opened:
            client.info = client.open(consumer or Consumer())
        return client

    def read(self, client, epoch=0, first=0, stride=1, count=None, tail="pad"):
        """One epoch, each batch acknowledged when the next is asked for."""
        count = self.stream.plan().batches if count is None else count
        return list(consume(client, client.epoch(epoch, first, stride, count, tail)))

    def acked(self, run=None):
        """Every (epoch, number, piece) with a receipt (of a run), de-duplicated, sorted."""
        with self.state.changed:
            acks = [a for a in self.state.acks if run is None or a.identity[4] == run]
            return sorted({(a.epoch, a.entry.number, a.entry.piece) for a in acks})


def consume(client, batches):
    """Contents of batches, acknowledged like a `Feed` does it."""
    for batch in batches:
        epoch, number = batch.epoch, batch.number
        found = content(batch)
        del batch
        yield found
        client.ack(epoch, number)


def pieces_of(expected):
    """(epoch, number, piece) of expected contents, sorted."""
    return sorted((epoch, number, i) for epoch, number, pieces in expected for i in range(len(pieces)))


def eventually(what, timeout=10.0):
    """Until `what` holds of something that notifies nobody; AssertionError after the time-out."""
    pause, end = threading.Event(), time.monotonic() + timeout
    while not what():
        assert time.monotonic() < end, "what the test waits for did not come about"
        pause.wait(0.002)
