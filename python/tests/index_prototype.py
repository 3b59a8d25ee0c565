"""Writes a run of the sample index straight from docs/formats/index.md; shares no code with the package's reader."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import google_crc32c

from chunk_prototype import closing, column, message, opening, pad64

COLUMNS = [
    ("key", "utf8", False),
    ("ordinal", "int32", False),
    ("row", "int32", False),
    ("length", "int32", False),
    ("crc32c", "uint32", False),
]
MASK = (1 << 64) - 1

Row = tuple[bytes, int, int, int, int]
"""Key, ordinal, row, length, checksum."""


def key_hash(key: bytes) -> int:
    def mix(z: int) -> int:
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    golden = 0x9E3779B97F4A7C15
    h = mix(golden * (len(key) + 1) & MASK)
    for at in range(0, len(key), 8):
        h = mix(h ^ int.from_bytes(key[at : at + 8], "little")) + golden & MASK
    return mix(h) >> 32


def crc(data: bytes) -> int:
    return int(google_crc32c.value(data))


def hash_table(firsts: Sequence[tuple[int, int]]) -> bytes:
    """The lines for (hash, row) of each key."""
    buckets = max(1, -(-5 * len(firsts) // 48))
    lines: list[list[tuple[int, int]]] = [[] for _ in range(buckets)]
    continued = set()
    current = 0
    for h, row in sorted(firsts):
        current = max(current, h * buckets >> 32)
        if len(lines[current]) == 12:
            continued.add(current)
            current += 1
            if current == len(lines):
                lines.append([])
        lines[current].append((h, row))
    data = b"\xff\xff\xff\xff" + bytes(60)
    for n, line in enumerate(lines):
        rows = b"".join(struct.pack("<I", row) for _, row in line).ljust(48, b"\0")
        data += rows + bytes(h & 255 for h, _ in line).ljust(12, b"\0")
        data += bytes([len(line), n in continued, 0, 0])
    return data


def run(dataset: str, first: int, last: int, chunks: int, rows: Sequence[Row]) -> bytes:
    """A run with at most 8192 rows."""
    assert len(rows) <= 8192
    rows = sorted(rows, key=lambda row: (row[0], -row[1]))
    metadata = {"stoker.format": "1", "stoker.dataset": dataset, "stoker.first": str(first), "stoker.last": str(last)}
    metadata["stoker.chunks"] = f"{chunks:08x}"
    start = opening(COLUMNS, metadata)
    texts = [row[0].decode() for row in rows]
    parts = [column("utf8", texts, [].index)]
    for n, (_, kind, _) in enumerate(COLUMNS[1:], 1):
        parts.append(column(kind, [row[n] for row in rows], [].index))
    head, before, after = message(len(rows), parts, [True, False, False, False, False])
    firsts = [(key_hash(key), n) for n, (key, *_) in enumerate(rows) if n == 0 or rows[n - 1][0] != key]
    table = hash_table(firsts)
    blocks = [table[at : at + 65536] for at in range(0, len(table), 65536)]
    sums = pad64(b"".join(struct.pack("<I", crc(part)) for part in (start, head + before + after, *blocks)))
    footer = {
        "stoker.self": "stoker.crc32c=00000000",
        "stoker.rows": str(len(rows)),
        "stoker.keys": str(len(firsts)),
        "stoker.lines": str(len(table) // 64 - 1),
        "stoker.checksums_crc32c": f"{crc(sums):08x}",
    }
    tail = closing(COLUMNS, metadata, [], (len(start), len(head), len(before + after)), footer)[8:]
    tail = tail.replace(b"stoker.crc32c=00000000", b"stoker.crc32c=%08x" % crc(tail))
    return start + head + before + after + table + sums + tail
