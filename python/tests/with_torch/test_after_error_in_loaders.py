"""Errors in DataLoader workers and in tf.data: no batch is lost, and no new pass begins as if nothing had happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from small_datasets import DatasetWriter, small_dataset
from stoker import Feed, errors

ORDER: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 2000, "seed": 5}


@pytest.fixture
def dataset(tmp_path: Path) -> DatasetWriter:
    return small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3, 11, 10))


class Unless:
    """Decodes unless a file is there."""

    def __init__(self, flag: Path) -> None:
        self.flag = flag

    def __call__(self, row: Any) -> int:
        if self.flag.exists():
            raise ValueError("withheld")
        return len(row)


def loader(dataset: DatasetWriter, flag: Path, **options: Any) -> tuple[Feed, Any]:
    feed = Feed(dataset.root, **ORDER, decode={"image": Unless(flag)}, decode_threads=1)
    return feed, torch.utils.data.DataLoader(feed, batch_size=None, num_workers=2, prefetch_factor=1, **options)


def keys_of(batches: Any) -> list[Any]:
    return [(b.epoch, b.number, tuple(b.keys)) for b in batches]


def test_the_same_pass_delivers_what_failed(dataset: DatasetWriter, tmp_path: Path) -> None:
    with Feed(dataset.root, **ORDER) as plain:
        expected = keys_of(plain)
    flag = tmp_path / "flag"
    feed, batches = loader(dataset, flag)
    iterator = iter(batches)
    found = keys_of([next(iterator)])
    flag.touch()
    failures = 0
    while failures < 4:
        try:
            found += keys_of([next(iterator)])
        except errors.DecodeError:
            failures += 1
    flag.unlink()
    while True:
        try:
            found += keys_of([next(iterator)])
        except errors.DecodeError:
            continue
        except StopIteration:
            break
    assert sorted(found) == expected
    assert keys_of([next(iter(batches))])[0][0] == 1
    feed.close()


def refusal(batches: Any) -> str:
    """Keeps no traceback, and so none of the loader's workers."""
    try:
        next(iter(batches))
    except errors.StokerError as e:
        return str(e)
    return ""


@pytest.mark.parametrize("persistent", [False, True])
def test_a_new_pass_after_a_failure_asks_where_to_go_on(
    dataset: DatasetWriter, tmp_path: Path, persistent: bool
) -> None:
    with Feed(dataset.root, **ORDER) as plain:
        expected = keys_of(plain)
    flag = tmp_path / "flag"
    feed, batches = loader(dataset, flag, persistent_workers=persistent)
    found, state = [], None
    iterator = iter(batches)
    batch = next(iterator)
    found, state = keys_of([batch]), batch.state
    flag.touch()
    try:
        for batch in iterator:
            found, state = [*found, *keys_of([batch])], batch.state
        pytest.fail("no error")
    except errors.DecodeError:
        pass
    flag.unlink()
    del iterator
    for _ in range(2):
        assert "load_state_dict" in refusal(batches)
    feed.load_state_dict(state)
    assert found + keys_of(batches) == expected
    feed.close()
