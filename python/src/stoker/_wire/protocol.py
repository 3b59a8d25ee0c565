"""Feed protocol 1: frames as bytes and back. Pure: no sockets, no clocks, no state.

Every frame is little-endian: u32 length (of what follows it), u8 type, u8 flags, u16 reserved, body, CRC-32C of the
bytes from offset 4 on. A BATCH frame has 80 bytes of header, then an Arrow record batch message. Its CRC-32C is in the
header and covers the header's bytes 4 to 68 and the message. `docs/formats/feed-protocol.md` is normative.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stoker._format.checksum import crc32c
from stoker._order.spec import TAILS, Tail
from stoker.errors import ProtocolError

VERSION: Final = 1
MAGIC: Final = b"STKR"
DEFAULT_PORT: Final = 7420

HELLO: Final = 1
WELCOME: Final = 2
SUBSCRIBE: Final = 3
GRANT: Final = 4
BATCH: Final = 5
ACK: Final = 6
DURABLE: Final = 7
NACK: Final = 8
EPOCH_END: Final = 9
PING: Final = 10
PONG: Final = 11
BYE: Final = 12
ERROR: Final = 13
LANE_MAP: Final = 14
FILE: Final = 15
BATCH_REF: Final = 16
RELEASE: Final = 17
STATS: Final = 20
DELAY: Final = 21
SELECT: Final = 22
SELECTED: Final = 23

FRAME_NAMES: Final = {
    HELLO: "HELLO",
    WELCOME: "WELCOME",
    SUBSCRIBE: "SUBSCRIBE",
    GRANT: "GRANT",
    BATCH: "BATCH",
    ACK: "ACK",
    DURABLE: "DURABLE",
    NACK: "NACK",
    EPOCH_END: "EPOCH_END",
    PING: "PING",
    PONG: "PONG",
    BYE: "BYE",
    ERROR: "ERROR",
    LANE_MAP: "LANE_MAP",
    FILE: "FILE",
    BATCH_REF: "BATCH_REF",
    RELEASE: "RELEASE",
    STATS: "STATS",
    DELAY: "DELAY",
    SELECT: "SELECT",
    SELECTED: "SELECTED",
}

PREFIX_BYTES: Final = 8
BATCH_HEADER_BYTES: Final = 80
_WITHOUT_CHECKSUM: Final = (BATCH, BATCH_REF)
"""Frames without a checksum at their end."""
BATCH_REF_BYTES: Final = 96
"""Length of a BATCH_REF before its inline bytes."""
SLICE_BYTES: Final = 16
ZEROS: Final = 0xFFFFFFFF
"""The number of a virtual file that contains only zeros."""
CRC_START: Final = 4
CRC_END: Final = 68
CRC_AT: Final = 76
BATCH_ALIGNMENT: Final = 64
"""Record batch messages have a length that is a multiple of this."""

MAX_RUN: Final = 1 << 62
"""The greatest run that a user may name."""
MAX_BEFORE_WELCOME: Final = 16 << 10
MAX_TO_SERVER: Final = 1 << 20
MAX_TO_CLIENT: Final = 64 << 20
MAX_BATCH: Final = (1 << 31) - 1
"""Limits on the u32 length of a frame."""

FLAG_REPEATED: Final = 1
ACK_ENTRY_BYTES: Final = 32
MAX_ACK_ENTRIES: Final = 256

_PREFIX = struct.Struct("<IBBH")
_HELLO = struct.Struct("<4sHH")
_SUBSCRIBE = struct.Struct("<IIQIQBBH")
_GRANT = struct.Struct("<IIQ")
_BATCH = struct.Struct("<IBBHQQIIQHHIIIQIIII")
_REF = struct.Struct("<IIII")
_FILE = struct.Struct("<IIQQQ")
_ACK = struct.Struct("<IIII")
_ACK_ENTRY = struct.Struct("<QHHIIIII")
_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")
_NACK = struct.Struct("<IIQHHI")
_EPOCH_END = struct.Struct("<IIQQ")
_DELAY = struct.Struct("<IIQHHIII")
_SELECT = struct.Struct("<II")
_SELECTED = struct.Struct("<QQ")

assert _BATCH.size == BATCH_HEADER_BYTES
assert _ACK_ENTRY.size == ACK_ENTRY_BYTES

unpack_prefix = _PREFIX.unpack_from
"""(length, type, flags, reserved) of a frame's first 8 bytes."""

