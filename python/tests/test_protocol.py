"""The frames of feed protocol 1, held against the vectors that Java passes too."""

import dataclasses
import json
import re
import struct
from pathlib import Path

import google_crc32c
import pytest

from stoker._client.lane_map import LaneMap
from stoker._client.welcome import Welcome
from stoker._wire import decoding, encoding, lookups
from stoker._wire import protocol as p
from stoker.errors import FormatTooNewError, ProtocolError

VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors" / "protocol.json"
LOOKUPS = ("GET", "SAMPLES", "LIST", "ENTRIES")
FRAMES = json.loads(VECTORS.read_text(encoding="utf-8"))["frames"]


def encode(kind, f):
    if kind == "HELLO":
        return encoding.hello(**f)
    if kind == "WELCOME":
        return encoding.welcome(f)
    if kind == "LANE_MAP":
        return encoding.lane_map(f)
    if kind == "ERROR":
        return encoding.error(f["code"], f["message"])
    if kind == "SUBSCRIBE":
        return encoding.subscribe(p.Subscribe(**{**f, "lanes": tuple(f["lanes"])}))
    if kind == "GRANT":
        return encoding.grant(f["subscription"], f["through"])
    if kind == "BATCH":
        message = bytes.fromhex(f["message"])
        return encoding.batch_header(header_of(f, len(message))) + message
    if kind == "BATCH_REF":
        header = {k: f[k] for k in f if k not in ("message", "inline", "slices")}
        return encoding.batch_ref(header_of(header, 0), f["message"], bytes.fromhex(f["inline"]), f["slices"])
    if kind == "FILE":
        return encoding.file_announcement(p.FileAnnouncement(**f))
    if kind == "RELEASE":
        return encoding.release(f["references"])
    if kind == "ACK":
        return encoding.ack(f["subscription"], f["epoch"], b"".join(encoding.pack_ack_entry(*e) for e in f["entries"]))
    if kind == "DURABLE":
        return encoding.durable(f["entries"])
    if kind == "NACK":
        return encoding.nack(p.Nack(**{**f, "crc": int(f["crc"], 16)}))
    if kind == "EPOCH_END":
        return encoding.epoch_end(p.EpochEnd(**f))
    if kind == "BYE":
        return encoding.bye()
    if kind == "STATS":
        return encoding.stats(f)
    if kind == "DELAY":
        return encoding.delay(p.Delay(**f))
    if kind == "SELECT":
        return encoding.select(p.Select(f["columns"], tuple(f["selected"])))
    if kind == "SELECTED":
        return encoding.selected(p.Selected(f["largest_batch"], int(f["view_tag"], 16)))
    if kind == "GET":
        return encoding.get(p.Get(f["request"], tuple(f["keys"]), f["stat_only"]))
    if kind == "SAMPLES":
        items = tuple(p.Item(*item) for item in f["items"])
        return encoding.samples(p.Samples(f["request"], f["version"], f["last"], items, bytes.fromhex(f["message"])))
    if kind == "LIST":
        return encoding.list_samples(p.List(**f))
    if kind == "ENTRIES":
        entries = tuple(p.Entry(*entry) for entry in f["entries"])
        return encoding.entries(p.Entries(f["request"], f["version"], f["more"], entries))
    return (encoding.ping if kind == "PING" else encoding.pong)(int(f["opaque"], 16))


def header_of(f, message_bytes):
    return p.BatchHeader(
        length=76 + message_bytes,
        flags=int(f["repeated"]),
        feed_tag=int(f["feed_tag"], 16),
        fingerprint_tag=int(f["fingerprint_tag"], 16),
        crc=int(f["crc"], 16),
        view_tag=int(f["view_tag"], 16),
        source_crc=int(f["source_crc"], 16),
        **{k: f[k] for k in ("epoch", "lane", "number", "piece", "pieces", "rows", "skipped", "source_rows")},
        subscription=f["subscription"],
    )


def decode(kind, frame):
    body = frame[8:] if kind.startswith("BATCH") else decoding.checked_body(getattr(p, kind), frame[8:])
    if kind == "HELLO":
        return decoding.decode_hello(body)
    if kind in ("WELCOME", "LANE_MAP", "ERROR", "STATS"):
        return decoding.decode_json(getattr(p, kind), body)
    if kind in ("BATCH", "BATCH_REF"):
        return decoding.decode_batch_header(frame)
    if kind in ("DURABLE", "PING", "PONG", "RELEASE"):
        return decoding.decode_u64(getattr(p, kind), body)
    module = lookups if kind in LOOKUPS else decoding
    return getattr(module, f"decode_{kind.lower()}")(body)


