"""Blocks: batches that are laid out together have the same bytes as batches laid out alone, damaged files or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from small_datasets import IMAGES, MANY, DatasetWriter, sample
from stoker import Feed, Ragged, errors
from stoker._dataset.snapshot import open_snapshot
from stoker._format.checksum import RunningCrcs
from stoker._format.fields import Field
from stoker._format.message import MessageLayout, batch_columns
from stoker._memory import copying as _copying
from stoker._memory import leases as _leases
from stoker._memory import mapping as _mapping
from stoker._memory.buffers import BufferPool
from stoker._order.delivery import BatchPlan
from stoker._order.spec import OrderSpec
from stoker._path import batch_blocks
from stoker._path import filling as _filling
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from test_path import expected_pieces, read

FULL = [{k: v for k, v in f.items() if k != "nullable"} for f in MANY]
"""Every kind of column, none with nulls."""


@pytest.fixture(params=["collected", "copied", "apart"])
def used(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The batches of each block that is made, from mappings with leases and without, and left in the mappings."""
    monkeypatch.setattr(_copying, "VIEWED", 1 if request.param == "apart" else 1 << 30)
    if request.param == "copied":
        monkeypatch.setattr(_leases, "MOST", 0)
    assert _mapping.supported(), "this kernel does not let a process read itself; blocks are not tested"
    made: list[int] = []
    true = _filling.BatchBlock

    def block(layout: Any, window: Any, firsts: Any, rows: int, apart: bool) -> Any:
        made.append(len(firsts))
        return true(layout, window, firsts, rows, apart)

    monkeypatch.setattr(_filling, "BatchBlock", block)
    return made


def dataset(root: Path, fields: Any, chunks: tuple[int, ...], size: int = 200) -> DatasetWriter:
    rng = np.random.default_rng(7)
    writer = DatasetWriter(root, fields)
    numbers = iter(range(10**6))
    writer.commit([[sample(rng, next(numbers), fields, size) for _ in range(n)] for n in chunks])
    return writer


def opened(writer: DatasetWriter, **spec: Any) -> PathStream:
    return PathStream(open_snapshot(writer.root), "train", OrderSpec(**spec))


@pytest.fixture
def sources() -> Iterator[list[PathSource]]:
    made: list[PathSource] = []
    yield made
    for source in made:
        source.close()


@pytest.mark.cells
@pytest.mark.parametrize("fields", [IMAGES, FULL, MANY], ids=["images", "every kind", "nulls"])
@pytest.mark.parametrize(
    "spec",
    [
        {"batch_size": 4, "lanes": 1},
        {"batch_size": 1, "lanes": 3, "shuffle_window": 20_000},
        {"batch_size": 3, "lanes": 2, "shuffle_window": 1},
        {"batch_size": 5, "lanes": 4, "shuffle_window": 30_000, "lane_order": "fixed"},
        {"batch_size": 7, "lanes": 2, "shuffle": "none"},
    ],
    ids=lambda s: "-".join(map(str, s.values())),
)
def test_messages_are_those_of_batches_laid_out_alone(
    tmp_path: Path, sources: list[PathSource], used: list[int], fields: Any, spec: dict[str, Any]
) -> None:
    writer = dataset(tmp_path / "d", fields, (31, 40, 2, 57, 23, 64))
    stream = opened(writer, **spec)
    sources.append(source := PathSource(stream))
    expected = [expected_pieces(writer, stream, 1, n, "pad") for n in range(stream.batches)]
    for first, stride in ((0, 1), (3, 1), (1, 2), (2, 7), (5, 64)):
        numbers = range(first, stream.batches, stride)
        got = read(source, 1, first, stride, len(numbers), "pad")
        assert [b.number for b in got] == list(numbers)
        for batch in got:
            assert [p.message().tobytes() for p in batch.pieces] == expected[batch.number]
            assert all(p.skipped == 0 and p.buffer.ctypes.data % 64 == 0 for p in batch.pieces)
    if fields is not MANY:
        assert sum(used) > stream.batches / 2
        assert max(used) > 1