unpack_batch_header = _BATCH.unpack_from
"""The fields of `BatchHeader` as a tuple, preceded by (length, type) and with the reserved ones in place:
length, type, flags, reserved, feed_tag, fingerprint_tag, epoch, lane, number, piece, pieces, rows, skipped,
source_rows, view_tag, source_crc, subscription, reserved, crc."""

pack_ack_entry = _ACK_ENTRY.pack
"""(number, piece, flags, crc, rows, skipped, source_rows, source_crc) to an ACK entry."""


@dataclass(frozen=True, slots=True)
class BatchHeader:
    """The header of a BATCH frame, which describes its message."""

    length: int
    flags: int
    feed_tag: int
    fingerprint_tag: int
    epoch: int
    lane: int
    number: int
    """Virtual batch number."""
    piece: int
    pieces: int
    """Number of pieces of the whole delivered batch, over all lanes."""
    rows: int
    skipped: int
    source_rows: int
    """Rows of chunk files that the piece was made from."""
    view_tag: int
    """Identifies the columns of the message."""
    source_crc: int
    """CRC-32C of the message that these rows make with all columns."""
    subscription: int
    crc: int

    @property
    def repeated(self) -> bool:
        """Whether the rows were already part of this epoch."""
        return bool(self.flags & FLAG_REPEATED)


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A subscription to the virtual numbers first, first + stride, … (`count` of them) of some lanes (none: all)."""

    subscription: int
    epoch: int
    first: int
    stride: int
    count: int
    tail: Tail
    lanes: tuple[int, ...] = ()
    empty_share: bool = False
    """The trainer has no number in the epoch, from its position on, and so has finished it; `count` is 0."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Leave to send up to and including virtual number `through`."""

    subscription: int
    through: int


@dataclass(frozen=True, slots=True)
class AckEntry:
    """One piece consumed, with the checksum as the client computed it."""

    number: int
    piece: int
    flags: int
    crc: int
    rows: int
    skipped: int
    source_rows: int
    source_crc: int


@dataclass(frozen=True, slots=True)
class Ack:
    """Pieces that the trainer has consumed."""

    subscription: int
    epoch: int
    entries: tuple[AckEntry, ...]


@dataclass(frozen=True, slots=True)
class Nack:
    """A piece whose checksum did not match."""

    subscription: int
    epoch: int
    number: int
    piece: int
    crc: int


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """Everything subscribed has been sent."""

    subscription: int
    epoch: int
    batches: int
    rows: int


@dataclass(frozen=True, slots=True)
class Delay:
    """How the feeder spent the time before and while it wrote a piece, in microseconds."""

    subscription: int
    epoch: int
    number: int
    piece: int
    origin_us: int
    disk_us: int
    feeder_us: int


@dataclass(frozen=True, slots=True)
class Select:
    """The columns that a client wants of a stream: 0 for the key, then the fields."""

    columns: int
    """The number of columns of the stream."""
    selected: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Selected:
    """The answer to SELECT."""

    largest_batch: int
    """No message with the selected columns has more bytes."""
    view_tag: int


@dataclass(frozen=True, slots=True)
class HandedFile:
    """A file that later BATCH_REF frames may refer to by its number."""

    file: int
    device: int
    inode: int
    length: int
    path: str


def tag(hex_digits: str) -> int:
    """Returns the u64 that identifies a feed id or a fingerprint in BATCH headers: its first 16 hex digits."""
    return int(hex_digits.replace("-", "")[:16], 16)


def frame(kind: int, body: bytes = b"", flags: int = 0) -> bytes:
    """Encodes a whole frame."""
    if kind in _WITHOUT_CHECKSUM:
        return _PREFIX.pack(len(body) + 4, kind, flags, 0) + body
    return seal(_PREFIX.pack(len(body) + 8, kind, flags, 0) + body)


