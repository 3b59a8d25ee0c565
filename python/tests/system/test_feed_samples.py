"""Single samples from running feeders: the same as from the dataset's path, whatever happens on the way."""

import json
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from certificates import Authority
from processes_seen import get
from stoker_processes import Cli, Feeder, until

import stoker
from stoker import Writer
from stoker.errors import (
    ConnectTimeoutError,
    CorruptDataError,
    FeedNotFoundError,
    StateMismatchError,
    UnauthorizedError,
)
from test_special_types import SCHEMA, row

ODD = ["../../etc/passwd", "/etc/passwd", "a\0b", "line\nfeed", "ä", "a\u0308", "x" * 4096, " ", "😀"]


def same(one, other):
    """Whether two samples are equal, arrays and masks included."""
    assert list(one) == list(other)
    for name, value in one.items():
        found = other[name]
        assert type(found) is type(value), name
        if isinstance(value, np.ndarray):
            assert (value.dtype, value.shape) == (found.dtype, found.shape), name
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
        assert ["a\0b" in feed, "a" in feed, 3 in feed] == [True, False, False]
        assert feed.stat("nothing") is None
        assert feed.get([]) == []
        with pytest.raises(KeyError, match="no sample 'nothing'"):
            feed["nothing"]
        with pytest.raises(TypeError, match="expected a key"):
            feed[3]


def test_samples_of_another_split_are_not_found(served, everything):
    key = next(stoker.open(everything[0], split="val").keys())
    with stoker.open(feed="lookups", stream="train") as train, stoker.open(feed="lookups", stream="val") as val:
        assert (key in train, train.get([key])) == (False, [None])
        assert (key in val, val[key]["key"]) == (True, key)
        assert key not in [entry.name for entry in train.list()]


@pytest.mark.full("feeds")
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


@pytest.mark.full("feeds")
def test_the_command_reads_from_a_feed(cli, served, everything, special):
    data, _ = everything
    key = next(stoker.open(data, split="train").keys())
    shown = json.loads(cli.run("stat", "--feed", "lookups", key, "--json"))
    assert shown == json.loads(cli.run("stat", data, key, "--json"))
    assert "not found" in cli.run("stat", "--feed", "lookups", "nothing")
    assert cli.run("get", "--feed", "lookups", key, "nothing", "--json") == cli.run(
        "get", data, key, "nothing", "--json"
    )
    keys = [f"k{n:03d}" for n in range(60)]
    assert cli.run("get", "--feed", served.address, "--stream", "special", *keys, "--json") == cli.run(
        "get", special, *keys, "--json"
    )
    whole = cli.run("ls", data, "--recursive", "--json")
    listed = cli.run("ls", "--feed", "lookups", "--recursive", "--json").splitlines()
    assert listed
    assert set(listed) < set(whole.splitlines())
    assert len(cli.run("ls", "--feed", "lookups", "--stream", "odd", "--delimiter", "#").splitlines()) == len(ODD)
    assert "no feed 'nobody'" in cli.fails("stat", "--feed", "nobody", key)
    assert "no sample with the key" in cli.fails("get", "--feed", "lookups", "nothing")
    assert "asked for 7" in cli.fails("stat", "--feed", "lookups", "--version", "7", key)


def test_a_damaged_sample_is_an_error_that_names_it_and_others_can_be_read(start_feeder, tmp_path):
    with Writer(tmp_path / "data", {"data": "binary"}, payload=["data"], chunk_size=1 << 20, shuffle=False) as w:
        for n in range(8):
            w.write({"key": f"k{n}", "data": bytes([n]) * 1000})
    (file,) = (tmp_path / "data" / "chunks").rglob("*.arrow")
    content = bytearray(file.read_bytes())
    at = content.index(bytes([5]) * 1000)
    content[at + 500] ^= 1
    file.chmod(0o600)
    file.write_bytes(content)
    feeder = start_feeder("damaged", tmp_path / "data").ready()
    with stoker.open(feed="damaged") as feed:
        with pytest.raises(CorruptDataError, match=r"chunk 0, row 5, key 'k5': .*CRC32C of field data of row 5"):
            feed.get(["k1", "k5", "k6"])
        assert [sample["data"][0] for sample in feed.get(["k1", "k6", "k4"])] == [1, 6, 4]
        assert feed.stat("k5").row == 5
        content[at + 500] ^= 1
        file.write_bytes(content)
        assert feed["k5"]["data"] == bytes([5]) * 1000
        file.write_bytes(content[:at])
        with pytest.raises(CorruptDataError, match="k7"):
            feed.get(["k7"])
    feeder.stop()


@pytest.mark.full("feeds")
def test_a_request_waits_for_a_feed_that_is_restarted(start_feeder, crumbs):
    one = start_feeder("first", crumbs.path).ready()
    keys = sorted(crumbs.content)
    with stoker.open(feed="first", reconnect_timeout=60) as feed:
        assert feed[keys[0]]["data"] == crumbs.content[keys[0]]
        one.kill()
        again = start_feeder("first", crumbs.path)
        found = feed.get(keys)
        assert [sample["data"] for sample in found] == [crumbs.content[key] for key in keys]
        again.ready().stop()
        with pytest.raises((FeedNotFoundError, ConnectTimeoutError), match=r"ended|no feeder"):
            stoker.open(feed="first", connect_timeout=0.5)


