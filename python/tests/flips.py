"""The formats whose bits `test_flips.py` flips, each with the reader of the package."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import google_crc32c
import numpy as np

import stoker
from index_prototype import run
from rounds import Round
from small_datasets import MANY, DatasetWriter, sample, small_dataset
from stoker._client.lane_map import LaneMap
from stoker._client.welcome import Welcome
from stoker._commit.lease import read_lease
from stoker._dataset.index_run import IndexRun
from stoker._dataset.log import read_entry, read_info
from stoker._dataset.snapshot import _read_table, open_snapshot
from stoker._dataset.tags import read_tag
from stoker._kafka.record import read_header
from stoker._order.spec import OrderSpec
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from stoker._wire import decoding, lookups
from stoker._wire import protocol as p
from stoker.errors import CorruptDataError, ProtocolError, StokerError

RESOURCES = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources"
SPEC = OrderSpec(batch_size=3, lanes=2, shuffle_window=10**6)


class Format(NamedTuple):
    """Something that is damaged, and read."""

    name: str
    data: bytes
    read: Callable[[bytes], Any]
    unread: str = ""
    """Whose damage may change nothing; empty if all damage must be noticed."""
    dear: int = 1
    """A format that takes long gets a smaller part of the flips."""


def file_format(name: str, path: Path, read: Callable[[], Any], unread: str = "", dear: int = 1) -> Format:
    """A file in its place: written before each reading."""

    def reading(data: bytes) -> Any:
        with open(path, "r+b") as f:
            f.write(data)
        return read()

    return Format(name, path.read_bytes(), reading, unread, dear)


def golden(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes((RESOURCES / "golden" / name).read_bytes())
    return path


def epoch_of(root: Path, **options: Any) -> list[Any]:
    """The bytes of every batch."""
    source = PathSource(PathStream(open_snapshot(root), "train", SPEC), threads=1, **options)
    try:
        batches = source.epoch(0, 0, 1, PathStream(open_snapshot(root), "train", SPEC).batches, "pad")
        return [[piece.message().tobytes() for piece in batch.pieces] for batch in batches]
    finally:
        source.close()


def looked_up(root: Path, keys: list[str]) -> list[Any]:
    samples = stoker.open(root)
    found = [(samples.stat(key), repr(samples.get([key]))) for key in keys]
    return [found, [entry.name for entry in samples.list()]]


def dataset(folder: Path) -> DatasetWriter:
    """Chunks of all types, an overlay, removed rows, a chunk table, a run of the index and a tag."""
    writer = small_dataset(folder / "d", MANY, chunks=(7, 5, 4))
    writer.update({(1, 0): {"label": "brand new", "score": 0.5}, (1, 4): {"caption": None}})
    writer.commit([[sample(np.random.default_rng(3), 100 + n, MANY) for n in range(3)]], removed={0: [1]})
    ids = b"".join(t["ordinal"].to_bytes(8, "big") + t["id"].bytes for t in writer.table)
    rows = []
    samples = stoker.open(writer.root)
    for stat in map(samples.stat, samples.keys()):
        assert stat is not None
        rows.append((stat.key.encode(), stat.chunk, stat.row, stat.length, stat.crc32c))
    path = writer.root / "_stoker" / "index" / f"{1:020d}-{3:020d}.arrow"
    path.parent.mkdir()
    path.write_bytes(run(writer.id, 1, 3, google_crc32c.value(ids), sorted(rows)))
    return writer


def of_dataset(folder: Path) -> Iterator[Format]:
    """The files of a dataset, where the readers find them."""
    writer = dataset(folder)
    root, keys = writer.root, [sample["key"] for sample in writer.rows.values()]
    info = read_info(root)
    log = root / "_stoker" / "log"
    yield file_format("dataset.json", root / "_stoker" / "dataset.json", lambda: read_info(root))
    for version in (1, 2, 3):
        path = log / f"{version:020d}.avro"
        yield file_format(f"log entry {version}", path, lambda version=version: read_entry(root, version, info.id))
    index = next((root / "_stoker" / "index").iterdir())
    unread = "a damaged run is not used; the heads of the chunks are read instead"
    yield file_format("index run, looked up", index, lambda: looked_up(root, keys[:6]), unread, 20)
    for ordinal, name in ((0, "chunk"), (1, "chunk with an overlay")):
        path = writer.chunk_path(ordinal)
        unread = "padding, removed rows, values under the overlay, and the bytes after the body"
        yield file_format(f"{name}, batches", path, lambda: epoch_of(root), unread, 10)
        yield file_format(f"{name}, one pass", path, lambda: repr(list(stoker.open(root))), unread, 10)
    overlay = writer.overlay_path(1)
    yield file_format("overlay, batches", overlay, lambda: epoch_of(root), dear=10)
    yield file_format("overlay, samples", overlay, lambda: repr(list(stoker.open(root))), dear=10)
    table = writer.write_table()
    yield file_format("chunk table", table, lambda: repr(vars(_read_table(table, info, writer.version).chunks())))


def of_golden_files(folder: Path) -> Iterator[Format]:
    lease = golden(folder, "lease-1.json")
    yield file_format("lease-1.json", lease, lambda: read_lease(lease))
    tag = golden(folder, "tag-1.json")
    yield file_format("tag-1.json", tag, lambda: read_tag(tag))
    path = golden(folder, "index-run-1.arrow")

    def read() -> Any:
        found = IndexRun(path)
        found.verify_all()
        return found.identity, [(found.key(n), found.row(n), found.find(found.key(n))) for n in range(found.rows)]

    yield file_format("index-run-1.arrow", path, read)


def of_topics() -> Iterator[Format]:
    """Records as a broker keeps them: names and values after their lengths."""
    for item in json.loads((RESOURCES / "vectors" / "kafka.json").read_text())["records"]:
        texts = [text.encode() for pair in item["headers"].items() for text in pair]
        data = b"".join(bytes([len(text)]) + text for text in texts) + b"\0" + bytes.fromhex(item["value"])
        yield Format(f"record: {item['name']}", data, _record)


def _record(data: bytes) -> Any:
    at = 0

    def text() -> bytes:
        nonlocal at
        length = data[at] if at < len(data) else 256
        at += 1 + length
        if at > len(data):
            raise CorruptDataError("a header is cut off")
        return data[at - length : at]

    headers = []
    while name := text():
        # A header's name is text for Kafka's client too.
        headers.append((name.decode("utf-8", "replace"), text()))
    return read_header(headers, data[at:], "here"), data[at:]


def of_frames() -> Iterator[Format]:
    for vector in json.loads((RESOURCES / "vectors" / "protocol.json").read_text())["frames"]:
        if not vector["type"].startswith("BATCH"):
            yield Format(f"frame {vector['name']}", bytes.fromhex(vector["hex"]), _frame)


def _frame(frame: bytes) -> Any:
    """As a connection reads it; what a damaged length makes of the next frame ends in a checksum too."""
    frame += bytes(64)
    length, kind, flags, reserved = decoding.unpack_prefix(frame)
    decoding.check_prefix(length, kind, flags, reserved, p.MAX_TO_CLIENT)
    if not 8 <= length <= len(frame) - 4 or kind in (p.BATCH, p.BATCH_REF):
        raise ProtocolError("no frame of this stream")
    body = decoding.checked_body(kind, frame[8 : 4 + length])
    name = p.FRAME_NAMES[kind]
    if name == "HELLO":
        return decoding.decode_hello(body)
    if name == "WELCOME":
        values = decoding.decode_json(kind, body)
        return values, repr(Welcome.from_json(values).info)
    if name == "LANE_MAP":
        values = decoding.decode_json(kind, body)
        return values, repr(LaneMap.from_json(values, len(values["lanes"])))
    if name in ("ERROR", "STATS"):
        return decoding.decode_json(kind, body)
    if name in ("DURABLE", "PING", "PONG", "RELEASE"):
        return decoding.decode_u64(kind, body)
    if name == "BYE":
        return bytes(body)
    module = lookups if name in ("GET", "SAMPLES", "LIST", "ENTRIES") else decoding
    return getattr(module, f"decode_{name.lower()}")(body)


def all_formats(folder: Path) -> list[Format]:
    return [*of_dataset(folder), *of_golden_files(folder), *of_topics(), *of_frames()]


IN_TURN = 200
"""Flips at random places only, so that few flips do not hit the first bits only; then three of four go through all."""


MOST = 10
"""Flips of a format in a round, if it is not dear."""


class Flips:
    """Damages copies of one format, and counts what became of them."""

    def __init__(self, form: Format) -> None:
        self.format = form
        self.intact = form.read(form.data)
        self.flips = self.refused = self.equal = 0

    def round(self, rng: Round) -> None:
        """Reads damaged copies, and then the intact bytes, which leaves files as they were."""
        count = MOST // self.format.dear
        for i in range(count):
            self._flip(rng, rng.number * count + i)
        self.format.read(self.format.data)

    def _flip(self, rng: Round, number: int) -> None:
        """Reads a damaged copy: three quarters have one flipped bit, the others two to eight."""
        form, bits = self.format, 8 * len(self.format.data)
        turn = (number - IN_TURN) // 4 * 3 + number % 4
        if number >= IN_TURN and number % 4 < 3 and turn < bits:
            damage = [turn]
        else:
            count = 1 if rng.randrange(4) else rng.randrange(2, 9)
            reach = min(bits, 32) if rng.randrange(2) else bits
            begin = rng.randrange(bits - reach + 1)
            damage = sorted({begin + rng.randrange(reach) for _ in range(count)})
        damaged = bytearray(form.data)
        for bit in damage:
            damaged[bit // 8] ^= 1 << bit % 8
        where = f"{form.name}: bits {damage} of {bits}"
        self.flips += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                found = form.read(bytes(damaged))
        except StokerError:
            self.refused += 1
        except Exception as e:
            raise AssertionError(f"{where} ended in {e!r}") from e
        else:
            assert found == self.intact, f"{where} gave other content"
            assert form.unread, f"{where} went unnoticed"
            self.equal += 1


def table(results: list[Flips]) -> str:
    rows = [("format", "bytes", "flips", "refused", "equal")]
    rows += [(r.format.name, len(r.format.data), r.flips, r.refused, r.equal) for r in results]
    rows.append(("all", "", *(sum(row[column] for row in rows[1:]) for column in range(2, 5))))
    return "\n".join("{:60} {:>8} {:>9} {:>9} {:>9}".format(*row) for row in rows)
