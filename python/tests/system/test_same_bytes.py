"""Every batch of every epoch is the same byte for byte, for any source and any number of readers."""

from contextlib import ExitStack
from itertools import zip_longest

import pytest
from stoker_processes import view, views

from stoker import Batch, Feed
from stoker._batch.piece import Form
from stoker._client.feeder_source import FeederSource
from stoker._source.batch_source import Consumer, DeliveredBatch
from stoker._transport.discovery import target_of

ORDER = {"batch_size": 12, "lanes": 6, "shuffle_window": 96 << 10}
EPOCHS = 2
B = ORDER["batch_size"]


@pytest.fixture(scope="module")
def expected(photos):
    """The batches of two epochs by one reader of the files: epoch -> list in ascending number."""
    with Feed(photos.path, **ORDER, tail="keep") as feed:
        return [views(feed) for _ in range(EPOCHS)]


def read(target, world_size, **options):
    """Two epochs of all ranks in lockstep; rank -> epoch -> views."""
    with ExitStack() as stack:
        feeds = [
            stack.enter_context(Feed(target, rank=rank, world_size=world_size, **options)) for rank in range(world_size)
        ]
        ranks = [[] for _ in feeds]
        for _ in range(EPOCHS):
            running = [iter(feed) for feed in feeds]
            announced = [len(feed) for feed in feeds]
            for got in ranks:
                got.append([])
            for step in zip_longest(*running):
                for got, batch in zip(ranks, step, strict=True):
                    if batch is not None:
                        got[-1].append(view(batch))
            assert announced == [len(got[-1]) for got in ranks]
        return ranks


@pytest.mark.parametrize("world_size", [1, 2, 3, 8])
@pytest.mark.parametrize("source", ["path", "single", "quadruple"])
def test_ranks_share_the_same_batches(photos, feeders, expected, source, world_size):
    options = ORDER | {"tail": "keep"}
    if source != "path":
        options |= {"group": f"w{world_size}", "stream": "train"}
    ranks = read(photos.path if source == "path" else source, world_size, **options)
    for epoch in range(EPOCHS):
        for rank, got in enumerate(ranks):
            assert got[epoch] == expected[epoch][rank::world_size]


def test_an_epoch_has_every_sample_once_in_as_many_batches_as_announced(photos, expected):
    with Feed(photos.path) as train, Feed(photos.path, split="val") as val:
        samples = train.info.samples
        in_val = {key for batch in val for key in batch.keys}
    wanted = set(photos.content) - in_val
    assert samples == len(wanted) > 200
    assert len(in_val) > 5
    for epoch in expected:
        keys = [key for batch in epoch for key in batch[4]]
        assert len(keys) == samples
        assert set(keys) == wanted
        assert [batch[1] for batch in epoch] == list(range(-(-samples // B)))
        assert [len(batch[4]) for batch in epoch] == [B] * (samples // B) + [samples % B] * (samples % B > 0)
    assert expected[0] != expected[1]
    assert samples % B, "a short last batch is part of this"


@pytest.mark.parametrize("source", ["single", "quadruple"])
@pytest.mark.parametrize("tail", ["pad", "drop"])
@pytest.mark.parametrize("world_size", [1, 3, 8])
def test_uneven_ends_are_padded_or_dropped_alike(photos, feeders, expected, source, tail, world_size):
    ranks = read(source, world_size, **ORDER, tail=tail, stream="train", group=f"{tail}{world_size}")
    assert ranks == read(photos.path, world_size, **ORDER, tail=tail)
    for epoch in range(EPOCHS):
        whole = expected[epoch]
        n, samples = len(whole), sum(len(batch[4]) for batch in whole)
        steps = -(-n // world_size) if tail == "pad" else samples // B // world_size
        assert {len(got[epoch]) for got in ranks} == {steps}
        first_keys = [key for batch in whole for key in batch[4]]
        for rank, got in enumerate(ranks):
            for step, batch in enumerate(got[epoch]):
                number = rank + step * world_size
                keys = batch[4]
                real = whole[number % n][4]
                assert batch[1] == number
                assert len(keys) == B
                assert keys == (*real, *first_keys[: B - len(real)])
                assert batch[2] == (B if number >= n else B - len(real))


def test_every_sample_carries_its_bytes_and_its_label(photos, feeders):
    seen = {}
    for stream in ("train", "val"):
        with Feed("quadruple", stream, group="contents", tail="keep") as feed:
            names = feed.classes["label"]
            for batch in feed:
                for row, key in enumerate(batch.keys):
                    assert key not in seen
                    seen[key] = (bytes(batch["data"][row]), names[batch["label"][row]])
    assert seen == {key: (data, photos.label_of(key)) for key, data in photos.content.items()}
    assert sorted(names[:3]) == ["ant", "cat", "dog"]
    assert names[3] == "bee"


def lanes_of(feed_name, stream):
    """Key -> the lane that its bytes came from."""
    lanes = {}
    client = FeederSource(target_of(feed_name))
    try:
        info = client.open(Consumer(stream, "lanes"))
        form = Form(info.fields)
        for delivered in client.epoch(0, 0, 1, info.batches, "keep"):
            for piece in delivered.pieces:
                alone = Batch(form, DeliveredBatch(0, delivered.number, [piece]), dict)
                lanes |= dict.fromkeys(alone.keys, piece.lane)
    finally:
        client.close()
    return lanes


def test_an_append_with_another_class_moves_no_chunk_to_another_lane(photos, feeders):
    before, after = lanes_of("single", "old"), lanes_of("single", "train")
    assert len(before) < len(after)
    assert {key: after[key] for key in before} == before
    assert len(set(after.values())) == ORDER["lanes"]
