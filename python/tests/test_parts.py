"""The small parts: ragged rows, checksums, buffers, decoding, random access, metadata."""

from __future__ import annotations

import io
import itertools
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa
import pytest

import stoker
from small_datasets import IMAGES, MANY, DatasetWriter, sample, small_dataset
from stoker import Feed, Ragged, errors
from stoker._format.avro import read_container
from stoker._format.checksum import ORDER, RunningCrcs, crc32c, extend, shift
from stoker._format.fields import Field
from stoker._memory.buffers import BufferPool
from stoker._memory.workers import Shared


def test_ragged_of_parts_is_joined_when_that_is_wanted() -> None:
    parts = [
        (np.arange(6, dtype=np.int16), np.array([0, 2, 2, 6], np.int32)),
        (np.arange(9, dtype=np.int16), np.array([3, 5, 7], np.int32)),
        (np.zeros(0, np.int16), np.array([0, 0], np.int32)),
    ]
    rows = [[0, 1], [], [2, 3, 4, 5], [3, 4], [5, 6], []]
    r = Ragged.of(parts)
    assert (len(r), r.lengths.tolist(), r.tolist()) == (6, [2, 0, 4, 2, 2, 0], rows)
    assert repr(r) == "Ragged(6 rows of int16, 10 elements)"
    assert [r[i].tolist() for i in range(-6, 6)] == 2 * rows
    assert all(np.shares_memory(a, b) for a, b in zip(r, [parts[0][0]] * 3 + [parts[1][0]] * 2, strict=False) if len(a))
    with pytest.raises(IndexError, match="row 6 of 6"):
        r[6]
    assert pickle.loads(pickle.dumps(r)).tolist() == rows
    assert Ragged.of(parts)[1:5].tolist() == rows[1:5]
    assert (r.values.tolist(), r.offsets.tolist()) == ([0, 1, 2, 3, 4, 5, 3, 4, 5, 6], [0, 2, 2, 6, 8, 10, 10])
    assert (r.tolist(), r.offsets.dtype, r.padded().shape) == (rows, np.int32, (6, 4))


def test_ragged() -> None:
    r = Ragged(np.arange(6, dtype=np.int16), np.array([0, 2, 2, 6], np.int32))
    assert [v.tolist() for v in r] == [[0, 1], [], [2, 3, 4, 5]]
    assert [r[i].tolist() for i in (-1, -3, 1)] == [[2, 3, 4, 5], [0, 1], []]
    assert r.lengths.tolist() == [2, 0, 4]
    assert r.padded().tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [2, 3, 4, 5]]
    assert r.padded(5, -1).tolist() == [[0, 1, -1, -1, -1], [-1] * 5, [2, 3, 4, 5, -1]]
    assert r[1:].padded().tolist() == [[0, 0, 0, 0], [2, 3, 4, 5]]
    assert r[1:].tolist() == [[], [2, 3, 4, 5]]
    assert r[0].base is not None
    with pytest.raises(ValueError, match="row 2 has 4 elements, more than 3"):
        r.padded(3)
    for bad in (3, -4):
        with pytest.raises(IndexError):
            r[bad]


def test_crc_of_concatenations() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 3000, 300)
    lengths[:5] = 0, 1, 100_000, 0, 70_000
    data = rng.integers(0, 256, int(lengths.sum()), np.uint8)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    crcs = np.array([crc32c(data[a:b]) for a, b in itertools.pairwise(ends)], np.uint32)
    running = RunningCrcs(crcs, lengths)
    for a, b in [(0, 300), (0, 0), (300, 300), (2, 3), *np.sort(rng.integers(0, 301, (100, 2))).tolist()]:
        assert running.of(a, b) == crc32c(data[ends[a] : ends[b]])
    assert extend(crc32c(data[:10]), data, data.ctypes.data, 10, 5000) == crc32c(data[:5000])
    value = 0xDEADBEEF
    assert shift(value, ORDER) == value
    assert shift(shift(value, ORDER - 12345), 12345) == value
    assert shift(0x12345678, 1000) == google_crc32c.extend(0x12345678, bytes(1000)) ^ crc32c(bytes(1000))


def test_a_slow_checksum_is_loud() -> None:
    hidden = "import sys, google_crc32c; sys.modules['crc32c'] = None; google_crc32c.implementation = 'python'"
    script = f"{hidden}; import stoker"
    done = subprocess.run([sys.executable, "-W", "always", "-c", script], capture_output=True, text=True, check=True)
    assert "RuntimeWarning: stoker: google-crc32c has no native code here" in done.stderr


def test_buffers_return_only_when_nothing_refers_to_them() -> None:
    pool = BufferPool(1 << 20)
    a = pool.take(100_000)
    assert (len(a), a.ctypes.data % 64, a.flags.writeable) == (100_000, 0, True)
    address = a.ctypes.data
    holders: list[Any] = [a[10:20], pa.py_buffer(a), memoryview(a), a.view(np.int32).reshape(-1, 2)[:3].T]
    del a
    while holders:
        assert pool.take(100_000).ctypes.data != address
        assert pool.kept_bytes <= 2 * 131072
        del holders[0]
    addresses = {pool.take(99_000).ctypes.data for _ in range(2)}
    kept = [pool.take(100_000), pool.take(100_000)]
    assert address in addresses | {k.ctypes.data for k in kept}
    big = pool.take(3 << 20)
    del big
    assert pool.kept_bytes <= 1 << 20


