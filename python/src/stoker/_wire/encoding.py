"""Feed protocol 1: encodes the frames that a client sends, and the frames that the feeder of `stoker.testing` sends."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from stoker._format.checksum import crc32c
from stoker._order.spec import TAILS
from stoker._wire import protocol as p

_WITHOUT_CHECKSUM: Final = (p.BATCH, p.BATCH_REF)
"""Frames without a checksum at their end."""

pack_ack_entry = p.ACK_ENTRY_LAYOUT.pack
"""(number, piece, flags, crc, rows, skipped, source_rows, source_crc) to an ACK entry."""


def frame(kind: int, body: bytes = b"", flags: int = 0) -> bytes:
    """Encodes a whole frame."""
    if kind in _WITHOUT_CHECKSUM:
        return p.PREFIX_LAYOUT.pack(len(body) + 4, kind, flags, 0) + body
    return seal(p.PREFIX_LAYOUT.pack(len(body) + 8, kind, flags, 0) + body)


def seal(unsealed: bytes) -> bytes:
    """Appends the checksum to a frame whose length already includes it."""
    return unsealed + p.U32.pack(crc32c(unsealed[4:]))


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
    local_files: int = 0,
    local_reads_from: int = 0,
    epoch: int | None = None,
    version: int | None = None,
    joined: int = 0,
    sent: int = 0,
    look: bool = False,
    instance: Mapping[str, Any] | None = None,
    launch: Mapping[str, Any] | None = None,
    skip: Sequence[tuple[int, int, int]] = (),
) -> bytes:
    """The client's first frame.

    `joined`: the run that an earlier WELCOME named, 0 before the first. `sent`: when the client sends this frame,
    in nanoseconds of the machine's monotonic clock; 0 if it does not say. `look`: connect without a place in the group.
    `skip`: ranges of batches that the client leaves out, as (epoch, first, last).
    `instance` and `launch`: the process that opened the client, and the launcher that started it.

    `epoch`: the epoch that the client begins or resumes. `version`: the dataset version that its state has read of that
    epoch. `local_files`: the number of files that the client would keep open, 0 for none. `local_reads_from`: the least
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
    if local_files:
        values["local_files"] = local_files
        if local_reads_from:
            values["local_reads_from"] = local_reads_from
    values |= {name: value for name, value in (("epoch", epoch), ("version", version)) if value is not None}
    said: tuple[tuple[str, Any], ...] = (
        ("joined", joined),
        ("sent", sent),
        ("look", look),
        ("instance", instance),
        ("launch", launch),
        ("skip", [list(each) for each in skip]),
    )
    values |= {name: value for name, value in said if value}
    return frame(p.HELLO, p.HELLO_LAYOUT.pack(p.MAGIC, p.VERSION, 0) + _json(values))


def welcome(values: Mapping[str, Any]) -> bytes:
    """The server's answer to HELLO."""
    return frame(p.WELCOME, _json(values))


def lane_map(values: Mapping[str, Any]) -> bytes:
    """Which addresses serve which lanes."""
    return frame(p.LANE_MAP, _json(values))


def error(code: str, message: str) -> bytes:
    """The last frame before its sender closes."""
    return frame(p.ERROR, _json({"code": code, "message": message}))


def subscribe(wanted: p.Subscribe) -> bytes:
    """Replaces the session's earlier subscription."""
    head = p.SUBSCRIBE_LAYOUT.pack(
        wanted.subscription,
        wanted.epoch,
        wanted.first,
        wanted.stride,
        wanted.count,
        TAILS.index(wanted.tail),
        int(wanted.empty_share),
        len(wanted.lanes),
        p.NO_BEGIN if wanted.begin is None else wanted.begin,
    )
    return frame(p.SUBSCRIBE, head + struct.pack(f"<{len(wanted.lanes)}H", *wanted.lanes))


def grant(subscription: int, through: int) -> bytes:
    """Leave to send up to and including virtual number `through`."""
    return frame(p.GRANT, p.GRANT_LAYOUT.pack(subscription, 0, through))


