"""One socket to one feeder: connects, receives frames straight into batch buffers, sends.

Never blocks. Threads: `receive` and `connected` are called by one thread at a time (the client's turn holder);
`send` and `flush` under the client's output lock. Knows frames and checksums, nothing of lanes or epochs.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from stoker._format.crc import extend as _crc_extend
from stoker._memory.buffers import BufferPool
from stoker._transport.discovery import split_address
from stoker._transport.resolver import addresses
from stoker._transport.security import Tls
from stoker._wire import decoding
from stoker._wire import protocol as p
from stoker.errors import ProtocolError

if TYPE_CHECKING:
    from stoker._transport.local_reads import LocalReads, Received

SEGMENT_BYTES: Final = 512 << 10
"""Bytes received and checksummed at a time: few enough that the checksum reads them from the second-level cache."""
RECEIVE_BUFFER_BYTES: Final = 4 << 20
"""Fixed: if the kernel grows the buffer (to 32 MiB), data leaves the cache before it is read.

On loopback with two cores, receiving takes 0.16 CPU s/GB with this size and 0.37 with the kernel's.
"""
_ANSWER_BYTES: Final = 64 << 20
"""Bytes of a SAMPLES frame besides those of one sample."""
_RECORD_BYTES: Final = 17 << 10
"""Size of one TLS record, which OpenSSL may hold back until it is complete."""


class ConnectionLostError(Exception):
    """The connection ended or could not be made; the client reconnects. Never leaves the package."""

    def __init__(self, why: str, *, elsewhere: bool = False) -> None:
        """`elsewhere`: whether the client should ask another feeder first."""
        super().__init__(why)
        self.elsewhere = elsewhere


class FrameSink(Protocol):
    """The receiver of a connection's frames."""

    def buffer_for(self, connection: FeederConnection, header: tuple[int, ...]) -> npt.NDArray[np.uint8]:
        """Memory for the message that follows a (not yet verified) BATCH header; starts at a multiple of 64."""
        ...

    def on_batch(
        self, connection: FeederConnection, header: tuple[int, ...], message: npt.NDArray[np.uint8], crc: int
    ) -> None:
        """Takes a whole BATCH frame; `crc` is the checksum computed over it."""
        ...

    def on_frame(self, connection: FeederConnection, kind: int, body: Any) -> None:
        """Takes any other whole frame: bytes, or of SAMPLES perhaps a view."""
        ...

    def begin_again(self) -> bool:
        """All connections were ended before a batch was asked for; true if the client has taken part in a run."""
        ...


