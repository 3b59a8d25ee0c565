"""What a fake feed serves, what is to go wrong, and what its feeders share and have seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from stoker._order.spec import OrderSpec, Tail
from stoker._transport.local_transport import UnixAddress
from stoker._wire import protocol as p
from stoker.errors import ProtocolError


@dataclass(frozen=True)
class ServedPiece:
    """A piece to be sent."""

    lane: int
    rows: int
    repeated: bool
    message: Any
    """Bytes or a uint8 array."""
    skipped: int = 0


class ServedStream(Protocol):
    """What a test feed serves."""

    @property
    def order(self) -> OrderSpec: ...
    @property
    def lane_rows(self) -> Sequence[int]: ...
    @property
    def fields(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def classes(self) -> Mapping[str, Sequence[str]]: ...
    @property
    def dataset(self) -> str: ...
    @property
    def dataset_name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def split(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def largest_batch(self) -> int: ...

    def with_order(self, order: OrderSpec) -> ServedStream:
        """The same rows in another order."""
        ...

    def pieces(self, epoch: int, number: int, tail: Tail, stride: int) -> Sequence[ServedPiece]:
        """The pieces of a virtual batch number; number + stride is likely to be asked for next. For several threads."""
        ...


@dataclass(frozen=True)
class Fault:
    """Faults of one connection. Positions are counted in bytes that the server sends on it."""

    cut_at: int | None = None
    """The connection is closed after this number of bytes."""
    flip_at: int | None = None
    """Position of one byte that is altered."""
    flip_mask: int = 1
    extra_at: int | None = None
    """Position at which `extra` is inserted."""
    extra: bytes = b""
    shuffle: int = 0
    """Number of pieces that are shuffled together before they are sent."""
    silent_after: int | None = None
    """Nothing is sent from this byte on, and the connection stays open."""


@dataclass(frozen=True)
class Seen:
    """One receipt that arrived."""

    feeder: int
    identity: tuple[str, int, int, int, int]
    """(group, rank, worker, replica, run)."""
    epoch: int
    entry: p.AckEntry


@dataclass
class FeedState:
    """What the feeders of one feed have in common."""

    stream: ServedStream
    name: str = "test"
    feed_id: str = "5a3c5b52-9c1d-5e0f-8a47-000000000001"
    token: str | None = None
    epochs: int | None = None
    durable: bool = True
    """Whether receipts are called durable as they arrive."""
    addresses: list[str] = field(default_factory=list)
    lanes: list[list[int]] = field(default_factory=list)
    unix: dict[str, UnixAddress] = field(default_factory=dict)
    generation: int = 0
    acks: list[Seen] = field(default_factory=list)
    runs: dict[tuple[str, int, int, int], int] = field(default_factory=dict)
    group_runs: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Group to (run, world size)."""
    groups: dict[str, tuple[ServedStream, ServedStream]] = field(default_factory=dict)
    """Group to (the stream as served, the stream in the group's order), from its first trainer on."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    """Notified whenever anything worth waiting for happens."""

    def stream_for(self, group: str, asked: Mapping[str, Any]) -> ServedStream:
        """The stream in the order that the group's first trainer asked for; others must agree with it."""
        with self.changed:
            base, stream = self.groups.get(group, (None, self.stream))
            if base is not self.stream:
                values = self.stream.order.to_json() | dict(asked)
                stream = self.stream.with_order(OrderSpec.from_json(values)) if asked else self.stream
                self.groups[group] = (self.stream, stream)
        full = stream.order.to_json()
        wrong = [f"order {k} is {full.get(k)}, asked for {v}" for k, v in asked.items() if full.get(k) != v]
        if wrong:
            raise ProtocolError("; ".join(wrong), "order_mismatch")
        return stream

    def lane_map(self, lanes: int | None = None) -> dict[str, Any]:
        """Returns the lane map of a group with `lanes` lanes, by default as many as are set."""
        known = self.lanes or [[0]]
        placed = [known[lane % len(known)] for lane in range(len(known) if lanes is None else lanes)]
        values: dict[str, Any] = {"generation": [1, self.generation], "addresses": list(self.addresses)}
        unix = {a: {"host": near.host, "path": near.path} for a, near in self.unix.items()}
        return values | {"lanes": placed} | ({"unix": unix} if unix else {})

    def wait_for(self, what: Callable[[], bool], timeout: float = 10.0) -> None:
        """Until `what` holds; AssertionError after the time-out."""
        with self.changed:
            assert self.changed.wait_for(what, timeout), "what the test waits for did not come about"

    def notify(self) -> None:
        with self.changed:
            self.changed.notify_all()
