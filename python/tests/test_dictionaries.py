"""Dictionaries of class names in chunks: read back, and refused with the chunk's name when they are not sound."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import dataset_files
from small_datasets import DatasetWriter
from stoker._dataset.snapshot import open_snapshot
from stoker._format.dictionaries import class_names, dictionary_batch, read_dictionary
from stoker._order.spec import OrderSpec
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from stoker.errors import CorruptDataError

FIELDS = [{"name": "label", "type": "categorical"}, {"name": "data", "type": "binary", "payload": True}]
SAMPLES = [{"key": f"k{n}", "label": "ab"[n % 2], "data": b"x"} for n in range(6)]
HEAD = 256
"""Bytes of a dictionary batch in front of its body."""


@pytest.mark.parametrize("names", [[], [""], ["a"], ["b", "", "ä", "x" * 65_535], [f"c{n}" for n in range(1000)]])
def test_names_come_back_in_their_order(names: list[str]) -> None:
    message = dictionary_batch(3, names)
    assert len(message) % 64 == 0
    read = read_dictionary(np.frombuffer(message + bytes(64), np.uint8), 3, "it")
    assert read.length == len(message)
    assert class_names(read, len(names), "it") == names


def test_every_damaged_byte_is_noticed_or_changes_a_name() -> None:
    names = ["ant", "bee", "cat"]
    message = dictionary_batch(1, names)
    for at in range(len(message)):
        for bit in range(8):
            damaged = bytearray(message)
            damaged[at] ^= 1 << bit
            data = np.frombuffer(damaged, np.uint8)
            if at < HEAD:
                with pytest.raises(CorruptDataError, match=r"^it: "):
                    class_names(read_dictionary(data, 1, "it"), 3, "it")
                continue
            with suppress(CorruptDataError):
                assert len(class_names(read_dictionary(data, 1, "it"), 3, "it")) == 3


def test_every_cut_is_noticed() -> None:
    message = dictionary_batch(1, ["ant", "bee"])
    for length in range(len(message)):
        with pytest.raises(CorruptDataError, match=r"^it: "):
            read_dictionary(np.frombuffer(message[:length], np.uint8), 1, "it")


def _patched(message: bytes, at: int, code: str, value: int) -> bytes:
    patched = bytearray(message)
    struct.pack_into("<" + code, patched, at, value)
    return bytes(patched)


@pytest.mark.parametrize("rows", [7, 1 << 20, 1 << 28, 1 << 62, -1])
def test_a_declared_number_of_names_takes_no_memory(rows: int) -> None:
    message = _patched(_patched(dictionary_batch(1, ["a", "b"]), 112, "q", rows), 136, "q", rows)
    data = np.frombuffer(message, np.uint8)
    tracemalloc.start()
    try:
        with pytest.raises(CorruptDataError, match="damaged or missing"):
            read_dictionary(data, 1, "it")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


good = dictionary_batch
HOSTILE: dict[str, tuple[Callable[[int, list[str]], bytes], str]] = {
    "a name twice": (lambda c, n: good(c, ["a", "a"]), "'a' is in the dictionary twice"),
    "more names than rows": (lambda c, n: good(c, [*n, *map(str, range(5))]), "7 class names for 6 rows"),
    "descending offsets": (lambda c, n: _patched(good(c, n), HEAD + 4, "i", 9), "offsets do not ascend"),
    "a first offset": (lambda c, n: _patched(good(c, n), HEAD, "i", 1), "offsets do not ascend from 0"),
    "not UTF-8": (lambda c, n: _patched(good(c, n), HEAD + 64, "B", 0xFF), "class name 0 is not UTF-8"),
    "a long name": (lambda c, n: good(c, ["a" * 65_536, "b"]), "class name 0 has 65536 bytes, at most 65535"),
    "another column's": (lambda c, n: good(c + 1, n), "damaged or missing"),
    "none": (lambda c, n: b"", "damaged or missing"),
    "two": (lambda c, n: good(c, n) * 2, "not a record batch message"),
    "a stranger": (lambda c, n: good(c, ["a", "zebra"]), "'zebra' of label is not among the version's classes"),
    "a name too few": (lambda c, n: good(c, n[:1]), "outside the 1 classes of the chunk"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_chunk_with_an_unsound_dictionary_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """The checksums in the log match the damaged chunk."""
    make, reason = HOSTILE[case]
    monkeypatch.setattr(dataset_files, "dictionary", make)
    writer = DatasetWriter(tmp_path / "d", FIELDS)
    writer.commit([SAMPLES])
    stream = PathStream(open_snapshot(writer.root), "train", OrderSpec(batch_size=3))
    with pytest.raises(CorruptDataError) as caught:
        read_all(stream)
    assert reason in str(caught.value)
    assert str(writer.chunk_path(0)) in str(caught.value)


def test_the_same_chunk_with_a_sound_dictionary_is_read(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "d", FIELDS)
    writer.commit([SAMPLES])
    assert read_all(PathStream(open_snapshot(writer.root), "train", OrderSpec(batch_size=3))) == 6


def read_all(stream: PathStream) -> int:
    source = PathSource(stream, threads=1)
    try:
        return sum(piece.rows for batch in source.epoch(0, 0, 1, stream.batches, "pad") for piece in batch.pieces)
    finally:
        source.close()
