"""One connection to a feeder for requests: connects, sends a request, waits for its answer.

A session belongs to one thread at a time. It takes no place in the feed.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._client.welcome import Refusal, Welcome
from stoker._transport.feeder_connection import ConnectionLostError, FeederConnection
from stoker._transport.security import Tls
from stoker._wire import decoding, encoding, lookups
from stoker._wire import protocol as p
from stoker.errors import ProtocolError

_DRAIN_S = 0.2


@dataclass(frozen=True)
class Patience:
    """Limits of waiting, in seconds. Tests shorten them."""

    attempt: float = 2.0
    """For one attempt to connect."""
    greeting: float = 10.0
    """For a WELCOME."""
    ping: float = 1.0
    """Silence while an answer is due, until the feeder gets a PING."""
    dead: float = 10.0
    """Silence after that until the connection is closed."""


class RefusedError(Exception):
    """A feeder ended the session with an error frame. Never leaves the package."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal.error))
        self.refusal = refusal


class Session:
    """A connection with a WELCOME. Raises `ConnectionLostError` if it breaks and `RefusedError` if it is refused."""

    def __init__(
        self, address: str, hello: bytes, patience: Patience, attempt: int, tls: Tls | None, path: str | None
    ) -> None:
        """Connects and waits for the WELCOME. `path`: the Unix-domain socket to use instead of the address."""
        self._patience = patience
        self._frames: list[tuple[int, Any]] = []
        self._requests = 0
        self._pings = 0
        self.address = address
        self._connection = FeederConnection(address, self, time.monotonic(), attempt, tls, path)
        self._poll = select.poll()
        self._poll.register(self._connection.fileno(), select.POLLOUT)
        try:
            self._connect()
            self._connection.send(hello)
            kind, body = self._next(patience.greeting, alive=False)
            if kind != p.WELCOME:
                raise ProtocolError(f"{address} sent {p.FRAME_NAMES[kind]} before WELCOME", "bad_frame")
            self.welcome = Welcome.from_json(decoding.decode_json(kind, body))
        except BaseException:
            self._connection.close()
            raise
        self._connection.limit_samples(self.welcome.largest_batch)

    def get(self, keys: list[str], stat_only: bool) -> Iterator[p.Samples]:
        """Requests keys; yields the parts of the answer."""
        self._requests = self._requests % 0xFFFFFFFF + 1
        self._send(encoding.get(p.Get(self._requests, tuple(keys), stat_only)))
        left = set(range(len(keys)))
        while True:
            part = lookups.decode_samples(self._answer(p.SAMPLES))
            self._check(part.request, part.version)
            for item in part.items:
                if item.key not in left:
                    raise ProtocolError(f"{self.address} answered key {item.key} twice or unasked", "bad_frame")
                left.remove(item.key)
            yield part
            if part.last:
                break
        if left:
            raise ProtocolError(f"{self.address} left {len(left)} of {len(keys)} keys without an answer", "bad_frame")

    def list(self, prefix: str, delimiter: str, after: str) -> p.Entries:
        """Requests a part of a listing."""
        self._requests = self._requests % 0xFFFFFFFF + 1
        self._send(encoding.list_samples(p.List(self._requests, p.MAX_ENTRIES, prefix, delimiter, after)))
        part = lookups.decode_entries(self._answer(p.ENTRIES))
        self._check(part.request, part.version)
        return part

    def _check(self, request: int, version: int) -> None:
        if request != self._requests or version != self.welcome.info.version:
            raise ProtocolError(
                f"{self.address} answered request {request} from version {version}, expected request "
                f"{self._requests} and version {self.welcome.info.version}",
                "bad_frame",
            )

    def _answer(self, wanted: int) -> Any:
        while True:
            kind, body = self._next(math.inf, alive=True)
            if kind == wanted:
                return body
            if kind not in (p.LANE_MAP, p.PONG):
                raise ProtocolError(f"{self.address} sent {p.FRAME_NAMES[kind]} out of turn", "bad_frame")

    def _connect(self) -> None:
        until = time.monotonic() + self._patience.attempt
        self._wait(select.POLLOUT, until)
        self._connection.connected()
        while event := self._connection.secure():
            self._wait(event, until)

    def _wait(self, event: int, until: float) -> None:
        self._poll.modify(self._connection.fileno(), event)
        if not self._poll.poll(max(0.0, until - time.monotonic()) * 1000):
            raise ConnectionLostError(f"{self.address} did not answer in {self._patience.attempt:g} s")

    def _send(self, frame: bytes) -> None:
        if not self._connection.send(frame):
            self._poll.modify(self._connection.fileno(), select.POLLOUT)
            quiet_at = time.monotonic() + self._patience.dead
            while not self._connection.flush():
                if not self._poll.poll(max(0.0, quiet_at - time.monotonic()) * 1000):
                    raise ConnectionLostError(f"{self.address} does not receive")

    def _next(self, limit_s: float, *, alive: bool) -> tuple[int, Any]:
        """The next frame. `alive`: a feeder that answers PINGs may take longer than the limits of silence."""
        connection = self._connection
        began = heard_at = time.monotonic()
        received = connection.bytes_received
        asked = False
        while not self._frames:
            while connection.receive() and not self._frames:
                pass
            if self._frames:
                break
            self._poll.modify(connection.fileno(), select.POLLIN)
            self._poll.poll(250)
            now = time.monotonic()
            if connection.bytes_received != received:
                received, heard_at, asked = connection.bytes_received, now, False
            if now - began > limit_s:
                raise ConnectionLostError(f"{self.address} did not answer in {limit_s:g} s")
            if alive and now - heard_at > self._patience.ping and not asked:
                self._pings += 1
                self._send(encoding.ping(self._pings))
                asked = True
            if alive and now - heard_at > self._patience.ping + self._patience.dead:
                raise ConnectionLostError(f"{self.address} has been silent for {now - heard_at:.1f} s", elsewhere=True)
        return self._frames.pop(0)

    # ---- FrameSink

    def on_frame(self, connection: FeederConnection, kind: int, body: Any) -> None:
        """See `FrameSink`."""
        if kind == p.ERROR:
            values = decoding.decode_json(kind, body)
            raise RefusedError(Refusal.of(str(values.get("code")), f"{self.address}: {values.get('message')}"))
        if kind == p.BYE:
            raise ConnectionLostError(f"{self.address} closed the session (BYE)")
        if kind == p.PING:
            connection.send(encoding.pong(decoding.decode_u64(kind, body)))
            return
        self._frames.append((kind, body))

    def buffer_for(self, connection: FeederConnection, header: tuple[int, ...]) -> npt.NDArray[np.uint8]:
        """See `FrameSink`."""
        raise ProtocolError(f"{self.address} sent BATCH to a client that only requests samples", "bad_frame")

    def on_batch(self, connection: FeederConnection, header: Any, message: Any, crc: int) -> None:
        """See `FrameSink`."""
        raise AssertionError("buffer_for refuses it")

    def begin_again(self) -> bool:
        """See `FrameSink`."""
        return False

    def end(self) -> None:
        """Ends the session with a BYE."""
        self._connection.send(encoding.bye())
        self._connection.drain(_DRAIN_S)
        self._connection.close()

    def close(self) -> None:
        """Closes the connection without a BYE."""
        self._connection.close()
