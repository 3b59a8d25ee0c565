"""The socket client: a `BatchSource` over the feed protocol.

Threads. The thread that holds the turn receives. While the trainer's thread waits for a batch, it holds the turn
itself, so in the steady state no other thread is involved. While the trainer is busy with its step, the background
thread holds the turn (`Background`). Network, pool of feeders, frame handler and the receiving side of spans belong to
the turn holder. `Subscriptions.out` guards sending, receipts and grants, so that the trainer's thread can acknowledge
while the background thread waits for data. A thread that needs both takes the turn before `out`.

Interrupts. Only the trainer's thread is interrupted. This can happen between any two steps, so a connection may have
lost its place in a frame. `Calls` notes that a call began and did not end. The next call then starts over with new
connections, as after a network failure. The iteration requests every batch again that was not handed out, so none is
lost.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace
from multiprocessing import util

from stoker._client.background import Background
from stoker._client.batch_wait import BatchWait, WaitLimits
from stoker._client.calls import Calls
from stoker._client.feeder_pool import Timing
from stoker._client.frame_handler import FrameHandler
from stoker._client.hello import hello
from stoker._client.network import Network
from stoker._client.span import Span
from stoker._client.subscriptions import Subscriptions
from stoker._client.turn import Turn
from stoker._client.waits import Stall, Waits
from stoker._client.welcome import Welcome
from stoker._memory.buffers import BufferPool
from stoker._order.delivery import BatchPlan
from stoker._order.skip import Skip
from stoker._order.spec import Tail
from stoker._source.batch_source import Consumer, DeliveredBatch, StreamInfo
from stoker._transport.discovery import FeedTarget, ended_feed
from stoker._transport.feeder_connection import FeederConnection
from stoker._transport.security import Security
from stoker.errors import (
    ConnectTimeoutError,
    FeedNotFoundError,
    FencedError,
    StokerError,
)

_LOOK_S = 0.25
"""Seconds between two checks of a wait."""
_PART_S = 1.0
"""Seconds that `close` waits for the last receipts to be delivered."""


class FeederSource:
    """Reads one stream from the feeders of a feed. See `BatchSource` for the contract of the public methods."""

    def __init__(
        self,
        target: FeedTarget,
        *,
        security: Security | None = None,
        buffer_bytes: int = 256 << 20,
        connect_timeout: float = 30.0,
        reconnect_timeout: float = 600.0,
        batch_timeout: float = 300.0,
        place_timeout: float = 30.0,
        pool: BufferPool | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Times are in seconds. `buffer_bytes` limits what all feeders together may send, to at least two batches."""
        if buffer_bytes < 1 or min(connect_timeout, reconnect_timeout, batch_timeout) <= 0:
            raise ValueError("buffer_bytes and the time-outs must be positive")
        if place_timeout < 0:
            raise ValueError("place_timeout must not be negative")
        timing = timing or Timing()
        self._security = security = security or Security()
        self._target = target = replace(target, seen=security.seen)
        self._connect_timeout = connect_timeout
        self._reconnect_timeout = reconnect_timeout
        self._pid = os.getpid()
        self._consumer = Consumer()
        self._parked = threading.Event()
        """Set to start a round of the background thread at once."""
        self._at_exit: util.Finalize | None = None
        self._subscriptions = Subscriptions(timing.ack)
        me = weakref.ref(self)  # a plain method would keep a forgotten client alive until the cycle is collected
        self._network = Network(
            target,
            timing,
            self._subscriptions,
            lambda local_files: _hello_frame(me(), local_files),
            functools.partial(security.tls_for, target),
            security.allows_unix,
            place_timeout,
        )
        self._turn = Turn(self._network.wake)
        self._calls = Calls(self._turn, self._network)
        pool = pool or BufferPool(min(buffer_bytes, 256 << 20))
        self.waits = Waits()
        self._began: float | None = None
        self._has_position = False
        self._handler = FrameHandler(
            target, self._network, self._subscriptions, pool, buffer_bytes, self.waits, lambda: _stats_frame(me())
        )
        self._network.attach(self._handler)
        self._background = Background(self._calls, self._turn, self._network, self._handler)
        self._limits = WaitLimits(target, self._network, self._handler, reconnect_timeout, batch_timeout)
        self._batches_taken = 0
        self._samples_taken = 0
        self._pool = pool
        self._largest = 0
        """Bytes of the largest batch so far."""

    # ---- BatchSource

    def open(self, consumer: Consumer) -> StreamInfo:
        """Connects to the first feeder that answers, and to the others unless the consumer only looks.

        Raises `ConnectTimeoutError`, `FeedNotFoundError`, `PlaceTakenError`, or what the feeder refuses with.
        """
        self._consumer = consumer
        self._handler.columns = consumer.columns
        self._network.looking = consumer.look
        self._handler.join(consumer.joined)
        welcome = self._calls.run(lambda: self._turn.run(lambda: self._join(self._connect_timeout)))
        if consumer.look:
            return welcome.info
        self._background.start(self, self._parked)
        # Processes of a DataLoader end without a word to their feeds, and so do scripts that do not close theirs.
        self._at_exit = util.Finalize(None, _close_at_exit, (weakref.ref(self),), exitpriority=100)
        return welcome.info

    def _join(self, timeout: float) -> Welcome:
        """Waits for the WELCOME of every feeder that answers; of the first one if the client only looks."""
        network, admission = self._network, self._network.admission
        deadline = time.monotonic() + timeout
        while True:
            self._calls.raise_failure()
            welcome = self._handler.welcome
            if welcome is not None and (network.looking or admission.complete):
                break
            left = deadline - time.monotonic()
            if admission.refused_since is not None:
                left += admission.place_timeout  # a feeder has answered, and the place may become free
            if left <= 0:
                raise ConnectTimeoutError(
                    f"{self._target}: no feeder answered within {timeout:g} s ({network.feeders.describe()}); is one "
                    "running? See `stoker ps`"
                )
            network.step(min(left, _LOOK_S))
            if self._target.name is not None and network.feeders.refused:
                gone = ended_feed(self._target.name)
                if gone:
                    raise FeedNotFoundError(gone)
        # From here on this client is of that feed and stream, and of that version in that epoch.
        if not network.looking:
            self._handler.took_part()
        self._consumer = replace(
            self._consumer,
            stream=welcome.info.stream,
            version=welcome.info.version if welcome.info.epoch is not None else None,
        )
        return welcome

    def move_to(self, epoch: int, version: int | None) -> StreamInfo:
        """See `BatchSource`. Reconnects, and sends the previous epoch's receipts again that are not yet durable."""
        begun, network = time.monotonic(), self._network

        def turn() -> Welcome:
            self._calls.raise_failure()
            self._consumer = replace(self._consumer, epoch=epoch, version=version)
            self._subscriptions.leave()
            network.leave()
            self._handler.forget()
            network.waiting_since = self.waits.waiting_since = begun
            try:
                return self._join(self._reconnect_timeout)
            finally:
                network.waiting_since = self.waits.waiting_since = None

        welcome = self._calls.run(lambda: self._turn.run(turn))
        if self._began is not None:
            self.waits.add("start", network.feeders.address_of(0), 0, (epoch, -1), time.monotonic() - begun)
        return welcome.info

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        """See `BatchSource`."""
        plan = self._handler.plan
        if plan is None:
            raise StokerError("the client is not open")
        if self._calls.torn:
            self._subscriptions.following = None  # what has arrived of it may be incomplete

        self._note_position(plan, epoch, first, stride)

        def begin() -> Span:
            following = self._subscriptions.following
            if following is None or following.key != (epoch, first, stride, count, tail):
                span = Span(plan, epoch, first, stride, count, tail, self._consumer.skip)
            else:
                span = following
                if self._network.failure is None and self._subscriptions.go_over(span):
                    return span  # without waiting for the turn, and the batch that is being received
            self._turn.run(lambda: self._begin(span))
            return span

        span = self._calls.run(begin)
        self._parked.set()
        return self._batches(span)

    def finish_empty(self, epoch: int, first: int, stride: int, tail: Tail) -> None:
        """See `BatchSource`."""
        plan = self._handler.plan
        if plan is None:
            raise StokerError("the client is not open")
        span = Span(plan, epoch, first, stride, 0, tail, self._consumer.skip)
        self._note_position(plan, epoch, first, stride)

        def begin() -> None:
            self._calls.raise_failure()
            self._subscriptions.begin_empty(span, self._network.feeders.live)
            self._network.hurry()

        self._calls.run(lambda: self._turn.run(begin))
        self._parked.set()

    def _note_position(self, plan: BatchPlan, epoch: int, first: int, stride: int) -> None:
        """Notes where this client begins to read, which says that everything before was consumed.

        A loader worker that begins an epoch continues after the workers of the epoch before, and says nothing.
        """
        if not self._has_position:
            self._has_position = True
            slot = Skip.of(self._consumer.skip, epoch, plan.batches).slot(first)
            if not self._consumer.joined or slot >= stride:
                self._subscriptions.began = epoch, first

    def _begin(self, span: Span) -> None:
        self._calls.raise_failure()
        self._subscriptions.begin(span, self._network.feeders.live)
        self._network.hurry()

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        """See `BatchSource`."""
        plan = self._handler.plan
        if plan is None or self._calls.closed:
            return
        span = Span(plan, epoch, first, stride, count, tail, self._consumer.skip)

        def expect() -> None:
            if self._subscriptions.expect(span):
                self._turn.run(lambda: self._subscriptions.go_on(self._network.feeders.live))

        self._calls.run(expect)

    def ack(self, epoch: int, number: int) -> None:
        """See `BatchSource`."""
        span = self._subscriptions.reading
        if span is not None and span.epoch == epoch and (index := span.index(number)) >= 0:
            self._calls.run(functools.partial(self._subscriptions.acknowledge, span, index))

    def stats(self) -> Mapping[str, float]:
        """Returns `wait_s` and `wait_<cause>_s` in seconds, and counts of batches, bytes, connections and faults."""
        counts = self._handler.counts
        values: dict[str, float] = {
            key: counts[key] for key in ("bytes", "local_read_bytes", "corrupt_pieces", "duplicate_pieces")
        }
        values["batches"] = self._batches_taken
        values["reconnects"] = self._network.reconnects
        values["failovers"] = self._network.feeders.failovers
        live = self._network.feeders.live
        values["connections"] = len(live)
        values["unix_connections"] = sum(c.path is not None for c in live)
        causes = self.waits.causes()
        values |= {f"wait_{cause}_s": seconds for cause, seconds in causes.items()}
        values["wait_s"] = sum(causes.values())
        return values

    def stalls(self) -> list[Stall]:
        """Returns the trainer's waits by cause, longest first."""
        return self.waits.stalls()

    def close(self) -> None:
        """See `BatchSource`. First delivers the last receipts, within at most a second.

        Receipts are delivered when a feeder has read them. The feeder writes them to the ledger with its next
        checkpoint, or before it stops regularly. `close` is called automatically when a process ends.
        """
        if self._calls.closed or os.getpid() != self._pid:
            self._abandon()
            return
        self._calls.run(lambda: self._turn.run(self._part))
        self._background.join(5.0)

    def _part(self) -> None:
        self._subscriptions.reading = self._subscriptions.following = None
        self._tell_stats()
        self._network.part(time.monotonic() + _PART_S)
        self._abandon()

    def __del__(self) -> None:
        calls = getattr(self, "_calls", None)
        if calls is None or calls.closed:  # as at the end of a process, when modules may be gone
            return
        with contextlib.suppress(AttributeError):  # of an object that was not made completely
            self._abandon()

    def _abandon(self) -> None:
        """Releases memory and descriptors without sending anything. A forked child may do no more than this."""
        self._calls.closed = True
        if self._at_exit is not None:
            self._at_exit.cancel()
        self._parked.set()
        self._network.release()
        self._subscriptions.reading = self._subscriptions.following = self._subscriptions.receiving = None

    # ---- the trainer's side

    def _batches(self, span: Span) -> Iterator[DeliveredBatch]:
        ready, network, subscriptions = span.ready, self._network, self._subscriptions
        if self._began is None:
            self._began = time.monotonic()
        for index in range(span.count):
            batch = ready.pop(index, None)
            if batch is None:
                batch = self._calls.run(functools.partial(self._await, span, index))
            elif isinstance(network.failure, FencedError):
                raise network.failure  # after other failures what has arrived is still delivered
            elif subscriptions.reading is not span:
                self._raise_superseded(span)
            self._batches_taken += 1
            size = 0
            for piece in batch.pieces:
                self._samples_taken += piece.rows
                size += piece.nbytes
            if size > self._largest:
                self._largest = size
                self._pool.keep_at_least(2 * size)
            yield batch

    def _await(self, span: Span, index: int) -> DeliveredBatch:
        wait = BatchWait(time.monotonic(), "start" if index == 0 and span.complete == 0 else "feeder")
        batch = self._turn.run(lambda: self._receive(span, index, wait))
        arrival = span.arrivals[index][-1].connection
        assert isinstance(arrival, FeederConnection)
        # A feeder that says what a piece cost it leaves the rest to the way.
        cause = "network" if wait.cause == "feeder" and arrival.tells else wait.cause
        seconds = time.monotonic() - wait.begun
        self.waits.add(cause, arrival.address, batch.pieces[-1].lane, (span.epoch, batch.number), seconds)
        return batch

    def _receive(self, span: Span, index: int, wait: BatchWait) -> DeliveredBatch:
        network, ready = self._network, span.ready
        try:
            network.waiting_since = self.waits.waiting_since = wait.begun
            if index > span.granted:
                self._subscriptions.need(span, index)
            while (batch := ready.pop(index, None)) is None:
                if self._subscriptions.reading is not span:
                    self._raise_superseded(span)
                if network.failure is not None or self._calls.closed:
                    self._calls.raise_failure()
                now = network.step(_LOOK_S)
                if now - wait.looked_at >= _LOOK_S:
                    self._handler.renew_stale(now)
                    self._limits.check(span, index, wait, now)
            return batch
        finally:
            network.waiting_since = self.waits.waiting_since = None

    @staticmethod
    def _raise_superseded(span: Span) -> None:
        raise StokerError(f"epoch {span.epoch} is no longer read: another iteration was begun")

    # ---- statistics

    def tell_stats_if_due(self) -> None:
        """Sends the trainer's statistics if it is time. The background thread calls it."""
        if self._began is not None and time.monotonic() >= self.waits.due:
            self._tell_stats()

    def _tell_stats(self) -> None:
        """Sends the trainer's statistics to the feeders that accept them."""
        frame = _stats_frame(self)
        with self._subscriptions.out:
            for connection in self._subscriptions.subscribed:
                if connection.tells:
                    connection.send(frame)


def _stats_frame(client: FeederSource | None) -> bytes:
    if client is None:
        return b""
    taken = client._batches_taken, client._samples_taken, client._handler.counts["bytes"]
    return client.waits.frame(client._began, *taken)


def _hello_frame(client: FeederSource | None, local_files: int) -> bytes:
    if client is None:
        return b""
    feed, token = client._handler.feed_id or client._target.name, client._security.token_for(client._target)
    return hello(client._consumer, feed, token, client._handler.joined, local_files)


def _close_at_exit(client_ref: weakref.ref[FeederSource]) -> None:
    client = client_ref()
    if client is not None:
        client.close()
