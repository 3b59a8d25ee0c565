"""Reads TFRecord files of `tf.train.Example` without TensorFlow."""

from __future__ import annotations

import struct
from pathlib import Path

import google_crc32c
import numpy as np


def frames(file: Path) -> list[bytes]:
    """The records of a TFRecord file, with verified checksums."""
    content, records, at = file.read_bytes(), [], 0

    def check(part: bytes, stored: bytes) -> None:
        crc = google_crc32c.value(part)
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        assert masked == struct.unpack("<I", stored)[0]

    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        check(content[at : at + 8], content[at + 8 : at + 12])
        records.append(content[at + 12 : at + 12 + length])
        check(records[-1], content[at + 12 + length : at + 16 + length])
        at += 16 + length
    return records


def varints(data: bytes) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value - (1 << 64) if value >> 63 else value)
            value = shift = 0
    return values


def fields(message: bytes) -> list[tuple[int, bytes]]:
    """The fields of a protobuf message, all of which have a length."""
    found, at = [], 0
    while at < len(message):
        assert message[at] & 7 == 2
        number, at, length, shift = message[at] >> 3, at + 1, 0, 0
        while True:
            length |= (message[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 0x80:
                break
        found.append((number, message[at : at + length]))
        at += length
    return found


def example(record: bytes) -> dict[str, list]:
    ((_, features),) = fields(record)
    values: dict[str, list] = {}
    for _, entry in fields(features):
        (_, name), (_, feature) = fields(entry)
        ((kind, listed),) = fields(feature)
        parts = [part for _, part in fields(listed)]
        if kind == 1:
            values[name.decode()] = parts
        elif kind == 2:
            values[name.decode()] = np.frombuffer(b"".join(parts), "<f4").tolist()
        else:
            values[name.decode()] = varints(b"".join(parts))
    return values
