"""The socket client: a `BatchSource` over the feed protocol.

Threads. Receiving is done by whoever holds the turn (`_turn`): the trainer's thread while it waits for a batch, so
that in the steady state no other thread is involved; the background thread while the trainer is busy with its step.
Spans, peers and the receiving side of connections belong to the turn holder. Sending, receipts and grants are
guarded by `_out`, so that the trainer's thread can acknowledge and grant while the background thread waits for data.
`_turn` is taken before `_out`.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker import __version__
from stoker import _protocol as p
from stoker._buffers import BufferPool
from stoker._connection import Connection, ConnectionLostError
from stoker._delivery import BatchPlan
from stoker._discovery import FeedTarget, ended_feed
from stoker._lanes import LaneMap
from stoker._peers import Peers, Timing
from stoker._receipts import Receipts
from stoker._source import Consumer, DeliveredBatch, PieceData, StreamInfo
from stoker._span import Arrival, Span
from stoker._spec import Tail
from stoker._welcome import Welcome, refusal
from stoker.errors import (
    BatchTimeoutError,
    ConnectTimeoutError,
    CorruptDataError,
    FeedNotFoundError,
    FencedError,
    ProtocolError,
    StateMismatchError,
    StokerError,
)

_AWAY_S = 0.005
"""The trainer is busy with something else if it has not received for so long."""
_LOOK_S = 0.25
"""A wait is judged so often."""
_PART_S = 1.0
"""For the last receipts to be delivered when a client is closed."""
_MAX_REFUSED = 4
"""Times that one piece may arrive damaged, and connections in a row that may end in a malformed frame."""


class Stall(NamedTuple):
    """Time that the trainer waited."""

    cause: str
    """`start` (first batch of an epoch), `feeder`, `corrupt` (a piece was fetched again), `connect`."""
    feeder: str
    lane: int
    seconds: float
    times: int


class FeedClient:
    """Reads one stream from the feeders of a feed. See `BatchSource` for the contract of the public methods."""

    def __init__(
        self,
        target: FeedTarget,
        *,
        token: str | None = None,
        buffer_bytes: int = 256 << 20,
        connect_timeout: float = 30.0,
        reconnect_timeout: float = 600.0,
        batch_timeout: float = 300.0,
        pool: BufferPool | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Times are seconds. `buffer_bytes` bounds what is asked of all feeders together, at least two batches."""
        if buffer_bytes < 1 or min(connect_timeout, reconnect_timeout, batch_timeout) <= 0:
            raise ValueError("buffer_bytes and the time-outs must be positive")
        self._target = target
        self._token = token
        self._buffer_bytes = buffer_bytes
        self._connect_timeout = connect_timeout
        self._reconnect_timeout = reconnect_timeout
        self._batch_timeout = batch_timeout
        self._pool = pool or BufferPool(min(buffer_bytes, 256 << 20))
        self._timing = timing or Timing()
        self._pid = os.getpid()
        self._consumer = Consumer()
        self._welcome: Welcome | None = None
        self._plan: BatchPlan | None = None
        self._depth = 2
        self._closed = False
        self._failure: BaseException | None = None
        self._fenced = False
        """What has arrived is still delivered after other failures, but not after this one."""

        self._turn = threading.Lock()
        self._out = threading.Lock()
        self._waiting = False
        self._drives = 0
        self._seen_drives = -1
        self._parked = threading.Event()
        self._thread: threading.Thread | None = None
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._poll = select.poll()
        self._poll.register(self._wake_read, select.POLLIN)
        self._by_fd: dict[int, Connection] = {}
        self._hot: dict[Connection, None] = {}
        self._tick_at = 0.0

        self._peers = Peers(target, self._timing, self._dial, self._lost)
        self._receipts = Receipts()
        self._reading: Span | None = None
        self._following: Span | None = None
        self._receiving: Span | None = None
        self._subscribed: dict[Connection, tuple[Span, frozenset[int], int]] = {}
        """Per connection: the span, its lanes, and the first subscription id under which it was asked for that span."""
        self._subscriptions = 0
        self._refused: dict[tuple[int, int], tuple[int, float]] = {}
        """(index, piece) of the span being received -> (times, when last) that it came damaged."""
        self._malformed = 0
        self._renewals = 0
        self._useful = 0
        """Pieces taken in."""
        self._probes: dict[Connection, _Probe] = {}
        self._wait_since: float | None = None
        self._pings = 0
        self._counts: Counter[str] = Counter()
        self._stalls: dict[tuple[str, str, int], list[float]] = {}

    # ---- BatchSource

    def open(self, consumer: Consumer) -> StreamInfo:
        """Connects to the first feeder that answers.

        Raises `ConnectTimeoutError`, `FeedNotFoundError`, or what the feeder refuses with.
        """
        self._consumer = consumer
        deadline = time.monotonic() + self._connect_timeout
        with self._taking_turn():
            while self._welcome is None:
                self._raise_failure()
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ConnectTimeoutError(
                        f"{self._target}: no feeder answered within {self._connect_timeout:g} s "
                        f"({self._peers.describe()}). Does it run? See `stoker ps`"
                    )
                self._step(left)
                self._fail_fast()
        welcome = self._welcome
        self._thread = threading.Thread(
            target=_background, args=(weakref.ref(self), self._parked), name="stoker-feed", daemon=True
        )
        self._thread.start()
        return welcome.info

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        if self._plan is None:
            raise StokerError("the client is not open")
        with self._taking_turn():
            self._raise_failure()
            span = self._following
            self._following = None
            if span is None or span.key != (epoch, first, stride, count, tail):
                span = Span(self._plan, epoch, first, stride, count, tail)
            with self._out:
                self._flush()
                self._reading = span
            if self._receiving is not span:
                self._receive_for(span)
            else:
                with self._out:
                    self._grant()
        self._parked.set()
        return self._batches(span)

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        if self._plan is None or self._closed:
            return
        with self._taking_turn():
            self._following = Span(self._plan, epoch, first, stride, count, tail)
            self._go_on()

    def ack(self, epoch: int, number: int) -> None:
        span = self._reading
        if span is None or span.epoch != epoch or (index := span.index(number)) < 0:
            return
        arrivals = span.arrivals.pop(index, None)
        now = time.monotonic()
        receipts = self._receipts
        with self._out:
            if index >= span.consumed:
                span.consumed = index + 1
            if arrivals is not None:
                receipts.add(epoch, arrivals, now)
            oldest = receipts.oldest
            if span.consumed == span.count or (oldest is not None and now - oldest >= self._timing.ack):
                self._flush()
            self._grant()

    def stats(self) -> Mapping[str, float]:
        """`wait_s` and `wait_<cause>_s`; counts of batches, bytes and of what went wrong."""
        values: dict[str, float] = dict(self._counts)
        for key in ("batches", "bytes", "reconnects", "corrupt_pieces", "duplicate_pieces"):
            values.setdefault(key, 0)
        values["failovers"] = self._peers.failovers
        for cause in ("start", "feeder", "corrupt", "connect"):
            values[f"wait_{cause}_s"] = 0.0
        for stall in self.stalls():
            values[f"wait_{stall.cause}_s"] += stall.seconds
        values["wait_s"] = sum(v for k, v in values.items() if k.startswith("wait_"))
        return values

    def stalls(self) -> list[Stall]:
        """Where the time waited went, most first."""
        found = [Stall(*key, seconds, int(times)) for key, (seconds, times) in tuple(self._stalls.items())]
        return sorted(found, key=lambda stall: -stall.seconds)

    def close(self) -> None:
        if self._closed or os.getpid() != self._pid:
            self._abandon()
            return
        with self._taking_turn():
            self._part(time.monotonic() + _PART_S)
            self._abandon()
        self._parked.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5.0)

    def _part(self, deadline: float) -> None:
        """Delivers the last receipts, over a new connection if need be, and says goodbye."""
        self._reading = self._following = None
        asked: dict[Connection, int] = {}
        while self._failure is None and time.monotonic() < deadline:
            with self._out:
                self._flush()
                for connection in self._peers.live:
                    if connection.undurable and connection not in asked:
                        self._pings += 1
                        asked[connection] = self._pings
                        connection.send(p.ping(self._pings))
            if not self._receipts.orphaned and all(c.ponged >= asked.get(c, 0) for c in self._peers.live):
                break  # whoever answers a PING has read the receipts before it
            self._step(0.05)
        for connection in self._peers.live:
            with self._out:
                connection.send(p.bye())
            connection.drain(max(0.05, deadline - time.monotonic()))

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):
            self._abandon()

    def _abandon(self) -> None:
        """Releases descriptors without a word; all that a forked child may do."""
        self._closed = True
        self._parked.set()
        for connection in self._by_fd.values():
            connection.close()
        self._by_fd.clear()
        self._hot.clear()
        self._reading = self._following = self._receiving = None
        if self._wake_read >= 0:
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_read = self._wake_write = -1

    # ---- the trainer's side

    def _batches(self, span: Span) -> Iterator[DeliveredBatch]:
        ready = span.ready
        for index in range(span.count):
            batch = ready.pop(index, None)
            if batch is None:
                batch = self._await(span, index)
            elif self._fenced:
                self._raise_failure()
            elif self._reading is not span:
                raise StokerError(f"epoch {span.epoch} is no longer read: another iteration was begun")
            self._counts["batches"] += 1
            yield batch

    def _await(self, span: Span, index: int) -> DeliveredBatch:
        wait = _Wait(time.monotonic(), "start" if index == 0 and span.complete == 0 else "feeder")
        with self._taking_turn():
            self._wait_since = wait.begun
            try:
                while True:
                    batch = span.ready.pop(index, None)
                    if batch is not None:
                        break
                    if self._reading is not span:
                        raise StokerError(f"epoch {span.epoch} is no longer read: another iteration was begun")
                    self._raise_failure()
                    self._step(_LOOK_S)
                    now = time.monotonic()
                    if now - wait.looked_at >= _LOOK_S:
                        self._look(span, index, wait, now)
            finally:
                self._wait_since = None
        arrival = span.arrivals[index][-1].connection
        assert isinstance(arrival, Connection)
        stall = self._stalls.setdefault((wait.cause, arrival.address, batch.pieces[-1].lane), [0.0, 0])
        stall[0] += time.monotonic() - wait.begun
        stall[1] += 1
        return batch

    def _look(self, span: Span, index: int, wait: _Wait, now: float) -> None:
        """Judges a long wait: raises if it has lasted too long, else notes its cause.

        The time without a connection counts for the reconnect time-out only, the rest for that of the batch.
        """
        elapsed, wait.looked_at = now - wait.looked_at, now
        lanes = span.waiting_lanes(index)
        if not lanes:
            return
        lane = lanes[0]
        address = self._peers.address_of(lane)
        peer = self._peers.by_address.get(address)
        connection = peer.live if peer is not None else None
        what = f"epoch {span.epoch} batch {span.number(index)}"
        if connection is None:
            wait.cause = "connect"
            wait.unconnected += elapsed
            since = max(wait.begun, peer.down_since if peer is not None else wait.begun)
            if now - since > self._reconnect_timeout:
                raise ConnectTimeoutError(
                    f"{self._target}: {what} lies in lane {lane}, and no feeder could be reached "
                    f"since {_clock(now - since)} ({self._reconnect_timeout:g} s): {self._peers.describe()}"
                )
        elif now - wait.begun - wait.unconnected > self._batch_timeout:
            probe = self._probes.get(connection)
            quiet = now - probe.heard_at if probe is not None else 0.0
            raise BatchTimeoutError(
                f"{self._target}: {what} did not come from feeder {address}, lane {lane}, "
                f"since {_clock(now - wait.begun)} ({now - wait.begun:.1f} s; last heard of {quiet:.1f} s ago). "
                "See the feeder's log, or raise batch_timeout"
            )
        elif wait.cause == "feeder" and any(i == index for i, _ in self._refused):
            wait.cause = "corrupt"

    @contextlib.contextmanager
    def _taking_turn(self) -> Iterator[None]:
        if not self._turn.acquire(blocking=False):
            self._waiting = True
            try:
                self._wake()
                self._turn.acquire()
            finally:
                self._waiting = False
        self._drives += 1
        try:
            yield
        finally:
            self._turn.release()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"\0")

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise StokerError("the feed is closed")

    def _fail_fast(self) -> None:
        """Raises if the feed that a name stands for has certainly ended."""
        if self._target.name is not None and any(peer.attempts for peer in self._peers.by_address.values()):
            gone = ended_feed(self._target.name)
            if gone:
                raise FeedNotFoundError(gone)

    # ---- the background's side

    def _work(self) -> float:
        """One round of the background thread; returns the seconds until the next."""
        if self._closed or self._failure is not None:
            return 60.0
        if self._drives != self._seen_drives:
            self._seen_drives = self._drives
            return _AWAY_S
        if self._waiting or not self._turn.acquire(blocking=False):
            return _AWAY_S
        until = time.monotonic() + 1.0
        try:
            while not self._waiting and not self._closed and self._failure is None and time.monotonic() < until:
                self._step(1.0)
        except BaseException as e:
            self._failure = e
        finally:
            self._turn.release()
        return _AWAY_S

    def _busy(self) -> bool:
        """Whether anything is to be received or kept alive."""
        span = self._receiving
        if span is not None and not span.received:
            return True
        reading = self._reading
        return (
            (reading is not None and reading.consumed < reading.count)
            or self._receipts.orphaned
            or self._receipts.oldest is not None
            or any(c.undurable for c in self._peers.live)
        )

    # ---- the turn holder's side: one step

    def _step(self, wait_s: float) -> None:
        """Receives what is there, or waits for it; then looks after what time demands."""
        hot = self._hot
        now = time.monotonic()
        if now >= self._tick_at:
            self._tick(now)
        if not hot or len(self._by_fd) > 1:
            self._select(0.0 if hot else min(wait_s, max(0.0, self._tick_at - now)))
        for connection in tuple(hot):
            try:
                if not connection.receive():
                    hot.pop(connection, None)
            except ConnectionLostError as e:
                self._lost(connection, str(e))
            except ProtocolError as e:
                self._malformed += 1
                if self._malformed >= _MAX_REFUSED:
                    self._fail(e)
                self._lost(connection, f"{connection.address}: {e}")
            except StokerError as e:
                self._fail(e)
                self._lost(connection, str(e))

    def _select(self, wait_s: float) -> None:
        for fd, events in self._poll.poll(math.ceil(wait_s * 1000)):
            connection = self._by_fd.get(fd)
            if connection is None:
                if fd == self._wake_read:
                    os.read(fd, 4096)
                continue
            if connection.state == "connecting":
                self._greet(connection)
                continue
            if events & select.POLLOUT:
                with self._out:
                    if connection.flush():
                        self._poll.modify(fd, select.POLLIN)
            if events & ~select.POLLOUT:
                self._hot[connection] = None

    def _tick(self, now: float) -> None:
        opening = self._welcome is None
        active = opening or self._busy() or self._wait_since is not None
        if active:
            self._peers.care(now)
        pending = self._receipts.oldest is not None
        if pending or self._receipts.orphaned:
            with self._out:
                oldest = self._receipts.oldest
                if self._receipts.orphaned or (oldest is not None and now - oldest >= self._timing.ack):
                    self._flush()
        with self._out:
            for connection in self._by_fd.values():
                if connection.outbox and connection.state != "connecting":
                    self._poll.modify(connection.fileno(), select.POLLIN | select.POLLOUT)
        if not opening:
            if self._wait_since is not None:
                self._probe(now, self._wait_since)
            self._renew_stale(now)
            if active:
                self._arrange(now)
        # Attempts, probes and receipts need a closer look than an idle session.
        dialling = any(c.state != "live" for c in self._by_fd.values()) or not self._by_fd
        if dialling and active:
            self._tick_at = now + 0.02
        elif pending or self._wait_since is not None:
            self._tick_at = now + 0.05
        else:
            self._tick_at = now + (0.25 if active else 1.0)

    # ---- connections

    def _dial(self, address: str, attempt: int) -> Connection:
        connection = Connection(address, self, time.monotonic(), attempt)
        fd = connection.fileno()
        self._by_fd[fd] = connection
        self._poll.register(fd, select.POLLOUT)
        return connection

    def _greet(self, connection: Connection) -> None:
        try:
            connection.connected()
        except ConnectionLostError as e:
            self._lost(connection, str(e))
            return
        connection.state = "greeting"
        connection.since = time.monotonic()
        self._poll.modify(connection.fileno(), select.POLLIN)
        c, known = self._consumer, self._welcome
        hello = p.hello(
            token=self._token,
            feed=known.feed_id if known is not None else self._target.name,
            stream=known.info.stream if known is not None else c.stream,
            group=c.group,
            order=c.order,
            rank=c.rank,
            world_size=c.world_size,
            worker=c.worker,
            workers=c.workers,
            replica=c.replica,
            run=known.info.run if known is not None else c.run,
            client=f"stoker-python/{__version__}",
        )
        with self._out:
            connection.send(hello)

    def _lost(self, connection: Connection, why: str) -> None:
        now = time.monotonic()
        if connection.state == "closed":
            return
        others = self._peers.alternatives(connection.address) and "silent" in why
        self._peers.lost(connection, why, now, hopeless=others)
        if connection.state == "live":
            self._counts["reconnects"] += 1
        self._drop(connection)
        self._tick_at = 0.0

    def _drop(self, connection: Connection) -> None:
        """Forgets a connection; its receipts wait for another."""
        with self._out:
            fd = connection.fileno()
            self._receipts.lost(connection)
            self._poll.unregister(fd)
            del self._by_fd[fd]
            connection.close()
        self._hot.pop(connection, None)
        self._subscribed.pop(connection, None)
        self._probes.pop(connection, None)

    def _probe(self, now: float, waiting_since: float) -> None:
        """Asks silent feeders whether they live; gives up those that do not answer."""
        for connection in self._peers.live:
            probe = self._probes.setdefault(connection, _Probe(now))
            if probe.heard(connection, now):
                continue
            others = self._peers.alternatives(connection.address)
            ask = min(self._timing.ping, self._timing.failover / 2) if others else self._timing.ping
            give_up = min(self._timing.dead, self._timing.failover) if others else self._timing.dead
            if probe.asked_at is None:
                if now - max(probe.heard_at, waiting_since) >= ask:
                    probe.asked_at = now
                    self._pings += 1
                    with self._out:
                        connection.send(p.ping(self._pings))
            elif now - probe.asked_at >= give_up:
                self._lost(connection, f"{connection.address}: silent for {now - probe.heard_at:.1f} s")

    def _arrange(self, now: float) -> None:
        """Puts each lane where it belongs now, and subscribes where something changed."""
        if not self._peers.live:
            return
        span = self._receiving
        lanes = self._peers.arrange()
        for connection in self._peers.live:
            mine = lanes.get(connection.address, frozenset())
            if connection.lanes != mine:
                connection.lanes = mine
            known = self._subscribed.get(connection)
            if not mine or span is None:
                continue
            if known is None and self._receipts.orphaned:
                self._subscribe(connection, span)  # receipts follow a subscription, be it for nothing
            elif not span.received and (known is None or known[:2] != (span, mine)):
                self._subscribe(connection, span)
        for connection in self._peers.unused():
            with self._out:
                self._flush()
                connection.send(p.bye())
            self._peers.lost(connection, f"{connection.address}: not needed", now, hopeless=False)
            self._drop(connection)

    # ---- subscriptions and grants

    def _receive_for(self, span: Span) -> None:
        """Turns all connections to a span."""
        self._receiving = span
        self._refused.clear()
        self._renewals = 0
        if not span.received:
            for connection in self._peers.live:
                if connection.lanes:
                    self._subscribe(connection, span)
        self._tick_at = 0.0

    def _go_on(self) -> None:
        """Begins with the next epoch as soon as this one is all here."""
        following = self._following
        receiving = self._receiving
        if following is not None and receiving is not None and receiving is not following and receiving.received:
            self._receive_for(following)

    def _subscribe(self, connection: Connection, span: Span) -> None:
        """Asks for everything of the connection's lanes from the first batch on that is not complete."""
        known = self._subscribed.get(connection)
        with self._out:
            self._subscriptions += 1
            connection.subscription = self._subscriptions
            oldest = known[2] if known is not None and known[0] is span else self._subscriptions
            self._subscribed[connection] = (span, connection.lanes, oldest)
            lanes = () if len(connection.lanes) == len(self._peers.serving) else tuple(sorted(connection.lanes))
            frames = p.subscribe(
                p.Subscribe(
                    self._subscriptions,
                    span.epoch,
                    span.number(span.complete),
                    span.stride,
                    span.count - span.complete,
                    span.tail,
                    lanes,
                )
            )
            frames += self._receipts.adopt(connection)
            through = self._through(span)
            span.granted = max(span.granted, through)
            if span.granted >= span.complete:
                frames += p.grant(self._subscriptions, span.number(span.granted))
            connection.send(frames)

    def _through(self, span: Span) -> int:
        """The index through which the feeders may send: what the trainer holds and what waits fits the buffer."""
        room = self._depth
        reading = self._reading
        if reading is not None and reading is not span:
            room -= reading.count - reading.consumed
        return min(span.count, span.consumed + room) - 1

    def _grant(self) -> None:
        """Under `_out`: lets the feeders go on, in strides, so that not every batch costs a frame."""
        span = self._receiving
        if span is None or self._failure is not None:
            return
        through = self._through(span)
        gain = through - span.granted
        if gain <= 0 or (gain < self._depth // 4 and through < span.count - 1 and span.granted >= span.consumed):
            return
        span.granted = through
        number = span.number(through)
        for connection, (subscribed, _, _) in tuple(self._subscribed.items()):
            if subscribed is span:
                connection.send(p.grant(connection.subscription, number))

    def _flush(self) -> None:
        """Under `_out`: sends all receipts, those of dead connections too if there is one to send them on."""
        self._receipts.flush()
        if self._receipts.orphaned:
            for connection in tuple(self._subscribed):
                if connection.subscription:
                    connection.send(self._receipts.adopt(connection))
                    return

    # ---- frames

    def buffer_for(self, connection: Connection, header: tuple[int, ...]) -> npt.NDArray[np.uint8]:
        if connection.state != "live":
            raise ProtocolError(f"{connection.address} sent a BATCH before WELCOME", "bad_frame")
        return self._pool.take(header[0] - (p.BATCH_HEADER_BYTES - 4))

    def on_batch(
        self, connection: Connection, header: tuple[int, ...], message: npt.NDArray[np.uint8], crc: int
    ) -> None:
        (
            _,
            _,
            flags,
            _,
            feed_tag,
            fingerprint_tag,
            epoch,
            lane,
            number,
            piece,
            pieces,
            rows,
            skipped,
            subscription,
            reserved,
            sent_crc,
        ) = header
        span = self._receiving
        if crc != sent_crc or reserved or not 0 < subscription <= self._subscriptions:
            self._damaged(connection, span, header, crc)
            return
        welcome = self._welcome
        assert welcome is not None
        if feed_tag != welcome.feed_tag or fingerprint_tag != welcome.fingerprint_tag:
            self._fail(
                ProtocolError(
                    f"{connection.address} sent a batch of feed {feed_tag:016x}, fingerprint {fingerprint_tag:016x}; "
                    f"expected {welcome.feed_tag:016x}, {welcome.fingerprint_tag:016x}: something mixes feeds up",
                    "wrong_feed",
                )
            )
            return
        index = span.index(number) if span is not None and span.epoch == epoch else -1
        if span is None or index < 0 or not span.wants(index, piece):
            self._counts["duplicate_pieces"] += 1
            return
        if index > span.granted:
            raise ProtocolError(
                f"{connection.address} sent epoch {epoch} batch {number}, granted is up to {span.number(span.granted)}",
                "bad_frame",
            )
        if flags & ~p.FLAG_REPEATED:
            raise ProtocolError(f"{connection.address} sent a BATCH with unknown flags {flags:#x}", "bad_frame")
        data = PieceData(lane, rows, bool(flags & p.FLAG_REPEATED), skipped, message, crc)
        span.check(index, piece, pieces, data)
        if self._refused:
            self._refused.pop((index, piece), None)
        self._useful += 1
        self._malformed = self._renewals = 0
        self._counts["bytes"] += len(message)
        receipt = p.pack_ack_entry(number, piece, flags & p.FLAG_REPEATED, crc, rows, skipped)
        if span.add(index, piece, pieces, data, Arrival(connection, receipt)) and span.complete == span.count:
            self._go_on()

    def _damaged(self, connection: Connection, span: Span | None, header: tuple[int, ...], crc: int) -> None:
        """Asks for a piece again. Which one it was follows from the order, as the header may be what is damaged."""
        self._counts["corrupt_pieces"] += 1
        known = self._subscribed.get(connection)
        if span is None or known is None or known[0] is not span:
            return
        index = span.index(header[8]) if header[6] == span.epoch else -1
        victim: tuple[int, int] | None = (index, header[9])
        if victim not in self._refused:
            victim = span.lowest_missing(connection.lanes, set(self._refused))
        if victim is None:
            return
        times = self._refused.get(victim, (0, 0.0))[0] + 1
        self._refused[victim] = (times, time.monotonic())
        if times > _MAX_REFUSED:
            self._fail(
                CorruptDataError(
                    f"epoch {span.epoch} batch {span.number(victim[0])} piece {victim[1]} came damaged {times} times "
                    f"from feeder {connection.address}: expected CRC {header[15]:08x}, found {crc:08x}. "
                    "Run `stoker verify` on the dataset; if it is sound, look at memory and network of both machines"
                )
            )
            return
        number, piece = span.number(victim[0]), victim[1]
        with self._out:
            connection.send(p.nack(p.Nack(connection.subscription, span.epoch, number, piece, crc)))

    def _renew_stale(self, now: float) -> None:
        """A refused piece that does not come again, as when the damaged header hid what it was: subscribe anew."""
        if self._refused and any(now - when > self._timing.refetch for _, when in self._refused.values()):
            self._refused = {piece: (times, now) for piece, (times, _) in self._refused.items()}
            for connection, (span, _, _) in tuple(self._subscribed.items()):
                if span is self._receiving and not span.received:
                    self._subscribe(connection, span)

    def on_frame(self, connection: Connection, kind: int, body: bytes) -> None:
        if kind == p.ERROR:
            self._on_error(connection, p.decode_json(kind, body))
        elif kind == p.WELCOME and connection.state == "greeting":
            self._on_welcome(connection, p.decode_json(kind, body))
        elif connection.state != "live":
            raise ProtocolError(f"{connection.address} sent {p.FRAME_NAMES[kind]} before WELCOME", "bad_frame")
        elif kind == p.DURABLE:
            with self._out:
                self._receipts.durable(connection, p.decode_u64(kind, body))
        elif kind == p.LANE_MAP:
            assert self._welcome is not None
            lanes = len(self._welcome.info.lane_rows)
            now = time.monotonic()
            if self._peers.adopt(LaneMap.from_json(p.decode_json(kind, body), lanes), now):
                self._tick_at = 0.0
        elif kind == p.EPOCH_END:
            self._on_epoch_end(connection, p.decode_epoch_end(body))
        elif kind == p.PING:
            with self._out:
                connection.send(p.pong(p.decode_u64(kind, body)))
        elif kind == p.PONG:
            connection.ponged = max(connection.ponged, p.decode_u64(kind, body))
        elif kind == p.BYE:
            raise ConnectionLostError(f"{connection.address} said goodbye")
        else:
            raise ProtocolError(f"{connection.address} sent {p.FRAME_NAMES[kind]}, which no server sends", "bad_frame")

    def _on_welcome(self, connection: Connection, values: Mapping[str, Any]) -> None:
        welcome = Welcome.from_json(values)
        known = self._welcome
        now = time.monotonic()
        if known is not None and (welcome.feed_id, welcome.info.fingerprint) != (known.feed_id, known.info.fingerprint):
            if welcome.feed_id != known.feed_id:
                raise ConnectionLostError(f"{connection.address} is another feed now ({welcome.feed_name})")
            self._fail(
                StateMismatchError(
                    f"{self._target} was restarted with another dataset version or order: {known.difference(welcome)}. "
                    "Start the trainer anew"
                )
            )
            return
        if known is None:
            self._welcome = welcome
            self._plan = BatchPlan(welcome.info.order, welcome.info.lane_rows)
            self._depth = max(2, self._buffer_bytes // max(1, welcome.largest_batch))
        connection.limit_batches(welcome.largest_batch)
        connection.state = "live"
        connection.since = now
        self._peers.welcomed(connection)
        self._peers.adopt(LaneMap.from_json(welcome.lane_map, len(welcome.info.lane_rows)), now)
        self._tick_at = 0.0

    def _on_error(self, connection: Connection, values: Mapping[str, Any]) -> None:
        code, text = str(values.get("code")), str(values.get("message"))
        error = refusal(code, f"{connection.address}: {text}", reconnecting=self._welcome is not None)
        if error is None:
            raise ConnectionLostError(f"{connection.address}: {code}: {text}")
        if code == "fenced" and not self._busy() and self._wait_since is None and self._welcome is not None:
            # Nobody reads here: a loader worker has taken the seat of the process that only asked for lengths.
            raise ConnectionLostError(f"{connection.address}: {code}: {text}")
        self._fail(error)

    def _on_epoch_end(self, connection: Connection, end: p.EpochEnd) -> None:
        span = self._receiving
        known = self._subscribed.get(connection)
        if span is None or known is None or known[0] is not span or end.subscription != connection.subscription:
            return
        if span.lowest_missing(connection.lanes, set(self._refused)) is None:
            return
        self._renewals += 1
        if self._renewals > _MAX_REFUSED:
            missing = span.lowest_missing(connection.lanes, set())
            assert missing is not None
            raise ProtocolError(
                f"{connection.address} ended epoch {span.epoch} "
                f"without batch {span.number(missing[0])} piece {missing[1]}",
                "bad_frame",
            )
        self._subscribe(connection, span)

    def _fail(self, error: BaseException) -> None:
        """Ends the client: every later call raises this."""
        if self._failure is None:
            self._failure = error
            self._fenced = isinstance(error, FencedError)


class _Wait:
    """One wait of the trainer."""

    __slots__ = ("begun", "cause", "looked_at", "unconnected")

    def __init__(self, begun: float, cause: str) -> None:
        self.begun = self.looked_at = begun
        self.cause = cause
        self.unconnected = 0.0


class _Probe:
    """Whether a connection has been heard of while the trainer waits."""

    __slots__ = ("asked_at", "bytes", "frames", "heard_at")

    def __init__(self, now: float) -> None:
        self.heard_at = now
        self.asked_at: float | None = None
        self.bytes = self.frames = -1

    def heard(self, connection: Connection, now: float) -> bool:
        """A whole frame, or a good part of a batch: a few stray bytes are not a sign of life within a broken frame."""
        if connection.frames_received == self.frames and connection.bytes_received - self.bytes < 4096:
            return False
        self.frames, self.bytes = connection.frames_received, connection.bytes_received
        self.heard_at = now
        self.asked_at = None
        return True


def _clock(seconds_ago: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(time.time() - seconds_ago))


def _background(client_ref: weakref.ref[FeedClient], parked: threading.Event) -> None:
    pause = _AWAY_S
    while True:
        parked.wait(pause)
        parked.clear()
        client = client_ref()
        if client is None or client._closed:
            return
        pause = client._work()
        del client
