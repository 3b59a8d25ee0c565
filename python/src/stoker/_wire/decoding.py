"""Feed protocol 1: checks and decodes the frames that a client or the feeder of `stoker.testing` receives."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stoker._format.checksum import crc32c
from stoker._format.crc import extend
from stoker._order.spec import TAILS
from stoker._wire import protocol as p
from stoker.errors import ProtocolError

unpack_prefix = p.PREFIX_LAYOUT.unpack_from
"""(length, type, flags, reserved) of a frame's first 8 bytes."""

unpack_batch_header = p.BATCH_LAYOUT.unpack_from
"""The fields of `BatchHeader` as a tuple, preceded by (length, type) and with the reserved ones in place:
length, type, flags, reserved, feed_tag, fingerprint_tag, epoch, lane, number, piece, pieces, rows, skipped,
source_rows, view_tag, source_crc, subscription, reserved, crc."""


def checked_body(kind: int, content: bytes | memoryview) -> Any:
    """The body of a frame without flags, of which `content` is everything after the first 8 bytes. A view of a view.

    Raises `ProtocolError` if the checksum does not match.
    """
    if kind == p.HELLO:
        _check_version(bytes(content))
    body = content[:-4]
    found = extend(
        crc32c(p.PREFIX_LAYOUT.pack(0, kind, 0, 0)[4:]),
        body if isinstance(body, bytes) else np.frombuffer(body, np.uint8),
    )
    sent = int.from_bytes(content[-4:], "little")
    if found != sent:
        text = f"the bytes have CRC-32C {found:08x}, expected {sent:08x}: they were changed on the way"
        raise ProtocolError(f"{p.FRAME_NAMES[kind]}: {text}", "bad_frame")
    return body


def check_prefix(length: int, kind: int, flags: int, reserved: int, limit: int) -> None:
    """Refuses the first 8 bytes of a frame before anything is allocated for it.

    `limit` applies to the length of frames other than BATCH and SAMPLES, which the caller limits further. Raises
    `ProtocolError` for an unknown type, for a length below the type's own bytes or above the limit, and for bits that
    this version does not know. The checksum of a BATCH or BATCH_REF covers its flags and reserved bytes, so they are
    not checked here.
    """
    name = p.FRAME_NAMES.get(kind)
    if name is None:
        raise ProtocolError(f"unknown frame type {kind} (length {length})", "bad_frame")
    least = 8
    if kind == p.BATCH:
        least, limit = p.BATCH_HEADER_BYTES - 4, p.MAX_BATCH
    elif kind == p.BATCH_REF:
        least = p.BATCH_REF_BYTES - 4
    elif kind == p.SAMPLES:
        limit = p.MAX_BATCH
    if kind not in (p.BATCH, p.BATCH_REF) and (flags or reserved):
        raise ProtocolError(f"{name} frame has flags {flags:#x} and reserved bytes {reserved:#x}", "bad_frame")
    if not least <= length <= limit:
        raise ProtocolError(f"{name} frame declares length {length}, allowed are {least} to {limit}", "bad_frame")


def decode_hello(body: bytes) -> dict[str, Any]:
    """The JSON of a HELLO of this protocol version."""
    _check_version(body)
    return decode_json(p.HELLO, body[p.HELLO_LAYOUT.size :])


def _check_version(body: bytes) -> None:
    """Magic and version stay in their places in every version."""
    if len(body) < p.HELLO_LAYOUT.size:
        raise ProtocolError(f"HELLO of {len(body)} bytes is cut short", "bad_frame")
    magic, version, _ = p.HELLO_LAYOUT.unpack_from(body)
    if magic != p.MAGIC:
        raise ProtocolError(f"HELLO begins with {magic!r}, expected {p.MAGIC!r}: not a Stoker client", "bad_frame")
    if version != p.VERSION:
        raise ProtocolError(f"client speaks feed protocol {version}, this side {p.VERSION}", "unsupported_protocol")