def batch_header(header: p.BatchHeader) -> bytes:
    """The 80 bytes before a message."""
    return p.BATCH_LAYOUT.pack(
        header.length,
        p.BATCH,
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


def batch_ref(header: p.BatchHeader, message: int, inline: bytes, slices: Sequence[tuple[int, int, int]]) -> bytes:
    """A piece of `message` bytes by reference: its first bytes, then (file, length, offset) of the others.

    The header's length is not used. Its checksum is the checksum of the BATCH frame.
    """
    body = p.BATCH_REF_LAYOUT.pack(message, len(inline), len(slices), 0) + inline
    body += b"".join(struct.pack("<IIQ", *part) for part in slices)
    head = bytearray(batch_header(header))
    p.PREFIX_LAYOUT.pack_into(head, 0, len(head) + len(body) - 4, p.BATCH_REF, header.flags, 0)
    return bytes(head) + body


def file_announcement(file: p.FileAnnouncement) -> bytes:
    """Announces a file."""
    path = file.path.encode()
    return frame(p.FILE, p.FILE_LAYOUT.pack(file.file, len(path), file.device, file.inode, file.length) + path)


def release(references: int) -> bytes:
    """Tells the feeder that `references` BATCH_REF frames of this session have been read."""
    return frame(p.RELEASE, p.U64.pack(references))


def ack(subscription: int, epoch: int, entries: bytes) -> bytes:
    """Receipts; `entries` are packed by `pack_ack_entry`, at most 256."""
    return frame(p.ACK, p.ACK_LAYOUT.pack(subscription, epoch, len(entries) // p.ACK_ENTRY_BYTES, 0) + entries)


def durable(count: int) -> bytes:
    """How many ACK entries of this session are durable so far."""
    return frame(p.DURABLE, p.U64.pack(count))


def nack(refused: p.Nack) -> bytes:
    """Asks for a piece to be checked and sent again."""
    body = p.NACK_LAYOUT.pack(refused.subscription, refused.epoch, refused.number, refused.piece, 0, refused.crc)
    return frame(p.NACK, body)


def epoch_end(end: p.EpochEnd) -> bytes:
    """The end of a subscription."""
    return frame(p.EPOCH_END, p.EPOCH_END_LAYOUT.pack(end.subscription, end.epoch, end.batches, end.rows))


def stats(values: Mapping[str, Any]) -> bytes:
    """Reports the trainer's statistics."""
    return frame(p.STATS, _json(values))


def delay(spent: p.Delay) -> bytes:
    """Reports how the time of a slow piece was spent."""
    d = spent
    body = p.DELAY_LAYOUT.pack(d.subscription, d.epoch, d.number, d.piece, 0, d.origin_us, d.disk_us, d.feeder_us)
    return frame(p.DELAY, body)


def select(wanted: p.Select) -> bytes:
    """Limits the session's batches to some columns."""
    bitmap = sum(1 << number for number in wanted.selected)
    body = p.SELECT_LAYOUT.pack(wanted.columns, 0) + bitmap.to_bytes(-(-wanted.columns // 8), "little")
    return frame(p.SELECT, body)


def selected(answer: p.Selected) -> bytes:
    """The answer to SELECT."""
    return frame(p.SELECTED, p.SELECTED_LAYOUT.pack(answer.largest_batch, answer.view_tag))


def get(wanted: p.Get) -> bytes:
    """Requests samples by key. Raises `UnicodeEncodeError` for a key with unpaired surrogates."""
    texts = [key.encode() for key in wanted.keys]
    body = p.GET_LAYOUT.pack(wanted.request, len(texts), int(wanted.stat_only), 0)
    return frame(p.GET, body + b"".join(part for text in texts for part in (p.U32.pack(len(text)), text)))


def samples(answer: p.Samples) -> bytes:
    """Answers some keys of a GET."""
    problems = [item.problem.encode() for item in answer.items]
    flags, message = int(answer.last), bytes(answer.message)
    body = p.SAMPLES_LAYOUT.pack(answer.request, len(problems), answer.version, flags, len(message))
    body += b"".join(
        p.ITEM_LAYOUT.pack(*item[:-1], len(problem)) for item, problem in zip(answer.items, problems, strict=True)
    )
    return frame(p.SAMPLES, body + b"".join(problems) + message)


def list_samples(wanted: p.List) -> bytes:
    """Requests a part of a listing."""
    texts = [text.encode() for text in (wanted.prefix, wanted.delimiter, wanted.after)]
    body = p.LIST_LAYOUT.pack(wanted.request, wanted.limit, *map(len, texts), 0)
    return frame(p.LIST, body + b"".join(texts))


def entries(answer: p.Entries) -> bytes:
    """Answers a LIST."""
    names = [entry.name.encode() for entry in answer.entries]
    body = p.ENTRIES_LAYOUT.pack(answer.request, len(names), answer.version, int(answer.more), 0)
    body += b"".join(
        p.ENTRY_LAYOUT.pack(len(name), *map(int, entry[1:]), 0)
        for entry, name in zip(answer.entries, names, strict=True)
    )
    return frame(p.ENTRIES, body + b"".join(names))


def ping(opaque: int) -> bytes:
    """Asks the other side to answer, to check that it is alive."""
    return frame(p.PING, p.U64.pack(opaque))


def pong(opaque: int) -> bytes:
    """Answers a PING with its number."""
    return frame(p.PONG, p.U64.pack(opaque))


def bye() -> bytes:
    """Ends the session regularly."""
    return frame(p.BYE)
