"""Names of fields: the same ones as in Java, and datasets that have unusual ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker import Feed
from stoker._dataset.snapshot import open_snapshot
from stoker._format.fields import Field

VECTORS = json.loads(
    (Path(__file__).parents[2] / "schemas/src/test/resources/vectors/field-names.json").read_text("utf-8")
)


@pytest.mark.parametrize("name", VECTORS["good"])
def test_a_name_that_java_allows_is_allowed(name: str) -> None:
    assert Field(name, "int32").name == name


@pytest.mark.parametrize("bad", VECTORS["bad"], ids=lambda bad: ascii(bad["name"][:20]))
def test_a_name_that_java_refuses_is_refused_in_the_same_words(bad: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="field name") as raised:
        Field(bad["name"], "int32")
    assert str(raised.value) == bad["error"]


def test_a_dataset_may_have_all_of_them(tmp_path: Path) -> None:
    names = VECTORS["good"]
    schema = {name: "categorical" if i % 2 else "int32" for i, name in enumerate(names)}
    with stoker.Writer(tmp_path / "d", schema | {"日": "binary"}, payload=["日"]) as writer:
        for row in range(7):
            values = {n: f"c{row % 3}" if i % 2 else row for i, n in enumerate(names)}
            writer.write({"key": str(row), **values, "日": b"x" * row})
    path = open_snapshot(tmp_path / "d").chunk_path(0)
    table = pa.ipc.open_file(path).read_all()
    assert table.schema.names == ["key", *names, "crc32c:日", "日"]
    with Feed(tmp_path / "d", batch_size=7, shuffle="none") as feed:
        batch = next(iter(feed))
    assert set(batch.fields) == {*names, "日"}
    for i, name in enumerate(names):
        if i % 2 == 0:
            np.testing.assert_array_equal(np.sort(batch[name]), np.arange(7))
    assert batch.arrow.schema.names == ["key", *names, "日"]


@pytest.mark.parametrize("name", ["crc32c:x", "stoker.mtime", "a\nb"])
def test_a_writer_refuses_the_others(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="field name"):
        stoker.Writer(tmp_path / "d", {name: "int32"})
