"""The path reader: every byte of every batch against messages made straight from the format's description."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataset_files import batch_message
from small_datasets import IMAGES, MANY, DatasetWriter, sample, small_dataset
from stoker import Feed
from stoker._dataset.snapshot import open_snapshot
from stoker._memory import copying as _copying
from stoker._memory import leases as _leases
from stoker._memory import mapping as _mapping
from stoker._order.delivery import BatchPlan, Share
from stoker._order.spec import TAILS, OrderSpec
from stoker._path import filling as _filling
from stoker._path import planning as _planning
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from stoker._source.batch_source import DeliveredBatch


def expected_pieces(writer: DatasetWriter, stream: PathStream, epoch: int, number: int, tail: Any) -> list[bytes]:
    """The messages of a batch, by enumeration."""
    live = writer.live(stream.split)
    order, out = stream.order, []
    for p in BatchPlan(order.spec, order.lane_rows).delivered(epoch, number, tail):
        lane = order.lane_epoch(p.lane, epoch)
        rows: list[tuple[int, int]] = []
        for w in range(len(lane.window_ends)):
            places, numbers = lane.window_rows(w)
            ordinals = order.chunks.ordinals[lane.window_chunks(w)][places]
            rows += list(zip(ordinals.tolist(), numbers.tolist(), strict=True))
        out.append(batch_message(writer.fields, [live[r] for r in rows[p.first : p.first + p.rows]]))
    return out


@pytest.fixture(params=["collected", "apart", "mapped", "pread", "mapped in parts", "pread in parts"])
def copying(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways to get payload."""
    monkeypatch.setattr(_leases, "MOST", 512 if request.param in ("collected", "apart") else 0)
    monkeypatch.setattr(_copying, "LARGE", 1 << 30 if request.param == "collected" else _copying.LARGE)
    monkeypatch.setattr(_copying, "VIEWED", 1 if request.param == "apart" else 1 << 30)
    if request.param.endswith("parts"):
        for module, name, value in ((_copying, "STRIDE", 700), (_filling, "_SHARED", 5000), (_filling, "_PART", 900)):
            monkeypatch.setattr(module, name, value)
    if request.param.startswith("pread"):
        monkeypatch.setattr(_mapping, "_LIBC", None)
    else:
        assert _mapping.supported(), "this kernel does not let a process read itself; the fast path is not tested"


def opened(writer: DatasetWriter, **spec: Any) -> PathStream:
    return PathStream(open_snapshot(writer.root), "train", OrderSpec(**spec))


def read(source: PathSource, epoch: int, first: int, stride: int, count: int, tail: Any) -> list[DeliveredBatch]:
    return list(source.epoch(epoch, first, stride, count, tail))


def planned(source: PathSource) -> None:
    """Waits until no thread plans."""
    reader = source._running
    assert reader is not None
    while not (reader._planner.done or reader._planner.cancelled):
        pass


@pytest.fixture
def sources() -> Iterator[list[PathSource]]:
    made: list[PathSource] = []
    yield made
    for source in made:
        source.close()


@pytest.mark.cells
@pytest.mark.usefixtures("copying")
@pytest.mark.parametrize("fields", [IMAGES, MANY, MANY[:8], []], ids=["images", "many", "small only", "keys only"])
def test_messages_are_byte_identical(tmp_path: Path, sources: list[PathSource], fields: Any) -> None:
    writer = small_dataset(tmp_path / "d", fields)
    for spec in (
        {"batch_size": 4, "lanes": 3, "shuffle_window": 9000},
        {"batch_size": 64, "shuffle": "none"},
        {"batch_size": 1},
    ):
        stream = opened(writer, **spec)
        sources.append(source := PathSource(stream))
        for tail in TAILS:
            for epoch in (0, 1):
                share = Share(BatchPlan(stream.spec, stream.order.lane_rows), tail)
                got = read(source, epoch, *share.worker(0, 1), tail)
                assert [b.number for b in got] == list(range(share.steps))
                for batch in got:
                    expected = expected_pieces(writer, stream, epoch, batch.number, tail)
                    assert [p.message().tobytes() for p in batch.pieces] == expected
                    assert all(p.skipped == 0 and p.buffer.ctypes.data % 64 == 0 for p in batch.pieces)


