"""One connection of a fake feeder: reads and serves, with a thread for each direction."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stoker._format.crc import extend as _crc_extend
from stoker._format.fields import Field
from stoker._format.view import WHOLE_TAG, ColumnCut, View
from stoker._order.delivery import BatchPlan
from stoker._order.skip import NOTHING, Numbers, Skip, skipped_of
from stoker._testing.faulty_socket import Cut, FaultySocket
from stoker._testing.places import place_of, take_place
from stoker._testing.state import Fault, FeedState, Seen
from stoker._wire import decoding, encoding
from stoker._wire import protocol as p
from stoker.errors import ProtocolError


class SessionHost:
    """What the sessions of one fake feeder share. Threads: as for `FeedState`."""

    def __init__(self, state: FeedState, index: int) -> None:
        self.state, self.index = state, index
        self.sessions: list[Session] = []
        """Every session ever, oldest first."""
        self.delay_s = 0.0
        """Delay before each piece, in seconds."""
        self.welcome_changes: dict[str, Any] = {}
        """Values that replace values of the WELCOME."""
        self.counts: Counter[str] = Counter()
        self.flowing = threading.Event()
        """Cleared while nothing is sent and nothing read."""
        self.flowing.set()

    @property
    def live(self) -> list[Session]:
        """Sessions that have been welcomed and not ended."""
        return [s for s in self.sessions if s.identity is not None and not s.ended]


class Session:
    """One connection of a fake feeder."""

    def __init__(self, feeder: SessionHost, connection: socket.socket, fault: Fault) -> None:
        self.feeder, self.state, self.fault = feeder, feeder.state, fault
        self.stream = feeder.state.stream
        self.hello: dict[str, Any] = {}
        self.path = ""
        """The Unix-domain socket that it connected to."""
        self.identity: tuple[str, int, int, int, int] | None = None
        self.subscriptions: list[p.Subscribe] = []
        self.selections: list[p.Select] = []
        self._column_cut: ColumnCut | None = None
        """Makes pieces of the selected columns; None: all are sent."""
        self.granted = -1
        self.sent: list[tuple[int, int, int]] = []
        """(epoch, number, piece) of each BATCH sent."""
        self.acks = 0
        self.nacks: list[p.Nack] = []
        self.stats: list[dict[str, Any]] = []
        self.received: Counter[int] = Counter()
        """Frames by type."""
        self.ended = False
        self.said_goodbye = False
        self._socket = connection
        self._out = FaultySocket(connection, self._wait_for_end)
        self._flow = threading.Condition()
        self._control: deque[bytes] = deque()
        self._again: deque[p.Nack] = deque()
        self._random = random.Random(1)
        self._threads = [
            threading.Thread(target=self._run, args=(work,), name="fake-session", daemon=True)
            for work in (self._read, self._write)
        ]

    @property
    def sent_bytes(self) -> int:
        """Bytes sent so far, by which a fault finds its place."""
        return self._out.sent_bytes

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
        self.say(encoding.error(code, message))
        self.say(b"")

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except ProtocolError as e:
            self.feeder.counts["bad_frames"] += 1
            self.fail(e.code or "bad_frame", str(e))
        except (OSError, Cut, EOFError):
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
            self.feeder.flowing.wait()
            length, kind, flags, reserved = decoding.unpack_prefix(self._read_exactly(p.PREFIX_BYTES))
            decoding.check_prefix(length, kind, flags, reserved, limit)
            content = self._read_exactly(length - 4)
            self.feeder.flowing.wait()
            self.received[kind] += 1
            if self.identity is None and kind != p.HELLO:
                raise ProtocolError(f"expected HELLO, got {p.FRAME_NAMES[kind]}", "bad_frame")
            body = decoding.checked_body(kind, content)
            if self.identity is None:
                self._greet(decoding.decode_hello(body))
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
        if hello.get("look"):
            self.identity = (*place_of(hello), hello["run"])
            self.say(encoding.welcome(self._welcome(hello["run"])))
            return
        run = take_place(state, self, self.feeder.sessions)
        self.say(encoding.welcome(self._welcome(run)))

    def _welcome(self, run: int) -> dict[str, Any]:
        return self.state.welcome(self.stream, run, len(self.feeder.sessions)) | self.feeder.welcome_changes

    def _on_frame(self, kind: int, body: bytes) -> None:
        if kind == p.SUBSCRIBE:
            wanted = decoding.decode_subscribe(body)
            with self._flow:
                self.subscriptions.append(wanted)
                self.granted = -1
                self._again.clear()
                self._flow.notify_all()
            if wanted.empty_share:
                self.acks += 1
                if self.state.durable:
                    self.say(encoding.durable(self.acks))
        elif kind == p.SELECT:
            self._select(decoding.decode_select(body))
        elif kind == p.GRANT:
            grant = decoding.decode_grant(body)
            with self._flow:
                if self.subscriptions and grant.subscription == self.subscriptions[-1].subscription:
                    self.granted = max(self.granted, grant.through)
                    self._flow.notify_all()
        elif kind == p.ACK:
            ack = decoding.decode_ack(body)
            assert self.identity is not None
            with self.state.changed:
                self.state.acks += [Seen(self.feeder.index, self.identity, ack.epoch, e) for e in ack.entries]
                self.acks += len(ack.entries)
            if self.state.durable:
                self.say(encoding.durable(self.acks))
        elif kind == p.NACK:
            refused = decoding.decode_nack(body)
            with self._flow:
                self.nacks.append(refused)
                self._again.append(refused)
                self._flow.notify_all()
        elif kind == p.PING:
            self.say(encoding.pong(decoding.decode_u64(kind, body)))
        elif kind == p.BYE:
            self.said_goodbye = True
            self.end()
        elif kind == p.STATS:
            self.stats.append(decoding.decode_json(kind, body))
        elif kind == p.PONG:
            pass
        else:
            raise ProtocolError(f"no client sends {p.FRAME_NAMES[kind]}", "bad_frame")

    def _select(self, wanted: p.Select) -> None:
        fields = [Field.from_json(field, "the test feed") for field in self.stream.fields]
        if self.selections or self.subscriptions or self.hello.get("look"):
            raise ProtocolError("SELECT comes out of turn", "bad_frame")
        if wanted.columns != 1 + len(fields):
            raise ProtocolError(f"SELECT is for {wanted.columns} columns, not {1 + len(fields)}", "bad_frame")
        self.selections.append(wanted)
        view = View.of_numbers([field.name for field in fields], wanted.selected)
        self._column_cut = None if view.is_whole else ColumnCut(fields, view)
        self.say(encoding.selected(p.Selected(self.stream.largest_batch, view.tag)))

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
                    raise Cut
                self._send(control)
                continue
            assert subscribed is not None
            if work == "epoch_end":
                end = p.EpochEnd(subscribed.subscription, subscribed.epoch, subscribed.count, rows)
                self._send(encoding.epoch_end(end))
            elif work == "again":
                self._send_pieces(self._headers(subscribed, refused.number, refused.piece))
            elif work == "held":
                self._random.shuffle(held)
                self._send_pieces(held)
                held = []
            else:
                pieces = self._headers(subscribed, self._numbers(subscribed).number(at), None)
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
        skip = self._numbers(wanted).skip
        return max(0, (skip.slot(self.granted) - skip.slot(wanted.first)) // wanted.stride + 1)

    def _numbers(self, wanted: p.Subscribe) -> Numbers:
        skip = NOTHING
        if self.hello.get("skip"):
            batches = BatchPlan(self.stream.order, self.stream.lane_rows).batches
            skip = Skip.of(skipped_of(self.hello["skip"]), wanted.epoch, batches)
        return Numbers(skip, wanted.first, wanted.stride, wanted.count)

    def _headers(self, wanted: p.Subscribe, number: int, only: int | None) -> list[tuple[p.BatchHeader, Any]]:
        pieces = self.stream.pieces(wanted.epoch, number, wanted.tail, wanted.stride)
        found = []
        for index, piece in enumerate(pieces):
            if (only is not None and index != only) or (wanted.lanes and piece.lane not in wanted.lanes):
                continue
            whole, tag = piece.message, WHOLE_TAG
            message, source_crc = whole, _crc_extend(0, _checkable(whole))
            if self._column_cut is not None:
                tag = self._column_cut.view.tag
                array = np.frombuffer(_checkable(whole), np.uint8)
                what = (number, wanted.epoch, piece.rows)
                message = self._column_cut.cut(array, lambda n: np.empty(n, np.uint8), what)
            header = p.BatchHeader(
                p.BATCH_HEADER_BYTES - 4 + len(message),
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
                piece.rows,
                tag,
                source_crc,
                wanted.subscription,
                0,
            )
            found.append((header, message))
        return found

    def _dawdle(self, until: float) -> None:
        """Waits like a feeder with a slow origin. Sends replies meanwhile."""
        while not self.ended and (left := until - time.monotonic()) > 0:
            with self._flow:
                # Empty is the end of the session, which comes after this.
                ready = bool(self._control and self._control[0]) or self._flow.wait(left)
                frame = self._control.popleft() if ready and self._control and self._control[0] else b""
            if frame:
                self._send(frame)

    def _send_pieces(self, pieces: Sequence[tuple[p.BatchHeader, Any]]) -> None:
        for header, message in pieces:
            if self.feeder.delay_s:
                self._dawdle(time.monotonic() + self.feeder.delay_s)
            packed = bytearray(encoding.batch_header(header))
            crc = _crc_extend(_crc_extend(0, bytes(packed[p.CRC_START : p.CRC_END])), _checkable(message))
            packed[p.CRC_AT :] = crc.to_bytes(4, "little")
            self.sent.append((header.epoch, header.number, header.piece))
            self._send(bytes(packed), message)
            self.state.notify()

    def _send(self, frame: bytes, message: Any = b"") -> None:
        self.feeder.flowing.wait()
        self._out.send(frame, message, self.fault)

    def _wait_for_end(self) -> None:
        with self._flow:
            self._flow.wait_for(lambda: self.ended)


def _checkable(message: Any) -> Any:
    return message if isinstance(message, bytes | np.ndarray) else bytes(message)
