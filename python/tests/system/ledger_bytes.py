"""Ledger files taken apart from the format's page alone, and forged so that every checksum of a record still fits."""

from __future__ import annotations

import json
from pathlib import Path

import google_crc32c


class _Cursor:
    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def long(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value >> 1 ^ -(value & 1)

    def raw(self) -> bytes:
        size = self.long()
        self.at += size
        return self.data[self.at - size : self.at]


class Record:
    """A record's place in its file; for receipts where the checksum of each entry lies."""

    def __init__(self, cursor: _Cursor, schema: list[dict]) -> None:
        self.start = cursor.at
        self.entry_crcs: list[int] = []
        self.values: dict[str, object] = {}
        kind = schema[cursor.long()]
        self.kind = kind["name"]
        for field in kind["fields"]:
            if field["name"] == "crc32c":
                self.crc_at = cursor.at
                cursor.at += 4
            elif field["name"] == "entries":
                self._entries(cursor, field["type"]["items"]["fields"])
            elif isinstance(field["type"], dict):
                cursor.at += field["type"]["size"]
            elif field["type"] == "string":
                self.values[field["name"]] = cursor.raw().decode()
            else:
                self.values[field["name"]] = cursor.long()

    def _entries(self, cursor: _Cursor, fields: list[dict]) -> None:
        while entries := cursor.long():
            if entries < 0:
                entries = -entries
                cursor.long()
            for _ in range(entries):
                for field in fields:
                    if field["name"] == "crc32c":
                        self.entry_crcs.append(cursor.at)
                    if field["type"] == "boolean":
                        cursor.at += 1
                    else:
                        cursor.long()


def records(path: Path) -> list[Record]:
    cursor = _Cursor(path.read_bytes(), 4)
    metadata = {}
    while pairs := cursor.long():
        for _ in range(pairs):
            name = cursor.raw().decode()
            metadata[name] = cursor.raw()
    schema = json.loads(metadata["avro.schema"])
    cursor.at += 16
    found = []
    while cursor.at < len(cursor.data):
        count = cursor.long()
        cursor.long()
        found += [Record(cursor, schema) for _ in range(count)]
        cursor.at += 16
    return found


def receipts_in(path: Path) -> int:
    return sum(len(record.entry_crcs) for record in records(path))


def alter_a_receipt(path: Path) -> None:
    """Another checksum of a delivered piece, and the record's own made to fit."""
    data = bytearray(path.read_bytes())
    record = next(r for r in records(path) if r.entry_crcs)
    data[record.entry_crcs[0]] ^= 2
    crc = google_crc32c.value(bytes(data[record.start : record.crc_at]))
    data[record.crc_at : record.crc_at + 4] = crc.to_bytes(4, "little")
    path.write_bytes(data)