def seal(unsealed: bytes) -> bytes:
    """Appends the checksum to a frame whose length already includes it."""
    return unsealed + _U32.pack(crc32c(unsealed[4:]))


def checked_body(kind: int, content: bytes) -> bytes:
    """The body of a frame without flags, of which `content` is everything after the first 8 bytes.

    Raises `ProtocolError` if the checksum does not match.
    """
    if kind == HELLO:
        _check_version(content)
    body = content[:-4]
    found = crc32c(_PREFIX.pack(0, kind, 0, 0)[4:] + body)
    sent = int.from_bytes(content[-4:], "little")
    if found != sent:
        text = f"the bytes have CRC-32C {found:08x}, expected {sent:08x}: they were changed on the way"
        raise ProtocolError(f"{FRAME_NAMES[kind]}: {text}", "bad_frame")
    return body


def _json(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False).encode()


def hello(
    *,
    token: str | None = None,
    feed: str | None = None,
    stream: str | None = None,
    group: str = "default",
    order: Mapping[str, Any] | None = None,
    rank: int = 0,
    world_size: int = 1,
    worker: int = 0,
    workers: int = 1,
    replica: int = 0,
    run: int = 0,
    client: str = "stoker-python",
    handover: int = 0,
    handover_from: int = 0,
    epoch: int | None = None,
    version: int | None = None,
    joined: int = 0,
    sent: int = 0,
    look: bool = False,
    instance: Mapping[str, Any] | None = None,
    launch: Mapping[str, Any] | None = None,
) -> bytes:
    """The client's first frame.

    `joined`: the run that an earlier WELCOME named, 0 before the first. `sent`: when the client sends this frame,
    in nanoseconds of the machine's monotonic clock; 0 if it does not say. `look`: connect without a place in the group.
    `instance` and `launch`: the process that opened the client, and the launcher that started it.

    `epoch`: the epoch that the client begins or resumes. `version`: the dataset version that its state has read of that
    epoch. `handover`: the number of files that the client would keep open, 0 for none. `handover_from`: the least
    average payload in bytes per row for which it wants files.
    """
    values = {
        "token": token,
        "feed": feed,
        "stream": stream,
        "group": group,
        "order": dict(order) if order else None,
        "rank": rank,
        "world_size": world_size,
        "worker": worker,
        "workers": workers,
        "replica": replica,
        "run": run,
        "client": client,
    }
    if handover:
        values["handover"] = handover
        if handover_from:
            values["handover_from"] = handover_from
    values |= {name: value for name, value in (("epoch", epoch), ("version", version)) if value is not None}
    said: tuple[tuple[str, Any], ...] = (
        ("joined", joined),
        ("sent", sent),
        ("look", look),
        ("instance", instance),
        ("launch", launch),
    )
    values |= {name: value for name, value in said if value}
    return frame(HELLO, _HELLO.pack(MAGIC, VERSION, 0) + _json(values))


def welcome(values: Mapping[str, Any]) -> bytes:
    """The server's answer to HELLO."""
    return frame(WELCOME, _json(values))


def lane_map(values: Mapping[str, Any]) -> bytes:
    """Which addresses serve which lanes."""
    return frame(LANE_MAP, _json(values))


def error(code: str, message: str) -> bytes:
    """The last frame before its sender closes."""
    return frame(ERROR, _json({"code": code, "message": message}))


def subscribe(wanted: Subscribe) -> bytes:
    """Replaces the session's earlier subscription."""
    head = _SUBSCRIBE.pack(
        wanted.subscription,
        wanted.epoch,
        wanted.first,
        wanted.stride,
        wanted.count,
        TAILS.index(wanted.tail),
        int(wanted.empty_share),
        len(wanted.lanes),
    )
    return frame(SUBSCRIBE, head + struct.pack(f"<{len(wanted.lanes)}H", *wanted.lanes))


def grant(subscription: int, through: int) -> bytes:
    """Leave to send up to and including virtual number `through`."""
    return frame(GRANT, _GRANT.pack(subscription, 0, through))


