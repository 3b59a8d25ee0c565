"""The client's input and output: waits for sockets, connects, detects dead feeders, and moves lanes.

Belongs to the turn holder.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import time
from collections.abc import Callable

from stoker._client.admission import Admission
from stoker._client.feeder_pool import FeederPool, Timing
from stoker._client.liveness_check import LivenessCheck
from stoker._client.subscriptions import Subscriptions
from stoker._transport.discovery import FeedTarget
from stoker._transport.feeder_connection import ConnectionLostError, FeederConnection, FrameSink
from stoker._transport.security import Tls
from stoker._wire import encoding
from stoker.errors import ProtocolError, StokerError, TlsError

_MAX_BROKEN = 4
"""Consecutive connections that may end in a malformed frame or an internal error of the feeder."""
_DEAF_S = 0.25
"""Seconds between two checks of silent feeders, which come every 50 ms.

A longer gap means that this process did not run, and no feeder is declared dead for that.
"""
_ROUND_BYTES = 1 << 20
"""Bytes received from one connection before the others and the trainer have their turn.

That is room for some small batches, as each round has a fixed cost.
"""


class Network:
    """All connections of one client."""

    def __init__(
        self,
        target: FeedTarget,
        timing: Timing,
        subscriptions: Subscriptions,
        hello: Callable[[int], bytes],
        tls: Callable[[str], Tls | None],
        unix: bool = True,
        place_timeout: float = 30.0,
    ) -> None:
        """`hello` makes the first frame of a connection; its argument is the number of local files to keep open.

        `tls` returns the TLS settings for an address. `unix`: whether a feeder's Unix-domain socket may be used.
        """
        self.timing = timing
        self.feeders = FeederPool(target, timing, self._dial, self.lost, unix=unix)
        self.admission = Admission(place_timeout, timing.admission)
        self.looking = False
        """Whether the client takes no place."""
        self.failure: BaseException | None = None
        """The error that ended the client permanently."""
        self.welcomed = False
        """Whether a feeder has ever answered; until then it is looked for whatever the demand."""
        self.waiting_since: float | None = None
        """When the trainer began to wait for a batch; None if it does not wait."""
        self.reconnects = 0
        self.pings = 0
        self._broken = 0
        self._subscriptions = subscriptions
        self._hello = hello
        self._tls = tls
        self._sink: FrameSink
        self._poll = select.poll()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._poll.register(self._wake_read, select.POLLIN)
        self._by_fd: dict[int, FeederConnection] = {}
        self._hot: dict[FeederConnection, None] = {}
        self._probes: dict[FeederConnection, LivenessCheck] = {}
        self._tick_at = 0.0
        self._probed_at = 0.0

    def attach(self, sink: FrameSink) -> None:
        """Sets the receiver of the frames; call it before the first step."""
        self._sink = sink

    def step(self, wait_s: float) -> float:
        """Receives available data or waits for it, and handles timers. Returns the time at which it began."""
        hot = self._hot
        now = time.monotonic()
        if self.admission.withdrawing:
            self._withdraw(now)
        if now >= self._tick_at:
            self._tick(now)
        if not hot or len(self._by_fd) > 1:
            self._select(0.0 if hot else min(wait_s, max(0.0, self._tick_at - now)))
        for connection in tuple(hot):
            try:
                enough = connection.bytes_received + _ROUND_BYTES
                while connection.receive():
                    if connection.bytes_received >= enough:
                        break
                else:
                    hot.pop(connection, None)
            except ConnectionLostError as e:
                self.lost(connection, str(e), elsewhere=e.elsewhere)
            except ProtocolError as e:
                self.broken(e)
                self.lost(connection, f"{connection.address}: {e}")
            except TlsError as e:
                self._refused(connection, e)
            except StokerError as e:
                self.fail(e)
                self.lost(connection, str(e))
        return now

    def wake(self) -> None:
        """Ends another thread's wait in `step`; any thread."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"\0")

    def hurry(self) -> None:
        """Makes the next step handle timers at once, after a change."""
        self._tick_at = 0.0

    def fail(self, error: BaseException) -> None:
        """Ends the client: every later call raises this error."""
        if self.failure is None:
            self.failure = error

    def broken(self, error: StokerError) -> None:
        """Notes that a feeder broke the protocol. Repeated errors without a batch in between end the client."""
        self._broken += 1
        if self._broken >= _MAX_BROKEN:
            self.fail(error)

    def sound(self) -> None:
        """Notes that a batch has arrived, which resets the count of protocol errors."""
        self._broken = 0

    def quiet_s(self, connection: FeederConnection, now: float) -> float:
        """Returns the seconds since an awaited connection last received data."""
        probe = self._probes.get(connection)
        return now - probe.heard_at if probe is not None else 0.0

    def _select(self, wait_s: float) -> None:
        for fd, events in self._poll.poll(math.ceil(wait_s * 1000)):
            connection = self._by_fd.get(fd)
            if connection is None:
                if fd == self._wake_read:
                    os.read(fd, 4096)
                continue
            if connection.state in ("connecting", "securing"):
                self._greet(connection)
                continue
            if events & select.POLLOUT:
                with self._subscriptions.out:
                    if connection.flush():
                        self._poll.modify(fd, select.POLLIN)
            if events & ~select.POLLOUT:
                self._hot[connection] = None

    def _tick(self, now: float) -> None:
        subscriptions = self._subscriptions
        admitted = self.admission.complete or self.looking
        active = not self.welcomed or not admitted or self.waiting_since is not None or subscriptions.open
        if active and now >= self.admission.resume_at:
            self.feeders.care(now, everyone=not admitted)
        waiting = subscriptions.flush_due(now)
        with subscriptions.out:
            for connection in self._by_fd.values():
                if connection.send_queue and connection.state != "connecting":
                    self._poll.modify(connection.fileno(), select.POLLIN | select.POLLOUT)
        if self.waiting_since is not None:
            self._probe(now, self.waiting_since)
        if active and self.feeders.live and self.admission.look_at(self.feeders, now):
            self._arrange(now)
        # Attempts, probes and receipts need a closer look than a session without demand.
        if self.admission.complete and not admitted:
            self._tick_at = now  # somebody waits for just that
        elif active and (not self._by_fd or any(c.state != "live" for c in self._by_fd.values())):
            self._tick_at = now + 0.02
        elif waiting or self.waiting_since is not None:
            self._tick_at = now + 0.05
        else:
            self._tick_at = now + (0.25 if active else 1.0)

    def _dial(self, address: str, attempt: int, path: str | None) -> FeederConnection:
        try:
            tls = self._tls(address) if path is None else None
        except TlsError as e:
            if not self.welcomed:
                self.fail(e)
            raise ConnectionLostError(str(e)) from e
        connection = FeederConnection(address, self._sink, time.monotonic(), attempt, tls, path)
        self._by_fd[connection.fileno()] = connection
        self._poll.register(connection.fileno(), select.POLLOUT)
        return connection

    def come_nearer(self, connection: FeederConnection) -> bool:
        """Switches to the feeder's Unix-domain socket if it is on this machine, before the first request to it."""
        nearer = self.feeders.dial_nearer(connection)
        if nearer is not None:
            with self._subscriptions.out:
                connection.send(encoding.bye())
            self._drop(connection)
        return nearer is not None

    def _greet(self, connection: FeederConnection) -> None:
        try:
            if connection.state == "connecting":
                connection.connected()
                connection.state = "securing"
                connection.since = time.monotonic()
            event = connection.secure()
            if event:
                self._poll.modify(connection.fileno(), event)
                return
            hello = self._hello(self.feeders.local_files(connection))
        except ConnectionLostError as e:
            self.lost(connection, str(e))
            return
        except StokerError as e:
            self._refused(connection, e)
            return
        connection.state = "greeting"
        connection.since = time.monotonic()
        self._poll.modify(connection.fileno(), select.POLLIN)
        with self._subscriptions.out:
            connection.send(hello)

    def _refused(self, connection: FeederConnection, error: StokerError) -> None:
        """Handles a refusal for security reasons. A client that was admitted before waits for the cause to be fixed."""
        if not self.welcomed:
            self.fail(error)
        self.lost(connection, str(error))

    def lost(self, connection: FeederConnection, why: str, *, elsewhere: bool = False) -> None:
        """Handles the end of a connection. `elsewhere`: its lanes move at once if another feeder could serve them."""
        if connection.state == "closed":
            return
        impatient = elsewhere and self.feeders.alternatives(connection.address)
        self.feeders.lost(connection, why, time.monotonic(), impatient=impatient)
        if connection.state == "live":
            self.reconnects += 1
        self._drop(connection)
        self.hurry()

    def _drop(self, connection: FeederConnection) -> None:
        with self._subscriptions.out:
            fd = connection.fileno()
            self._subscriptions.forget(connection)
            self._poll.unregister(fd)
            del self._by_fd[fd]
            connection.close()
        self._hot.pop(connection, None)
        self._probes.pop(connection, None)

    def _probe(self, now: float, waiting_since: float) -> None:
        """Sends a PING to silent feeders, and closes the connections of those that do not answer."""
        timing = self.timing
        # If this process was stopped or had no processor, it has not listened: the answer may have arrived.
        deaf, self._probed_at = now - self._probed_at > _DEAF_S, now
        for connection in self.feeders.live:
            probe = self._probes.setdefault(connection, LivenessCheck(now))
            if probe.heard(connection, now):
                continue
            others = self.feeders.alternatives(connection.address)
            ask = min(timing.ping, timing.failover / 2) if others else timing.ping
            give_up = min(timing.dead, timing.failover) if others else timing.dead
            if probe.asked_at is None:
                if now - max(probe.heard_at, waiting_since) >= ask:
                    probe.asked_at = now
                    self.ping(connection)
            elif deaf:
                probe.asked_at = now
            elif now - probe.asked_at >= give_up:
                why = f"{connection.address}: silent for {now - probe.heard_at:.1f} s"
                self.feeders.silent(connection.address, now)
                self.lost(connection, why, elsewhere=True)

    def ping(self, connection: FeederConnection) -> int:
        """Sends a PING; returns its number."""
        with self._subscriptions.out:
            self.pings += 1
            connection.send(encoding.ping(self.pings))
            return self.pings

    def _arrange(self, now: float) -> None:
        """Assigns each lane to its current feeder, and updates subscriptions that changed."""
        lanes = self.feeders.arrange()
        for connection in self.feeders.live:
            self._subscriptions.settle(connection, lanes.get(connection.address, frozenset()))
        for connection in self.feeders.unused():
            self._subscriptions.flush()
            with self._subscriptions.out:
                connection.send(encoding.bye())
            self.feeders.lost(connection, f"{connection.address}: not needed", now, impatient=False)
            self._drop(connection)

    def place_refused(self, connection: FeederConnection, text: str) -> None:
        """Handles a feeder's reply that another process has the place. The client retries until a timeout."""
        error = self.admission.refused(connection.address, text, time.monotonic())
        if error is not None:
            self.fail(error)
        self.hurry()

    def _withdraw(self, now: float) -> None:
        """Leaves the feeders that have admitted this client, because another feeder has refused it."""
        self.leave()
        if not self._sink.begin_again():
            self.feeders.lane_map = None  # one feeder after the other, as each may begin a run
        self._tick_at = now

    def leave(self) -> None:
        """Ends all connections and reconnects. The new connections take over the receipts that are not yet durable."""
        self.admission.restart()
        for connection in tuple(self._by_fd.values()):
            if connection.state == "live":
                with self._subscriptions.out:
                    connection.send(encoding.bye())
            self.feeders.left(connection, time.monotonic())
            self._drop(connection)
        self.feeders.ask_again()
        self.hurry()

    def start_over(self) -> None:
        """Ends all connections in any state and reconnects. The new connections take over the receipts."""
        now, feeders = time.monotonic(), self.feeders
        connections = {*self._by_fd.values(), *self._subscriptions.subscribed}
        connections |= {peer.connection for peer in feeders.by_address.values() if peer.connection is not None}
        self._poll = select.poll()
        self._poll.register(self._wake_read, select.POLLIN)
        for connection in connections:
            with self._subscriptions.out:
                self._subscriptions.forget(connection)
                connection.close()
        self._by_fd.clear()
        self._hot.clear()
        self._probes.clear()
        feeders.start_over(now)
        self.hurry()

    def part(self, deadline: float) -> None:
        """Delivers the last receipts, over a new connection if need be, and says goodbye."""
        asked: dict[FeederConnection, int] = {}
        while self.failure is None and time.monotonic() < deadline:
            self._subscriptions.flush()
            for connection in self.feeders.live:
                if connection.undurable and connection not in asked:
                    asked[connection] = self.ping(connection)
            if not self._subscriptions.undelivered and all(c.ponged >= asked.get(c, 0) for c in self.feeders.live):
                break  # a feeder that answers a PING has read the receipts before it
            self.step(0.05)
        for connection in self.feeders.live:
            with self._subscriptions.out:
                connection.send(encoding.bye())
            connection.drain(max(0.05, deadline - time.monotonic()))

    def release(self) -> None:
        """Closes all descriptors without sending anything. A forked child may do no more than this. Idempotent."""
        for connection in self._by_fd.values():
            connection.close()
        self._by_fd.clear()
        self._hot.clear()
        ends = self._wake_read, self._wake_write
        self._wake_read = self._wake_write = -1  # first: to close a descriptor twice may close another's
        for end in ends:
            if end >= 0:
                os.close(end)
