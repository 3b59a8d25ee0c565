"""Writes dataset.json and log entries, byte for byte as docs/formats/dataset.md has them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker._dataset.log import FORMAT, DatasetInfo, LogEntry
from stoker._format import crc as crc_library
from stoker._format.canonical_json import compact_upper, sorted_by_code_unit

_MARK = b"stoker.crc32c="
_ZEROS = _MARK + b"00000000"
_ADDED = ("rows", "length", "crc32c", "head_length", "head_crc32c", "largest_row")
_UPDATED = ("length", "crc32c", "largest_row")

SCHEMA = (
    '{"type":"record","name":"Commit","namespace":"dev.stoker","fields":['
    '{"name":"format","type":"int"},'
    '{"name":"dataset","type":"string"},'
    '{"name":"version","type":"long"},'
    '{"name":"ingest","type":"string"},'
    '{"name":"operation","type":"string"},'
    '{"name":"committed_ms","type":"long"},'
    '{"name":"committed_by","type":"string"},'
    '{"name":"added","type":{"type":"array","items":{"type":"record","name":"Added","fields":['
    '{"name":"ordinal","type":"long"},'
    '{"name":"id","type":{"type":"fixed","name":"ChunkId","size":16}},'
    '{"name":"split","type":"string"},'
    '{"name":"rows","type":"int"},'
    '{"name":"length","type":"long"},'
    '{"name":"crc32c","type":"long"},'
    '{"name":"head_length","type":"long"},'
    '{"name":"head_crc32c","type":"long"},'
    '{"name":"largest_row","type":"long"}]}}},'
    '{"name":"removed","type":{"type":"array","items":{"type":"record","name":"Removed","fields":['
    '{"name":"ordinal","type":"long"},'
    '{"name":"rows","type":["null",{"type":"array","items":"int"}]}]}}},'
    '{"name":"updated","type":{"type":"array","items":{"type":"record","name":"Updated","fields":['
    '{"name":"ordinal","type":"long"},'
    '{"name":"overlay","type":"ChunkId"},'
    '{"name":"length","type":"long"},'
    '{"name":"crc32c","type":"long"},'
    '{"name":"largest_row","type":"long"}]}}},'
    '{"name":"classes","type":{"type":"map","values":{"type":"array","items":"string"}}},'
    '{"name":"properties","type":{"type":"map","values":"string"}}]}'
)


def seal(content: bytes) -> bytes:
    """Puts the self-checksum into its place, which is the first of its kind; later ones are text of users."""
    first = content.find(_MARK)
    if content[first : first + len(_ZEROS)] != _ZEROS:
        raise ValueError("the content has no place for its self-checksum")
    return content.replace(_ZEROS, _MARK + b"%08x" % crc_library.value(content), 1)


def escaped(json: str) -> str:
    """JSON whose texts do not look like a self-checksum; it means the same."""
    return json.replace("stoker.crc32c=", "stoker.crc32c\\u003d")


def encode_json(keys: Mapping[str, Any]) -> bytes:
    """The content of a JSON file with a self-checksum, a format and these keys."""
    content = {"self": _ZEROS.decode(), "format": FORMAT, **keys}
    return seal(compact_upper(content).encode())


def encode_info(info: DatasetInfo) -> bytes:
    """The content of dataset.json."""
    return encode_json(
        {
            "id": info.id,
            "name": info.name,
            "created": info.created,
            "fields": [f.to_json() for f in info.fields],
            **({"classes": {field: list(names) for field, names in info.classes.items()}} if info.classes else {}),
            "options": dict(info.options),
        }
    )


def encode_entry(entry: LogEntry, dataset: str) -> bytes:
    """The content of a log entry's file: an Avro container of one record, in its only form."""
    sync = uuid.UUID(dataset).bytes
    record = b"".join((
        _long(FORMAT),
        _text(dataset),
        _long(entry.version),
        _text(entry.ingest),
        _text(entry.operation),
        _long(entry.committed_ms),
        _text(entry.committed_by),
        _items([
            _long(a["ordinal"]) + a["id"] + _text(a["split"]) + b"".join(_long(a[name]) for name in _ADDED)
            for a in entry.added
        ]),
        _items([
            _long(r["ordinal"])
            + (_long(0) if r["rows"] is None else _long(1) + _items([_long(row) for row in r["rows"]]))
            for r in entry.removed
        ]),
        _items([
            _long(u["ordinal"]) + u["overlay"] + b"".join(_long(u[name]) for name in _UPDATED) for u in entry.updated
        ]),
        _map({field: _items([_text(n) for n in names]) for field, names in entry.classes.items()}),
        _map({name: _text(value) for name, value in entry.properties.items()}),
    ))  # fmt: skip
    metadata = {"avro.schema": SCHEMA.encode(), "avro.codec": b"null", "stoker.self": _ZEROS}
    header = _items([_text(name) + _bytes(value) for name, value in metadata.items()])
    return seal(b"Obj\x01" + header + sync + _long(1) + _bytes(record) + sync)


def with_place(entry: LogEntry, version: int, first_ordinal: int) -> LogEntry:
    """The same entry as another version, its chunks numbered from an ordinal on."""
    added = [{**a, "ordinal": first_ordinal + i} for i, a in enumerate(entry.added)]
    return replace(entry, version=version, added=added)


def _long(value: int) -> bytes:
    zigzag = value << 1 if value >= 0 else (-value << 1) - 1
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


def _bytes(data: bytes) -> bytes:
    return _long(len(data)) + data


def _text(text: str) -> bytes:
    return _bytes(text.encode())


def _items(items: Sequence[bytes]) -> bytes:
    """An array or map in one block, then a zero block."""
    return (_long(len(items)) + b"".join(items) if items else b"") + b"\0"


def _map(values: Mapping[str, bytes]) -> bytes:
    return _items([_text(name) + values[name] for name in sorted_by_code_unit(values)])