@pytest.mark.parametrize("vector", FRAMES, ids=[v["name"] for v in FRAMES])
def test_encodes_the_vectors(vector):
    assert encode(vector["type"], vector["fields"]).hex() == vector["hex"]


@pytest.mark.parametrize("vector", FRAMES, ids=[v["name"] for v in FRAMES])
def test_decodes_the_vectors(vector):
    frame, kind, f = bytes.fromhex(vector["hex"]), vector["type"], vector["fields"]
    length, number, flags, reserved = decoding.unpack_prefix(frame)
    assert (length, p.FRAME_NAMES[number], reserved) == (len(frame) - 4, kind, 0)
    decoding.check_prefix(length, number, flags, reserved, p.MAX_TO_CLIENT)
    if kind == "BYE":
        return
    found = decode(kind, frame)
    if kind in ("HELLO", "WELCOME", "LANE_MAP", "ERROR", "STATS"):
        assert found == f
    elif kind == "BATCH":
        assert found == header_of(f, len(frame) - 80)
        assert found.repeated == f["repeated"]
        message = bytes.fromhex(f["message"])
        assert google_crc32c.value(frame[p.CRC_START : p.CRC_END] + message) == found.crc
    elif kind == "ACK":
        assert (found.subscription, found.epoch) == (f["subscription"], f["epoch"])
        assert [list(dataclasses.astuple(e)) for e in found.entries] == f["entries"]
    elif kind == "BATCH_REF":
        assert found == header_of(f, len(frame) - 80)
        inline = bytes.fromhex(f["inline"])
        assert decoding.unpack_batch_ref(frame, p.MAX_BATCH) == (f["message"], len(inline), len(f["slices"]))
    elif kind in ("DURABLE", "PING", "PONG", "RELEASE"):
        expected = f.get("entries", f.get("references"))
        assert found == (int(f["opaque"], 16) if expected is None else expected)
    else:
        for name, value in f.items():
            expected = int(value, 16) if name in ("crc", "view_tag") else value
            expected = tuple(value) if name in ("lanes", "selected", "keys") else expected
            expected = tuple(map(tuple, value)) if name in ("items", "entries") else expected
            expected = bytes.fromhex(value) if name == "message" else expected
            assert getattr(found, name) == expected


@pytest.mark.parametrize("vector", [v for v in FRAMES if v["type"] == "WELCOME"], ids=lambda v: v["name"])
def test_reads_a_welcome(vector):
    f = vector["fields"]
    welcome = Welcome.from_json(f)
    assert welcome.info.lane_rows == tuple(f["lane_rows"])
    assert welcome.info.order.to_json() == f["order"]
    assert welcome.info.classes == {"label": ("cat", 'dog "rex"')}
    assert welcome.feed_tag == int(f["feed"]["id"].replace("-", "")[:16], 16)
    assert LaneMap.from_json(welcome.lane_map, 4).lanes[1] == ("10.0.0.2:7420", "10.0.0.1:7420")


@pytest.mark.parametrize(
    "kind",
    sorted(
        {"SUBSCRIBE", "GRANT", "ACK", "NACK", "EPOCH_END", "DURABLE", "PING", "HELLO", "STATS", "DELAY", "RELEASE"}
        | {"FILE", "SELECT", "SELECTED", *LOOKUPS}
    ),
)
def test_refuses_bodies_cut_anywhere(kind):
    """With and without the right checksum behind them."""
    frame = next(bytes.fromhex(v["hex"]) for v in FRAMES if v["type"] == kind)[:-4]
    for end in range(8, len(frame)):
        with pytest.raises(ProtocolError):
            decode(kind, encoding.seal(frame[:end]))
        with pytest.raises(ProtocolError):
            decode(kind, frame[:end])
    if kind != "HELLO":
        with pytest.raises(ProtocolError):
            decode(kind, encoding.seal(frame + b"\0"))


@pytest.mark.parametrize("vector", [v for v in FRAMES if not v["type"].startswith("BATCH")], ids=lambda v: v["name"])
def test_notices_every_flipped_bit_of_a_control_frame(vector):
    frame = bytes.fromhex(vector["hex"])
    for at in range(len(frame)):
        for bit in range(8):
            flipped = bytearray(frame)
            flipped[at] ^= 1 << bit
            with pytest.raises(ProtocolError):
                receive(bytes(flipped))


