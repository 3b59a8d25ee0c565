"""A feeder in a thread of this process, for tests: the real protocol, from anything that can name its pieces.

Blocking sockets, two threads a session. It can be told to misbehave: see `Fault` and `FakeFeeder`.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from google_crc32c import extend as _crc_extend

from stoker import _protocol as p
from stoker._delivery import BatchPlan
from stoker._spec import OrderSpec, Tail
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

    order: OrderSpec
    lane_rows: Sequence[int]
    fields: Sequence[Mapping[str, Any]]
    classes: Mapping[str, Sequence[str]]
    dataset: str
    dataset_name: str
    version: int
    split: str
    fingerprint: str
    largest_batch: int

    def with_order(self, order: OrderSpec) -> ServedStream:
        """The same rows in another order."""
        ...

    def pieces(self, epoch: int, number: int, tail: Tail, stride: int) -> Sequence[ServedPiece]:
        """The pieces of a virtual batch number; number + stride is likely to be asked for next. For several threads."""
        ...


@dataclass(frozen=True)
class Fault:
    """What befalls one connection, counted in bytes that the server sends on it."""

    cut_at: int | None = None
    """Closed after so many bytes."""
    flip_at: int | None = None
    """One byte is altered."""
    flip_mask: int = 1
    extra_at: int | None = None
    """Bytes are put in before this one."""
    extra: bytes = b""
    shuffle: int = 0
    """So many pieces at a time are sent in random order."""
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
        """For a group of so many lanes."""
        known = self.lanes or [[0]]
        placed = [known[lane % len(known)] for lane in range(len(known) if lanes is None else lanes)]
        return {"generation": [1, self.generation], "addresses": list(self.addresses), "lanes": placed}

    def wait_for(self, what: Callable[[], bool], timeout: float = 10.0) -> None:
        """Until `what` holds; AssertionError after the time-out."""
        with self.changed:
            assert self.changed.wait_for(what, timeout), "what the test waits for did not come about"

    def notify(self) -> None:
        with self.changed:
            self.changed.notify_all()


class FakeFeeder:
    """One server of a feed. `start` binds, `stop` closes everything at once, `start` again takes the same port."""

    def __init__(self, state: FeedState, host: str = "127.0.0.1", port: int = 0) -> None:
        self.state = state
        self.index = len(state.addresses)
        self.host, self.port = host, port
        state.addresses.append("")
        self.sessions: list[Session] = []
        """Every session ever, oldest first."""
        self.faults: deque[Fault] = deque()
        """For the next connections, one each."""
        self.always: Fault | None = None
        """For connections without one of their own."""
        self.delay_s = 0.0
        """Before each piece."""
        self.welcome_changes: dict[str, Any] = {}
        """Put over the WELCOME."""
        self.counts: Counter[str] = Counter()
        self._open = threading.Event()
        self._open.set()
        self._listener: socket.socket | None = None
        self._acceptor: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def start(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self.state.addresses[self.index] = self.address
        self._listener = listener
        self._acceptor = threading.Thread(target=self._accept, args=(listener,), name="fake-feeder", daemon=True)
        self._acceptor.start()

    def stop(self) -> None:
        """As if the process were killed."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self._open.set()
        for session in self.sessions:
            session.end()
        if self._acceptor is not None:
            self._acceptor.join(5)
        for session in self.sessions:
            session.join()

    def hold(self) -> None:
        """From now on nothing is sent and nothing read, but connections stay."""
        self._open.clear()

    def release(self) -> None:
        """Ends `hold`."""
        self._open.set()

    @property
    def live(self) -> list[Session]:
        """Sessions that have been welcomed and not ended."""
        return [s for s in self.sessions if s.identity is not None and not s.ended]

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            fault = self.faults.popleft() if self.faults else self.always
            session = Session(self, connection, fault or Fault())
            with self.state.changed:
                if self._listener is not listener:
                    connection.close()
                    return
                self.sessions.append(session)
                self.counts["connections"] += 1
                self.state.changed.notify_all()
            session.start()