def test_buffers_of_large_batches_are_kept_too() -> None:
    pool = BufferPool(1 << 20)
    pool.keep_at_least(5 << 20)
    pool.keep_at_least(1)
    a, b = pool.take(2 << 20), pool.take(2 << 20)
    addresses = {a.ctypes.data, b.ctypes.data}
    del a, b
    assert pool.kept_bytes == 4 << 20
    # A little less comes out of the same memory, much less does not.
    assert pool.take(15 << 17).ctypes.data in addresses
    small = pool.take(1 << 19)
    assert pool.kept_bytes == 4 << 20
    # What comes last is kept; sizes that batches have no longer make room.
    large = pool.take(4 << 20)
    del small, large
    assert pool.kept_bytes == (4 << 20) + (1 << 19)
    _ = pool.take(2 << 20)
    assert pool.kept_bytes == (4 << 20) + (1 << 19)


def test_shared_work_is_done_by_two() -> None:
    both = threading.Barrier(2, timeout=60)
    done = []

    def do(part: int) -> bool:
        if part < 2:
            both.wait()
        done.append(part)
        return part % 5 > 0

    shared = Shared(range(20), do)
    helper = threading.Thread(target=shared.help)
    helper.start()
    assert sorted(shared.finish()) == [0, 5, 10, 15]
    helper.join(60)
    assert sorted(done) == list(range(20))


def test_shared_work_whose_helper_fails_or_comes_late_is_not_done() -> None:
    helping, failing = threading.Event(), threading.Event()

    def do(part: int) -> bool:
        if threading.current_thread() is not helper:
            assert failing.wait(60)
            return True
        helping.set()
        raise MemoryError

    def help_out() -> None:
        try:
            shared.help()
        except MemoryError:
            failing.set()

    shared = Shared(range(3), do)
    helper = threading.Thread(target=help_out)
    helper.start()
    assert helping.wait(60)
    assert shared.finish() == [0]
    helper.join(60)
    assert failing.is_set()
    shared = Shared(range(3), lambda part: True)
    assert shared.finish() == []
    shared.help()


def test_buffers_of_many_threads() -> None:
    pool = BufferPool()
    wrong = []

    def work(mark: int) -> None:
        rng = np.random.default_rng(mark)
        mine = []
        for _ in range(300):
            b = pool.take(int(rng.integers(1, 20_000)))
            b[:] = mark
            mine.append(b[1:])
            if len(mine) > 5:
                del mine[int(rng.integers(5))]
            wrong.extend(m for m in mine if not (m == mark).all())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def jpegs(root: Path, sizes: list[tuple[int, int]]) -> tuple[DatasetWriter, list[np.ndarray]]:
    image = pytest.importorskip("PIL.Image")
    arrays, rows = [], []
    for i, size in enumerate(sizes):
        array = np.zeros((*size, 3), np.uint8)
        array[...] = (i * 9) % 256, 100, 50
        out = io.BytesIO()
        image.fromarray(array).save(out, "PNG")
        arrays.append(array)
        rows.append({"key": str(i), "label": "x", "image": out.getvalue()})
    writer = DatasetWriter(root, IMAGES)
    writer.commit([rows])
    return writer, arrays


def test_decoding_images(tmp_path: Path) -> None:
    writer, arrays = jpegs(tmp_path / "same", [(8, 6)] * 20)
    with Feed(writer.root, batch_size=8, decode={"image": "rgb"}, decode_threads=3) as feed:
        for b in feed:
            assert b["image"].shape == (8, 8, 6, 3)
            assert b["image"].flags.writeable
            for key, image in zip(b.keys, b.image, strict=True):
                assert (image == arrays[int(key)]).all()
            assert b.raw("image")[0].tobytes().startswith(b"\x89PNG")
    writer, arrays = jpegs(tmp_path / "mixed", [(4 + i, 5) for i in range(20)])
    with Feed(writer.root, batch_size=8, decode={"image": "rgb"}) as feed:
        for b in feed:
            assert isinstance(b["image"], list)
            assert all((image == arrays[int(key)]).all() for key, image in zip(b.keys, b.image, strict=True))
    with Feed(writer.root, batch_size=8, decode={"image": "gray"}) as feed:
        assert next(iter(feed))["image"][0].ndim == 2


