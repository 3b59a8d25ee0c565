"""Every way of a DataLoader over a feed: exact, and resumable through `batch.state` and torchdata's loader."""

from __future__ import annotations

import logging
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset

from small_datasets import MANY, DatasetWriter, small_dataset
from stoker import Batch, Feed, errors
from stoker.testing import serve

SPEC: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 6000, "seed": 5}


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    return small_dataset(tmp_path_factory.mktemp("loaders") / "d")


@pytest.fixture(scope="module")
def expected(writer: DatasetWriter) -> list[tuple[Any, ...]]:
    with Feed(writer.root, **SPEC) as feed:
        return [content(b) for _ in range(4) for b in feed]


def content(batch: Batch) -> tuple[Any, ...]:
    image = tuple(v.tobytes() for v in batch["image"])
    return batch.epoch, batch.number, tuple(batch.keys), image, batch.label.tobytes(), batch.repeated, str(batch.state)


def loader(feed: Feed, workers: int, start: str = "fork", **given: Any) -> DataLoader[Any]:
    if workers:
        given["multiprocessing_context"] = start
    return DataLoader(feed, batch_size=None, num_workers=workers, **given)


WAYS = [(0, "fork", False)]
WAYS += [(w, "fork", stay) for w in (1, 2, 4) for stay in (False, True)]
WAYS += [(1, "spawn", True), (1, "forkserver", False)]
SLOW = [(w, start, stay) for start in ("spawn", "forkserver") for w in (1, 2, 4) for stay in (False, True)]
"""Slow, since each of their processes imports torch again."""


@pytest.mark.cells
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize(
    ("workers", "start", "stay"), [*WAYS, *(pytest.param(*way, marks=pytest.mark.soak) for way in SLOW)]
)
def test_every_loader_is_exact_and_resumes(
    writer: DatasetWriter, expected: list[Any], workers: int, start: str, stay: bool
) -> None:
    given = {"persistent_workers": True} if stay else {}
    with Feed(writer.root, **SPEC) as feed:
        batches = loader(feed, workers, start, **given)
        assert len(batches) == 13
        if start == "fork":
            assert [content(b) for b in batches] == expected[:13]
        else:
            feed.set_epoch(1)
        taken = list(islice(batches, 5))
        assert [content(b) for b in taken] == expected[13:18]
        del batches
    with Feed(writer.root, **SPEC) as feed:
        feed.load_state_dict(taken[-1].state)
        batches = loader(feed, workers, start, **given)
        assert [content(b) for b in batches] == expected[18:26]
        if start == "fork" or stay:
            assert [content(b) for b in batches] == expected[26:39]


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_loaders_of_a_server(writer: DatasetWriter, expected: list[Any], workers: int) -> None:
    with serve(writer.root, order=SPEC, feeders=2) as served, Feed(served.target) as feed:
        batches = loader(feed, workers)
        assert [content(b) for b in batches] == expected[:13]
        taken = list(islice(batches, 5))
        del batches
        feed.load_state_dict(taken[-1].state)
        assert [content(b) for b in loader(feed, workers)] == expected[18:26]


@pytest.mark.parametrize("stay", [False, True])
def test_parts_of_an_epoch_in_workers(writer: DatasetWriter, expected: list[Any], stay: bool) -> None:
    with Feed(writer.root, epoch_batches=5, **SPEC) as feed:
        batches = loader(feed, 2, persistent_workers=stay)
        assert len(batches) == 5
        assert [content(b) for _ in range(2) for b in batches] == expected[:10]
        assert [content(b) for b in batches] == expected[10:13]
        assert [content(b) for _ in range(3) for b in batches] == expected[13:26]


def test_joined_batches_are_not_divided_among_workers(writer: DatasetWriter) -> None:
    with Feed(writer.root, concat=2, **SPEC) as feed:
        alone = [b.keys for b in feed]
        feed.set_epoch(0)
        assert [b.keys for b in loader(feed, 1)] == alone
        with pytest.raises(ValueError, match="num_workers=0 or 1"):
            list(loader(feed, 2))


@pytest.mark.cells
@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_torchdatas_loader_resumes_at_every_position(writer: DatasetWriter, expected: list[Any], workers: int) -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader

    def made(feed: Feed) -> Any:
        return StatefulDataLoader(feed, batch_size=None, num_workers=workers)

    with Feed(writer.root, **SPEC) as feed:
        batches = made(feed)
        states = []
        for batch in batches:
            states.append(batches.state_dict())
            assert content(batch) == expected[len(states) - 1]
    for at, state in list(enumerate(states[:-1]))[:: 1 if workers == 0 else 4]:
        with Feed(writer.root, **SPEC) as feed:
            batches = made(feed)
            batches.load_state_dict(state)
            assert [content(b) for b in batches] == expected[at + 1 : 13], at
            assert [content(b) for b in islice(batches, 3)] == expected[13:16], at


