"""Streams, groups and parts in daily use: the same over a path and a server."""

from __future__ import annotations

import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest

from small_datasets import MANY, DatasetWriter, sample, small_dataset
from stoker import Batch, Feed, StokerError
from stoker._path.path_source import PathSource
from stoker.testing import serve

SPEC: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 6000, "seed": 5}


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    writer = small_dataset(tmp_path_factory.mktemp("streams") / "d")
    rng = np.random.default_rng(2)
    writer.commit([[sample(rng, 1000 + i) for i in range(5)], [sample(rng, 2000 + i) for i in range(6)]], split="val")
    return writer


@pytest.fixture(params=["path", "server"])
def feed_of(request: pytest.FixtureRequest, writer: DatasetWriter) -> Any:
    if request.param == "path":
        yield lambda **given: Feed(writer.root, **{**SPEC, **given})
        return
    numbers = iter(range(10**6))
    with serve(writer.root, order=SPEC, feeders=2) as served:
        yield lambda **given: Feed(served.target, **{"group": f"own-{next(numbers)}", **given})


def content(batch: Batch) -> tuple[Any, ...]:
    image = tuple(v.tobytes() for v in batch["image"])
    return batch.epoch, batch.number, tuple(batch.keys), image, batch.repeated, str(batch.state)


def whole(feed_of: Any, epochs: int, **given: Any) -> list[tuple[Any, ...]]:
    with feed_of(**given) as feed:
        return [content(b) for _ in range(epochs) for b in feed]


def test_batches_go_on_epoch_after_epoch(feed_of: Any) -> None:
    expected = whole(feed_of, 4)
    with feed_of() as feed:
        batches = feed.batches()
        assert [content(b) for b in islice(batches, 4 * 13)] == expected
        assert next(batches).epoch == 4
    with feed_of(epochs=2) as feed:
        state = [b.state for b in feed][-1]
        feed.set_epoch(0)
        assert [content(b) for b in feed.batches()] == expected[: 2 * 13]
        assert list(feed.batches()) == []
        feed.load_state_dict(state)
        assert [content(b) for b in feed.batches()] == expected[13 : 2 * 13]


def test_an_endless_pass_without_a_batch_is_an_error(feed_of: Any) -> None:
    with feed_of(tail="drop", rank=0, world_size=50) as feed:
        assert len(feed) == 0
        with pytest.raises(StokerError, match="no epoch of 13 batches has a step for 50 ranks with tail 'drop'"):
            next(feed.batches())