def receive(data):
    """What a connection does with the bytes of one frame, whose end it waits for."""
    length, kind, flags, reserved = decoding.unpack_prefix(data)
    decoding.check_prefix(length, kind, flags, reserved, p.MAX_TO_CLIENT)
    if len(data) != length + 4 or kind in (p.BATCH, p.BATCH_REF):
        raise ProtocolError("waits for more, or looks at another checksum", "bad_frame")
    decoding.checked_body(kind, data[8:])


@pytest.mark.parametrize(
    ("length", "kind", "flags", "reserved", "why"),
    [
        (4, 0, 0, 0, "unknown frame type 0"),
        (4, 18, 0, 0, "unknown frame type 18"),
        (95 - 4, p.BATCH_REF, 0, 0, "BATCH_REF frame declares length 91"),
        (3, p.BYE, 0, 0, "declares length 3"),
        ((64 << 20) + 1, p.LANE_MAP, 0, 0, "LANE_MAP frame declares length 67108865"),
        (75, p.BATCH, 0, 0, "BATCH frame declares length 75"),
        (1 << 31, p.BATCH, 0, 0, "BATCH frame declares length 2147483648"),
        (12, p.PING, 1, 0, "flags 0x1"),
        (12, p.PING, 0, 2, "reserved bytes 0x2"),
    ],
)
def test_refuses_prefixes_that_cannot_be(length, kind, flags, reserved, why):
    with pytest.raises(ProtocolError, match=why):
        decoding.check_prefix(length, kind, flags, reserved, p.MAX_TO_CLIENT)


def test_refuses_a_welcome_of_a_newer_protocol():
    fields = next(v["fields"] for v in FRAMES if v["type"] == "WELCOME")
    with pytest.raises(FormatTooNewError, match="speaks feed protocol 2, this client 1"):
        Welcome.from_json({**fields, "protocol": 2})


@pytest.mark.parametrize(
    "change",
    [
        {"samples": 8},
        {"batches": 5},
        {"lane_rows": None},
        {"order": {"function": 1, "batch_size": "two"}},
        {"feed": {"name": "x"}},
        {"feed": {"id": "not hex at all!!", "name": "x"}},
        {"fields": [{"name": "x"}]},
        {"classes": []},
        {"lane_map": 3},
        {"run": "one"},
    ],
    ids=str,
)
def test_refuses_welcomes_that_contradict_themselves(change):
    fields = next(v["fields"] for v in FRAMES if v["type"] == "WELCOME")
    with pytest.raises(ProtocolError, match="WELCOME frame"):
        Welcome.from_json({**fields, **change})


def test_the_tag_is_the_beginning_of_the_digits():
    assert p.tag("6f1d2c3b-4a59-5687-9768-a5b4c3d2e1f0") == 0x6F1D2C3B4A595687
    assert struct.pack("<Q", p.tag("00000000000000ff")) == b"\xff" + bytes(7)


def test_the_specification_shows_what_is_sent():
    """Its four examples, without what it omits."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "formats" / "feed-protocol.md").read_text("utf-8")
    blocks = [
        re.sub(r"\s|64 bytes", "", block) for block in re.findall(r"^```\n([0-9a-f]{8} .*?)^```", page, re.M | re.S)
    ]
    header = next(f["fields"] for f in FRAMES if f["name"] == "batch without a message")
    entry = encoding.pack_ack_entry(7, 0, 0, 0xDEADBEEF, 2, 0, 2, 0xCAFEF00D)
    reference = next(f["fields"] for f in FRAMES if f["name"] == "reference")
    fields = {k: reference[k] for k in reference if k not in ("message", "inline", "slices")}
    sent = encoding.batch_ref(header_of(fields, 0), 128, bytes(64), [(255, 40, 1000), (0xFFFFFFFF, 24, 0)]).hex()
    shown = [sent[: 2 * 64], sent[2 * 68 : 2 * 76], sent[2 * 80 : 2 * 96] + sent[2 * 160 :]]
    get = encoding.get(p.Get(1, ("k",), True))
    assert blocks == [encode("BATCH", header).hex(), "…".join(shown), encoding.ack(1, 0, entry).hex(), get.hex()]