def test_batches_become_tensors(tmp_path_factory: pytest.TempPathFactory) -> None:
    writer = small_dataset(tmp_path_factory.mktemp("many") / "d", MANY)
    with Feed(writer.root, batch_size=7, lanes=3, tail="keep") as feed:
        for batch in feed:
            tensors = batch.to("cpu", non_blocking=True, missing={"flag": False, "half": 0})
            assert len(tensors) == len(batch)
            assert (tensors.epoch, tensors.number, tensors.keys, tensors.state) == (
                *(batch.epoch, batch.number, batch.keys, batch.state),
            )
            assert tensors.score.dtype == torch.float32
            assert tensors["score"].tolist() == batch["score"].tolist()
            assert tensors.half.dtype == torch.bfloat16
            assert (tensors.half.view(torch.int16).numpy().view(np.uint16) == batch.half.filled(0)).all()
            assert tensors.label.tolist() == batch.label.filled(-100).tolist()
            valid = tensors.validity("flag")
            assert (valid is None) == (batch.validity("flag") is None)
            if valid is not None:
                assert valid.tolist() == batch.validity("flag").tolist()
            assert tensors.pixels.shape == (len(batch), 3, 4)
            assert tensors.tokens.is_nested
            assert [t.tolist() for t in tensors.tokens.unbind()] == [t.tolist() for t in batch.tokens]
            assert tensors.caption == batch.caption
            assert tensors.image is batch.image
            assert "pixels" in tensors
            again = tensors.to("cpu")
            assert again.columns.keys() == set(batch.fields)
            assert again.pixels.equal(tensors.pixels)
            with pytest.raises(KeyError, match="no field 'nothing'"):
                tensors["nothing"]
            with pytest.raises(AttributeError):
                tensors.nothing  # noqa: B018


def test_nested_and_padded_rows(tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = [np.arange(n, dtype=np.int32) + 10 * n for n in (3, 0, 5, 1, 2, 7)]
    with serve({"tokens": rows}, order={"batch_size": 3, "lanes": 1}) as served, Feed(served.target) as feed:
        for batch in feed:
            mine = [rows[int(key)].tolist() for key in batch.keys]
            nested = batch.tokens.nested()
            assert nested.layout == torch.jagged
            assert nested.values().data_ptr() == batch.tokens.values.ctypes.data
            assert [t.tolist() for t in nested.unbind()] == mine
            assert [t.tolist() for t in batch.tokens[1:].nested().unbind()] == mine[1:]
            padded = torch.from_numpy(batch.tokens.padded(8, -1))
            assert padded.tolist() == [row + [-1] * (8 - len(row)) for row in mine]


def test_pinning_without_cuda_says_so_once_and_goes_on(
    writer: DatasetWriter, expected: list[Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stoker._batch import pinned_memory as _pinned

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(_pinned, "_said", set())
    with caplog.at_level(logging.WARNING, "stoker"):
        for _ in range(2):
            with Feed(writer.root, pin_memory=True, **SPEC) as feed:
                assert [content(b.pin_memory()) for b in feed] == expected[:13]
    said = [r.getMessage() for r in caplog.records]
    assert len(said) == 2
    assert all("no CUDA" in text for text in said)


class Pinned:
    """Stands for torch where there is CUDA: counts what it pins."""

    uint8 = torch.uint8
    from_numpy = staticmethod(torch.from_numpy)

    def __init__(self) -> None:
        self.made: list[int] = []

    def empty(self, nbytes: int, dtype: Any, pin_memory: bool) -> Any:
        assert dtype == torch.uint8
        assert pin_memory
        self.made.append(nbytes)
        return torch.empty(nbytes, dtype=dtype)


@pytest.mark.parametrize("server", [False, True])
def test_with_cuda_batches_are_received_into_pinned_memory(
    writer: DatasetWriter, expected: list[Any], server: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stoker._batch import pinned_memory as _pinned

    cuda = Pinned()
    monkeypatch.setattr(_pinned, "cuda", lambda: cuda)
    with serve(writer.root, order=SPEC) as served:
        target = served.target if server else writer.root
        with Feed(target, pin_memory=True, **SPEC) as feed:
            assert [content(b) for _ in range(2) for b in feed] == expected[:26]
        assert cuda.made
        before = len(cuda.made)
        with Feed(target, group="plain", **SPEC) as feed:
            assert [content(b) for b in feed] == expected[:13]
        assert len(cuda.made) == before


def test_a_pinned_batch_is_the_same_batch(writer: DatasetWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    from stoker._batch import pinned_memory as _pinned

    monkeypatch.setattr(_pinned, "cuda", lambda: torch)
    monkeypatch.setattr(torch.Tensor, "pin_memory", torch.Tensor.clone)
    with Feed(writer.root, decode={"image": lambda row: np.full(4, len(row))}, **SPEC) as feed:
        for batch in feed:
            copy = batch.pin_memory()
            assert copy.keys == batch.keys
            assert (copy.repeated, copy.state, copy.label.tolist()) == (
                *(batch.repeated, batch.state, batch.label.tolist()),
            )
            assert copy["image"].tolist() == batch["image"].tolist()
            assert not np.shares_memory(copy["image"], batch["image"])
            assert not np.shares_memory(copy.label, batch.label)


def test_a_loader_that_batches_batches_is_refused(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as feed, pytest.raises(errors.LoaderError, match="batch_size=None"):
        next(iter(DataLoader(feed)))


class IterableDatasetShard(IterableDataset):
    """As accelerate and transformers have it."""

    __module__ = "accelerate.data_loader"

    def __init__(self, dataset: Any, num_processes: int) -> None:
        self.dataset, self.num_processes = dataset, num_processes

    def __iter__(self) -> Any:
        for number, element in enumerate(self.dataset):
            if number % self.num_processes == 0:
                yield element


@pytest.mark.parametrize("workers", [0, 1])
def test_a_second_division_among_ranks_is_refused(writer: DatasetWriter, workers: int) -> None:
    with Feed(writer.root, rank=1, world_size=2, **SPEC) as feed:
        twice = DataLoader(IterableDatasetShard(feed, 2), batch_size=None, num_workers=workers)
        with pytest.raises(errors.LoaderError, match=r"share of 2.*Accelerator\.prepare"):
            list(twice)
    with Feed(writer.root, rank=0, world_size=1, **SPEC) as feed:
        assert len(list(IterableDatasetShard(feed, 2))) == 7  # all of it is read, and divided once
    with Feed(writer.root, rank=1, world_size=2, **SPEC) as feed:
        assert len(list(IterableDatasetShard(feed, 1))) == 7
