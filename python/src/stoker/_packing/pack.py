"""Makes chunk files: the canonical bytes of docs/formats/chunk.md from the columns of some rows."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stoker._format.canonical_json import compact
from stoker._format.checksum import RunningCrcs, crc32c, shift
from stoker._format.dictionaries import dictionary_batch, head_length
from stoker._format.fields import Field
from stoker._format.flatbuffer import ALIGNMENT, Block, chunk_schema, closing, opening
from stoker._format.footer import footer_metadata
from stoker._format.message import BODY_LIMIT, Column, MessageLayout, chunk_columns
from stoker._packing.segments import Bytes, Content, Segment, content
from stoker.errors import InvalidSampleError

MAX_VALUE = 1 << 30
"""No payload value is longer."""
_TAIL_ROOM = 1 << 20
KEY_FIELD = Field("_key", "utf8")
"""Stands for the key where a field is asked for; only its type counts."""


@dataclass(frozen=True)
class ChunkIdentity:
    """What a chunk says about itself."""

    dataset: str
    chunk: uuid.UUID
    ingest: str
    split: str
    created_ms: int


@dataclass(frozen=True)
class ChunkSummary:
    """What the log holds of a chunk."""

    id: str
    split: str
    rows: int
    length: int
    crc32c: int
    head_length: int
    head_crc32c: int
    largest_row: int

    def to_json(self) -> dict[str, Any]:
        """The same as a dict."""
        return asdict(self)


@dataclass(frozen=True)
class PackedChunk:
    """A chunk in memory."""

    summary: ChunkSummary
    classes: Mapping[str, Sequence[str]]
    """Names used, by categorical field."""
    buffers: list[Bytes]
    """The file, in order."""


def new_chunk_id(now_ms: int, rng: random.Random) -> uuid.UUID:
    """A UUIDv7."""
    bits = now_ms << 80 | 7 << 76 | rng.getrandbits(12) << 64 | 2 << 62 | rng.getrandbits(62)
    return uuid.UUID(int=bits)


def chunk_path(chunk: str) -> str:
    """Where a chunk lies in its dataset."""
    return f"chunks/{chunk[-2:]}/{chunk}.arrow"


def utc_text(ms: int) -> str:
    """A time as chunks and dataset.json have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03d}Z"