def test_blocks_grow_and_calls_stay_within_the_limit_of_ranges(
    tmp_path: Path, sources: list[PathSource], used: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = dataset(tmp_path / "d", IMAGES, (2000, 1000), size=20)
    monkeypatch.setattr(_leases, "MOST", 0)
    calls = []
    copy = _mapping.copy

    def counted(local: int, length: int, remote: int, count: int, into: int = 1) -> bool:
        calls.append((count, into))
        return copy(local, length, remote, count, into)

    monkeypatch.setattr(_mapping, "copy", counted)
    for size, most in ((6, batch_blocks.LONGEST), (300, 10), (1022, 2), (1023, 0)):
        used.clear()
        calls.clear()
        stream = opened(writer, batch_size=size, lanes=1)
        sources.append(source := PathSource(stream))
        got = read(source, 0, 0, 1, stream.batches, "keep")
        assert max(used, default=0) <= most
        assert (max(used, default=0) == batch_blocks.LONGEST) == (size == 6)
        assert all(count <= 1024 for count, _ in calls)
        if size == 300:
            assert max(calls)[1] == 3
        for batch in got[:: max(1, 200 // size)]:
            assert [p.message().tobytes() for p in batch.pieces] == expected_pieces(
                writer, stream, 0, batch.number, "keep"
            )


@pytest.mark.parametrize("on_corrupt", ["fail", "skip"])
@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damage_inside_a_block_ends_as_outside_of_one(
    tmp_path: Path, used: list[int], monkeypatch: pytest.MonkeyPatch, on_corrupt: str, damage: str
) -> None:
    rng = np.random.default_rng(0)
    monkeypatch.setattr(_leases, "MOST", 0)  # with leases, an open window keeps what the file had
    writer = DatasetWriter(tmp_path / "d", IMAGES)
    writer.commit([[{**sample(rng, i), "image": rng.bytes(5_000 + i)} for i in range(300)]])
    path = writer.chunk_path(0)
    intact = path.read_bytes()
    places = [intact.index(writer.rows[0, r]["image"]) for r in (30, 31, 250)]
    opened_window = _filling.Filler.open_window

    def opens_and_damages(self: Any, lane_epoch: Any, w: int) -> Any:
        window = opened_window(self, lane_epoch, w)
        with open(path, "r+b") as f:
            for place in places:
                f.seek(place + 77)
                f.write(bytes([intact[place + 77] ^ 8]))
            if damage == "cut":
                f.truncate(places[2])
        return window

    monkeypatch.setattr(_filling.Filler, "open_window", opens_and_damages)
    take_at = BufferPool.take_at

    def take_cleared(self: BufferPool, nbytes: int) -> tuple[Any, int]:
        array, address = take_at(self, nbytes)
        array[:] = 0
        return array, address

    # What memory held before may be the very bytes that are cut off.
    monkeypatch.setattr(BufferPool, "take_at", take_cleared)

    def outcome() -> tuple[list[Any], str]:
        path.write_bytes(intact)
        stream = opened(writer, batch_size=8, lanes=1)
        source = PathSource(stream, threads=1, on_corrupt=on_corrupt)
        got = []
        try:
            for b in source.epoch(0, 0, 1, stream.batches, "keep"):
                got.append((b.number, [(p.buffer.tobytes(), p.rows, p.skipped) for p in b.pieces]))
        except errors.CorruptDataError as e:
            return got, str(e)
        finally:
            source.close()
        return got, ""

    in_blocks, error = outcome()
    assert sum(used) == 37
    used.clear()
    monkeypatch.setattr(batch_blocks, "longest", lambda *_: 0)
    assert outcome() == (in_blocks, error)
    assert not used
    skipped = sum(skipped for _, pieces in in_blocks for _, _, skipped in pieces)
    if on_corrupt == "fail":
        assert "checksum" in error if damage == "flip" else "bytes long, expected" in error
    else:
        assert len(in_blocks) == 38
        assert skipped == 3 if damage == "flip" else skipped > 50


def test_a_batch_of_a_block_that_fails_once_is_read_again(
    tmp_path: Path, sources: list[PathSource], used: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_copying, "VIEWED", 1 << 30)
    writer = dataset(tmp_path / "d", IMAGES, (100,))
    stream = opened(writer, batch_size=4)
    extend, spoiled = batch_blocks.extend, []

    def spoils(crc: int, data: Any, address: int, start: int, end: int) -> int:
        if end - start > 4 and len(spoiled) < 5:
            spoiled.append(start)
            data[start + 3] ^= 32
        return extend(crc, data, address, start, end)

    monkeypatch.setattr(batch_blocks, "extend", spoils)
    sources.append(source := PathSource(stream, threads=1))
    for batch in read(source, 0, 0, 1, stream.batches, "keep"):
        assert [p.message().tobytes() for p in batch.pieces] == expected_pieces(writer, stream, 0, batch.number, "keep")
    assert used
    assert len(spoiled) == 5


@pytest.mark.parametrize("size", [1, 200], ids=["empty", "filled"])
def test_a_copy_that_falls_short_is_no_batch(
    tmp_path: Path, sources: list[PathSource], used: list[int], monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    writer = dataset(tmp_path / "d", IMAGES, (50,), size)
    monkeypatch.setattr(_leases, "MOST", 0)
    stream = opened(writer, batch_size=4)
    sources.append(source := PathSource(stream))
    monkeypatch.setattr(_mapping, "copy", lambda *_: False)
    for batch in read(source, 0, 0, 1, stream.batches, "keep"):
        assert [p.message().tobytes() for p in batch.pieces] == expected_pieces(writer, stream, 0, batch.number, "keep")
    assert used


@pytest.mark.parametrize("size", [5, 4000], ids=["some empty", "filled"])
def test_rows_of_several_columns_stay_apart(
    tmp_path: Path, used: list[int], monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(_copying, "VIEWED", 1)
    fields = [{"name": name, "type": "binary", "payload": True} for name in ("left", "right")]
    writer = dataset(tmp_path / "d", fields, (31, 40, 57), size)
    expected = {s["key"]: (s["left"], s["right"]) for s in writer.live("train").values()}
    with Feed(writer.root, batch_size=4) as feed:
        found = {}
        for batch in feed:
            for key, *rows in zip(batch.keys, batch["left"], batch["right"], strict=True):
                assert all(row.flags.writeable for row in rows)
                found[key] = tuple(row.tobytes() for row in rows)
        source = feed._reading.source
        assert isinstance(source, PathSource)
        assert source._filler._apart, "a message was put together"
    assert found == expected
    assert any(not left for left, _ in expected.values()) == (size == 5)
    assert sum(used) > 20


def test_windows_that_do_not_suit_blocks(tmp_path: Path, used: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_copying, "VIEWED", 1 << 30)
    writer = dataset(tmp_path / "d", IMAGES, (50,))
    for name, value in (("LARGEST", 100), ("_FRONT", 10), ("MOST", 5), ("BODY_LIMIT", 1 << 10)):
        with monkeypatch.context() as patched:
            patched.setattr(batch_blocks, name, value)
            stream = opened(writer, batch_size=4)
            source = PathSource(stream)
            assert len(read(source, 0, 0, 1, stream.batches, "keep")) == 13
            source.close()
            assert not used, name
    monkeypatch.setattr(batch_blocks, "_BYTES", 1000)  # what a block takes is bounded too
    source = PathSource(opened(writer, batch_size=4))
    assert len(read(source, 0, 0, 1, 12, "keep")) == 12
    source.close()
    assert used == [2] * 6 or used == [1] * 12


def test_lanes_of_full_batches_are_those_of_single_numbers() -> None:
    for order in ("mixed", "fixed"):
        plan = BatchPlan(OrderSpec(batch_size=4, lane_order=order), [4000, 17, 0, 2801, 2801, 3])
        for first, stride in ((0, 1), (999, 1), (5, 3), (plan.full_batches - 1, 1), (2, 5000)):
            numbers = range(first, plan.full_batches, stride)
            lanes: list[int] = []
            rounds: list[int] = []
            while len(lanes) < len(numbers):
                rest = numbers[len(lanes) :]
                got = plan.full(3, rest.start, rest.step, min(len(rest), 400))
                assert 0 < len(got[0]) == len(got[1]) <= 400
                lanes += got[0]
                rounds += got[1]
            single = [plan.pieces(3, n) for n in numbers]
            assert [[(p.lane, p.first) for p in pieces] for pieces in single] == [
                [(lane, 4 * turn)] for lane, turn in zip(lanes, rounds, strict=True)
            ]


def test_checksums_and_metadata_of_several_at_once() -> None:
    rng = np.random.default_rng(2)
    lengths = rng.integers(0, 300_000, 400)
    running = RunningCrcs(rng.integers(0, 2**32, 400, dtype=np.uint32), lengths)
    starts, ends = np.sort(rng.integers(0, 401, (2, 100)), axis=0)
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    assert running.of_each(starts, ends).tolist() == [running.of(a, b) for a, b in pairs]
    layout = MessageLayout(batch_columns([Field("label", "int32")]))
    nodes, buffers = [5, 0] * 2, [0, 0, 64, np.array([7, 9, 11]), 5, 6, 7, 8, np.array([1, 2, 3]), 4]
    body = np.array([64, 128, 192])
    lines = layout.pack_each(body, 5, nodes, buffers)
    for i, line in enumerate(lines):
        one = bytearray(layout.body_start)
        plain = [[int(v) if isinstance(v, int) else int(v[i]) for v in values] for values in (nodes, buffers)]
        layout.pack_into(one, int(body[i]), 5, *plain, (0, 0, 0))
        assert line.tobytes() == bytes(one)


def test_rows_of_equal_length_are_the_same_views() -> None:
    values = np.arange(24, dtype=np.uint16)
    for offsets in (
        [0, 4, 8, 12],
        [2, 5, 8],
        [0, 3, 8, 9],
        [0, 0, 0],
        [0, 0, 4],
        [0, 4, 4, 8],
        [0],
        [3, 7],
        [0, 4, 6, 12],
    ):
        ragged = Ragged(values, np.array(offsets, np.int32))
        rows = list(ragged)
        assert [r.tolist() for r in rows] == [ragged[i].tolist() for i in range(len(ragged))]
        assert all(r.base is values and r.flags.writeable for r in rows)
    every_other = Ragged(values[::2], np.array([0, 4, 8], np.int32))
    assert [r.tolist() for r in every_other] == [[0, 2, 4, 6], [8, 10, 12, 14]]
    assert all(np.shares_memory(r, values) for r in every_other)