def test_decoding_keeps_order_whatever_threads_do(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d")

    def slow(data: np.ndarray) -> int:
        time.sleep((len(data) % 7) / 2000)
        return int(data.astype(np.int64).sum())

    with Feed(writer.root, batch_size=4, decode={"image": slow, "label": lambda i: i + 100}, decode_threads=4) as feed:
        for step, b in enumerate(feed):
            assert b["image"] == [int(v.astype(np.int64).sum()) for v in b.raw("image")]
            assert b["label"] == [i + 100 for i in b.raw("label").tolist()]
            assert feed.state_dict() == b.state
            assert (b.state["epoch"], b.state["batch"]) in ((0, step + 1), (1, 0))


def test_the_threads_that_decode_also_join_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, _ = jpegs(tmp_path / "same", [(8, 6)] * 20)
    stack, by = np.stack, set()

    def noted(rows: list[np.ndarray]) -> np.ndarray:
        by.add(threading.current_thread().name.rsplit("_", 1)[0])
        return stack(rows)

    monkeypatch.setattr(np, "stack", noted)
    with Feed(writer.root, batch_size=8, decode={"image": "rgb"}, decode_threads=1) as feed:
        assert [b["image"].shape for b in feed] == [(8, 8, 6, 3)] * 3
    assert by == {"stoker-decode"}


def test_what_cannot_be_decoded_is_named(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d")
    with (
        pytest.raises(
            errors.DecodeError, match=r"row \d+, key 'dir/.*': field image cannot be decoded: UnidentifiedImage"
        ),
        Feed(writer.root, decode={"image": "rgb"}) as feed,
    ):
        next(iter(feed))
    with pytest.raises(ValueError, match="decode names field 'picture'; there are label, image"):
        Feed(writer.root, decode={"picture": "rgb"})
    with pytest.raises(ValueError, match="expected 'rgb', 'gray', 'rgb:stored', 'gray:stored' or a function"):
        Feed(writer.root, decode={"image": "jpeg"})


def test_a_missing_pillow_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = small_dataset(tmp_path / "d")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(errors.MissingDependencyError, match="pip install Pillow"):
        Feed(writer.root, decode={"image": "rgb"})


def test_random_access(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", MANY)
    rng = np.random.default_rng(9)
    writer.commit([[sample(rng, 900 + i, MANY) for i in range(3)]], split="val")
    writer.commit([], removed={1: [0, 4], 2: None})
    samples = stoker.open(writer.root)
    assert (len(samples), samples.version, samples.splits, samples.name) == (
        38 + 3 - 2 - 9,
        3,
        ("train", "val"),
        "test",
    )
    assert samples.classes["label"] == tuple(writer.classes["label"])
    places = sorted(writer.rows)
    assert list(samples.keys()) == [writer.rows[p]["key"] for p in places]
    for position, (place, got) in enumerate(zip(places, samples, strict=True)):
        expected = writer.rows[place]
        for other in (samples[position], samples[position - len(samples)], samples[place], samples[expected["key"]]):
            assert repr(other) == repr(got)
        for name, value in expected.items():
            found = got[name]
            assert (found.tolist() if isinstance(found, np.ndarray) else found) == (
                value.tolist() if isinstance(value, np.ndarray) else value
            ), name
    assert len(stoker.open(writer.root, split="val")) == 3
    assert len(stoker.open(writer.root, version=1)) == 38
    assert writer.rows[0, 0]["key"] in samples
    assert "nothing" not in samples
    with pytest.raises(KeyError, match="has no sample 'nothing'"):
        samples["nothing"]
    for bad in (len(samples), -len(samples) - 1, (1, 4), (2, 0), (99, 0)):
        with pytest.raises(IndexError):
            samples[bad]


def test_avro_that_is_not_ours_is_refused() -> None:
    for data in (
        b"",
        b"Obj\x01",
        b"Obj\x01" + b"\xff" * 40,
        b"Obj\x01\x02\x02a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    ):
        with pytest.raises(errors.CorruptDataError, match="the name"):
            read_container(data, "the name")


@pytest.mark.parametrize(
    ("name", "kind", "nullable", "payload"),
    [
        ("key", "int8", False, False),
        ("a\nb", "int8", False, False),
        ("a", "int7", False, False),
        ("a", "bool[]", False, False),
        ("a", "utf8[3]", False, False),
        ("a", "int8[0]", False, False),
        ("a", "int8[", False, False),
        ("a", "int8", False, True),
        ("a", "int8[?]", True, False),
    ],
)
def test_impossible_fields_are_refused(name: str, kind: str, nullable: bool, payload: bool) -> None:
    with pytest.raises(ValueError, match=r"field name|unknown type|payload"):
        Field(name, kind, nullable, payload)


def test_opening_a_million_chunks_and_the_first_batch_are_quick() -> None:
    from stoker._order.delivery import BatchPlan
    from stoker._order.spec import OrderSpec
    from stoker._order.stream_order import StreamChunks, StreamOrder

    rng = np.random.default_rng(0)
    n = 10**6
    rows = rng.integers(900, 1101, n)
    chunks = StreamChunks(np.arange(n), rows, np.full(n, 8 << 20), np.ones(n, bool))
    began = time.process_time()
    order = StreamOrder(OrderSpec(), chunks)
    plan = BatchPlan(order.spec, order.lane_rows)
    piece = plan.pieces(3, plan.batches * 2 // 3)[0]
    lane = order.lane_epoch(piece.lane, 3)
    places, _ = lane.window_rows(lane.window_of(piece.first))
    assert len(places)
    assert time.process_time() - began < 1.0
