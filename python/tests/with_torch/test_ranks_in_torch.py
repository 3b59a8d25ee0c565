"""Ranks that torch starts: each takes its own share of a feed that was made before."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
import torch.distributed
import torch.multiprocessing
from torch.utils.data import DataLoader

from small_datasets import small_dataset
from stoker import Feed

pytestmark = pytest.mark.full("programs")


def train(rank: int, feed: Feed, folder: str, workers: int) -> None:
    where = f"file://{folder}/{workers}-store"
    torch.distributed.init_process_group("gloo", init_method=where, rank=rank, world_size=2)
    start = multiprocessing.get_context("spawn" if workers == 1 else "fork")
    loader: Any = DataLoader(feed, None, num_workers=workers, multiprocessing_context=start) if workers else feed
    passes = [[(b.epoch, b.number) for b in loader] for _ in range(2)]
    Path(folder, f"{workers}-{rank}.json").write_text(json.dumps(passes))
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("start", ["spawn", "fork"])
@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_feed_that_is_given_to_ranks(tmp_path: Path, start: str, workers: int) -> None:
    writer = small_dataset(tmp_path / "d")
    with Feed(writer.root, batch_size=4, lanes=2) as feed:
        assert len(feed) == 10
        given = (feed, str(tmp_path), workers)
        torch.multiprocessing.start_processes(train, given, nprocs=2, start_method=start)
    found = [json.loads((tmp_path / f"{workers}-{rank}.json").read_text()) for rank in range(2)]
    assert found == [[[[e, n] for n in range(rank, 10, 2)] for e in range(2)] for rank in range(2)]
