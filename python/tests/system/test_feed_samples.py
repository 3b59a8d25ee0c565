"""Single samples from running feeders: the same as from the dataset's path, whatever happens on the way."""

import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from stoker_processes import until

import stoker
from stoker import Writer
from stoker.errors import CorruptDataError, FeedNotFoundError, StateMismatchError, UnauthorizedError
from test_special_types import SCHEMA, row

ODD = ["../../etc/passwd", "/etc/passwd", "a\0b", "line\nfeed", "ä", "a\u0308", "x" * 4096, " ", "😀"]


def same(one, other):
    """Whether two samples are equal, arrays and masks included."""
    assert list(one) == list(other)
    for name, value in one.items():
        found = other[name]
        assert type(found) is type(value), name
        if isinstance(value, np.ndarray):
            assert value.dtype == found.dtype and value.shape == found.shape, name
            np.testing.assert_array_equal(np.asarray(value), np.asarray(found), name)
            if isinstance(value, np.ma.MaskedArray):
                np.testing.assert_array_equal(np.ma.getmaskarray(value), np.ma.getmaskarray(found), name)
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            for a, b in zip(value, found, strict=True):
                np.testing.assert_array_equal(a, b, name)
        else:
            assert repr(value) == repr(found), name  # NaN equals NaN
    return True


@pytest.fixture(scope="module")
def special(tmp_path_factory):
    path = tmp_path_factory.mktemp("special") / "events"
    with Writer(path, SCHEMA, payload=["image"], chunk_size=40_000, shuffle=False) as w:
        for n in range(60):
            w.write(row(n))
    return path


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Keys that look like something else."""
    path = tmp_path_factory.mktemp("odd") / "data"
    with Writer(path, {"data": "binary"}, payload=["data"], chunk_size=8192) as w:
        for number, key in enumerate(ODD):
            w.write({"key": key, "data": b"%d" % number})
    return path


@pytest.fixture(scope="module")
def served(start_feeder, everything, special, odd):
    """One feed of datasets with fields of all types."""
    data, _ = everything
    feeder = start_feeder("lookups", f"train={data}", f"val={data}:val", f"special={special}", f"odd={odd}").ready()
    yield feeder
    feeder.stop()


@pytest.mark.parametrize(("stream", "split"), [("train", "train"), ("val", "val"), ("special", "train")])
def test_a_feed_gives_the_same_samples_as_the_path(served, everything, special, stream, split):
    path = special if stream == "special" else everything[0]
    samples = stoker.open(path, split=split)
    with stoker.open(feed="lookups", stream=stream) as feed:
        assert (len(feed), feed.version, feed.name) == (len(samples), samples.version, samples.name)
        assert (feed.fields, feed.classes, feed.split) == (samples.fields, samples.classes, split)
        keys = list(samples.keys())
        for one, other in zip(samples.get(keys), feed.get(keys), strict=True):
            same(one, other)
        assert feed.stats(keys) == [samples.stat(key) for key in keys]
        assert list(feed.list()) == list(samples.list())
        assert list(feed.list(keys[0][:2])) == list(samples.list(keys[0][:2]))
        assert same(feed[keys[3]], samples[keys[3]])


def test_keys_are_answered_in_order_with_duplicates_and_missing_ones(served):
    with stoker.open(feed="lookups", stream="odd") as feed:
        keys = [*ODD, "missing", ODD[3], "", "../passwd", "\ud800", ODD[3]]
        found = feed.get(keys)
        assert [None if sample is None else sample["key"] for sample in found] == [
            *ODD, None, ODD[3], None, None, None, ODD[3],
        ]  # fmt: skip
        assert [sample["data"] for sample in found[: len(ODD)]] == [b"%d" % n for n in range(len(ODD))]
        assert [entry.name for entry in feed.list()] == sorted(ODD, key=str.encode)
        assert "a\0b" in feed and "a" not in feed and 3 not in feed
        assert feed.stat("nothing") is None and feed.get([]) == []
        with pytest.raises(KeyError, match="no sample 'nothing'"):
            feed["nothing"]
        with pytest.raises(TypeError, match="expected a key"):
            feed[3]


def test_samples_of_another_split_are_not_found(served, everything):
    key = next(stoker.open(everything[0], split="val").keys())
    with stoker.open(feed="lookups", stream="train") as train, stoker.open(feed="lookups", stream="val") as val:
        assert key not in train and train.get([key]) == [None]
        assert key in val and val[key]["key"] == key
        assert key not in [entry.name for entry in train.list()]


def test_a_listing_goes_by_directories(start_feeder, crumbs):
    feeder = start_feeder("crumbs", crumbs.path).ready()
    samples = stoker.open(crumbs.path)
    with stoker.open(feed=feeder.address) as feed:
        assert list(feed.list(delimiter="/")) == list(samples.list(delimiter="/"))
        assert list(feed.list("left/", "/")) == list(samples.list("left/", "/"))
        keys = list(samples.keys())
        many = [*keys, *(f"missing/{n}" for n in range(10_000 - len(keys)))]
        found = feed.get(many)
        assert [sample["data"] for sample in found[: len(keys)]] == [crumbs.content[key] for key in keys]
        assert found[len(keys) :] == [None] * (10_000 - len(keys))
        copy = pickle.loads(pickle.dumps(feed))
        assert copy[keys[0]] == feed[keys[0]]
        copy.close()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda n: feed.get(keys[n : n + 50]), range(0, 400, 10)))
        assert [[s["key"] for s in answer] for answer in answers] == [keys[n : n + 50] for n in range(0, 400, 10)]
    feeder.stop()