def decode_json(kind: int, body: bytes) -> dict[str, Any]:
    """The JSON object that is the body of a WELCOME, LANE_MAP, STATS or ERROR."""
    try:
        values = json.loads(body.decode())
    except (ValueError, RecursionError) as e:
        raise ProtocolError(f"{p.FRAME_NAMES[kind]} frame is not JSON: {e}", "bad_frame") from e
    if not isinstance(values, dict):
        raise ProtocolError(f"{p.FRAME_NAMES[kind]} frame is not a JSON object", "bad_frame")
    return values


def _sized(kind: int, layout: struct.Struct, body: bytes) -> tuple[Any, ...]:
    if len(body) != layout.size:
        text = f"{p.FRAME_NAMES[kind]} frame has a body of {len(body)} bytes, expected {layout.size}"
        raise ProtocolError(text, "bad_frame")
    return layout.unpack(body)


def decode_subscribe(body: bytes) -> p.Subscribe:
    """Reads a SUBSCRIBE."""
    if len(body) < p.SUBSCRIBE_LAYOUT.size:
        raise ProtocolError(f"SUBSCRIBE of {len(body)} bytes is cut short", "bad_frame")
    subscription, epoch, first, stride, count, tail, flags, lanes, begin = p.SUBSCRIBE_LAYOUT.unpack_from(body)
    if tail >= len(TAILS) or stride == 0 or len(body) != p.SUBSCRIBE_LAYOUT.size + 2 * lanes:
        raise ProtocolError(
            f"SUBSCRIBE with tail {tail}, stride {stride}, {lanes} lanes in {len(body)} bytes", "bad_frame"
        )
    if first < begin != p.NO_BEGIN:
        raise ProtocolError(f"SUBSCRIBE from {first} of a trainer that began at {begin}", "bad_frame")
    if flags > 1 or (flags and count):
        raise ProtocolError(f"SUBSCRIBE with flags {flags:#x} and count {count}", "bad_frame")
    numbers = struct.unpack_from(f"<{lanes}H", body, p.SUBSCRIBE_LAYOUT.size)
    began = None if begin == p.NO_BEGIN else begin
    return p.Subscribe(subscription, epoch, first, stride, count, TAILS[tail], numbers, bool(flags), began)


def decode_grant(body: bytes) -> p.Grant:
    """Reads a GRANT."""
    subscription, _, through = _sized(p.GRANT, p.GRANT_LAYOUT, body)
    return p.Grant(subscription, through)


def decode_batch_header(header: bytes) -> p.BatchHeader:
    """Reads the first 80 bytes of a BATCH frame; checks nothing but their length."""
    if len(header) < p.BATCH_HEADER_BYTES:
        raise ProtocolError(f"BATCH header of {len(header)} bytes is cut short", "bad_frame")
    length, _, flags, _, *fields, _, crc = p.BATCH_LAYOUT.unpack_from(header)
    return p.BatchHeader(*(length, flags, *fields, crc))


def decode_ack(body: bytes) -> p.Ack:
    """Reads an ACK."""
    if len(body) < p.ACK_LAYOUT.size:
        raise ProtocolError(f"ACK of {len(body)} bytes is cut short", "bad_frame")
    subscription, epoch, count, _ = p.ACK_LAYOUT.unpack_from(body)
    if count > p.MAX_ACK_ENTRIES or len(body) != p.ACK_LAYOUT.size + count * p.ACK_ENTRY_BYTES:
        raise ProtocolError(f"ACK of {count} entries in {len(body)} bytes", "bad_frame")
    entries = tuple(p.AckEntry(*entry) for entry in p.ACK_ENTRY_LAYOUT.iter_unpack(body[p.ACK_LAYOUT.size :]))
    return p.Ack(subscription, epoch, entries)


def decode_nack(body: bytes) -> p.Nack:
    """Reads a NACK."""
    subscription, epoch, number, piece, _, crc = _sized(p.NACK, p.NACK_LAYOUT, body)
    return p.Nack(subscription, epoch, number, piece, crc)


