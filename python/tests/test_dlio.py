"""The data loader for DLIO, with the classes of DLIO replaced by small ones."""

from __future__ import annotations

import enum
import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import stoker

DLIO = Path(__file__).parents[2] / "benchmarks" / "dlio"


class DatasetType(enum.Enum):
    TRAIN, VALID = "train", "valid"


class Shuffle(enum.Enum):
    OFF, SEED = "off", "seed"


class BaseDataLoader:
    arguments: Any = None

    def __init__(self, format_type: Any, dataset_type: DatasetType, epoch_number: int, kind: Any) -> None:
        self._args = BaseDataLoader.arguments
        self.format_type, self.dataset_type, self.batch_size = format_type, dataset_type, 4

    def next(self) -> None: ...


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Returns a function that makes the loader of a rank, of 17 samples of training and 8 of validation."""
    with stoker.Writer(tmp_path / "stoker", schema={"image": "binary"}) as writer:
        for n in range(25):
            writer.write({"key": f"k{n}", "image": bytes([n]) * 10}, split="train" if n < 17 else "valid")
    enumerations = ModuleType("dlio_benchmark.common.enumerations")
    vars(enumerations).update(
        DatasetType=DatasetType, Shuffle=Shuffle, DataLoaderType=SimpleNamespace(PYTORCH="pytorch")
    )
    base = ModuleType("dlio_benchmark.data_loader.base_data_loader")
    vars(base).update(BaseDataLoader=BaseDataLoader)
    for name in ("dlio_benchmark", "dlio_benchmark.common", "dlio_benchmark.data_loader"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, enumerations.__name__, enumerations)
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.delitem(sys.modules, "stoker_dlio", raising=False)
    monkeypatch.delenv("STOKER_DLIO", raising=False)
    monkeypatch.syspath_prepend(str(DLIO))
    plugin = importlib.import_module("stoker_dlio")

    def of(rank: int = 0, kind: DatasetType = DatasetType.TRAIN, shuffle: Shuffle = Shuffle.SEED) -> Any:
        BaseDataLoader.arguments = SimpleNamespace(
            data_folder=str(tmp_path), my_rank=rank, comm_size=2, seed=1, sample_shuffle=shuffle, read_threads=0
        )
        made = plugin.StokerDataLoader("npz", kind, 0)
        made.read()
        return made

    return of


def numbers(batches: Any) -> list[int]:
    return [bytes(image)[0] for batch in batches for image in batch]


def test_the_ranks_share_an_epoch_and_the_next_one_has_another_order(loader: Any) -> None:
    ranks = [loader(0), loader(1)]
    first = [numbers(rank.next()) for rank in ranks]
    assert [len(share) for share in first] == [8, 8], "DLIO counts whole steps of all ranks"
    assert len(set(first[0]) | set(first[1])) == 16
    for rank in ranks:
        rank.finalize()
    second = [numbers(rank.next()) for rank in ranks]
    assert len(set(second[0]) | set(second[1])) == 16
    assert first != second


def test_an_epoch_that_dlio_leaves_early_does_not_repeat_its_batches(loader: Any) -> None:
    rank = loader(0)
    seen = numbers([next(iter(rank.next()))])
    assert not set(seen) & set(numbers([next(iter(rank.next()))]))


def test_validation_reads_its_split_in_order(loader: Any) -> None:
    found = [numbers(loader(rank, DatasetType.VALID, Shuffle.OFF).next()) for rank in range(2)]
    assert sorted(found[0] + found[1]) == list(range(17, 25))
