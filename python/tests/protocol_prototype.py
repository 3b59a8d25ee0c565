"""Frames of feed protocol 1, written straight from docs/formats/feed-protocol.md with struct and json alone.

An independent check of the implementations, not a part of the package. Writes the vectors that Java and Python read.

    python python/tests/protocol_prototype.py            # compares the committed vectors with this prototype
    python python/tests/protocol_prototype.py --write    # rewrites them
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from pathlib import Path
from typing import Any

import lookup_prototype

VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors" / "protocol.json"

HELLO, WELCOME, SUBSCRIBE, GRANT, BATCH, ACK, DURABLE = range(1, 8)
NACK, EPOCH_END, PING, PONG, BYE, ERROR, LANE_MAP = range(8, 15)
FILE, BATCH_REF, RELEASE = range(15, 18)
STATS, DELAY, SELECT, SELECTED = range(20, 24)


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli), bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def frame(kind: int, body: bytes, flags: int = 0, reserved: int = 0) -> bytes:
    if kind in (BATCH, BATCH_REF):
        return struct.pack("<IBBH", 4 + len(body), kind, flags, reserved) + body
    summed = struct.pack("<BBH", kind, flags, reserved) + body
    return struct.pack("<I", 4 + len(summed)) + summed + struct.pack("<I", crc32c(summed))


def hello(values: dict[str, Any] | bytes, version: int = 1, magic: bytes = b"STKR") -> bytes:
    text = values if isinstance(values, bytes) else compact(values)
    return frame(HELLO, magic + struct.pack("<HH", version, 0) + text)


def subscribe(
    number: int,
    epoch: int,
    first: int,
    stride: int,
    count: int,
    tail: int,
    lanes: list[int],
    flags: int = 0,
    begin: int = 2**64 - 1,
) -> bytes:
    head = struct.pack("<IIQIQBBHQ", number, epoch, first, stride, count, tail, flags, len(lanes), begin)
    return frame(SUBSCRIBE, head + struct.pack(f"<{len(lanes)}H", *lanes))


def batch(fields: dict[str, Any], message: bytes) -> bytes:
    identity = struct.pack(
        "<BBHQQIIQHHII", BATCH, int(fields["repeated"]), 0, int(fields["feed_tag"], 16),
        int(fields["fingerprint_tag"], 16), fields["epoch"], fields["lane"], fields["number"], fields["piece"],
        fields["pieces"], fields["rows"], fields["skipped"],
    )  # fmt: skip
    source_crc = fields.setdefault("source_crc", f"{crc32c(message):08x}")
    fields.setdefault("source_rows", fields["rows"])
    fields.setdefault("view_tag", view_tag(None))
    source = struct.pack("<IQI", fields["source_rows"], int(fields["view_tag"], 16), int(source_crc, 16))
    covered = identity + source
    assert len(covered) == 64
    crc = crc32c(covered + message)
    fields["crc"] = f"{crc:08x}"
    header = struct.pack("<I", 76 + len(message)) + covered + struct.pack("<III", fields["subscription"], 0, crc)
    assert len(header) == 80
    return header + message


def view_tag(columns: list[str] | None) -> str:
    text = compact({"columns": columns, "transform": None, "transform_version": None})
    return hashlib.sha256(text).hexdigest()[:16]


def select(columns: int, selected: list[int], bitmap_bytes: int | None = None, reserved: int = 0) -> bytes:
    bitmap = sum(1 << c for c in selected)
    return frame(
        SELECT,
        struct.pack("<II", columns, reserved) + bitmap.to_bytes(bitmap_bytes or (columns + 7) // 8, "little"),
    )


def reference(fields: dict[str, Any], message: bytes, inline: int, slices: list[list[int]]) -> bytes:
    """A BATCH of this message, of which only the first bytes come along."""
    header = batch(fields, message)[:80]
    body = struct.pack("<IIII", len(message), inline, len(slices), 0) + message[:inline]
    body += b"".join(struct.pack("<IIQ", *part) for part in slices)
    return struct.pack("<IB", 76 + len(body), BATCH_REF) + header[5:] + body


def file(number: int, device: int, inode: int, length: int, path: str) -> bytes:
    text = path.encode()
    return frame(FILE, struct.pack("<IIQQQ", number, len(text), device, inode, length) + text)


def ack(subscription: int, epoch: int, entries: list[list[int]]) -> bytes:
    body = struct.pack("<IIII", subscription, epoch, len(entries), 0)
    return frame(ACK, body + b"".join(struct.pack("<QHHIIIII", *entry) for entry in entries))


ORDER = {
    "function": 1, "seed": 5, "batch_size": 2, "lanes": 4, "shuffle_window": 1048576, "shuffle": "window",
    "lane_order": "mixed",
}  # fmt: skip
LANES = {
    "generation": [1790000000000, 7],
    "addresses": ["10.0.0.1:7420", "10.0.0.2:7420"],
    "lanes": [[0, 1], [1, 0], [0, 1], [1]],
}


def frames() -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []

    def add(name: str, sender: str, kind: str, data: bytes, fields: dict[str, Any]) -> None:
        out.append({"name": name, "from": sender, "type": kind, "fields": fields, "hex": data.hex()})

    full = {
        "token": "s3cret", "feed": "photos", "stream": "train", "group": "default",
        "order": {"seed": 5, "batch_size": 2}, "rank": 1, "world_size": 4, "worker": 0, "workers": 2, "replica": 0,
        "run": 1790000000001, "client": "stoker-python/0.1.0",
    }  # fmt: skip
    bare = {
        "token": None, "feed": None, "stream": None, "group": "default", "order": None, "rank": 0, "world_size": 1,
        "worker": 0, "workers": 1, "replica": 0, "run": 0, "client": "stoker-python/0.1.0",
    }  # fmt: skip
    add("hello", "client", "HELLO", hello(full), full)
    add("hello with nothing asked for", "client", "HELLO", hello(bare), bare)
    welcome = {
        "protocol": 1,
        "feed": {"id": "6f1d2c3b-4a59-5687-9768-a5b4c3d2e1f0", "name": "photos"},
        "stream": {
            "name": "train", "dataset": "0b3f7f0e-64a5-4f0a-9c39-7d5a0c1e2f3a", "dataset_name": "phötos",
            "version": 3, "split": "train",
        },
        "fingerprint": "0123456789abcdef0123456789abcdef",
        "order": ORDER,
        "fields": [
            {"name": "label", "type": "categorical", "nullable": False, "payload": False},
            {"name": "image", "type": "binary", "nullable": False, "payload": True},
        ],
        "classes": {"label": ["cat", "dog \"rex\""]},
        "lane_rows": [3, 2, 2, 0],
        "samples": 7,
        "batches": 4,
        "largest_batch": 262144,
        "epochs": None,
        "run": 1790000000001,
        "session": 18446744073709551615,
        "lane_map": LANES,
        "stats": True,
    }  # fmt: skip
    add("welcome", "server", "WELCOME", frame(WELCOME, compact(welcome)), welcome)
    add(
        "subscribe to all lanes", "client", "SUBSCRIBE", subscribe(1, 0, 3, 4, 25, 0, []),
        {"subscription": 1, "epoch": 0, "first": 3, "stride": 4, "count": 25, "tail": "pad", "lanes": [],
         "empty_share": False, "begin": None},
    )  # fmt: skip
    add(
        "subscribe to some lanes", "client", "SUBSCRIBE", subscribe(
            2, 4294967295, 1 << 40, 8, 1000, 2, [0, 5, 65534], begin=1 << 39
        ),
        {
            "subscription": 2, "epoch": 4294967295, "first": 1 << 40, "stride": 8, "count": 1000, "tail": "keep",
            "lanes": [0, 5, 65534], "empty_share": False, "begin": 1 << 39,
        },
    )  # fmt: skip
    add(
        "subscribe with an empty share", "client", "SUBSCRIBE", subscribe(3, 2, 5, 8, 0, 2, [], 1, 5),
        {"subscription": 3, "epoch": 2, "first": 5, "stride": 8, "count": 0, "tail": "keep", "lanes": [],
         "empty_share": True, "begin": 5},
    )  # fmt: skip
    add("grant", "client", "GRANT", frame(GRANT, struct.pack("<IIQ", 1, 0, 35)), {"subscription": 1, "through": 35})
    for name, message, over in [
        ("batch", bytes(range(64)) * 2, {}),
        ("batch without a message", b"", {"rows": 0, "skipped": 2}),
        (
            "repeated piece",
            b"\xff" * 64,
            {
                "repeated": True,
                "piece": 3,
                "pieces": 4,
                "lane": 65534,
                "epoch": 4294967295,
                "view_tag": view_tag(["key", "label"]),
                "source_rows": 0xFFFFFFFF,
                "source_crc": "cafef00d",
            },
        ),
    ]:
        fields: dict[str, Any] = {
            "feed_tag": "6f1d2c3b4a595687", "fingerprint_tag": "0123456789abcdef", "epoch": 0, "lane": 2, "number": 7,
            "piece": 0, "pieces": 1, "rows": 2, "skipped": 0, "repeated": False, "subscription": 1, **over,
        }  # fmt: skip
        data = batch(fields, message)
        add(name, "server", "BATCH", data, {**fields, "message": message.hex()})
    entries = [[7, 0, 0, 0xDEADBEEF, 2, 0, 2, 0xCAFEF00D], [11, 1, 1, 1, 64, 3, 0xFFFFFFFF, 7]]
    add("ack", "client", "ACK", ack(1, 0, entries), {"subscription": 1, "epoch": 0, "entries": entries})
    add("durable", "server", "DURABLE", frame(DURABLE, struct.pack("<Q", 512)), {"entries": 512})
    add(
        "nack", "client", "NACK", frame(NACK, struct.pack("<IIQHHI", 1, 0, 7, 2, 0, 0xCAFEF00D)),
        {"subscription": 1, "epoch": 0, "number": 7, "piece": 2, "crc": "cafef00d"},
    )  # fmt: skip
    add(
        "epoch end", "server", "EPOCH_END", frame(EPOCH_END, struct.pack("<IIQQ", 1, 0, 25, 1600)),
        {"subscription": 1, "epoch": 0, "batches": 25, "rows": 1600},
    )  # fmt: skip
    for name, kind in (("PING", PING), ("PONG", PONG)):
        add(
            name.lower(),
            "client",
            name,
            frame(kind, struct.pack("<Q", 0x8000000000000001)),
            {"opaque": "8000000000000001"},
        )
    add("bye", "client", "BYE", frame(BYE, b""), {})
    error = {"code": "order_mismatch", "message": "seed is 0 here, asked for 5"}
    add("error", "server", "ERROR", frame(ERROR, compact(error)), error)
    newer = {"code": "from_the_future", "message": "ü"}
    add("error of an unknown code", "server", "ERROR", frame(ERROR, compact(newer)), newer)
    add("lane map", "server", "LANE_MAP", frame(LANE_MAP, compact(LANES)), LANES)
    add(
        "hello that offers local reads",
        "client",
        "HELLO",
        hello({**bare, "local_files": 4096}),
        {**bare, "local_files": 4096},
    )
    large = {**bare, "local_files": 4096, "local_reads_from": 16384}
    add("hello that offers local reads of large rows", "client", "HELLO", hello(large), large)
    looking = {**bare, "look": True}
    add("hello that only looks", "client", "HELLO", hello(looking), looking)
    known = {
        **bare, "joined": 1790000000001, "sent": 86400000000001,
        "instance": {
            "boot": "0f9d3b0a-6c1e-4b8e-9a53-6f5c2f1f7c11", "pid": 4711, "start": 9223372036854775807, "host": "gpü-3",
        },
        "launch": {"launcher": "torchelastic", "id": "job-7", "restarts": 2},
    }  # fmt: skip
    add("hello of a process that has joined a run", "client", "HELLO", hello(known), known)
    skipping = {**bare, "skip": [[0, 100, 110], [0, 200, 200], [4294967295, 0, 9007199254740991]]}
    add("hello that skips batches", "client", "HELLO", hello(skipping), skipping)
    taken = {"code": "place_taken", "message": "process 4711 on gpu-3 reads as rank 0 of 1"}
    add("error of a place that is taken", "server", "ERROR", frame(ERROR, compact(taken)), taken)
    handing = {**welcome, "local_files": 256}
    add("welcome with local reads", "server", "WELCOME", frame(WELCOME, compact(handing)), handing)
    add(
        "file", "server", "FILE", file(255, 0xFFFFFFFFFFFFFF01, 77, 8 << 20, "/data/chünks/aa.arrow"),
        {
            "file": 255, "device": 0xFFFFFFFFFFFFFF01, "inode": 77, "length": 8 << 20, "path": "/data/chünks/aa.arrow",
        },
    )  # fmt: skip
    for name, slices, over in [
        ("reference", [[255, 40, 1000], [0, 1, 1 << 30], [0xFFFFFFFF, 23, 0]], {}),
        ("reference of a repeated piece without payload", [], {"repeated": True}),
    ]:
        message = bytes(range(64)) + bytes(sum(part[1] for part in slices))
        fields = {
            "feed_tag": "6f1d2c3b4a595687", "fingerprint_tag": "0123456789abcdef", "epoch": 0, "lane": 2, "number": 7,
            "piece": 0, "pieces": 1, "rows": 2, "skipped": 0, "repeated": False, "subscription": 1, **over,
        }  # fmt: skip
        data = reference(fields, message, 64, slices)
        add(
            name, "server", "BATCH_REF", data,
            {**fields, "message": len(message), "inline": message[:64].hex(), "slices": slices},
        )  # fmt: skip
    add("release", "client", "RELEASE", frame(RELEASE, struct.pack("<Q", 16)), {"references": 16})
    near = {**LANES, "unix": {"10.0.0.1:7420": {"host": "0f9d3b0a-6c1e-4b8e-9a53-6f5c2f1f7c11", "path": "/run/st/s"}}}
    add("lane map with a Unix-domain socket", "server", "LANE_MAP", frame(LANE_MAP, compact(near)), near)
    stats = {
        "time_us": 60000000, "waited_us": 3100000, "batches": 1000, "samples": 64000, "bytes": 8388608,
        "causes": {"disk": 2800000, "start": 300000},
        "waits": [
            {"feeder": "10.0.0.2:7420", "lane": 3, "cause": "disk", "us": 2800000, "times": 12},
            {"feeder": "10.0.0.1:7420", "lane": 65535, "cause": "start", "us": 300000, "times": 1},
        ],
    }  # fmt: skip
    add("stats", "client", "STATS", frame(STATS, compact(stats)), stats)
    none = dict.fromkeys(("time_us", "waited_us", "batches", "samples", "bytes"), 0) | {"causes": {}, "waits": []}
    add("stats of a client that has just begun", "client", "STATS", frame(STATS, compact(none)), none)
    add(
        "delay", "server", "DELAY", frame(DELAY, struct.pack("<IIQHHIII", 1, 4294967295, 7, 2, 0, 250000, 4294967295, 0)),
        {
            "subscription": 1, "epoch": 4294967295, "number": 7, "piece": 2, "origin_us": 250000,
            "disk_us": 4294967295, "feeder_us": 0,
        },
    )  # fmt: skip
    for name, columns, selected in (
        ("select", 3, [1]),
        ("select all columns", 16, list(range(16))),
        ("select of many columns", 10_001, [0, 4095, 10_000]),
    ):
        add(name, "client", "SELECT", select(columns, selected), {"columns": columns, "selected": selected})
    add(
        "selected", "server", "SELECTED",
        frame(SELECTED, struct.pack("<Q", 4096) + struct.pack("<Q", int(view_tag(["label"]), 16))),
        {"largest_batch": 4096, "view_tag": view_tag(["label"])},
    )  # fmt: skip
    for golden in lookup_prototype.frames(frame):
        add(*golden)
    return out


def bad_reference(message: int, inline: int, rest: bytes, slices: int) -> bytes:
    header = struct.pack("<BBHQQIIQHHII", BATCH_REF, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0) + bytes(28)
    body = struct.pack("<IIII", message, inline, slices, 0) + rest
    return struct.pack("<I", 76 + len(body)) + header + body


def bad_frames() -> list[dict[str, Any]]:
    """Frames that end a session, the receiver, whether WELCOME has passed, and the code of the ERROR."""
    good = {"rank": 0, "world_size": 1}
    rows: list[tuple[str, str, bool, bytes, str]] = [
        ("an HTTP request", "server", False, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "bad_frame"),
        ("a TLS hello", "server", False, bytes.fromhex("16030100f8010000f40303"), "bad_frame"),
        ("another magic", "server", False, hello(good, magic=b"XTKR"), "bad_frame"),
        ("a newer version with another layout", "server", False, hello(b"\x00\x01\x02", version=2), "unsupported_protocol"),
        ("version 0", "server", False, hello(good, version=0), "unsupported_protocol"),
        ("not JSON", "server", False, hello(b"{"), "bad_frame"),
        ("no object", "server", False, hello(b"[1]"), "bad_frame"),
        ("not UTF-8", "server", False, hello(b'{"group":"\xff"}'), "bad_frame"),
        ("UTF-16", "server", False, hello('{"rank":0}'.encode("utf-16-le")), "bad_frame"),
        ("something after the JSON", "server", False, hello(b"{}{}"), "bad_frame"),
        ("a key twice", "server", False, hello(b'{"rank":0,"rank":1,"world_size":2}'), "bad_frame"),
        ("too deep", "server", False, hello(b'{"x":' + b"[" * 1000 + b"]" * 1000 + b"}"), "bad_frame"),
        ("rank is a text", "server", False, hello({"rank": "0"}), "bad_frame"),
        ("rank is a fraction", "server", False, hello({"rank": 0.5}), "bad_frame"),
        ("rank beyond the world", "server", False, hello({"rank": 2, "world_size": 2}), "bad_frame"),
        ("world size 0", "server", False, hello({"rank": 0, "world_size": 0}), "bad_frame"),
        ("negative run", "server", False, hello({"run": -1}), "bad_frame"),
        ("huge number", "server", False, hello(b'{"run":' + b"9" * 2000 + b"}"), "bad_frame"),
        ("token is a list", "server", False, hello({"token": ["a"]}), "bad_frame"),
        ("order with an unknown key", "server", False, hello({"order": {"sede": 1}}), "bad_frame"),
        ("order with reserved keys", "server", False, hello({"order": {"streams": []}}), "bad_frame"),
        ("order of a newer function", "server", False, hello({"order": {"function": 3}}), "bad_frame"),
        ("group with a control character", "server", False, hello({"group": "a\nb"}), "bad_frame"),
        ("a second HELLO", "server", True, hello(good), "bad_frame"),
        ("SUBSCRIBE before HELLO", "server", False, subscribe(1, 0, 0, 1, 1, 0, []), "bad_frame"),
        ("HELLO longer than 16 KiB", "server", False, struct.pack("<IBBH", 16385, HELLO, 0, 0), "bad_frame"),
        ("HELLO longer than its buffer could be", "server", False, struct.pack("<IBBH", 0xFFFFFFFF, HELLO, 0, 0), "bad_frame"),
        ("ACK longer than 1 MiB", "server", True, struct.pack("<IBBH", (1 << 20) + 1, ACK, 0, 0), "bad_frame"),
        ("length below a frame's own bytes", "server", True, struct.pack("<IBBH", 3, BYE, 0, 0), "bad_frame"),
        ("no checksum", "server", True, struct.pack("<IBBH", 4, BYE, 0, 0), "bad_frame"),
        ("another checksum", "server", True, frame(BYE, b"")[:-1] + b"\0", "bad_frame"),
        ("a changed byte", "server", True, frame(PING, bytes(8))[:8] + b"\1" + frame(PING, bytes(8))[9:], "bad_frame"),
        ("a changed byte of a server", "client", True, frame(PING, bytes(8))[:8] + b"\1" + frame(PING, bytes(8))[9:], "bad_frame"),
        ("type 0", "server", True, frame(0, b""), "bad_frame"),
        ("type 19", "server", True, frame(19, b""), "bad_frame"),
        ("type 24", "server", True, frame(24, b""), "bad_frame"),
        ("type 255", "server", True, frame(255, b""), "bad_frame"),
        ("a server's frame from a client", "server", True, frame(DURABLE, bytes(8)), "bad_frame"),
        ("a client's frame from a server", "client", True, frame(GRANT, bytes(16)), "bad_frame"),
        ("flags set", "server", True, frame(PING, bytes(8), flags=1), "bad_frame"),
        ("reserved bytes set", "server", True, frame(PING, bytes(8), reserved=1), "bad_frame"),
        ("PING of 7 bytes", "server", True, frame(PING, bytes(7)), "bad_frame"),
        ("PING of 9 bytes", "server", True, frame(PING, bytes(9)), "bad_frame"),
        ("BYE with a body", "server", True, frame(BYE, b"x"), "bad_frame"),
        ("stride 0", "server", True, subscribe(1, 0, 0, 0, 1, 0, []), "bad_frame"),
        ("tail 3", "server", True, subscribe(1, 0, 0, 1, 1, 3, []), "bad_frame"),
        ("first beyond 2^63", "server", True, subscribe(1, 0, 1 << 63, 1, 1, 0, []), "bad_frame"),
        ("numbers beyond 2^63", "server", True, subscribe(1, 0, 1 << 62, 1 << 31, 1 << 32, 0, []), "bad_frame"),
        ("an empty share of one number", "server", True, subscribe(1, 0, 0, 1, 1, 0, [], 1), "bad_frame"),
        ("unknown flags in SUBSCRIBE", "server", True, subscribe(1, 0, 0, 1, 0, 0, [], 2), "bad_frame"),
        ("a lane twice", "server", True, subscribe(1, 0, 0, 1, 1, 0, [4, 4]), "bad_frame"),
        (
            "more lanes announced than sent", "server", True,
            frame(SUBSCRIBE, struct.pack("<IIQIQBBHH", 1, 0, 0, 1, 1, 0, 0, 2, 1)), "bad_frame",
        ),
        ("more entries announced than sent", "server", True, frame(ACK, struct.pack("<IIII", 1, 0, 1 << 31, 0)), "bad_frame"),
        ("part of an entry", "server", True, frame(ACK, struct.pack("<IIII", 1, 0, 1, 0) + bytes(31)), "bad_frame"),
        ("unknown flags in an entry", "server", True, ack(1, 0, [[0, 0, 2, 0, 0, 0, 0, 0]]), "bad_frame"),
        ("grant beyond 2^63", "server", True, frame(GRANT, struct.pack("<IIQ", 1, 0, 1 << 63)), "bad_frame"),
        ("STATS before HELLO", "server", False, frame(STATS, b"{}"), "bad_frame"),
        ("STATS without what it is for", "server", True, frame(STATS, b"{}"), "bad_frame"),
        (
            "STATS of a negative time", "server", True,
            frame(STATS, b'{"time_us":-1,"waited_us":0,"batches":0,"samples":0,"bytes":0,"causes":{},"waits":[]}'), "bad_frame",
        ),
        (
            "STATS of 33 causes", "server", True,
            frame(STATS, compact({
                "time_us": 0, "waited_us": 0, "batches": 0, "samples": 0, "bytes": 0,
                "causes": {f"c{i}": 0 for i in range(33)}, "waits": [],
            })), "bad_frame",
        ),
        (
            "STATS with a control character", "server", True,
            frame(STATS, compact({
                "time_us": 0, "waited_us": 0, "batches": 0, "samples": 0, "bytes": 0, "causes": {"\u001b[2J": 0}, "waits": [],
            })), "bad_frame",
        ),
        ("DELAY of 31 bytes", "client", True, frame(DELAY, bytes(31)), "bad_frame"),
        ("DELAY with reserved bytes set", "client", True, frame(DELAY, bytes(18) + b"\1" + bytes(13)), "bad_frame"),
        ("ERROR without a code", "server", True, frame(ERROR, b'{"message":"x"}'), "bad_frame"),
        ("WELCOME of a newer protocol", "client", False, frame(WELCOME, b'{"protocol":2}'), "unsupported_protocol"),
        ("WELCOME without a feed", "client", False, frame(WELCOME, b'{"protocol":1}'), "bad_frame"),
        ("BATCH before WELCOME", "client", False, batch(
            {"feed_tag": "0", "fingerprint_tag": "0", "epoch": 0, "lane": 0, "number": 0, "piece": 0, "pieces": 1,
             "rows": 0, "skipped": 0, "repeated": False, "subscription": 0}, b""), "bad_frame"),
        ("BATCH shorter than its header", "client", True, frame(BATCH, bytes(71)), "bad_frame"),
        ("BATCH of 2 GiB", "client", True, struct.pack("<IBBH", 1 << 31, BATCH, 0, 0), "bad_frame"),
        ("BATCH with unknown flags", "client", True, frame(BATCH, bytes(72), flags=2), "bad_frame"),
        ("lane map of an unknown address", "client", True, frame(
            LANE_MAP, b'{"generation":[1,1],"addresses":["a:1"],"lanes":[[1]]}'), "bad_frame"),
        ("run beyond 2^62", "server", False, hello({"run": (1 << 62) + 1}), "bad_frame"),
        ("joined below nothing", "server", False, hello({"joined": -1}), "bad_frame"),
        ("sent before the beginning", "server", False, hello({"sent": -1}), "bad_frame"),
        ("joined beyond 2^63", "server", False, hello({"joined": 1 << 63}), "bad_frame"),
        ("look is a number", "server", False, hello({"look": 1}), "bad_frame"),
        ("instance is a text", "server", False, hello({"instance": "a"}), "bad_frame"),
        ("instance without a host", "server", False, hello(
            {"instance": {"boot": "b", "pid": 1, "start": 1}}), "bad_frame"),
        ("instance with an empty host", "server", False, hello(
            {"instance": {"boot": "b", "pid": 1, "start": 1, "host": ""}}), "bad_frame"),
        ("instance of a long host", "server", False, hello(
            {"instance": {"boot": "b", "pid": 1, "start": 1, "host": "h" * 256}}), "bad_frame"),
        ("instance of a negative process", "server", False, hello(
            {"instance": {"boot": "b", "pid": -1, "start": 1, "host": "h"}}), "bad_frame"),
        ("launch with a control character", "server", False, hello(
            {"launch": {"launcher": "l", "id": "a\nb", "restarts": 0}}), "bad_frame"),
        ("launch without restarts", "server", False, hello({"launch": {"launcher": "l", "id": "a"}}), "bad_frame"),
        ("local files below nothing", "server", False, hello({"local_files": -1}), "bad_frame"),
        ("local reads of less than no bytes", "server", False, hello({"local_reads_from": -1}), "bad_frame"),
        ("RELEASE from a server", "client", True, frame(RELEASE, bytes(8)), "bad_frame"),
        ("RELEASE beyond 2^63", "server", True, frame(RELEASE, struct.pack("<Q", 1 << 63)), "bad_frame"),
        ("BATCH_REF before WELCOME", "client", False, frame(BATCH_REF, bytes(88)), "bad_frame"),
        ("BATCH_REF shorter than its header", "client", True, frame(BATCH_REF, bytes(87)), "bad_frame"),
        ("BATCH_REF longer than 64 MiB", "client", True, struct.pack("<IBBH", (64 << 20) + 1, BATCH_REF, 0, 0), "bad_frame"),
        *((f"BATCH_REF with {name}", "client", True, bad_reference(*part), "bad_frame") for name, part in {
            "more slices announced than sent": (64, 0, b"", 1),
            "more inline bytes announced than sent": (64, 128, bytes(64), 0),
            "a message shorter than its slices": (64, 0, struct.pack("<IIQ", 0, 65, 0), 1),
            "a message longer than its slices": (128, 64, bytes(64) + struct.pack("<IIQ", 0, 63, 0), 1),
            "an empty slice": (64, 64, bytes(64) + struct.pack("<IIQ", 0, 0, 0), 1),
            "an offset beyond 2^63": (64, 0, struct.pack("<IIQ", 0, 64, 1 << 63), 1),
            "too many zeros": (64, 0, struct.pack("<IIQ", 0xFFFFFFFF, 64, 0), 1),
            "a message of 2 GiB": (1 << 31, 0, struct.pack("<IIQ", 0, 1 << 31, 0), 1),
        }.items()),
        ("FILE without a path", "client", True, frame(FILE, bytes(32)), "bad_frame"),
        ("FILE with a relative path", "client", True, file(0, 0, 0, 1, "a"), "bad_frame"),
        ("FILE with a path that ends before its end", "client", True, file(0, 0, 0, 1, "/a\0b"), "bad_frame"),
        ("FILE whose path is no UTF-8", "client", True, frame(FILE, struct.pack("<IIQQQ", 0, 2, 0, 0, 1) + b"/\xff"), "bad_frame"),
        ("FILE beyond 2^63", "client", True, file(0, 0, 0, 1 << 63, "/a"), "bad_frame"),
        ("FILE with more than its path", "client", True, frame(FILE, struct.pack("<IIQQQ", 0, 1, 0, 0, 1) + b"/a"), "bad_frame"),
        ("lane map with a relative path", "client", True, frame(
            LANE_MAP, b'{"generation":[1,1],"addresses":["a:1"],"lanes":[[0]],"unix":{"a:1":{"host":"h","path":"s"}}}'),
            "bad_frame"),
        ("lane map with a long path", "client", True, frame(
            LANE_MAP, b'{"generation":[1,1],"addresses":["a:1"],"lanes":[[0]],"unix":{"a:1":{"host":"h","path":"/'
            + b"s" * 100 + b'"}}}'), "bad_frame"),
        ("lane map with a socket on no machine", "client", True, frame(
            LANE_MAP, b'{"generation":[1,1],"addresses":["a:1"],"lanes":[[0]],"unix":{"a:1":{"path":"/s"}}}'),
            "bad_frame"),
        ("SELECT before HELLO", "server", False, select(3, [1]), "bad_frame"),
        ("SELECT from a server", "client", True, select(3, [1]), "bad_frame"),
        ("SELECT of no column", "server", True, select(3, []), "bad_frame"),
        ("SELECT of a column beyond the last", "server", True, select(3, [1, 3]), "bad_frame"),
        ("SELECT without a bitmap", "server", True, frame(SELECT, struct.pack("<II", 0, 0)), "bad_frame"),
        ("SELECT with a bitmap that is too short", "server", True, select(9, [1], 1), "bad_frame"),
        ("SELECT with a bitmap that is too long", "server", True, select(8, [1], 2), "bad_frame"),
        ("SELECT with reserved bytes set", "server", True, select(3, [1], reserved=1), "bad_frame"),
        ("SELECT of 2^32 columns", "server", True, frame(SELECT, struct.pack("<II", 0xFFFFFFFF, 0) + b"\1"), "bad_frame"),
        ("SELECTED from a client", "server", True, frame(SELECTED, bytes(16)), "bad_frame"),
        ("SELECTED before WELCOME", "client", False, frame(SELECTED, bytes(16)), "bad_frame"),
        ("SELECTED of 15 bytes", "client", True, frame(SELECTED, bytes(15)), "bad_frame"),
        ("SELECTED beyond 2^63", "client", True, frame(SELECTED, bytes(7) + b"\x80" + bytes(8)), "bad_frame"),
        ("LANE_MAP longer than 64 MiB", "client", True, struct.pack("<IBBH", (64 << 20) + 1, LANE_MAP, 0, 0), "bad_frame"),
        *lookup_prototype.bad_frames(frame),
    ]  # fmt: skip
    return [{"name": n, "to": to, "welcomed": w, "code": code, "hex": data.hex()} for n, to, w, data, code in rows]


def text() -> str:
    parts = ['"about":"Feed protocol 1; docs/formats/feed-protocol.md."']
    for name, rows in (("frames", frames()), ("bad", bad_frames())):
        lines = ",\n".join(json.dumps(r, separators=(",", ":"), ensure_ascii=False) for r in rows)
        parts.append(f'"{name}":[\n{lines}\n]')
    return "{" + ",\n".join(parts) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="write the vectors instead of comparing them")
    if parser.parse_args().write:
        VECTORS.write_text(text(), encoding="utf-8")
    elif VECTORS.read_text(encoding="utf-8") != text():
        print(f"{VECTORS} differs from the prototype", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    assert crc32c(b"123456789") == 0xE3069283
    sys.exit(main())