@pytest.mark.parametrize("lanes", [1, 3, 16, 1000])
@pytest.mark.parametrize("world_size", [1, 3])
def test_without_shuffle_batches_have_the_stored_order(tmp_path: Path, lanes: int, world_size: int) -> None:
    writer = small_dataset(tmp_path / "d")
    stored = [sample["key"] for _, sample in sorted(writer.live().items())]
    options: dict[str, Any] = {"batch_size": 4, "lanes": lanes, "shuffle": "none", "tail": "keep", "shuffle_window": 1}
    for given in ({}, {"lane_order": "fixed", "seed": 9, "shuffle_window": 6000}):
        steps = []
        for rank in range(world_size):
            with Feed(writer.root, **options | given, rank=rank, world_size=world_size) as feed:
                steps += [(batch.epoch, batch.number, batch.keys) for _ in range(2) for batch in feed]
        for epoch in range(2):
            found = [keys for e, _, keys in sorted(steps) if e == epoch]
            assert [key for keys in found for key in keys] == stored
            assert {len(keys) for keys in found[:-1]} == {4}


def test_versions_appends_deletes_and_classes(tmp_path: Path, sources: list[PathSource]) -> None:
    rng = np.random.default_rng(3)
    writer = DatasetWriter(tmp_path / "d", IMAGES)
    writer.commit([[{**sample(rng, i), "label": name} for i in range(5)] for name in ("b", "d")])
    first = writer.live()
    writer.commit([[{**sample(rng, 10 + i), "label": name} for i in range(5)] for name in ("a", "c", "b")])
    writer.commit([], removed={0: [1, 3], 3: None})
    writer.commit([[{**sample(rng, 20), "label": "0"}]], split="val")
    assert writer.classes == {"label": ["b", "d", "a", "c", "0"]}
    for with_table in (False, True):
        if with_table:
            writer.write_table()
        stream = opened(writer, batch_size=4, lanes=2)
        assert stream.samples == 25 - 2 - 5
        assert dict(stream.snapshot.classes) == {"label": ("b", "d", "a", "c", "0")}
        sources.append(source := PathSource(stream))
        for batch in read(source, 0, 0, 1, stream.batches, "keep"):
            assert [p.message().tobytes() for p in batch.pieces] == expected_pieces(
                writer, stream, 0, batch.number, "keep"
            )
    old = PathStream(open_snapshot(writer.root, 1), "train", OrderSpec())
    assert old.samples == len(first)
    assert dict(old.snapshot.classes) == {"label": ("b", "d")}


@pytest.mark.parametrize(("buffer_bytes", "under_way"), [(1, 1), (1 << 30, 2)])
def test_batches_beyond_what_is_read_ahead(
    buffer_bytes: int,
    under_way: int,
    tmp_path: Path,
    sources: list[PathSource],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_planning, "UNIT_BYTES", 1)
    stream = opened(small_dataset(tmp_path / "d"), batch_size=4)
    sources.append(source := PathSource(stream, ahead_bytes=1, buffer_bytes=buffer_bytes))
    expected = [[p.message().tobytes() for p in b.pieces] for b in PathSource(stream).epoch(0, 0, 1, 10, "pad")]
    batches = source.epoch(0, 0, 1, 10, "pad")
    seen = []
    for n, batch in enumerate(batches):
        planned(source)
        # Less where the window that the next one needs is still being opened.
        seen.append(len(source._running._work))
        assert seen[-1] <= min(under_way, 9 - n)
        assert [p.message().tobytes() for p in batch.pieces] == expected[n]
    assert max(seen) == under_way