class FeederConnection:
    """See the module.

    States: connecting, securing (TLS), greeting (HELLO sent), live, closed; the client moves them on.
    """

    def __init__(
        self,
        address: str,
        sink: FrameSink,
        now: float,
        attempt: int = 0,
        tls: Tls | None = None,
        path: str | None = None,
    ) -> None:
        """Starts to connect; raises `ConnectionLostError` if that is refused at once.

        `attempt` chooses among the addresses that a host name stands for. `path`: the Unix-domain socket of the same
        feeder, which is used instead of its address.
        """
        self._tls = tls
        self._held_back = 0
        """Bytes that may have been received but cannot be read yet."""
        self.address = address
        self.path = address[len("unix:") :] if address.startswith("unix:") else path
        """Path of the Unix-domain socket, None over TCP."""
        self.files: LocalReads | None = None
        """The feeder's files, once both sides agreed on local reads."""
        self.refused_place = False
        """Whether the feeder has said that another process has the place."""
        self.faults = 0
        """Batches of local files that did not pass their checksum."""
        self.state = "connecting"
        self.since = now
        """When the connection was begun; after the WELCOME, when that arrived."""
        self.bytes_received = 0
        self.frames_received = 0
        self.lanes: frozenset[int] = frozenset()
        self.subscription = 0
        self.send_queue = bytearray()
        self.undurable: deque[tuple[int, int, bytes]] = deque()
        """(entries, epoch, packed entries) sent and not yet durable, oldest first."""
        self.sent_entries = 0
        """ACK entries of this session."""
        self.durable = 0
        """Entries of this session that the server has called durable."""
        self.ponged = 0
        """The greatest PING number that the server has answered."""
        self.tells = False
        """Whether the server accepts STATS, and reports how the time of slow pieces was spent."""
        self.read_only = False
        """Whether the server accepts no receipts."""
        self.pending = bytearray()
        """Packed ACK entries not yet sent."""
        self.pending_epoch = 0
        self._sink = sink
        self._head = np.zeros(p.BATCH_HEADER_BYTES, np.uint8)
        self._head_view = memoryview(self._head)
        self._checked_head = self._head[p.CRC_START : p.CRC_END]
        self._have = 0
        self._header: tuple[int, ...] | None = None
        self._message: npt.NDArray[np.uint8] = self._head
        self._view = self._head_view
        self._at = 0
        self._end = 0
        self._crc = 0
        self._control: bytearray | None = None
        self._control_kind = 0
        self._low_water = 1
        self._limit = p.MAX_BATCH
        self._samples_limit = 0
        self._socket, target = _socket_for(address, attempt) if self.path is None else _unix_socket(self.path)
        try:
            self._socket.setblocking(False)
            self._set_options()
            code = self._socket.connect_ex(target)
        except OSError as e:
            self._socket.close()
            raise ConnectionLostError(f"{address}: {e}") from e
        # A Unix-domain socket connects at once. There EAGAIN means a full backlog, not a connection in progress.
        if code not in ((0,) if self.path is not None else (0, errno.EINPROGRESS, errno.EWOULDBLOCK)):
            self._socket.close()
            raise ConnectionLostError(f"{address}: {os.strerror(code)}")
        self._fd = self._socket.fileno()
        self._secured: Any = None
        self._recv_into = self._socket.recv_into
        self._send = self._socket.send

    def _set_options(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        if self._socket.family != socket.AF_UNIX:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def fileno(self) -> int:
        return self._fd

    def connected(self) -> None:
        """Must be called when a connecting socket becomes writable; raises `ConnectionLostError`."""
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise ConnectionLostError(f"{self.address}: {os.strerror(code)}")

    def secure(self) -> int:
        """Continues the TLS handshake if there is one; returns the event to poll for, or 0 when HELLO may be sent.

        Raises `TlsError` for permanent failures and `ConnectionLostError` for failures worth a retry.
        """
        if self._tls is None:
            return 0
        from stoker._transport.tls import TlsSocket

        try:
            if self._secured is None:
                self._secured = TlsSocket(self._socket, self._tls, self.address)
                self._socket = self._secured.socket
            event: int = self._secured.handshake()
        except OSError as e:
            raise ConnectionLostError(f"{self.address}: TLS: {e.strerror or e}") from e
        if not event:
            self._recv_into, self._send = self._secured.recv_into, self._secured.send
            self._held_back = _RECORD_BYTES
        return event

    def limit_batches(self, largest: int) -> None:
        """Refuses BATCH frames whose message could not be one of this stream."""
        self._limit = min(p.MAX_BATCH, max(largest * 2, 1 << 20) + p.BATCH_HEADER_BYTES)

    def limit_samples(self, largest: int) -> None:
        """Accepts SAMPLES frames. `largest`: no sample has more bytes."""
        self._samples_limit = min(p.MAX_BATCH, largest + _ANSWER_BYTES)

    def take_reference(self, frame: bytes, pool: BufferPool) -> Received:
        """Reads the batch that a BATCH_REF frame refers to."""
        if self.files is None:
            raise ProtocolError(f"{self.address} sent BATCH_REF, but local reads were not agreed", "bad_frame")
        batch = self.files.receive(frame, pool, self._limit)
        self.bytes_received += batch.length
        return batch

    # ---- sending

    def send(self, data: bytes) -> bool:
        """Sends data or keeps it for later; returns False if some is kept. `receive` reports a broken socket."""
        if self.send_queue:
            self.send_queue += data
            return False
        try:
            sent = self._send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            return True
        if sent < len(data):
            self.send_queue += data[sent:]
            return False
        return True

    def flush(self) -> bool:
        """Sends kept data; returns True if none is left."""
        while self.send_queue:
            try:
                sent = self._send(self.send_queue)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:
                self.send_queue.clear()
                return True
            del self.send_queue[:sent]
        return True

    # ---- receiving

    def receive(self) -> bool:
        """Receives until it has handed over one frame (True) or no more data is available (False).

        Raises `ConnectionLostError` at the end of the stream, `ProtocolError` for a malformed frame.
        """
        try:
            if self._header is not None:
                return self._receive_message()
            if self._control is not None:
                return self._receive_control()
            while not self._parse():
                count = self._recv_into(self._head_view[self._have :])
                if not count:
                    raise ConnectionLostError(f"{self.address} closed the connection")
                self._have += count
                self.bytes_received += count
            if self._header is not None:
                return self._receive_message()
            if self._control is not None:
                return self._receive_control()
            return True
        except (BlockingIOError, InterruptedError):
            self._wait_for(min(SEGMENT_BYTES, self._end - self._at) if self._header is not None else 1)
            return False
        except OSError as e:
            raise ConnectionLostError(f"{self.address}: {e.strerror or e}") from e

    def _parse(self) -> bool:
        """Takes one frame, or the start of a long one, out of the head buffer; returns False if more data is needed."""
        have = self._have
        if have < p.PREFIX_BYTES:
            return False
        length, kind, flags, reserved = decoding.unpack_prefix(self._head)
        decoding.check_prefix(length, kind, flags, reserved, p.MAX_TO_CLIENT)
        if kind == p.BATCH:
            if length > self._limit or (length + 4 - p.BATCH_HEADER_BYTES) % p.BATCH_ALIGNMENT:
                raise ProtocolError(f"BATCH frame of length {length}, which this stream cannot have", "bad_frame")
            if have < p.BATCH_HEADER_BYTES:
                return False
            header = decoding.unpack_batch_header(self._head)
            self._at, self._end = 0, length - (p.BATCH_HEADER_BYTES - 4)
            self._message = self._sink.buffer_for(self, header)
            self._view = memoryview(self._message)
            self._crc = _crc_extend(0, self._checked_head)
            self._have = 0
            self._header = header
            return True
        if kind == p.SAMPLES and length > self._samples_limit:
            raise ProtocolError(f"SAMPLES frame of length {length}: nothing like that was requested", "bad_frame")
        total = length + 4
        if have < total <= p.BATCH_HEADER_BYTES:
            return False
        # Of a BATCH_REF the whole frame is wanted.
        body = self._head[0 if kind == p.BATCH_REF else p.PREFIX_BYTES : min(have, total)].tobytes()
        if have >= total:
            rest = have - total
            self._head[:rest] = self._head[total:have].copy()
            self._have = rest
            self._hand_over(kind, body)
            return True
        self._have = 0
        self._control_kind = kind
        self._control = bytearray(total if kind == p.BATCH_REF else total - p.PREFIX_BYTES)
        self._control[: len(body)] = body
        self._at, self._end = len(body), len(self._control)
        return True

    def _receive_control(self) -> bool:
        assert self._control is not None
        with memoryview(self._control) as view:
            while self._at < self._end:
                count = self._recv_into(view[self._at :])
                if not count:
                    raise ConnectionLostError(f"{self.address} closed the connection in the middle of a frame")
                self._at += count
                self.bytes_received += count
        control, self._control = self._control, None
        # Answers with samples are large.
        self._hand_over(self._control_kind, memoryview(control) if self._control_kind == p.SAMPLES else bytes(control))
        return True

    def _hand_over(self, kind: int, content: bytes | memoryview) -> None:
        self.frames_received += 1
        self._sink.on_frame(self, kind, content if kind == p.BATCH_REF else decoding.checked_body(kind, content))

    def _receive_message(self) -> bool:
        at, end, crc = self._at, self._end, self._crc
        view, message, receive = self._view, self._message, self._recv_into
        begin = at
        try:
            while at < end:
                count = receive(view[at : at + SEGMENT_BYTES])
                if not count:
                    raise ConnectionLostError(f"{self.address} closed the connection in the middle of a batch")
                crc = _crc_extend(crc, message[at : at + count])
                at += count
        finally:
            self.bytes_received += at - begin
            self._at, self._crc = at, crc
        header = self._header
        assert header is not None
        self._header = None
        self._message, self._view = self._head, self._head_view  # the buffer is the receiver's alone from here
        del view
        self.frames_received += 1
        self._sink.on_batch(self, header, message, crc)
        return True

    def _wait_for(self, count: int) -> None:
        """Lets poll report readable only when `count` bytes have arrived, for fewer wake-ups per batch."""
        count = max(1, count - self._held_back)
        if count != self._low_water:
            self._low_water = count
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)

    def close(self) -> None:
        """Releases the descriptor without a BYE."""
        self.state = "closed"
        if self.files is not None:
            self.files.close()
        self._message, self._view, self._header, self._control = self._head, self._head_view, None, None
        self._socket.close()

    def drain(self, limit_s: float) -> None:
        """Shuts down sending at the end of a session, and reads until the other side closes.

        Closing with unread data would reset the connection, and the server might lose the last receipts.
        """
        sink = bytearray(SEGMENT_BYTES)
        try:
            self._wait_for(1)
            self._socket.settimeout(limit_s)
            if self.send_queue:
                self._socket.sendall(self.send_queue)
            self._socket.shutdown(socket.SHUT_WR)
            while self._recv_into(sink):
                pass
        except OSError:
            pass


def _unix_socket(path: str) -> tuple[socket.socket, Any]:
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), path


def _socket_for(address: str, attempt: int) -> tuple[socket.socket, Any]:
    host, port = split_address(address)
    try:
        found = addresses(host, port)
    except (OSError, UnicodeError) as e:
        raise ConnectionLostError(f"{address}: {getattr(e, 'strerror', None) or e}") from e
    family, kind, proto, _, target = found[attempt % len(found)]
    return socket.socket(family, kind, proto), target
