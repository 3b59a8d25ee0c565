"""Runs the examples of docs/tables.md unchanged, and compares their numbers with the samples of the dataset."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import stoker
from removals import remove
from stoker.errors import CorruptDataError
from written import PHOTOS, Writer, photo, snapshot_files

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
Names = dict[str, Any]


def written() -> list[dict[str, Any]]:
    """The samples of the newest version, with their splits: several chunks, two of which lost rows."""
    samples = [photo(n) | {"split": "train" if n < 200 else "val"} for n in range(240)]
    samples[7]["image"] = samples[100]["image"] = samples[210]["image"] = b"the same"
    return [s for n, s in enumerate(samples) if n not in (0, 3, 205)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "data" / "photos"
    with Writer(path, PHOTOS, payload=["image"], chunk_size=100_000) as w:
        for n in range(200):
            w.write(photo(n) | ({"image": b"the same"} if n in (7, 100) else {}))
    with Writer(path, append=True) as w:
        for n in range(200, 240):
            w.write(photo(n) | ({"image": b"the same"} if n == 210 else {}), split="val")
    assert len(snapshot_files(path)) > 3
    remove(path, {0: [0, 3], len(snapshot_files(path)) - 1: [5]})
    lines = [f"{s['key']},{n % 4}" for n, s in enumerate(written()) if n % 2]
    (folder / "grades.csv").write_text("\n".join(["key,grade", *lines]) + "\n")
    return folder


def counts(samples: list[dict[str, Any]], *names: str) -> Counter[Any]:
    return Counter(s[names[0]] if len(names) == 1 else tuple(s[n] for n in names) for s in samples)


def mean(values: list[float | None]) -> float:
    given = [v for v in values if v is not None]
    return pytest.approx(sum(given) / len(given), rel=1e-5)


def weights(label: str, split: str | None = None) -> list[float | None]:
    return [s["weight"] for s in written() if s["label"] == label and split in (None, s["split"])]


def columns_and_filters(found: Names, _: Path) -> None:
    samples = written()
    assert found["table"].to_pylist() == [{"key": s["key"], "label": s["label"]} for s in samples]
    assert found["cats"].to_pylist() == [{"key": s["key"], "image": s["image"]} for s in samples if s["label"] == "cat"]
    heavy = [s["key"] for s in samples if s["weight"] is not None and s["weight"] > 40 and s["split"] == "train"]
    assert found["heavy"]["key"].to_pylist() == heavy


def by_pandas(found: Names, _: Path) -> None:
    train = counts([s for s in written() if s["split"] == "train"], "label")
    balance = found["class_balance"]
    assert {name: balance[name] for name in train} == {n: pytest.approx(c / train.total()) for n, c in train.items()}
    for name in train:
        assert found["mean_weights"][name] == mean(weights(name, "train"))


def by_duckdb(found: Names, _: Path) -> None:
    assert found["balance"] == sorted((*names, n) for names, n in counts(written(), "label", "split").items())


def streamed(found: Names, _: Path) -> None:
    assert dict(found["heaviest"]) == {name: max(filter(None, weights(name))) for name in ("cat", "dog")}


def by_polars(found: Names, _: Path) -> None:
    expected = [(name, n, mean(weights(name))) for name, n in sorted(counts(written(), "label").items())]
    assert found["weights"].rows() == expected


def class_balance(found: Names, _: Path) -> None:
    assert found["balance"] == counts(written(), "label")


def duplicates(found: Names, _: Path) -> None:
    keys: dict[bytes, list[str]] = {}
    for s in written():
        keys.setdefault(s["image"], []).append(s["key"])
    expected = [k for k in keys.values() if len(k) > 1]
    assert ["00007.jpg", "00100.jpg", "00210.jpg"] in expected
    assert sorted(found["duplicates"]) == sorted(expected)


def labels_from_csv(found: Names, _: Path) -> None:
    expected = [(s["key"], s["label"], n % 4 if n % 2 else None) for n, s in enumerate(written())]
    assert sorted((r["key"], r["label"], r["grade"]) for r in found["joined"].to_pylist()) == sorted(expected)


def parquet(found: Names, folder: Path) -> None:
    table = pyarrow.parquet.read_table(folder / "cats.parquet")
    cats = [s for s in written() if s["label"] == "cat" and s["split"] == "train"]
    assert table.to_pylist() == [{n: s[n] for n in ("key", "label", "image")} for s in cats]


def chunk_files(found: Names, _: Path) -> None:
    assert (found["in_files"], found["in_version"]) == (240, 237)


CHECKS: list[Callable[[Names, Path], None]] = [
    columns_and_filters,
    by_pandas,
    by_duckdb,
    streamed,
    by_polars,
    class_balance,
    duplicates,
    labels_from_csv,
    parquet,
    chunk_files,
]


def test_every_example_has_a_check() -> None:
    assert len(BLOCKS) == len(CHECKS)


EXAMPLES = [
    (code, check)
    for code, check in zip(BLOCKS, CHECKS, strict=False)
    if all(importlib.util.find_spec(name) for name in ("pandas", "duckdb", "polars") if name in code)
]


@pytest.mark.parametrize(("code", "check"), EXAMPLES, ids=[check.__name__ for _, check in EXAMPLES])
def test_an_example_gives_the_right_numbers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, check: Callable[[Names, Path], None]
) -> None:
    monkeypatch.chdir(folder)
    names: Names = {"__name__": check.__name__}
    exec(compile(code, check.__name__, "exec"), names)
    check(names, folder)


def test_duckdb_reads_a_scanner_once_and_names_damage(folder: Path) -> None:
    import duckdb

    path = folder / "data" / "photos"
    photos = duckdb.from_arrow(stoker.open(path).scanner(["label"]))
    assert photos.aggregate("count(*)").fetchall() == [(237,)]
    with pytest.raises(duckdb.Error, match="OneShotFragment was already scanned"):
        photos.aggregate("count(*)").fetchall()
    file = snapshot_files(path)[1]
    good = file.read_bytes()
    image = good.rindex(stoker.open(path)[1, 4]["image"])
    file.write_bytes(good[:image] + b"\xff" + good[image + 1 :])
    try:
        with pytest.raises(CorruptDataError, match=", image, row 4"):
            stoker.open(path).to_arrow(["image"])
        with pytest.raises(duckdb.Error, match=f"(?s)CorruptDataError: chunk 1 .{file}., image, row 4"):
            duckdb.from_arrow(stoker.open(path).scanner(["image"])).aggregate("max(image)").fetchall()
    finally:
        file.write_bytes(good)