class _Cut(Exception):  # noqa: N818 - control flow of the fault injection
    pass


class Session:
    """One connection of a fake feeder."""

    def __init__(self, feeder: FakeFeeder, connection: socket.socket, fault: Fault) -> None:
        self.feeder, self.state, self.fault = feeder, feeder.state, fault
        self.stream = feeder.state.stream
        self.hello: dict[str, Any] = {}
        self.identity: tuple[str, int, int, int, int] | None = None
        self.subscriptions: list[p.Subscribe] = []
        self.granted = -1
        self.sent: list[tuple[int, int, int]] = []
        """(epoch, number, piece) of each BATCH sent."""
        self.acks = 0
        self.nacks: list[p.Nack] = []
        self.received: Counter[int] = Counter()
        """Frames by type."""
        self.ended = False
        self.said_goodbye = False
        self._socket = connection
        self._sent_bytes = 0
        self._flow = threading.Condition()
        self._control: deque[bytes] = deque()
        self._again: deque[p.Nack] = deque()
        self._random = random.Random(1)
        self._threads = [
            threading.Thread(target=self._run, args=(work,), name="fake-session", daemon=True)
            for work in (self._read, self._write)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(5)

    def end(self) -> None:
        with self._flow:
            if self.ended:
                return
            self.ended = True
            self._flow.notify_all()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.state.notify()

    def say(self, frame: bytes) -> None:
        """Sends any frame."""
        with self._flow:
            self._control.append(frame)
            self._flow.notify_all()

    def fail(self, code: str, message: str) -> None:
        """Sends ERROR and ends the session."""
        self.say(p.error(code, message))
        self.say(b"")

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except ProtocolError as e:
            self.feeder.counts["bad_frames"] += 1
            self.fail(e.code or "bad_frame", str(e))
        except (OSError, _Cut, EOFError):
            self.end()
        except BaseException:
            self.end()
            raise

    # ---- reading

    def _read_exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = self._socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _read(self) -> None:
        limit = p.MAX_BEFORE_WELCOME
        while True:
            self.feeder._open.wait()
            length, kind, flags, reserved = p.unpack_prefix(self._read_exactly(p.PREFIX_BYTES))
            p.check_prefix(length, kind, flags, reserved, limit)
            body = self._read_exactly(length - 4)
            self.feeder._open.wait()
            self.received[kind] += 1
            if self.identity is None:
                if kind != p.HELLO:
                    raise ProtocolError(f"expected HELLO, got {p.FRAME_NAMES[kind]}", "bad_frame")
                self._greet(p.decode_hello(body))
                limit = p.MAX_TO_SERVER
            else:
                self._on_frame(kind, body)
            self.state.notify()

    def _greet(self, hello: dict[str, Any]) -> None:
        state, stream = self.state, self.state.stream
        self.hello = hello
        if state.token is not None and hello["token"] != state.token:
            raise ProtocolError("the token is missing or wrong; pass the one of --token-file", "unauthorized")
        if hello["feed"] not in (None, state.name, state.feed_id):
            raise ProtocolError(f"this is feed {state.name}, not {hello['feed']}", "wrong_feed")
        if hello["stream"] not in (None, stream.split):
            raise ProtocolError(f"no stream {hello['stream']}; there is {stream.split}", "unknown_stream")
        stream = self.stream = state.stream_for(hello["group"], hello["order"] or {})
        seat = (hello["group"], hello["rank"], hello["worker"], hello["replica"])
        with state.changed:
            run, known = hello["run"], state.runs.get(seat, 0)
            current, world = state.group_runs.get(seat[0], (0, 0))
            if run == 0:
                joins = current > 0 and world == hello["world_size"] and known < current
                run = current if joins else current + 1
            if run < known:
                raise ProtocolError(f"run {run} was taken over by run {known}", "fenced")
            if run == current and world != hello["world_size"]:
                raise ProtocolError(f"run {run} has world size {world}", "world_size_mismatch")
            state.runs[seat] = run
            if run >= current:
                state.group_runs[seat[0]] = (run, hello["world_size"])
            self.identity = (*seat, run)
            others = [s for s in self.feeder.sessions if s is not self and s.identity and s.identity[:4] == seat]
        for other in others:
            if not other.ended:
                other.fail("fenced", f"run {other.identity and other.identity[4]} was taken over by run {run}")
        plan = BatchPlan(stream.order, stream.lane_rows)
        welcome = {
            "protocol": 1,
            "feed": {"id": state.feed_id, "name": state.name},
            "stream": {
                "name": stream.split,
                "dataset": stream.dataset,
                "dataset_name": stream.dataset_name,
                "version": stream.version,
                "split": stream.split,
            },
            "fingerprint": stream.fingerprint,
            "order": stream.order.to_json(),
            "fields": list(stream.fields),
            "classes": {name: list(found) for name, found in stream.classes.items()},
            "lane_rows": list(stream.lane_rows),
            "samples": plan.samples,
            "batches": plan.batches,
            "largest_batch": stream.largest_batch,
            "epochs": state.epochs,
            "run": run,
            "session": len(self.feeder.sessions),
            "lane_map": state.lane_map(len(stream.lane_rows)),
            **self.feeder.welcome_changes,
        }
        self.say(p.welcome(welcome))

    def _on_frame(self, kind: int, body: bytes) -> None:
        if kind == p.SUBSCRIBE:
            wanted = p.decode_subscribe(body)
            with self._flow:
                self.subscriptions.append(wanted)
                self.granted = -1
                self._again.clear()
                self._flow.notify_all()
        elif kind == p.GRANT:
            grant = p.decode_grant(body)
            with self._flow:
                if self.subscriptions and grant.subscription == self.subscriptions[-1].subscription:
                    self.granted = max(self.granted, grant.through)
                    self._flow.notify_all()
        elif kind == p.ACK:
            ack = p.decode_ack(body)
            assert self.identity is not None
            with self.state.changed:
                self.state.acks += [Seen(self.feeder.index, self.identity, ack.epoch, e) for e in ack.entries]
                self.acks += len(ack.entries)
            if self.state.durable:
                self.say(p.durable(self.acks))
        elif kind == p.NACK:
            refused = p.decode_nack(body)
            with self._flow:
                self.nacks.append(refused)
                self._again.append(refused)
                self._flow.notify_all()
        elif kind == p.PING:
            self.say(p.pong(p.decode_u64(kind, body)))
        elif kind == p.BYE:
            self.said_goodbye = True
            self.end()
        elif kind == p.PONG:
            pass
        else:
            raise ProtocolError(f"no client sends {p.FRAME_NAMES[kind]}", "bad_frame")

    # ---- writing

    def _write(self) -> None:
        subscribed: p.Subscribe | None = None
        at = rows = 0
        held: list[tuple[p.BatchHeader, Any]] = []
        while True:
            work = "end"
            with self._flow:
                while not self.ended:
                    newest = self.subscriptions[-1] if self.subscriptions else None
                    if newest is not subscribed:
                        subscribed, at, rows, held = newest, 0, 0, []
                    if self._control:
                        work, control = "control", self._control.popleft()
                    elif self._again:
                        work, refused = "again", self._again.popleft()
                    elif subscribed and at < min(subscribed.count, self._may_send(subscribed)):
                        work = "batch"
                    elif held:
                        work = "held"
                    elif subscribed and at == subscribed.count:
                        work, at = "epoch_end", at + 1
                    else:
                        self._flow.wait()
                        continue
                    break
            if work == "end":
                return
            if work == "control":
                if not control:
                    raise _Cut
                self._send(control)
                continue
            assert subscribed is not None
            if work == "epoch_end":
                end = p.EpochEnd(subscribed.subscription, subscribed.epoch, subscribed.count, rows)
                self._send(p.epoch_end(end))
            elif work == "again":
                self._send_pieces(self._headers(subscribed, refused.number, refused.piece))
            elif work == "held":
                self._random.shuffle(held)
                self._send_pieces(held)
                held = []
            else:
                pieces = self._headers(subscribed, subscribed.first + at * subscribed.stride, None)
                at += 1
                rows += sum(header.rows for header, _ in pieces)
                if self.fault.shuffle:
                    held += pieces
                    if len(held) >= self.fault.shuffle:
                        self._random.shuffle(held)
                        self._send_pieces(held)
                        held = []
                else:
                    self._send_pieces(pieces)

    def _may_send(self, wanted: p.Subscribe) -> int:
        """Batches of the subscription that are granted."""
        return max(0, (self.granted - wanted.first) // wanted.stride + 1)

    def _headers(self, wanted: p.Subscribe, number: int, only: int | None) -> list[tuple[p.BatchHeader, Any]]:
        pieces = self.stream.pieces(wanted.epoch, number, wanted.tail, wanted.stride)
        found = []
        for index, piece in enumerate(pieces):
            if (only is not None and index != only) or (wanted.lanes and piece.lane not in wanted.lanes):
                continue
            header = p.BatchHeader(
                p.BATCH_HEADER_BYTES - 4 + len(piece.message),
                p.FLAG_REPEATED if piece.repeated else 0,
                p.tag(self.state.feed_id),
                p.tag(self.stream.fingerprint),
                wanted.epoch,
                piece.lane,
                number,
                index,
                len(pieces),
                piece.rows,
                piece.skipped,
                wanted.subscription,
                0,
            )
            found.append((header, piece.message))
        return found

    def _send_pieces(self, pieces: Sequence[tuple[p.BatchHeader, Any]]) -> None:
        for header, message in pieces:
            if self.feeder.delay_s:
                time.sleep(self.feeder.delay_s)
            packed = bytearray(p.batch_header(header))
            crc = _crc_extend(_crc_extend(0, bytes(packed[p.CRC_START : p.CRC_END])), _checkable(message))
            packed[60:64] = crc.to_bytes(4, "little")
            self.sent.append((header.epoch, header.number, header.piece))
            self._send(bytes(packed), message)
            self.state.notify()

    def _send(self, frame: bytes, message: Any = b"") -> None:
        self.feeder._open.wait()
        fault = self.fault
        total = len(frame) + len(message)
        if fault == Fault(shuffle=fault.shuffle):
            self._sent_bytes += total
            sent = self._socket.sendmsg([frame, message])
            if sent < len(frame):
                self._socket.sendall(frame[sent:])
                sent = len(frame)
            if sent < total:
                self._socket.sendall(memoryview(message)[sent - len(frame) :])
            return
        data = bytearray(frame) + bytes(message)
        begin = self._sent_bytes
        if fault.flip_at is not None and begin <= fault.flip_at < begin + total:
            data[fault.flip_at - begin] ^= fault.flip_mask
        if fault.extra_at is not None and begin <= fault.extra_at < begin + total:
            data[fault.extra_at - begin : fault.extra_at - begin] = fault.extra
        self._sent_bytes += total
        if fault.cut_at is not None and self._sent_bytes >= fault.cut_at:
            self._socket.sendall(data[: max(0, fault.cut_at - begin)])
            raise _Cut
        if fault.silent_after is not None and self._sent_bytes >= fault.silent_after:
            self._socket.sendall(data[: max(0, fault.silent_after - begin)])
            with self._flow:
                self._flow.wait_for(lambda: self.ended)
            raise _Cut
        self._socket.sendall(data)


def _checkable(message: Any) -> Any:
    return message if isinstance(message, bytes | np.ndarray) else bytes(message)
