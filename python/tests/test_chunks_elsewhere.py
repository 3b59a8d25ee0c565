"""Chunk files in other programs: they count classes correctly over chunks whose local dictionaries differ."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from stoker import Writer

Counts = dict[str | None, int]
LABELS = ["zebra", "ant", None, "bee", "ä", "ant", "cat"]


@pytest.fixture(scope="module")
def chunks(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Counts]:
    """The chunk files of a dataset, and how often each class is among its rows."""
    path = tmp_path_factory.mktemp("elsewhere") / "d"
    expected: Counter[str | None] = Counter()
    with Writer(path, {"label": "categorical?", "data": "binary"}, chunk_size=6200, shuffle=False) as writer:
        for n in range(400):
            label = LABELS[n * n % 5 + n // 200]
            expected[label] += 1
            writer.write({"label": label, "data": bytes(50)})
    files = sorted(str(file) for file in path.glob("chunks/*/*.arrow"))
    dictionaries = set()
    for file in files:
        with pa.ipc.open_file(file) as opened:
            dictionaries.add(tuple(opened.get_batch(0).column("label").dictionary.to_pylist()))
    assert len(dictionaries) > 2, "chunks with different dictionaries are what the test is about"
    return files, dict(expected)


def by_pyarrow(files: list[str]) -> Counts:
    table = ds.dataset(files, format="ipc").to_table(columns=["label"])
    groups = table.unify_dictionaries().group_by("label").aggregate([([], "count_all")])
    return {row["label"]: row["count_all"] for row in groups.to_pylist()}


def by_duckdb(files: list[str]) -> Counts:
    import duckdb

    table = ds.dataset(files, format="ipc").to_table(columns=["label"])
    with duckdb.connect() as connection:
        connection.register("chunks", table)
        return dict(connection.execute("SELECT label, count(*) FROM chunks GROUP BY label").fetchall())


def by_polars(files: list[str]) -> Counts:
    import polars

    frame = polars.concat([polars.read_ipc(file, columns=["label"]) for file in files])
    groups = frame.group_by(polars.col("label").cast(polars.String)).len()
    return dict(groups.iter_rows())


def by_pandas(files: list[str]) -> Counts:
    frame = ds.dataset(files, format="ipc").to_table(columns=["label"]).to_pandas()
    counts = frame["label"].value_counts(dropna=False)
    return {label if isinstance(label, str) else None: int(count) for label, count in counts.items()}


READERS = {
    "pyarrow": by_pyarrow,
    **{name: read for name, read in (("duckdb", by_duckdb), ("polars", by_polars), ("pandas", by_pandas))
       if importlib.util.find_spec(name)},
}  # fmt: skip


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_classes_are_counted_over_chunks_with_different_dictionaries(
    chunks: tuple[list[str], Counts], read: Callable[[list[str]], Counts]
) -> None:
    files, expected = chunks
    assert read(files) == expected


def test_pyarrow_groups_only_after_unify_dictionaries(chunks: tuple[list[str], Counts]) -> None:
    """docs/formats/chunk.md says so; when this changes, the page changes."""
    files, _ = chunks
    table = ds.dataset(files, format="ipc").to_table(columns=["label"])
    with pytest.raises(pa.ArrowNotImplementedError, match=r"[Uu]nifying differing dictionaries"):
        table.group_by("label").aggregate([([], "count_all")])


def test_each_chunk_has_its_own_names(chunks: tuple[list[str], Counts]) -> None:
    files, expected = chunks
    counts: Counter[str | None] = Counter()
    for file in files:
        with pa.ipc.open_file(file) as opened:
            batch = opened.get_batch(0)
        batch.validate(full=True)
        assert batch.schema.field("label").type == pa.dictionary(pa.int32(), pa.utf8())
        assert batch.schema.field("label").metadata is None
        counts.update(batch.column("label").to_pylist())
    assert dict(counts) == expected


def nulls_by_pyarrow(file: str, name: str) -> int:
    return pa.ipc.open_file(file).read_all().column(name).null_count


def nulls_by_duckdb(file: str, name: str) -> int:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("chunk", pa.ipc.open_file(file).read_all())
        return connection.execute(f'SELECT count(*) - count("{name}") FROM chunk').fetchall()[0][0]


def nulls_by_polars(file: str, name: str) -> int:
    import polars

    return polars.read_ipc(file)[name].null_count()


def nulls_by_pandas(file: str, name: str) -> int:
    return int(pa.ipc.open_file(file).read_all().to_pandas()[name].isna().sum())


NULL_READERS = {
    "pyarrow": nulls_by_pyarrow,
    **{name: read for name, read in (("duckdb", nulls_by_duckdb), ("polars", nulls_by_polars),
                                     ("pandas", nulls_by_pandas)) if importlib.util.find_spec(name)},
}  # fmt: skip


@pytest.mark.parametrize("read", NULL_READERS.values(), ids=NULL_READERS)
def test_missing_payload_is_null_whatever_the_field_is_called(tmp_path: Path, read: Callable[[str, str], int]) -> None:
    name = "Größe (px), 大"
    with Writer(
        tmp_path / "d", {name: "float32?", "image": "binary?", "ids": "int32[]?"}, payload=["image", "ids"]
    ) as w:
        for n in range(12):
            given = {"image": b"" if n % 2 else bytes(n), "ids": [n]} if n % 3 else {}
            w.write({"key": str(n), name: n if n % 4 else None, **given})
    file = str(next((tmp_path / "d").glob("chunks/*/*.arrow")))
    assert [read(file, column) for column in (name, "image", "ids")] == [3, 4, 4]