def batch_header(header: BatchHeader) -> bytes:
    """The 80 bytes before a message."""
    return _BATCH.pack(
        header.length,
        BATCH,
        header.flags,
        0,
        header.feed_tag,
        header.fingerprint_tag,
        header.epoch,
        header.lane,
        header.number,
        header.piece,
        header.pieces,
        header.rows,
        header.skipped,
        header.source_rows,
        header.view_tag,
        header.source_crc,
        header.subscription,
        0,
        header.crc,
    )


def batch_ref(header: BatchHeader, message: int, inline: bytes, slices: Sequence[tuple[int, int, int]]) -> bytes:
    """A piece of `message` bytes by reference: its first bytes, then (file, length, offset) of the others.

    The header's length is not used; its checksum is that of the BATCH.
    """
    body = _REF.pack(message, len(inline), len(slices), 0) + inline
    body += b"".join(struct.pack("<IIQ", *part) for part in slices)
    head = bytearray(batch_header(header))
    _PREFIX.pack_into(head, 0, len(head) + len(body) - 4, BATCH_REF, header.flags, 0)
    return bytes(head) + body


def handed_file(file: HandedFile) -> bytes:
    """Announces a file."""
    path = file.path.encode()
    return frame(FILE, _FILE.pack(file.file, len(path), file.device, file.inode, file.length) + path)


def release(references: int) -> bytes:
    """Tells the feeder that `references` BATCH_REF frames of this session have been read."""
    return frame(RELEASE, _U64.pack(references))