@pytest.mark.parametrize("viewed", [1, 1 << 30], ids=["apart", "copied"])
def test_a_thread_plans_for_a_consumer_that_takes_its_time(
    viewed: int, tmp_path: Path, sources: list[PathSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_copying, "VIEWED", viewed)
    monkeypatch.setattr(_planning, "UNIT_BYTES", 1)
    monkeypatch.setattr(_planning, "_AT_ONCE_S", 0.0)
    by: list[bool] = []
    hand_out = _planning.EpochReader._hand_out

    def noted(self: Any, early: bool) -> None:
        by.append(threading.current_thread() is threading.main_thread())
        hand_out(self, early)

    monkeypatch.setattr(_planning.EpochReader, "_hand_out", noted)
    stream = opened(small_dataset(tmp_path / "d"), batch_size=2, lanes=1)
    sources.append(source := PathSource(stream, ahead_bytes=1, buffer_bytes=1 << 30))
    for _ in source.epoch(0, 0, 1, stream.batches, "pad"):
        planned(source)
    assert by.count(False) > stream.batches // 2
    assert by[0]


def test_an_error_of_the_planning_thread_comes_after_the_batches_before_it(
    tmp_path: Path, sources: list[PathSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_planning, "UNIT_BYTES", 1)
    monkeypatch.setattr(_planning, "_AT_ONCE_S", 0.0)
    full_batch = _planning.EpochReader._full_batch

    def failing(self: Any) -> Any:
        if self._at == 3:
            raise OSError("no more")
        return full_batch(self)

    monkeypatch.setattr(_planning.EpochReader, "_full_batch", failing)
    stream = opened(small_dataset(tmp_path / "d"), batch_size=2, lanes=1)
    sources.append(source := PathSource(stream))
    batches = source.epoch(0, 0, 1, stream.batches, "pad")
    for number in range(3):
        assert next(batches).number == number
        planned(source)
    for _ in range(2):
        with pytest.raises(OSError, match="no more"):
            next(batches)


def test_the_end_of_an_epoch_waits_for_no_window_of_the_next_one(
    tmp_path: Path, sources: list[PathSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = opened(small_dataset(tmp_path / "d"), batch_size=2, lanes=2)
    ended, late = threading.Event(), []
    open_window = _filling.Filler.open_window

    def slow(self: Any, lane_epoch: Any, w: int) -> Any:
        if lane_epoch._epoch == 1 and not ended.wait(60):
            late.append(w)
        return open_window(self, lane_epoch, w)

    monkeypatch.setattr(_filling.Filler, "open_window", slow)
    sources.append(source := PathSource(stream, threads=8))
    batches = source.epoch(0, 0, 1, stream.batches, "pad")
    source.prefetch(1, 0, 1, stream.batches, "pad")
    assert sum(1 for _ in batches) == stream.batches
    following = source._running.following
    assert following._lanes
    assert not following._work
    ended.set()
    assert [b.number for b in source.epoch(1, 0, 1, stream.batches, "pad")] == list(range(stream.batches))
    assert not late


def test_prefetched_epoch_is_picked_up(tmp_path: Path, sources: list[PathSource]) -> None:
    stream = opened(small_dataset(tmp_path / "d"), batch_size=4)
    sources.append(source := PathSource(stream))
    expected = [[p.message().tobytes() for b in read(source, e, 0, 1, 10, "pad") for p in b.pieces] for e in (0, 1)]
    batches = source.epoch(0, 0, 1, 10, "pad")
    source.prefetch(1, 0, 1, 10, "pad")
    assert [p.message().tobytes() for b in batches for p in b.pieces] == expected[0]
    prepared = source._running.following
    assert prepared._lanes
    again = source.epoch(1, 0, 1, 10, "pad")
    assert again is prepared
    assert [p.message().tobytes() for b in again for p in b.pieces] == expected[1]
