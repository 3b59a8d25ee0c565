"""A feed as a torch dataset: isinstance, DataLoader workers by fork and spawn, epochs, resume, torch.distributed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from feed_fakes import eventually
from small_datasets import DatasetWriter, small_dataset
from stoker import Batch, Feed, errors
from stoker._order.spec import TAILS

SPEC: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 6000, "seed": 5}


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    return small_dataset(tmp_path_factory.mktemp("feed") / "d")


def content(batch: Batch) -> tuple[Any, ...]:
    image = tuple(v.tobytes() for v in batch["image"])
    return batch.epoch, batch.number, tuple(batch.keys), image, batch.label.tobytes(), batch.repeated, str(batch.state)


def loaded(feed: Feed, workers: int, **given: Any) -> DataLoader[Any]:
    return DataLoader(feed, batch_size=None, num_workers=workers, **given)


def test_a_feed_is_an_iterable_dataset(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as feed:
        assert isinstance(feed, IterableDataset)
        assert isinstance(feed, Dataset)
        assert isinstance(feed, Feed)
        assert type(feed) is Feed


def test_torch_may_be_imported_later(writer: DatasetWriter) -> None:
    script = (
        "import sys, stoker; f = stoker.Feed(sys.argv[1], batch_size=4); assert not isinstance(f, dict)\n"
        "from torch.utils.data import DataLoader, IterableDataset\n"
        "assert isinstance(f, IterableDataset); print(len(list(DataLoader(f, batch_size=None, num_workers=2))))"
    )
    done = subprocess.run([sys.executable, "-c", script, writer.root], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "10"


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("tail", TAILS)
def test_workers_share_exactly(writer: DatasetWriter, tail: Any) -> None:
    for rank, world in ((0, 1), (1, 2)):
        given = {**SPEC, "tail": tail, "rank": rank, "world_size": world}
        with Feed(writer.root, **given) as feed:
            expected = [[content(b) for b in feed] for _ in range(2)]
        for workers in (0, 1, 2, 3):
            with Feed(writer.root, **given) as feed:
                loader = loaded(feed, workers)
                assert len(loader) == len(expected[0])
                assert [[content(b) for b in loader] for _ in range(2)] == expected, (rank, workers)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_resume_at_every_position_with_workers(writer: DatasetWriter, workers: int) -> None:
    with Feed(writer.root, **SPEC) as feed:
        whole = [content(b) for _ in range(2) for b in feed]
        feed.set_epoch(0)
        states = [b.state for b in feed]
    for at, state in enumerate(states):
        with Feed(writer.root, **SPEC) as feed:
            feed.load_state_dict(state)
            loader = loaded(feed, workers)
            got = [content(b) for b in loader]
            assert len(got) == (12 - at or 13)
            assert got == whole[at + 1 : at + 1 + len(got)]
            if at == 5:
                assert [content(b) for b in loader] == whole[13:]


def test_a_break_ends_the_epoch_with_workers_too(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as feed:
        loader = loaded(feed, 2)
        for b in loader:
            assert b.epoch == 0
            break
        assert {b.epoch for b in loader} == {1}
        feed.set_epoch(6)
        assert {b.epoch for b in loader} == {6}
        assert {b.epoch for b in loader} == {7}


def test_workers_that_stay(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as feed:
        expected = [content(b) for _ in range(3) for b in feed]
        feed.set_epoch(0)
        loader = loaded(feed, 2, persistent_workers=True)
        assert [content(b) for _ in range(3) for b in loader] == expected
        feed.set_epoch(1)
        assert [content(b) for b in loader] == expected[13:26]
        assert [content(b) for b in loader] == expected[26:]


def test_the_feed_itself_does_not_guess_where_workers_are(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as feed:
        batch = next(iter(loaded(feed, 2)))
        with pytest.raises(errors.StokerError, match=r"batch\.state"):
            feed.state_dict()
        feed.load_state_dict(batch.state)
        assert feed.state_dict() == batch.state


def test_batches_from_workers_lie_in_shared_memory_and_are_writable(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as feed:
        for b in loaded(feed, 1):
            tensor = torch.from_numpy(b["image"].values)
            tensor += 1
            b.label[:] = 3
            assert b.label.tolist() == [3] * len(b)


def test_decoding_in_workers(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC, decode={"image": len}) as feed:
        expected = [b["image"] for b in feed]
        feed.set_epoch(0)
        assert [b["image"] for b in loaded(feed, 2)] == expected
        assert all(isinstance(n, int) for batch in expected for n in batch)


def test_rank_of_torch_distributed(writer: DatasetWriter, tmp_path: Path) -> None:
    script = (
        "import sys, torch.distributed as d, stoker\n"
        "feed = stoker.Feed(sys.argv[1], batch_size=4, tail='keep')\n"
        "d.init_process_group('gloo', init_method='file://' + sys.argv[2], rank=int(sys.argv[3]), world_size=2)\n"
        "print([b.number for b in feed])\n"
    )
    args = [sys.executable, "-c", script, str(writer.root), str(tmp_path / "store")]
    ranks = [subprocess.Popen([*args, str(r)], stdout=subprocess.PIPE, text=True) for r in range(2)]
    outs = [p.communicate(timeout=120)[0].splitlines()[-1] for p in ranks]
    assert outs == ["[0, 2, 4, 6, 8]", "[1, 3, 5, 7, 9]"]


def test_nothing_is_left_over(writer: DatasetWriter) -> None:
    def held() -> int:
        gc.collect()
        for thread in threading.enumerate():  # those that close files end after the feed
            if thread.name == "stoker-read":
                thread.join(20)
        return len(os.listdir("/proc/self/fd"))

    before = None
    for _ in range(4):
        with Feed(writer.root, **SPEC) as feed:
            list(feed)
            list(loaded(feed, 2))
        del feed
        if before is None:
            before = held()
    assert before is not None
    most = before + 1
    # The queues of a DataLoader close their pipes in threads, which end when they get the processor.
    eventually(lambda: held() <= most, 60)