@pytest.mark.full("feeds")
def test_another_feeder_answers_if_one_dies(cli, start_feeder, crumbs, tmp_path):
    """In two homes, one name is the same feed twice."""
    one = start_feeder("twice", crumbs.path)
    (tmp_path / "home").mkdir()
    two = Feeder(Cli(tmp_path / "home"), "twice", crumbs.path)
    try:
        keys = sorted(crumbs.content)
        with stoker.open(feed=f"{one.ready().address},{two.ready().address}") as feed:
            assert feed[keys[0]]["data"] == crumbs.content[keys[0]]
            done = threading.Event()
            answers = []

            def read():
                while not done.is_set() or len(answers) < 20:
                    answers.append(feed.get(keys))

            readers = [threading.Thread(target=read) for _ in range(3)]
            for reader in readers:
                reader.start()
            until(lambda: len(answers) >= 5, "some requests are answered")
            one.kill()
            seen = len(answers)
            until(lambda: len(answers) >= seen + 5, "the other feeder answers")
            done.set()
            for reader in readers:
                reader.join()
            expected = [crumbs.content[key] for key in keys]
            assert all([sample["data"] for sample in answer] == expected for answer in answers)
    finally:
        two.kill()


@pytest.mark.full("feeds")
def test_a_token_and_tls_are_needed_as_for_training(start_feeder, photos, tmp_path_factory, tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_TRANSPORT", "tcp")
    authority = Authority(tmp_path_factory.mktemp("ca"), "ca")
    pem, key = authority.issue("lookups", "DNS:localhost", 2)
    token = tmp_path / "tokens"
    token.write_text("secret\nlimited streams=val rights=read\n")
    token.chmod(0o600)
    streams = [f"train={photos.path}@2", f"val={photos.path}@2:val"]
    options = ["--tls-cert", pem, "--tls-key", key, "--token-file", token]
    feeder = start_feeder("guarded", *streams, *options).ready()
    address = f"localhost:{feeder.address.rpartition(':')[2]}"
    train, val = (next(stoker.open(photos.path, split=split).keys()) for split in ("train", "val"))
    with stoker.open(feed=address, tls=authority.pem, token="secret") as feed:
        assert feed[train]["data"] == photos.content[train]
    with stoker.open(feed="guarded") as feed:
        assert feed[train]["data"] == photos.content[train]
    with stoker.open(feed=address, tls=authority.pem, token="limited", stream="val") as feed:
        assert feed[val]["data"] == photos.content[val]
        assert train not in feed
    with pytest.raises(UnauthorizedError, match="not for stream train"):
        stoker.open(feed=address, tls=authority.pem, token="limited", stream="train")
    with pytest.raises(UnauthorizedError, match="does not know the token"):
        stoker.open(feed=address, tls=authority.pem, token="wrong")
    with pytest.raises(UnauthorizedError):
        stoker.open(feed=address, tls=False, token="secret", connect_timeout=5)
    feeder.stop()


@pytest.mark.full("feeds")
def test_a_feed_that_follows_reads_any_version(start_feeder, tmp_path):
    path = tmp_path / "data"
    with Writer(path, {"n": "int64"}) as w:
        w.write({"key": "a", "n": 1})
    feeder = start_feeder("growing", path, "--follow").ready()
    with stoker.open(feed="growing") as one:
        with Writer(path, {"n": "int64"}, append=True) as w:
            w.write({"key": "b", "n": 2})
        with stoker.open(feed="growing") as two, stoker.open(feed="growing", version=1) as old:
            assert (one.version, two.version, old.version) == (1, 2, 1)
            assert [s and s["n"] for s in two.get(["a", "b"])] == [1, 2]
            assert [s and s["n"] for s in old.get(["a", "b"])] == [1, None]
        assert one.get(["b"]) == [None]
    with pytest.raises(StateMismatchError, match="version 9"):
        stoker.open(feed="growing", version=9)
    feeder.stop()


def test_a_feed_of_one_version_refuses_others(served):
    with pytest.raises(StateMismatchError, match="reads version 1, not 2"):
        stoker.open(feed="lookups", version=2)
    with pytest.raises(StateMismatchError, match="split train, not test"):
        stoker.open(feed="lookups", split="test")
    with pytest.raises(TypeError, match="either the path"):
        stoker.open()
    with pytest.raises(TypeError, match="need feed="):
        stoker.open("./somewhere", stream="train")
    with pytest.raises(FeedNotFoundError, match="no feed 'nobody'"):
        stoker.open(feed="nobody")


@pytest.mark.full("feeds")
def test_chunks_of_s3_are_read_once_into_a_tier(start_feeder, photos, tmp_path, cli, s3):
    location = s3.upload(photos.path)
    samples = stoker.open(photos.path, version=2, split="train")
    keys = list(samples.keys())

    def reads():
        (url,) = json.loads((cli.home / "feeds" / "far-lookups.json").read_text())["status"]
        totals = json.loads(get(f"{url}/status.json"))["totals"]
        return totals["origin_reads"], totals["origin_metadata"]

    feeder = start_feeder("far-lookups", f"train={location}@2", "--tier", "memory:64m").ready()
    with stoker.open(feed="far-lookups") as feed:
        before = reads()
        for _ in range(2):
            found = feed.get(keys)
            assert [sample["data"] for sample in found] == [photos.content[key] for key in keys]
        chunks = json.loads(cli.run("info", f"{photos.path}@2", "--json"))["splits"]["train"]["chunks"]
        after = reads()
        assert after[0] - before[0] == chunks
        assert feed.get(["missing", keys[0]])[1]["key"] == keys[0]
        assert feed.stats(keys) == [samples.stat(key) for key in keys]
        assert reads() == after
    feeder.stop()
