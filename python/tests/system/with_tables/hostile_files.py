"""Files that declare more than they have, decompress to more than fits, are nested too deeply, cut off or corrupt."""

from __future__ import annotations

import gzip
import struct
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import fastavro
import google_crc32c
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

MIB = 1 << 20
BOMB = 200
"""MiB, several times the heap of the command."""

RECORD = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "bytes"}]}


def _rows() -> pa.Table:
    return pa.table({"id": list(range(500)), "data": [bytes([i % 256]) * 2000 for i in range(500)]})


def _zeros() -> pa.Table:
    return pa.table({"a": pa.array([bytes(BOMB // 10 * MIB)] * 10)})


def _nested() -> pa.Table:
    kind: pa.DataType = pa.int32()
    for _ in range(60):
        kind = pa.struct([("f", kind)])
    return pa.table({"a": pa.array([None], kind)})


def _cut(file: Path, length: int) -> None:
    file.write_bytes(file.read_bytes()[:length])


def _arrow(file: Path, table: pa.Table, compression: str | None = None) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table)


def parquet_cut(file: Path) -> None:
    pq.write_table(_rows(), file)
    _cut(file, file.stat().st_size - 500)


def parquet_page(file: Path) -> None:
    pq.write_table(_rows(), file, compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 255
    file.write_bytes(content)


def parquet_bomb(file: Path) -> None:
    pq.write_table(_zeros(), file, compression="zstd", use_dictionary=False)


def arrow_buffer(file: Path) -> None:
    _arrow(file, _rows(), "zstd")
    content = bytearray(file.read_bytes())
    frame = content.index(b"\x28\xb5\x2f\xfd")
    content[frame - 8 : frame] = struct.pack("<q", 1 << 40)
    file.write_bytes(content)


def arrow_bomb(file: Path) -> None:
    _arrow(file, _zeros(), "zstd")


def arrow_nested(file: Path) -> None:
    _arrow(file, _nested())


def _varint(number: int) -> bytes:
    left, out = number << 1, b""
    while left > 0x7F:
        out += bytes([left & 0x7F | 0x80])
        left >>= 7
    return out + bytes([left])


def avro_length(file: Path) -> None:
    with file.open("wb") as out:
        fastavro.writer(out, fastavro.parse_schema(RECORD), [{"a": b"x" * 40}])
    content = file.read_bytes()
    sync = content[-16:]
    block = _varint(1 << 50) + b"x" * 40
    head = content[: content.index(sync) + 16]
    file.write_bytes(head + _varint(1) + _varint(len(block)) + block + sync)


def avro_bomb(file: Path) -> None:
    with file.open("wb") as out:
        fastavro.writer(out, fastavro.parse_schema(RECORD), [{"a": bytes(BOMB * MIB)}], codec="deflate")


def _compressed(file: Path, parts: Iterator[bytes]) -> None:
    with gzip.open(file, "wb", compresslevel=1) as out:
        for part in parts:
            out.write(part)


def json_line(file: Path) -> None:
    _compressed(file, (part for part in (b'{"a":"', *[b"x" * MIB] * BOMB, b'"}\n')))


def json_cut(file: Path) -> None:
    _compressed(file, iter([b'{"a":"b"}\n' * 100_000]))
    _cut(file, file.stat().st_size // 2)


def json_nested(file: Path) -> None:
    file.write_bytes(b'{"a":"b"}\n{"a":' + b"[" * 1000 + b"]" * 1000 + b"}\n")


def tar_bomb(file: Path) -> None:
    member = tarfile.TarInfo("a.jpg")
    member.size = BOMB * MIB
    _compressed(file, (part for part in (member.tobuf(), *[bytes(MIB)] * BOMB, bytes(1024))))


def _masked(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def tfrecord_bomb(file: Path) -> None:
    length = struct.pack("<Q", BOMB * MIB)
    _compressed(file, (part for part in (length + _masked(length), *[bytes(MIB)] * BOMB, bytes(4))))


FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "cut.parquet": (parquet_cut, "it was cut off"),
    "page.parquet": (parquet_page, "the checksum of a page does not match"),
    "bomb.parquet": (parquet_bomb, "row group 0 needs"),
    "buffer.arrow": (arrow_buffer, "a buffer declares 1099511627776 bytes"),
    "bomb.arrow": (arrow_bomb, "record batch 0 needs"),
    "nested.arrow": (arrow_nested, "nested deeper than 32 levels"),
    "length.avro": (avro_length, "a value has 1125899906842624 bytes"),
    "bomb.avro": (avro_bomb, "its deflate data has more than"),
    "line.jsonl.gz": (json_line, "is longer than"),
    "cut.jsonl.gz": (json_cut, "gzip data ends too early"),
    "nested.jsonl": (json_nested, "nested"),
    "bomb.tar.gz": (tar_bomb, "its sample needs at least 209715200 bytes"),
    "bomb.tfrecord.gz": (tfrecord_bomb, "needs 209715200 bytes"),
}
"""Name -> what writes the file, and a part of the error."""