@pytest.mark.cells
@pytest.mark.parametrize("tail", ["pad", "drop", "keep"])
@pytest.mark.parametrize("part", [1, 4, 99])
def test_an_epoch_in_parts_is_the_same_epoch(feed_of: Any, tail: str, part: int) -> None:
    for rank, world in ((0, 1), (1, 2)):
        given = {"tail": tail, "rank": rank, "world_size": world}
        expected = whole(feed_of, 3, **given)
        with feed_of(epoch_batches=part, **given) as feed:
            got: list[tuple[Any, ...]] = []
            lengths = []
            while len(got) < len(expected):
                announced = len(feed)
                got += (found := [content(b) for b in feed])
                lengths.append(len(found))
                assert len(found) == announced
            assert got == expected
            steps = len(expected) // 3
            parts = [min(part, steps - at) for at in range(0, 12 // world if tail == "drop" else -(-13 // world), part)]
            assert lengths == (3 * parts)[: len(lengths)]  # the last rank may have no step in the last part


def test_parts_of_an_epoch_are_resumed_counted_and_broken_off(feed_of: Any) -> None:
    expected = whole(feed_of, 3)
    with feed_of(epoch_batches=5) as feed:
        states = [b.state for _ in range(3) for b in feed]
        for _ in feed:
            break
        assert content(next(iter(feed))) == expected[18]  # after a break comes the next part
        feed.set_epoch(1)
        assert [content(b) for b in feed] == expected[5:10]
        feed.set_epoch(2)
        assert [content(b) for b in feed] == expected[10:13]
        feed.set_epoch(4)
        assert [content(b) for b in feed] == expected[18:23]
        feed.load_state_dict(states[6])
        feed.set_epoch(1)  # the loaded position is in it
        assert [content(b) for b in feed] == expected[7:12]
    with feed_of(epoch_batches=5, epochs=1) as feed:
        assert [len(list(feed)) for _ in range(5)] == [5, 5, 3, 0, 0]


def test_a_part_reads_on_where_the_source_stands(writer: DatasetWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    spans: list[Any] = []
    epoch = PathSource.epoch
    monkeypatch.setattr(PathSource, "epoch", lambda self, *span: spans.append(span) or epoch(self, *span))
    with Feed(writer.root, epoch_batches=5, **SPEC) as feed:
        for _ in range(6):
            list(feed)
    assert spans == [(number, 0, 1, 13, "pad") for number in (0, 1)]


def test_parts_with_decoding_lose_nothing(feed_of: Any) -> None:
    with feed_of() as feed:
        expected = [[len(v) for v in b["image"]] for b in feed]
    with feed_of(epoch_batches=4, decode={"image": len}) as feed:
        assert [b["image"] for _ in range(4) for b in feed] == expected


@pytest.mark.cells
@pytest.mark.parametrize("tail", ["pad", "drop", "keep"])
@pytest.mark.parametrize("concat", [2, 3])
def test_joined_batches_are_the_steps_of_more_ranks(feed_of: Any, tail: str, concat: int) -> None:
    for world in (1, 2):
        many = [whole(feed_of, 1, tail=tail, rank=r, world_size=world * concat) for r in range(world * concat)]
        few = []
        for rank in range(world):
            with feed_of(tail=tail, rank=rank, world_size=world, concat=concat) as feed:
                announced = len(feed)
                few.append([(set(b.keys[: len(b) - b.repeated]), len(b), b.state) for b in feed])
                assert len(few[-1]) == announced
        assert max(map(len, few)) == max(map(len, many))
        for step in range(max(map(len, few))):
            wide = [steps[step] for steps in many if len(steps) > step]
            narrow = [steps[step] for steps in few if len(steps) > step]
            fresh = {key for w in wide for key in w[2][: len(w[2]) - w[4]]}
            assert set().union(*(keys for keys, _, _ in narrow)) == fresh
            if tail == "pad":
                assert {rows for _, rows, _ in narrow} == {3 * concat}
            assert {str(state) for *_, state in narrow} == {w[5] for w in wide}


def test_joined_batches_are_whole_batches(feed_of: Any) -> None:
    with feed_of(concat=2, tail="keep") as feed:
        for batch in feed:
            assert batch["image"].offsets[-1] == sum(map(len, batch["image"]))
            assert batch.arrow.num_rows == len(batch) == len(batch.keys)
            assert pickle.loads(pickle.dumps(batch)).keys == batch.keys
    expected = [key for b in whole(feed_of, 2, tail="keep") for key in b[2]]
    with feed_of(concat=4, epoch_batches=2, tail="keep") as feed:
        assert [key for _ in range(4) for b in feed for key in b.keys] == expected


def test_receipts_of_joined_batches_and_of_parts_are_complete(writer: DatasetWriter) -> None:
    for number, given in enumerate(({"concat": 3}, {"epoch_batches": 4}, {"concat": 2, "epoch_batches": 2})):
        with serve(writer.root, order=SPEC, feeders=2) as served:
            with Feed(served.target, tail="keep", **given) as feed:  # type: ignore[arg-type]
                parts = -(-13 // (given.get("concat", 1) * given["epoch_batches"])) if "epoch_batches" in given else 1
                assert [key for _ in range(parts) for b in feed for key in b.keys]
            served.wait_for_receipts(13)
            assert sorted({(e, n) for e, n, _ in served.receipts()}) == [(0, n) for n in range(13)], number


def test_replicas_get_the_same_batches(feed_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    group = {"tail": "keep"}
    for process in range(6):
        expected = whole(feed_of, 1, rank=process // 3, world_size=2, **group)
        assert whole(feed_of, 1, rank=process, world_size=6, replicas=3, **group) == expected
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    expected = whole(feed_of, 1, rank=1, world_size=2, **group)
    assert whole(feed_of, 1, replicas=2, **group) == expected
    with pytest.raises(ValueError, match="4 ranks cannot be divided into groups of 3 replicas"):
        whole(feed_of, 1, replicas=3)
    with pytest.raises(ValueError, match="replica and replicas"):
        feed_of(replica=1, replicas=2)


def test_replicas_do_not_fence_each_other(writer: DatasetWriter) -> None:
    with serve(writer.root, order=SPEC) as served:
        feeds = [Feed(served.target, rank=p, world_size=4, replicas=2, tail="keep", run=7) for p in range(4)]
        steps = [iter(feed) for feed in feeds]
        got: list[list[str]] = [[] for _ in feeds]
        for _ in range(6):
            for mine, step in zip(got, steps, strict=True):
                mine += next(step).keys
        assert got[0] == got[1]
        assert got[2] == got[3]
        assert not set(got[0]) & set(got[2])
        for feed in feeds:
            feed.close()


def test_validation_beside_training(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as train, Feed(writer.root, "val", batch_size=4, shuffle="none", tail="keep") as val:
        epoch = iter(train)
        first = [next(epoch).keys for _ in range(5)]
        stored = [b.keys for b in val]
        assert [len(keys) for keys in stored] == [4, 4, 3]
        assert [b.keys for b in val] == stored
        rest = [b.keys for b in epoch]
    with Feed(writer.root, **SPEC) as alone:
        assert [b.keys for b in alone] == first + rest


def test_chosen_columns(feed_of: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    writer = small_dataset(tmp_path_factory.mktemp("columns") / "d", MANY)
    with Feed(writer.root, columns=["pixels", "label"], **SPEC) as feed:
        batch = next(iter(feed))
        assert batch.fields == ("label", "pixels")
        assert batch.arrow.schema.names == ["label", "pixels"]
        with pytest.raises(KeyError, match="column 'key' was not selected"):
            _ = batch.keys
        assert "image" not in batch
        with pytest.raises(KeyError, match="was not selected; add it to columns, which are label, pixels"):
            batch["image"]
        copy = pickle.loads(pickle.dumps(batch))
        assert copy.fields == batch.fields
        assert copy.pixels.tolist() == batch.pixels.tolist()
    with pytest.raises(ValueError, match="columns names 'nothing', which the dataset does not have"):
        Feed(writer.root, columns=("nothing",))
    with pytest.raises(ValueError, match="decode names field 'image'; there are label"):
        Feed(writer.root, columns=("label",), decode={"image": len})
    with pytest.raises(ValueError, match="columns must be a list of names"):
        Feed(writer.root, columns="label")
    with feed_of(columns=["label"]) as feed:
        assert next(iter(feed)).fields == ("label",)


def test_impossible_numbers_are_refused_together(writer: DatasetWriter) -> None:
    with pytest.raises(ValueError, match=r"replicas must be.*epoch_batches must be.*concat must be"):
        Feed(writer.root, concat=0, replicas=0, epoch_batches=0)