def ack(subscription: int, epoch: int, entries: bytes) -> bytes:
    """Receipts; `entries` are packed by `pack_ack_entry`, at most 256."""
    return frame(ACK, _ACK.pack(subscription, epoch, len(entries) // ACK_ENTRY_BYTES, 0) + entries)


def durable(count: int) -> bytes:
    """How many ACK entries of this session are durable so far."""
    return frame(DURABLE, _U64.pack(count))


def nack(refused: Nack) -> bytes:
    """Asks for a piece to be checked and sent again."""
    body = _NACK.pack(refused.subscription, refused.epoch, refused.number, refused.piece, 0, refused.crc)
    return frame(NACK, body)


def epoch_end(end: EpochEnd) -> bytes:
    """The end of a subscription."""
    return frame(EPOCH_END, _EPOCH_END.pack(end.subscription, end.epoch, end.batches, end.rows))


def stats(values: Mapping[str, Any]) -> bytes:
    """Reports the trainer's statistics."""
    return frame(STATS, _json(values))


def delay(spent: Delay) -> bytes:
    """Reports how the time of a slow piece was spent."""
    d = spent
    body = _DELAY.pack(d.subscription, d.epoch, d.number, d.piece, 0, d.origin_us, d.disk_us, d.feeder_us)
    return frame(DELAY, body)


def select(wanted: Select) -> bytes:
    """Limits the session's batches to some columns."""
    bitmap = sum(1 << number for number in wanted.selected)
    body = _SELECT.pack(wanted.columns, 0) + bitmap.to_bytes(-(-wanted.columns // 8), "little")
    return frame(SELECT, body)


def selected(answer: Selected) -> bytes:
    """The answer to SELECT."""
    return frame(SELECTED, _SELECTED.pack(answer.largest_batch, answer.view_tag))


def ping(opaque: int) -> bytes:
    """Asks the other side to answer, to check that it is alive."""
    return frame(PING, _U64.pack(opaque))


def pong(opaque: int) -> bytes:
    """Answers a PING with its number."""
    return frame(PONG, _U64.pack(opaque))


def bye() -> bytes:
    """Ends the session regularly."""
    return frame(BYE)


def check_prefix(length: int, kind: int, flags: int, reserved: int, limit: int) -> None:
    """Refuses the first 8 bytes of a frame before anything is allocated for it.

    `limit` is that of the length of frames other than BATCH. Raises `ProtocolError` for an unknown type, a length
    below the type's own bytes or above the limit, and bits that this version does not know. A BATCH's flags and
    reserved bytes, and a BATCH_REF's, are left to its checksum.
    """
    name = FRAME_NAMES.get(kind)
    if name is None:
        raise ProtocolError(f"unknown frame type {kind} (length {length})", "bad_frame")
    least = 8
    if kind == BATCH:
        least, limit = BATCH_HEADER_BYTES - 4, MAX_BATCH
    elif kind == BATCH_REF:
        least = BATCH_REF_BYTES - 4
    elif flags or reserved:
        raise ProtocolError(f"{name} frame has flags {flags:#x} and reserved bytes {reserved:#x}", "bad_frame")
    if not least <= length <= limit:
        raise ProtocolError(f"{name} frame declares length {length}, allowed are {least} to {limit}", "bad_frame")


def decode_hello(body: bytes) -> dict[str, Any]:
    """The JSON of a HELLO of this protocol version."""
    _check_version(body)
    return decode_json(HELLO, body[_HELLO.size :])


def _check_version(body: bytes) -> None:
    """Magic and version stay in their places in every version."""
    if len(body) < _HELLO.size:
        raise ProtocolError(f"HELLO of {len(body)} bytes is cut short", "bad_frame")
    magic, version, _ = _HELLO.unpack_from(body)
    if magic != MAGIC:
        raise ProtocolError(f"HELLO begins with {magic!r}, expected {MAGIC!r}: not a Stoker client", "bad_frame")
    if version != VERSION:
        raise ProtocolError(f"client speaks feed protocol {version}, this side {VERSION}", "unsupported_protocol")


def decode_json(kind: int, body: bytes) -> dict[str, Any]:
    """The JSON object that is the body of a WELCOME, LANE_MAP, STATS or ERROR."""
    try:
        values = json.loads(body.decode())
    except (ValueError, RecursionError) as e:
        raise ProtocolError(f"{FRAME_NAMES[kind]} frame is not JSON: {e}", "bad_frame") from e
    if not isinstance(values, dict):
        raise ProtocolError(f"{FRAME_NAMES[kind]} frame is not a JSON object", "bad_frame")
    return values


def _sized(kind: int, layout: struct.Struct, body: bytes) -> tuple[Any, ...]:
    if len(body) != layout.size:
        text = f"{FRAME_NAMES[kind]} frame has a body of {len(body)} bytes, expected {layout.size}"
        raise ProtocolError(text, "bad_frame")
    return layout.unpack(body)


def decode_subscribe(body: bytes) -> Subscribe:
    """Reads a SUBSCRIBE."""
    if len(body) < _SUBSCRIBE.size:
        raise ProtocolError(f"SUBSCRIBE of {len(body)} bytes is cut short", "bad_frame")
    subscription, epoch, first, stride, count, tail, flags, lanes = _SUBSCRIBE.unpack_from(body)
    if tail >= len(TAILS) or stride == 0 or len(body) != _SUBSCRIBE.size + 2 * lanes:
        raise ProtocolError(
            f"SUBSCRIBE with tail {tail}, stride {stride}, {lanes} lanes in {len(body)} bytes", "bad_frame"
        )
    if flags > 1 or (flags and count):
        raise ProtocolError(f"SUBSCRIBE with flags {flags:#x} and count {count}", "bad_frame")
    numbers = struct.unpack_from(f"<{lanes}H", body, _SUBSCRIBE.size)
    return Subscribe(subscription, epoch, first, stride, count, TAILS[tail], numbers, bool(flags))


def decode_grant(body: bytes) -> Grant:
    """Reads a GRANT."""
    subscription, _, through = _sized(GRANT, _GRANT, body)
    return Grant(subscription, through)


def decode_batch_header(header: bytes) -> BatchHeader:
    """Reads the first 80 bytes of a BATCH frame; checks nothing but their length."""
    if len(header) < BATCH_HEADER_BYTES:
        raise ProtocolError(f"BATCH header of {len(header)} bytes is cut short", "bad_frame")
    length, _, flags, _, *fields, _, crc = _BATCH.unpack_from(header)
    return BatchHeader(*(length, flags, *fields, crc))


def decode_ack(body: bytes) -> Ack:
    """Reads an ACK."""
    if len(body) < _ACK.size:
        raise ProtocolError(f"ACK of {len(body)} bytes is cut short", "bad_frame")
    subscription, epoch, count, _ = _ACK.unpack_from(body)
    if count > MAX_ACK_ENTRIES or len(body) != _ACK.size + count * ACK_ENTRY_BYTES:
        raise ProtocolError(f"ACK of {count} entries in {len(body)} bytes", "bad_frame")
    entries = tuple(AckEntry(*entry) for entry in _ACK_ENTRY.iter_unpack(body[_ACK.size :]))
    return Ack(subscription, epoch, entries)


def decode_nack(body: bytes) -> Nack:
    """Reads a NACK."""
    subscription, epoch, number, piece, _, crc = _sized(NACK, _NACK, body)
    return Nack(subscription, epoch, number, piece, crc)


def decode_epoch_end(body: bytes) -> EpochEnd:
    """Reads an EPOCH_END."""
    return EpochEnd(*_sized(EPOCH_END, _EPOCH_END, body))


def decode_delay(body: bytes) -> Delay:
    """Reads a DELAY."""
    subscription, epoch, number, piece, zero, *spent = _sized(DELAY, _DELAY, body)
    if zero:
        raise ProtocolError("DELAY frame has reserved bytes set", "bad_frame")
    return Delay(subscription, epoch, number, piece, *spent)


def decode_select(body: bytes) -> Select:
    """Reads a SELECT."""
    if len(body) <= _SELECT.size:
        raise ProtocolError(f"SELECT frame of {len(body)} bytes is cut short", "bad_frame")
    columns, zero = _SELECT.unpack_from(body)
    bitmap = int.from_bytes(body[_SELECT.size :], "little")
    if zero or len(body) != _SELECT.size + -(-columns // 8) or not bitmap or bitmap >> columns:
        raise ProtocolError(f"SELECT frame of {columns} columns in {len(body)} bytes", "bad_frame")
    return Select(columns, tuple(number for number in range(columns) if bitmap >> number & 1))


def decode_selected(body: bytes) -> Selected:
    """Reads a SELECTED."""
    answer = Selected(*_sized(SELECTED, _SELECTED, body))
    if answer.largest_batch >= 1 << 63:
        raise ProtocolError(f"SELECTED frame with largest_batch {answer.largest_batch}", "bad_frame")
    return answer


def decode_file(body: bytes) -> HandedFile:
    """Reads a FILE."""
    if len(body) <= _FILE.size:
        raise ProtocolError(f"FILE frame of {len(body)} bytes is cut short", "bad_frame")
    file, path_bytes, device, inode, length = _FILE.unpack_from(body)
    try:
        path = body[_FILE.size :].decode()
    except UnicodeDecodeError as e:
        raise ProtocolError(f"FILE frame names a path that is not text: {e}", "bad_frame") from e
    if len(body) != _FILE.size + path_bytes or length >= 1 << 63 or not path.startswith("/") or "\0" in path:
        raise ProtocolError(f"FILE frame of file {file}, {length} bytes, {path[:200]!r}", "bad_frame")
    return HandedFile(file, device, inode, length, path)


def unpack_batch_ref(frame: bytes, limit: int) -> tuple[int, int, int]:
    """(message bytes, inline bytes, slices) of a whole BATCH_REF frame.

    Raises `ProtocolError` unless they fit the frame, and its message a BATCH frame of at most `limit`.
    """
    message, inline, slices, zero = _REF.unpack_from(frame, BATCH_HEADER_BYTES)
    if (
        zero
        or len(frame) != BATCH_REF_BYTES + inline + SLICE_BYTES * slices
        or not inline <= message <= limit - BATCH_HEADER_BYTES + 4
        or message % BATCH_ALIGNMENT
    ):
        raise ProtocolError(
            f"BATCH_REF frame of {len(frame)} bytes: {message} bytes of message, {inline} here, {slices} slices",
            "bad_frame",
        )
    return message, inline, slices


def decode_u64(kind: int, body: bytes) -> int:
    """The number in a DURABLE, PING or PONG."""
    (value,) = _sized(kind, _U64, body)
    return int(value)


def require_keys(kind: int, values: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raises `ProtocolError` if a JSON frame lacks required keys."""
    missing = [key for key in keys if key not in values]
    if missing:
        raise ProtocolError(f"{FRAME_NAMES[kind]} frame lacks {', '.join(missing)}", "bad_frame")
