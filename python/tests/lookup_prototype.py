"""The frames of requests for samples, written straight from docs/formats/feed-protocol.md; see protocol_prototype.

Lists golden frames, and frames that a receiver must reject. Uses struct only.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

GET, SAMPLES, LIST, ENTRIES = range(24, 28)
Frame = Callable[[int, bytes], bytes]
Golden = tuple[str, str, str, bytes, dict[str, Any]]
Bad = tuple[str, str, bool, bytes, str]


def _text(text: str) -> bytes:
    return text.encode()


def _key(key: str) -> bytes:
    return struct.pack("<I", len(_text(key))) + _text(key)


def _get(count: int, flags: int, zero: int, rest: bytes, request: int = 1) -> bytes:
    return struct.pack("<IIII", request, count, flags, zero) + rest


def _samples(count: int, version: int, flags: int, message: int, rest: bytes, request: int = 1) -> bytes:
    return struct.pack("<IIQII", request, count, version, flags, message) + rest


def _item(key: int, state: int, ordinal: int = 0, row: int = 0, length: int = 0, crc: int = 0, text: int = 0) -> bytes:
    return struct.pack("<IIQIIII", key, state, ordinal, row, length, crc, text)


def _list(limit: int, prefix: int, delimiter: int, after: int, zero: int, rest: bytes, request: int = 1) -> bytes:
    return struct.pack("<IIIIII", request, limit, prefix, delimiter, after, zero) + rest


def _entries(count: int, version: int, flags: int, zero: int, rest: bytes, request: int = 1) -> bytes:
    return struct.pack("<IIQII", request, count, version, flags, zero) + rest


def _entry(name: int, kind: int, ordinal: int = 0, row: int = 0, length: int = 0, crc: int = 0, zero: int = 0) -> bytes:
    return struct.pack("<IIQIIII", name, kind, ordinal, row, length, crc, zero)


def frames(frame: Frame) -> list[Golden]:
    """Golden frames: name, sender, type, bytes, fields."""
    keys = ["cats/1.jpg", "../../etc/passwd", "a\0b\n", "äffchen", "cats/1.jpg", ""]
    problem = "chunk 12, row 7, key 'äffchen': damaged"
    items = [
        [0, 1, 12, 5, 110000, 0xDEADBEEF, ""],
        [1, 0, 0, 0, 0, 0, ""],
        [3, 2, 1 << 40, 7, 3, 0, problem],
    ]
    message = bytes.fromhex("00112233") * 16
    packed = b"".join(_item(*item[:-1], len(_text(item[-1]))) for item in items) + _text(problem)
    listing = {"request": 3, "limit": 1000, "prefix": "cäts/", "delimiter": "/", "after": "cäts/1.jpg"}
    texts = [_text(str(listing[name])) for name in ("prefix", "delimiter", "after")]
    entries = [["cäts/1.jpg", True, 12, 5, 110000, 0xDEADBEEF], ["cäts/b/", False, 0, 0, 0, 0]]
    names = [_text(str(entry[0])) for entry in entries]
    listed = b"".join(_entry(len(n), *map(int, e[1:])) for n, e in zip(names, entries, strict=True)) + b"".join(names)
    bodies = [
        ("get", "client", "GET", GET, _get(6, 0, 0, b"".join(map(_key, keys))),
         {"request": 1, "stat_only": False, "keys": keys}),
        ("get of places", "client", "GET", GET, _get(1, 1, 0, _key("k"), 0xFFFFFFFF),
         {"request": 0xFFFFFFFF, "stat_only": True, "keys": ["k"]}),
        ("samples", "server", "SAMPLES", SAMPLES, _samples(3, 3, 0, len(message), packed + message),
         {"request": 1, "version": 3, "last": False, "items": items, "message": message.hex()}),
        ("samples that are missing", "server", "SAMPLES", SAMPLES, _samples(1, 1, 1, 0, _item(65535, 0), 2),
         {"request": 2, "version": 1, "last": True, "items": [[65535, 0, 0, 0, 0, 0, ""]], "message": ""}),
        ("list", "client", "LIST", LIST, _list(1000, *map(len, texts), 0, b"".join(texts), 3), listing),
        ("list everything", "client", "LIST", LIST, _list(1, 0, 0, 0, 0, b"", 4),
         {"request": 4, "limit": 1, "prefix": "", "delimiter": "", "after": ""}),
        ("entries", "server", "ENTRIES", ENTRIES, _entries(2, 3, 1, 0, listed, 3),
         {"request": 3, "version": 3, "more": True, "entries": entries}),
        ("entries of an empty listing", "server", "ENTRIES", ENTRIES, _entries(0, 1, 0, 0, b"", 4),
         {"request": 4, "version": 1, "more": False, "entries": []}),
    ]  # fmt: skip
    return [(name, sender, kind, frame(code, body), fields) for name, sender, kind, code, body, fields in bodies]


def bad_frames(frame: Frame) -> list[Bad]:
    """Frames that a receiver must reject: name, receiver, whether after WELCOME, bytes, error code."""
    k, named = _key("k"), _entry(1, 1) + b"k"
    rows = [
        ("GET from a server", "client", GET, _get(1, 0, 0, k)),
        ("GET without keys", "server", GET, _get(0, 0, 0, bytes(4))),
        ("GET with more keys than bytes", "server", GET, _get(65536, 0, 0, k)),
        ("GET of 2^32-1 keys", "server", GET, _get(0xFFFFFFFF, 0, 0, k)),
        ("GET of 65537 keys", "server", GET, _get(65537, 0, 0, bytes(4 * 65537))),
        ("GET with a key of 2^32-1 bytes", "server", GET, _get(1, 0, 0, struct.pack("<I", 0xFFFFFFFF) + b"k")),
        ("GET with a key beyond its end", "server", GET, _get(1, 0, 0, struct.pack("<I", 2) + b"k")),
        ("GET with a byte too many", "server", GET, _get(1, 0, 0, k + b"x")),
        ("GET with unknown flags", "server", GET, _get(1, 2, 0, k)),
        ("GET with reserved bytes", "server", GET, _get(1, 0, 1, k)),
        ("GET with a key that is not UTF-8", "server", GET, _get(1, 0, 0, struct.pack("<I", 1) + b"\xff")),
        ("GET with a surrogate", "server", GET, _get(1, 0, 0, struct.pack("<I", 3) + b"\xed\xa0\x80")),
        ("SAMPLES from a client", "server", SAMPLES, _samples(0, 1, 1, 0, b"")),
        ("SAMPLES of 2^32-1 items", "client", SAMPLES, _samples(0xFFFFFFFF, 1, 1, 0, _item(0, 1))),
        ("SAMPLES with a message of 2^32-1 bytes", "client", SAMPLES, _samples(1, 1, 1, 0xFFFFFFFF, _item(0, 1))),
        ("SAMPLES with a message and no sample", "client", SAMPLES, _samples(1, 1, 1, 1, _item(0, 0) + b"x")),
        ("SAMPLES with a byte too many", "client", SAMPLES, _samples(1, 1, 1, 0, _item(0, 1) + b"x")),
        ("SAMPLES with an unknown state", "client", SAMPLES, _samples(1, 1, 1, 0, _item(0, 3))),
        ("SAMPLES with damage that is not described", "client", SAMPLES, _samples(1, 1, 1, 0, _item(0, 2))),
        ("SAMPLES with the damage of a sample that was found", "client", SAMPLES,
         _samples(1, 1, 1, 0, _item(0, 1, text=1) + b"x")),
        ("SAMPLES with unknown flags", "client", SAMPLES, _samples(1, 1, 2, 0, _item(0, 1))),
        ("SAMPLES of a version beyond 2^63", "client", SAMPLES, _samples(1, 1 << 63, 1, 0, _item(0, 1))),
        ("SAMPLES with an ordinal beyond 2^63", "client", SAMPLES, _samples(1, 1, 1, 0, _item(0, 1, 1 << 63))),
        ("LIST without a limit", "server", LIST, _list(0, 0, 0, 0, 0, b"")),
        ("LIST with a limit of 16385", "server", LIST, _list(16385, 0, 0, 0, 0, b"")),
        ("LIST with a text beyond its end", "server", LIST, _list(1, 1, 0, 0xFFFFFFFF, 0, b"x")),
        ("LIST with a byte too many", "server", LIST, _list(1, 1, 0, 0, 0, b"xy")),
        ("LIST with reserved bytes", "server", LIST, _list(1, 0, 0, 0, 1, b"")),
        ("ENTRIES of 2^32-1 entries", "client", ENTRIES, _entries(0xFFFFFFFF, 1, 0, 0, named)),
        ("ENTRIES that continue after nothing", "client", ENTRIES, _entries(0, 1, 1, 0, b"")),
        ("ENTRIES with an unknown kind", "client", ENTRIES, _entries(1, 1, 0, 0, _entry(1, 2) + b"k")),
        ("ENTRIES with a name beyond its end", "client", ENTRIES, _entries(1, 1, 0, 0, _entry(2, 1) + b"k")),
    ]  # fmt: skip
    found: list[Bad] = [(name, to, True, frame(kind, body), "bad_frame") for name, to, kind, body in rows]
    for name, to, length, kind in (
        ("GET longer than 1 MiB", "server", (1 << 20) + 1, GET),
        ("ENTRIES longer than 64 MiB", "client", (64 << 20) + 1, ENTRIES),
    ):
        found.append((name, to, True, struct.pack("<IBBH", length, kind, 0, 0), "bad_frame"))
    found.append(("GET before WELCOME", "server", False, frame(GET, _get(1, 0, 0, k)), "bad_frame"))
    return found
