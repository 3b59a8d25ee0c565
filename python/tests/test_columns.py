"""Single columns of chunks: the same values as from the whole head, and no damaged byte of theirs goes unnoticed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker import errors
from stoker._commit import keys as _keys
from stoker._dataset.chunk import ChunkReader, ColumnData
from stoker._dataset.columns import ColumnReader
from stoker._dataset.snapshot import open_snapshot
from stoker._format.footer import ENDING, read_footer, tail_length

FIELDS = {
    "label": "categorical",
    "n": "int32",
    "maybe": "int16?",
    "flag": "bool",
    "note": "utf8?",
    "tokens": "int32[]",
    "box": "float32[2,2]",
    "kind": "categorical?",
    "marks": "int32?[]",
    "tags": "utf8?[]?",
    "image": "binary",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    root = tmp_path_factory.mktemp("columns") / "d"
    with stoker.Writer(root, FIELDS, payload=["image"]) as writer:
        for i in range(23):
            writer.write({
                "key": f"k{i}é",
                "label": f"label {i % 3}",
                "n": i,
                "maybe": None if i % 4 == 0 else i,
                "flag": i % 3 == 0,
                "note": None if i % 5 == 0 else "ü" * (i % 7),
                "tokens": rng.integers(0, 1000, i % 4),
                "box": rng.random((2, 2), np.float32),
                "kind": None if i % 2 else "odd",
                "marks": [i, None, -i][: i % 4],
                "tags": None if i % 6 == 0 else ["x" * i, None],
                "image": rng.bytes(300),
            })  # fmt: skip
    return root


@pytest.fixture
def chunk(root: Path, tmp_path: Path) -> Iterator[Path]:
    """The only chunk, with its bytes back after the test."""
    path = Path(open_snapshot(root).chunk_path(0))
    before = path.read_bytes()
    yield path
    path.write_bytes(before)


def read(root: Path, number: int) -> ColumnData:
    reader = ChunkReader(open_snapshot(root))
    fd = reader.open(0)
    try:
        return ColumnReader(reader, fd, 0).column(number)
    finally:
        os.close(fd)


def damaged(root: Path) -> list[int]:
    """The numbers of the columns that cannot be read."""
    found = []
    for number in range(len(FIELDS)):
        try:
            read(root, number)
        except errors.CorruptDataError as e:
            assert "chunk 0" in str(e)  # noqa: PT017
            found.append(number)
    return found


def test_a_column_is_as_in_the_whole_head(root: Path) -> None:
    reader = ChunkReader(open_snapshot(root))
    fd = reader.open(0)
    whole = reader.head(fd, 0)
    columns = ColumnReader(reader, fd, 0)
    for number, expected in enumerate(whole.small):
        found = columns.column(number)
        assert found.column == expected.column
        for name in ("validity", "offsets", "data"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    with pytest.raises(ValueError, match="image is payload"):
        columns.column(len(reader.layout.columns) - 1)
    os.close(fd)


def test_a_flipped_bit_of_a_column_is_noticed_by_its_reader_alone(root: Path, chunk: Path) -> None:
    good = chunk.read_bytes()
    reader = ChunkReader(open_snapshot(root))
    fd = reader.open(0)
    columns = ColumnReader(reader, fd, 0)
    parts, dictionaries = columns._parts, columns._dictionaries
    os.close(fd)
    seen = 0
    for number in range(len(FIELDS)):
        own = [p for p in parts[number] if p.length] + [dictionaries[n] for n in dictionaries if n == number]
        for part in own:
            for at in {part.start, part.start + part.length // 2, part.start + part.length - 1}:
                chunk.write_bytes(good[:at] + bytes([good[at] ^ 2]) + good[at + 1 :])
                assert damaged(root) == [number], (number, at)
                seen += 1
    assert seen > 2 * len(FIELDS)


def test_every_flipped_bit_of_metadata_and_every_change_of_the_footer_is_noticed(root: Path, chunk: Path) -> None:
    good = chunk.read_bytes()
    reader = ChunkReader(open_snapshot(root))
    tail = len(good) - tail_length(good[-ENDING:], len(good))
    footer = read_footer(good[tail:])
    said = (footer.schema_metadata, footer.dictionaries, footer.batch[:2])
    places = [*range(footer.batch.message_at, footer.batch.message_at + footer.batch.head_length)]
    noticed = 0
    for at in [*places, *range(tail, len(good))]:
        bad = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
        chunk.write_bytes(bad)
        fd = reader.open(0)
        try:
            found = ColumnReader(reader, fd, 0).column(0)
        except errors.CorruptDataError:
            noticed += 1
        else:
            assert at >= tail, at
            after = read_footer(bad[tail:])
            assert (after.schema_metadata, after.dictionaries, after.batch[:2]) == said, at
            assert after.metadata["stoker.buffer_crc32c"] == footer.metadata["stoker.buffer_crc32c"], at
            assert len(found.data)
        finally:
            os.close(fd)
    assert noticed > len(places) + 300


def test_the_text_of_checksums_has_one_for_each_part(root: Path, chunk: Path) -> None:
    data = chunk.read_bytes()
    with pa.ipc.open_file(pa.py_buffer(data)) as file:
        text = {k.decode(): v.decode() for k, v in file.metadata.items()}["stoker.buffer_crc32c"]
        assert file.get_batch(0).num_rows == 23
    # dictionaries, the metadata, then 2 buffers of fixed types, 3 of text and tensors, 4 of lists, 5 of lists of texts;
    # payload without its values
    assert len(text) == 8 * (2 + 1 + 3 + 2 + 2 + 2 + 2 + 3 + 4 + 3 + 2 + 4 + 5 + 2 + 2)


def test_the_log_decides_which_chunk_it_is(root: Path, chunk: Path) -> None:
    reader = ChunkReader(open_snapshot(root))
    columns: Any = reader.snapshot.chunks.columns
    columns["head_crc32c"] = columns["head_crc32c"] ^ np.uint32(1)
    fd = reader.open(0)
    with pytest.raises(errors.CorruptDataError, match=r"the footer's checksums combine to .* of the head"):
        ColumnReader(reader, fd, 0)
    os.close(fd)


def test_an_append_reads_only_the_keys_of_long_heads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_keys, "_LONG_HEAD", 1)
    with stoker.Writer(tmp_path / "d", {"n": "int64"}) as writer:
        for i in range(50):
            writer.write({"key": str(i), "n": i})
    snapshot = open_snapshot(tmp_path / "d")
    path = Path(snapshot.chunk_path(0))
    reader = ChunkReader(snapshot)
    fd = reader.open(0)
    part = ColumnReader(reader, fd, 0)._parts[1][-1]
    os.close(fd)
    data = path.read_bytes()
    path.write_bytes(data[: part.start] + b"\xff" + data[part.start + 1 :])
    with pytest.raises(errors.DuplicateKeyError, match="'7'"), stoker.Writer(tmp_path / "d", append=True) as writer:
        writer.write({"key": "7", "n": 7})