class ChunkFormat:
    """Packs the chunks of one dataset. Immutable; any thread."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = tuple(fields)
        self._small = [f for f in fields if not f.payload]
        self._payload = [f for f in fields if f.payload]
        self._layout = MessageLayout(chunk_columns(self.fields))
        self._columns = [Column.of(f) for f in fields]

    def pack(self, keys: Sequence[Segment], rows: Sequence[Sequence[Segment]], identity: ChunkIdentity) -> PackedChunk:
        """The chunk of these rows: segments of the key, and of each field in dataset order."""
        key = content(KEY_FIELD, self._layout.columns[0], keys)
        columns = [content(f, c, s) for f, c, s in zip(self.fields, self._columns, rows, strict=True)]
        small, payload = columns[: len(self._small)], columns[len(self._small) :]
        count = sum(s.rows for s in keys)
        for field, segments in zip(self.fields, rows, strict=True):
            own = sum(s.rows for s in segments)
            if own != count or any(_rows_in(s) != s.rows for s in segments):
                raise ValueError(
                    f"chunk {identity.chunk}: field {field.name!r} has {own} values for {count} keys; nothing is packed"
                )
        sums = [_sums(p, count) for p in payload]
        parts = [key, *small, *sums, *payload]
        schema, dictionaries = chunk_schema(self.fields), self._dictionaries(small)
        self._check_size(parts, sum(map(len, dictionaries)), identity, count)
        message, places, length = self._layout.pack(
            count,
            [p.sizes() for p in parts],
            (0, 0, count),
        )
        metadata = self._metadata(identity)
        first = opening(schema, metadata)
        blocks = []
        for batch in dictionaries:
            blocks.append(Block(len(first), head_length(), len(batch) - head_length()))
            first += batch
        body = self._layout.body_start
        end = len(first) + (places[-len(payload)].data if payload else length)
        head = bytearray(end)
        head[: len(first)] = first
        head[len(first) : len(first) + body] = message
        at = len(first)
        for index, (part, (v, o, d, i, b)) in enumerate(zip(parts, places, strict=True)):
            head[at + v : at + v + len(part.validity)] = part.validity
            head[at + o : at + o + len(part.offsets)] = part.offsets
            head[at + b : at + b + len(part.item_validity)] = part.item_validity
            head[at + i : at + i + len(part.item_offsets)] = part.item_offsets
            if index < len(parts) - len(payload):
                _fill(head, at + d, part.data)
        head_crc = crc32c(bytes(head))
        checksums = [*map(crc32c, dictionaries), crc32c(bytes(message)), *self._checksums(parts)]
        footer = footer_metadata(end, head_crc, checksums)
        tail = closing(schema, metadata, Block(len(first), body, length - body), footer, blocks)
        buffers: list[Bytes] = [bytes(head)]
        crc = head_crc
        for part in payload:
            assert part.crcs is not None
            buffers += part.data
            crc = shift(crc, part.data_bytes) ^ RunningCrcs(part.crcs, part.lengths).of(0, count)
            pad = -part.data_bytes % ALIGNMENT
            if pad:
                buffers.append(bytes(pad))
                crc = shift(crc, pad) ^ crc32c(bytes(pad))
        buffers.append(tail)
        crc = shift(crc, len(tail)) ^ crc32c(tail)
        sizes = sum(np.asarray(p.row_sizes) for p in (key, *columns))
        summary = ChunkSummary(
            str(identity.chunk),
            identity.split,
            count,
            len(first) + length + len(tail),
            crc,
            end,
            head_crc,
            int(np.max(sizes)),
        )
        classes = {f.name: c.classes or [] for f, c in zip(self.fields, columns, strict=True) if c.classes is not None}
        return PackedChunk(summary, classes, buffers)

    def frame_bytes(self) -> int:
        """What a chunk takes besides its rows, more or less."""
        identity = ChunkIdentity("d" * 36, uuid.UUID(int=0), "i" * 36, "s" * 8, 0)
        small = [Content(0, 0, b"", b"", [], 0, 0, np.zeros(0, np.int64), None, []) for _ in self._small]
        schema, metadata, dictionaries = chunk_schema(self.fields), self._metadata(identity), self._dictionaries(small)
        buffers = sum(c.buffers for c in self._layout.columns)
        footer = footer_metadata(10**6, 0, [0] * (len(dictionaries) + 1 + buffers - len(self._payload)))
        blocks = [Block(0, 0, 0)] * len(dictionaries)
        frame = len(opening(schema, metadata)) + len(closing(schema, metadata, Block(0, 0, 0), footer, blocks))
        frame += sum(map(len, dictionaries))
        return frame + self._layout.body_start + ALIGNMENT * buffers

    def _checksums(self, parts: Sequence[Content]) -> list[int]:
        """Returns the checksum of each buffer except payload data, in metadata order."""
        crcs = []
        for column, part in zip(self._layout.columns, parts, strict=True):
            crcs.append(crc32c(bytes(part.validity)))
            if column.has_offsets:
                crcs.append(crc32c(bytes(part.offsets)))
            if column.kind == "nested":
                crcs.append(crc32c(part.item_validity))
            if column.has_item_offsets:
                crcs.append(crc32c(part.item_offsets))
            if column.has_child or column.has_number_lists:
                crcs.append(0)  # the validity of the items, which is empty
            if not column.payload:
                crcs.append(crc32c(b"".join(part.data)))
        return crcs

    def _check_size(self, parts: Sequence[Content], dictionaries: int, identity: ChunkIdentity, rows: int) -> None:
        items = sum(len(p.item_offsets) + len(p.item_validity) for p in parts)
        body = dictionaries + items + sum(p.data_bytes + len(p.offsets) + len(p.validity) for p in parts)
        if body + _TAIL_ROOM >= BODY_LIMIT:
            raise InvalidSampleError(
                f"chunk {identity.chunk} would have {body} bytes in {rows} samples, the limit of a file is 2 GiB; "
                "split such samples into several"
            )

    def _dictionaries(self, small: Sequence[Content]) -> list[bytes]:
        """The dictionary batches, in the order of the columns."""
        numbered = enumerate(zip(self._small, small, strict=True), 1)
        return [dictionary_batch(n, part.classes or []) for n, (f, part) in numbered if f.type == "categorical"]

    def _metadata(self, identity: ChunkIdentity) -> dict[str, str]:
        return {
            "stoker.format": "1",
            "stoker.dataset": identity.dataset,
            "stoker.chunk": str(identity.chunk),
            "stoker.ingest": identity.ingest,
            "stoker.split": identity.split,
            "stoker.created": utc_text(identity.created_ms),
            "stoker.payload": compact([f.name for f in self._payload]),
        }


def _rows_in(segment: Segment) -> int:
    return len(segment.lengths) if segment.values is None else len(segment.values)


def _sums(part: Content, rows: int) -> Content:
    """The checksum column of a payload column."""
    assert part.crcs is not None
    data = part.crcs.astype("<u4").tobytes()
    return Content(0, rows, b"", b"", [data], len(data), 0, np.zeros(0, np.int64))


def _fill(target: bytearray, at: int, parts: Sequence[Bytes]) -> None:
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    target[at : at + len(data)] = data
