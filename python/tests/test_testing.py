"""`stoker.testing`, and `Feed` over sockets against the path reader: the same batches, byte for byte."""

import subprocess
import sys

import numpy as np
import pytest

from feed_fakes import eventually
from small_datasets import small_dataset
from stoker import Feed
from stoker.errors import OrderMismatchError, StateMismatchError
from stoker.testing import Fault, check_resume, serve

ORDER = {"seed": 3, "batch_size": 5, "lanes": 3, "shuffle_window": 4096}


def columns(rows=47):
    random = np.random.default_rng(1)
    return {
        "label": [["cat", "dog", "eel"][i % 3] for i in range(rows)],
        "weight": random.random(rows).astype(np.float32),
        "good": np.arange(rows) % 2 == 0,
        "caption": [f"number {i}" * (i % 4) for i in range(rows)],
        "image": [random.bytes(1 + i % 50) for i in range(rows)],
        "tokens": [np.arange(i % 7, dtype=np.int32) for i in range(rows)],
        "pixels": random.integers(0, 255, (rows, 2, 3)).astype(np.uint8),
    }


CLASSES = {"label": ["cat", "dog", "eel"]}


def text(batch):
    return batch.epoch, batch.number, batch.repeated, [p.buffer.tobytes() for p in batch._pieces]


def test_rows_in_memory_arrive_as_they_were_given():
    given = columns()
    with serve(given, classes=CLASSES, order=ORDER) as served, Feed(served.target, run=1) as feed:
        assert feed.classes["label"] == ("cat", "dog", "eel")
        seen = []
        for batch in feed:
            for i, key in enumerate(batch.keys):
                row = int(key)
                assert CLASSES["label"][batch["label"][i]] == given["label"][row]
                assert batch["weight"][i] == given["weight"][row]
                assert batch["good"][i] == given["good"][row]
                assert batch["caption"][i] == given["caption"][row]
                assert bytes(batch["image"][i]) == given["image"][row]
                assert batch["tokens"][i].tolist() == given["tokens"][row].tolist()
                assert (batch["pixels"][i] == given["pixels"][row]).all()
                seen.append(row)
        assert len(seen) == 50  # ten batches of five: three rows are repeated
        assert sorted(set(seen)) == list(range(47))


def test_the_trainer_may_choose_the_order():
    with serve(columns()) as served:
        with Feed(served.target, batch_size=7, seed=9) as feed:
            assert len(feed) == 7
            assert len(next(iter(feed))) == 7
        with (
            pytest.raises(OrderMismatchError, match="batch_size is 7, asked for 8"),
            Feed(served.target, batch_size=8) as feed,
        ):
            len(feed)


@pytest.fixture
def dataset(tmp_path):
    writer = small_dataset(tmp_path / "data", chunks=(9,) * 7)
    return writer.root


@pytest.mark.parametrize("feeders", [1, 3])
@pytest.mark.parametrize("tail", ["pad", "drop", "keep"])
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_a_served_dataset_gives_the_same_bytes_as_its_path(dataset, feeders, tail, world_size):
    with serve(dataset, order=ORDER, feeders=feeders) as served:
        for rank in range(world_size):
            options = {"rank": rank, "world_size": world_size, "tail": tail}
            with Feed(served.target, run=world_size, **options) as a, Feed(dataset, **ORDER, **options) as b:
                assert a.fingerprint == b.fingerprint
                assert len(a) == len(b)
                for _ in range(2):
                    from_server, from_path = [[text(batch) for batch in feed] for feed in (a, b)]
                    assert from_server == from_path
                    assert len(from_path) == len(a)


def test_resume_at_every_step_over_sockets(dataset):
    with serve(dataset, order=ORDER, feeders=2) as served:
        assert check_resume(lambda: Feed(served.target)) == 13
        assert check_resume(lambda: Feed(served.target, rank=1, world_size=2, tail="keep"), every=2) == 3


def test_resume_goes_over_to_another_world_size_and_to_the_path(dataset):
    with serve(dataset, order=ORDER) as served:
        with Feed(served.target, rank=0, world_size=2, tail="keep") as feed:
            batches = iter(feed)
            state = [next(batches).state for _ in range(3)][-1]
        with Feed(dataset, **ORDER, tail="keep") as feed:
            feed.load_state_dict(state)
            rest = [text(batch) for batch in feed]
        with Feed(served.target, tail="keep", run=9) as feed:
            feed.load_state_dict(state)
            assert [text(batch) for batch in feed] == rest
            assert rest[0][1] == 6
        with (
            serve(dataset, order={**ORDER, "seed": 4}) as other,
            Feed(other.target) as feed,
            pytest.raises(StateMismatchError, match="seed"),
        ):
            feed.load_state_dict(state)


def test_faults_change_nothing_that_a_trainer_sees(dataset):
    with Feed(dataset, **ORDER) as feed:
        expected = [text(batch) for batch in feed]
    with serve(dataset, order=ORDER, feeders=2) as served:
        served.feeders[0].faults.extend([Fault(cut_at=3000), Fault(flip_at=4000), Fault(cut_at=5001)])
        served.feeders[1].faults.extend([Fault(flip_at=2500, flip_mask=0x40), Fault(cut_at=2600)])
        with Feed(served.target) as feed:
            assert [text(batch) for batch in feed] == expected
        served.wait_for_receipts(len({(number, i) for _, number, _, pieces in expected for i in range(len(pieces))}))


def test_break_and_the_next_epoch_over_sockets(dataset):
    with serve(dataset, order=ORDER) as served, Feed(served.target) as a, Feed(dataset, **ORDER) as b:
        for feed in (a, b):
            for batch in feed:
                if batch.number == 4:
                    break
        assert [text(batch) for batch in a] == [text(batch) for batch in b]
        a.set_epoch(7)
        b.set_epoch(7)
        assert [text(batch) for batch in a] == [text(batch) for batch in b]


def test_the_end_of_a_feed_ends_iteration(dataset):
    with serve(dataset, order=ORDER, epochs=2) as served, Feed(served.target) as feed:
        assert [len(list(feed)) for _ in range(3)] == [13, 13, 0]


def test_views_outlive_the_feed(dataset):
    with Feed(dataset, **ORDER) as feed:
        expected = [bytes(v) for v in next(iter(feed))["image"]]
    with serve(dataset, order=ORDER) as served:
        with Feed(served.target, buffer_bytes=1 << 16) as feed:
            batches = iter(feed)
            views = list(next(batches)["image"])
            for _ in batches:
                pass
        assert [bytes(v) for v in views] == expected


def test_a_spawned_process_reads_the_feed(dataset):
    code = (
        "import sys\nfrom stoker import Feed\nwith Feed(sys.argv[1]) as feed:\n    print(sum(len(b) for b in feed))\n"
    )
    with serve(dataset, order=ORDER) as served:
        done = subprocess.run([sys.executable, "-c", code, served.target], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["65"]


def test_a_stopped_feeder_and_a_newer_map(dataset):
    with Feed(dataset, **ORDER) as feed:
        expected = [text(batch) for batch in feed]
    with serve(dataset, order=ORDER, feeders=2) as served, Feed(served.target, buffer_bytes=1) as feed:
        got = []
        for batch in feed:
            got.append(text(batch))
            if batch.number == 3:
                served.feeders[0].stop()
            if batch.number == 8:
                served.feeders[0].start()
                served.publish([[0], [0], [0]])
                eventually(lambda: any(s.subscriptions for s in served.feeders[0].live))
        assert got == expected