def decode_epoch_end(body: bytes) -> p.EpochEnd:
    """Reads an EPOCH_END."""
    return p.EpochEnd(*_sized(p.EPOCH_END, p.EPOCH_END_LAYOUT, body))


def decode_delay(body: bytes) -> p.Delay:
    """Reads a DELAY."""
    subscription, epoch, number, piece, zero, *spent = _sized(p.DELAY, p.DELAY_LAYOUT, body)
    if zero:
        raise ProtocolError("DELAY frame has reserved bytes set", "bad_frame")
    return p.Delay(subscription, epoch, number, piece, *spent)


def decode_select(body: bytes) -> p.Select:
    """Reads a SELECT."""
    if len(body) <= p.SELECT_LAYOUT.size:
        raise ProtocolError(f"SELECT frame of {len(body)} bytes is cut short", "bad_frame")
    columns, zero = p.SELECT_LAYOUT.unpack_from(body)
    bitmap = int.from_bytes(body[p.SELECT_LAYOUT.size :], "little")
    if zero or len(body) != p.SELECT_LAYOUT.size + -(-columns // 8) or not bitmap or bitmap >> columns:
        raise ProtocolError(f"SELECT frame of {columns} columns in {len(body)} bytes", "bad_frame")
    return p.Select(columns, tuple(number for number in range(columns) if bitmap >> number & 1))


def decode_selected(body: bytes) -> p.Selected:
    """Reads a SELECTED."""
    answer = p.Selected(*_sized(p.SELECTED, p.SELECTED_LAYOUT, body))
    if answer.largest_batch >= 1 << 63:
        raise ProtocolError(f"SELECTED frame with largest_batch {answer.largest_batch}", "bad_frame")
    return answer


def decode_file(body: bytes) -> p.FileAnnouncement:
    """Reads a FILE."""
    if len(body) <= p.FILE_LAYOUT.size:
        raise ProtocolError(f"FILE frame of {len(body)} bytes is cut short", "bad_frame")
    file, path_bytes, device, inode, length = p.FILE_LAYOUT.unpack_from(body)
    try:
        path = body[p.FILE_LAYOUT.size :].decode()
    except UnicodeDecodeError as e:
        raise ProtocolError(f"FILE frame names a path that is not text: {e}", "bad_frame") from e
    if len(body) != p.FILE_LAYOUT.size + path_bytes or length >= 1 << 63 or not path.startswith("/") or "\0" in path:
        raise ProtocolError(f"FILE frame of file {file}, {length} bytes, {path[:200]!r}", "bad_frame")
    return p.FileAnnouncement(file, device, inode, length, path)


def unpack_batch_ref(frame: bytes, limit: int) -> tuple[int, int, int]:
    """(message bytes, inline bytes, slices) of a whole BATCH_REF frame.

    Raises `ProtocolError` unless they fit the frame, and its message a BATCH frame of at most `limit`.
    """
    message, inline, slices, zero = p.BATCH_REF_LAYOUT.unpack_from(frame, p.BATCH_HEADER_BYTES)
    if (
        zero
        or len(frame) != p.BATCH_REF_BYTES + inline + p.SLICE_BYTES * slices
        or not inline <= message <= limit - p.BATCH_HEADER_BYTES + 4
        or message % p.BATCH_ALIGNMENT
    ):
        raise ProtocolError(
            f"BATCH_REF frame of {len(frame)} bytes: {message} bytes of message, {inline} here, {slices} slices",
            "bad_frame",
        )
    return message, inline, slices


def decode_u64(kind: int, body: bytes) -> int:
    """The number in a DURABLE, PING or PONG."""
    (value,) = _sized(kind, p.U64, body)
    return int(value)


def require_keys(kind: int, values: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raises `ProtocolError` if a JSON frame lacks required keys."""
    missing = [key for key in keys if key not in values]
    if missing:
        raise ProtocolError(f"{p.FRAME_NAMES[kind]} frame lacks {', '.join(missing)}", "bad_frame")
