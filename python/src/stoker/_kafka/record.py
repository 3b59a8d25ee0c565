"""Records of a topic that a feed was written to (docs/formats/kafka.md). Pure: no Kafka client."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format import crc as crc_library
from stoker._format.requires import check_requires
from stoker._source.batch_source import StreamInfo
from stoker.errors import CorruptDataError, FormatTooNewError, StokerError

FORMAT = 2
"""1: records hold batches; 2: samples."""
BEGIN, BATCH, END = 0, 1, 2
_KINDS = {b"epoch-begin": BEGIN, b"batch": BATCH, b"epoch-end": END}
_LARGE = ("version", "epoch", "batch")
_SMALL = ("lane", "piece", "pieces", "part", "parts", "rows", "skipped")
_NAMES = ("format", "kind", "fingerprint", *_LARGE, *_SMALL)
_NUMBER = re.compile(rb"0|[1-9][0-9]{0,18}")
_HEX = re.compile(rb"[0-9a-f]+")
_END_BYTES = 8


class Position(NamedTuple):
    """The place of a record in its partition; ascends in each, but for records that a restarted feed writes again."""

    epoch: int
    kind: int
    batch: int = 0
    part: int = 0

    def __str__(self) -> str:
        if self.kind == BATCH:
            return f"epoch {self.epoch} batch {self.batch} part {self.part}"
        return f"{'beginning' if self.kind == BEGIN else 'end'} of epoch {self.epoch}"


class RecordHeader(NamedTuple):
    """What a record says of itself."""

    kind: int
    fingerprint: str
    version: int
    epoch: int
    batch: int
    lane: int
    piece: int
    pieces: int
    part: int
    parts: int
    rows: int
    skipped: int

    @property
    def position(self) -> Position:
        """Its place in its partition."""
        return Position(self.epoch, self.kind, self.batch, self.part)


def read_header(headers: Iterable[tuple[str, bytes]] | None, value: bytes | None, where: str) -> RecordHeader:
    """Reads the headers of a record and checks them and, unless it is None, the value.

    Raises `CorruptDataError`, `FormatTooNewError`, or `StokerError` for a record of something else, naming `where`.
    """
    found: dict[str, bytes] = {name[7:]: text for name, text in headers or () if name.startswith("stoker.")}
    if "format" not in found:
        raise StokerError(
            f"{where} is not a record of a Stoker feed: it has no header stoker.format; is this the right topic?"
        )
    covered = (*_NAMES, "row") if found["format"] == b"2" else _NAMES
    missing = [name for name in (*covered, "crc32c") if found.get(name) is None]
    if missing:
        raise _corrupt(where, f"header stoker.{missing[0]} is missing")
    if found["format"] not in (b"1", b"2"):
        if _NUMBER.fullmatch(found["format"]):
            raise FormatTooNewError(
                f"{where} has format version {found['format'].decode()}; this package reads versions up to {FORMAT}; "
                "update it"
            )
        raise _corrupt(where, f"header stoker.format is {found['format']!r}")
    kind = _KINDS.get(found["kind"])
    if kind is None:
        raise _corrupt(where, f"header stoker.kind is {found['kind']!r}")
    if len(found["fingerprint"]) != 32 or not _HEX.fullmatch(found["fingerprint"]):
        raise _corrupt(where, f"header stoker.fingerprint is {found['fingerprint']!r}")
    numbers = []
    for names, limit in ((_LARGE, 1 << 63), (_SMALL, 1 << 31)):
        for name in names:
            text = found[name]
            number = int(text) if _NUMBER.fullmatch(text) else limit
            if number >= limit:
                raise _corrupt(where, f"header stoker.{name} is {text!r}")
            numbers.append(number)
    header = RecordHeader(kind, found["fingerprint"].decode(), *numbers)
    if header.piece >= header.pieces or header.part >= header.parts or header.version < 1:
        raise _corrupt(where, f"piece {header.piece} of {header.pieces}, part {header.part} of {header.parts}")
    if kind != BATCH and (header.batch, header.rows, header.skipped, header.pieces, header.parts) != (0, 0, 0, 1, 1):
        raise _corrupt(where, "a control record has a batch, rows or parts")
    if value is not None:
        lines = b"".join(b"stoker.%s=%s\n" % (name.encode(), found[name]) for name in covered)
        crc = b"%08x" % crc_library.extend(crc_library.value(lines), value)
        if crc != found["crc32c"]:
            raise _corrupt(
                where,
                f"CRC32C of headers and value: expected {found['crc32c'].decode('latin-1')}, found {crc.decode()}",
            )
    return header


def _corrupt(where: str, what: str) -> CorruptDataError:
    return CorruptDataError(
        f"{where} is corrupt: {what}; something between the feed and this reader has changed the record: "
        "feed the epoch again into a new topic"
    )


def message_of(value: bytes, where: str) -> npt.NDArray[np.uint8]:
    """The record batch message in the value of a batch record; read-only."""
    data = np.frombuffer(value, np.uint8)
    start = 8 + int.from_bytes(value[4:8], "little") if len(value) >= 8 else 0
    if value[:4] != b"\xff\xff\xff\xff" or start % 64 or start > len(value) - _END_BYTES:
        raise _corrupt(where, "the value is not an Arrow stream")
    return data[start : len(value) - _END_BYTES]


class TopicInfo(NamedTuple):
    """What control records say of the feed."""

    info: StreamInfo
    feed_name: str
    max_record_bytes: int
    samples: bool = False
    """Whether a record holds a sample instead of a batch."""
    schema_id: int | None = None
    """What a registry calls the schema of samples."""


def read_info(value: bytes, where: str, run: int) -> TopicInfo:
    """Reads the value of a control record; `CorruptDataError` if it is malformed, `FormatTooNewError` if newer."""
    try:
        values: Mapping[str, Any] = json.loads(value)
        check_requires(values, where)
        info = StreamInfo.from_json(values, where, run)
        if sum(info.lane_rows) != info.samples or -(-info.samples // info.order.batch_size) != info.batches:
            raise ValueError(f"{sum(info.lane_rows)} rows in lanes, {info.samples} samples, {info.batches} batches")
        held = values.get("values") or {"format": "arrow"}
        if held["format"] not in ("arrow", "avro"):
            raise ValueError(f"values of format {held['format']!r}")
        schema_id = held.get("schema_id")
        return TopicInfo(
            info,
            str(values["feed"]["name"]),
            int(values["max_record_bytes"]),
            held["format"] == "avro",
            None if schema_id is None else int(schema_id),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise _corrupt(where, f"the description of the feed: {type(e).__name__}: {e}") from e


def why_gone(begin: int) -> str:
    """Why a partition does not have what comes before its first record, by the offset that it begins at."""
    if begin == 0:
        return (
            "nothing was ever deleted from it, so the topic was recreated while its feed wrote: feed into a new topic"
        )
    return (
        "the topic's retention.ms or retention.bytes is too short for this trainer's position, or the topic was "
        "recreated"
    )
