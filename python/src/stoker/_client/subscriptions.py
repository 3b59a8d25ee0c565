"""What the trainer wants, as the feeders are told it: subscriptions, grants and receipts.

Threads: spans are changed by the client's turn holder; `out` guards sending, receipts and grants, so that the
trainer's thread can acknowledge and grant while another one receives.
"""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from stoker._client.receipts import Receipts
from stoker._client.span import Span
from stoker._transport.feeder_connection import FeederConnection
from stoker._wire import encoding
from stoker._wire import protocol as p


class Subscribed(NamedTuple):
    """What a connection was last asked for."""

    span: Span
    lanes: frozenset[int]


class Subscriptions:
    """The spans being consumed, received and expected next, and how far the feeders may go."""

    def __init__(self, ack_s: float) -> None:
        self.out = threading.Lock()
        self.receipts = Receipts()
        self.depth = 2
        """Batches that may be granted and not consumed."""
        self.lanes = 0
        """The number of lanes of the stream."""
        self.reading: Span | None = None
        """What the trainer iterates over."""
        self.following: Span | None = None
        """What it will iterate over next, by its own word."""
        self.receiving: Span | None = None
        """One of the two: what the connections are subscribed to."""
        self.began: tuple[int, int] | None = None
        """Epoch and number at which the client began to read; None if it continues after another one of its run."""
        self._empty: Span | None = None
        """A span without a number, until a feeder has it in the ledger that the trainer has no part in that epoch."""
        self.subscribed: dict[FeederConnection, Subscribed] = {}
        self.newest = 0
        """The greatest subscription number so far, over all connections."""
        self._ack_s = ack_s

    # ---- the turn holder's

    def begin(self, span: Span, live: list[FeederConnection]) -> None:
        """Moves the trainer to a span, which may be the following one and already in progress."""
        with self.out:
            self._flush()
            self.reading, self.following = span, None
            if self.receiving is span:
                self._grant(span.consumed)
                return
        self._receive(span, live)

    def go_over(self, span: Span) -> bool:
        """Moves the trainer to the following span; returns False if that is not in progress yet. Any thread."""
        with self.out:
            if self.following is not span or self.receiving is not span:
                return False
            self.reading, self.following = span, None
            self._tell(span, flush=True)
            return True

    def begin_empty(self, span: Span, live: list[FeederConnection]) -> None:
        """The trainer goes over to an epoch of which it has no number, and so has finished it: one feeder is told."""
        self._empty = span
        self.begin(span, live)
        for connection in live:
            self.settle(connection, connection.lanes)

    @property
    def undelivered(self) -> bool:
        """Whether a feeder has yet to be told something that no connection carries."""
        return self.receipts.orphaned or self._untold

    @property
    def _untold(self) -> bool:
        """Whether no feeder knows yet that the current span is empty."""
        span = self._empty
        return span is not None and span is self.receiving and all(s.span is not span for s in self.subscribed.values())

    def expect(self, span: Span) -> bool:
        """Sets the span that follows the one being read. Returns True if the caller must call `go_on` to begin it.

        That is so if the current span is completely received. Otherwise the thread that receives its last batch begins
        the following span. Any thread may call this.
        """
        self.following = span
        return self.receiving is not None and self.receiving is not span and self.receiving.received

    def go_on(self, live: list[FeederConnection]) -> None:
        """Begins to receive the following span if the current one is completely received."""
        following, receiving = self.following, self.receiving
        if following is not None and receiving is not None and receiving is not following and receiving.received:
            self._receive(following, live)

    def _receive(self, span: Span, live: list[FeederConnection]) -> None:
        self.receiving = span
        if not span.received:
            for connection in live:
                if connection.lanes:
                    self.subscribe(connection)

    def settle(self, connection: FeederConnection, lanes: frozenset[int]) -> None:
        """Assigns these lanes to a connection, and subscribes to them if it has not done so yet."""
        connection.lanes = lanes
        span, known = self.receiving, self.subscribed.get(connection)
        if not lanes or span is None:
            return
        if span.received:
            # Receipts of a connection that ended follow a subscription, be it for nothing.
            wanted = self._untold or (known is None and self.receipts.orphaned)
        else:
            wanted = known is None or known.span is not span or known.lanes != lanes
        if wanted:
            self.subscribe(connection)

    def subscribe(self, connection: FeederConnection) -> None:
        """Asks for everything of the connection's lanes from the first batch on that is not complete."""
        span = self.receiving
        assert span is not None
        with self.out:
            self.newest += 1
            connection.subscription = self.newest
            self.subscribed[connection] = Subscribed(span, connection.lanes)
            lanes = () if len(connection.lanes) == self.lanes else tuple(sorted(connection.lanes))
            first, left = span.number(span.complete), span.count - span.complete
            empty = span is self._empty
            frames = encoding.subscribe(
                p.Subscribe(
                    self.newest, span.epoch, first, span.stride, left, span.tail, lanes, empty, self._begin_of(span)
                )
            )
            if empty and not self.receipts.add_empty(connection, span.epoch):
                self._empty = None
            frames += self.receipts.adopt(connection)
            span.granted = max(span.granted, self._through(span))
            if span.granted >= span.complete:
                frames += encoding.grant(self.newest, span.number(span.granted))
            connection.send(frames)

    def _begin_of(self, span: Span) -> int | None:
        """The number at which the client began this epoch; None if it came from the epoch before."""
        if self.began is None or self.began[0] != span.epoch:
            return None
        return min(self.began[1], span.first)

    def leave(self) -> None:
        """Nothing is wanted of the epoch that was read; its receipts go out before the connections end."""
        with self.out:
            self._flush()
            self.reading = self.following = self.receiving = self._empty = None

    def durable(self, connection: FeederConnection, count: int) -> None:
        """Notes that `count` entries of this session are durable; `ProtocolError` if fewer were sent."""
        with self.out:
            self.receipts.durable(connection, count)
            known = self.subscribed.get(connection)
            if known is not None and known.span is self._empty and not connection.undurable:
                self._empty = None

    def current(self, connection: FeederConnection) -> Span | None:
        """The span being received, if the connection is subscribed to it."""
        known = self.subscribed.get(connection)
        return known.span if known is not None and known.span is self.receiving else None

    def forget(self, connection: FeederConnection) -> None:
        """The connection has ended; call under `out`."""
        self.receipts.lost(connection)
        self.subscribed.pop(connection, None)

    # ---- any thread's

    def acknowledge(self, span: Span, index: int) -> None:
        """Notes the receipts of a batch that the trainer has consumed, and grants the feeders more batches.

        While enough batches are ready, `flush_due` does the sending: a feeder that is woken by it may take the
        processor, and the trainer would wait.
        """
        arrivals = span.arrivals.get(index)
        now = time.monotonic()
        with self.out:
            span.consumed = max(span.consumed, index + 1)
            if arrivals is not None:
                self.receipts.add(span.epoch, arrivals, now)
                span.arrivals.pop(index, None)  # last: a receipt may come twice, but not be lost by an interrupt
            self._tell(span, flush=span.consumed == span.count or self._due(now))

    def need(self, span: Span, index: int) -> None:
        """The trainer waits for a batch: it is granted, whatever it still holds of those before."""
        if index > span.granted:
            with self.out:
                self._grant(index)

    def flush(self) -> None:
        """Sends all receipts."""
        with self.out:
            self._flush()

    def flush_due(self, now: float) -> bool:
        """Sends receipts that have waited long enough, and grants; returns True if some receipts still wait."""
        if self.receipts.oldest is None and not self.receipts.orphaned:
            return False
        with self.out:
            if self.receipts.orphaned or self._due(now):
                self._flush()
            if self.reading is not None:
                self._grant(self.reading.consumed)
            return self.receipts.oldest is not None

    @property
    def open(self) -> bool:
        """Whether anything is still to be received, consumed or confirmed."""
        receiving, reading = self.receiving, self.reading
        return (
            (receiving is not None and not receiving.received)
            or (reading is not None and reading.consumed < reading.count)
            or self._untold
            or self.receipts.unconfirmed
        )

    def _due(self, now: float) -> bool:
        oldest = self.receipts.oldest
        return oldest is not None and now - oldest >= self._ack_s

    def _flush(self) -> None:
        self.receipts.flush()
        if self.receipts.orphaned:
            for connection in self.subscribed:
                connection.send(self.receipts.adopt(connection))
                return

    def _tell(self, reading: Span, flush: bool) -> None:
        """Sends receipts and grants; leaves that to `flush_due` if the trainer has enough batches."""
        receiving = self.receiving
        ready = len(reading.ready) + (0 if receiving is None or receiving is reading else len(receiving.ready))
        if 2 * ready > self.depth:
            return
        if flush:
            self._flush()
        self._grant(reading.consumed)

    def _through(self, span: Span) -> int:
        """The index through which the feeders may send: what the trainer holds and what waits fits the buffer."""
        room = self.depth
        reading = self.reading
        if reading is not None and reading is not span:
            room -= reading.count - reading.consumed
        return min(span.count, span.consumed + room) - 1

    def _grant(self, needed: int) -> None:
        """Grants the feeders more batches, a quarter of the depth at a time, so that not every batch costs a frame."""
        span = self.receiving
        if span is None:
            return
        through = self._through(span)
        if span is self.reading:
            through = max(through, min(needed, span.count - 1))
        gain = through - span.granted
        if gain <= 0 or (gain < self.depth // 4 and through < span.count - 1 and span.granted >= needed):
            return
        span.granted = through
        number = span.number(through)
        for connection, (subscribed, _) in self.subscribed.items():
            if subscribed is span:
                connection.send(encoding.grant(connection.subscription, number))
