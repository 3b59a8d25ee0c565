"""Texts, names and keys at their borders, through the Writer and back."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import stoker
from stoker import Feed, Writer
from stoker._commit.table import encode_table
from stoker._dataset.snapshot import open_snapshot
from stoker._format.checksum import check_self
from stoker.errors import InvalidSampleError

NAMES = [
    "stoker.crc32c=00000000",
    "stoker.crc32c=",
    "",
    "\0",
    "a\nb",
    "../../etc/passwd",
    "é" * 32_767,
    "😀",
    "﷽",
    "x" * 65_535,
]
KEYS = ["../../etc/passwd", "a\0b", "a\nb", "k" * 4096, "ﬁ", "fi", "é", "é", "stoker.crc32c=00000000", "/", ".", " "]


def test_class_names_and_keys_come_back_as_they_went_in(tmp_path):
    path = tmp_path / "data"
    samples = {key: NAMES[i % len(NAMES)] for i, key in enumerate(KEYS)}
    with Writer(path, schema={"label": "categorical", "text": "utf8", "data": "binary"}, chunk_size=1 << 20) as writer:
        for key, label in samples.items():
            writer.write({"key": key, "label": label, "text": key + label, "data": key.encode()})
    dataset = stoker.open(path)
    assert {s["key"]: s["label"] for s in dataset} == samples
    with Feed(path, batch_size=5, epochs=1, tail="keep") as feed:
        fed = {}
        for batch in feed:
            for row, key in enumerate(batch.keys):
                fed[key] = feed.classes["label"][batch["label"][row]]
                assert bytes(batch["data"][row]) == key.encode()
    assert fed == samples
    snapshot = open_snapshot(path)
    assert snapshot.version == 1
    table = encode_table(snapshot)
    check_self(table, "table")
    metadata = pa.ipc.open_file(table).schema.metadata
    assert json.loads(metadata[b"stoker.classes"])["label"] == list(snapshot.classes["label"])


@pytest.mark.parametrize(
    ("label", "reason"),
    [("x" * 65_536, "has 65536 bytes of UTF-8, at most 65535"), ("\ud83d", "half a surrogate pair")],
)
def test_a_class_name_that_a_log_entry_cannot_hold_is_refused_with_its_sample_and_the_rest_is_written(
    tmp_path, label, reason
):
    path = tmp_path / "data"
    with Writer(path, schema={"label": "categorical"}) as writer:
        writer.write({"key": "good", "label": "cat"})
        with pytest.raises(InvalidSampleError, match=f"(?s)'bad'.*{reason}"):
            writer.write({"key": "bad", "label": label})
        writer.write({"key": "fine", "label": "dog"})
    assert {s["key"]: s["label"] for s in stoker.open(path)} == {"good": "cat", "fine": "dog"}


@pytest.mark.parametrize("encoded", [False, True])
def test_a_table_with_a_class_name_that_is_too_long_is_refused_with_its_row(tmp_path, encoded):
    labels = pa.array(["cat", "x" * 65_536, "dog"])
    table = pa.table({"key": ["a", "b", "c"], "label": labels.dictionary_encode() if encoded else labels})
    with Writer(tmp_path / "data", schema={"label": "categorical"}) as writer:
        with pytest.raises(InvalidSampleError, match=r"'b'.*65536 bytes"):
            writer.write_batch(table)
        writer.write_batch(table.slice(0, 1))
    assert [s["label"] for s in stoker.open(tmp_path / "data")] == ["cat"]
