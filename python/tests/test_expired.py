"""Expired versions: the log entry, the chunk table, and the versions that stay readable."""

from __future__ import annotations

from pathlib import Path

import pytest

import stoker
from commits import put
from stoker._commit import table as _table
from stoker._commit.entry import encode_entry
from stoker._commit.table import encode_table
from stoker._dataset.expired import merged, oldest_kept, parse_expired, text_of
from stoker._dataset.log import DatasetInfo, LogEntry, entry_path, read_entry, read_info
from stoker._dataset.snapshot import Snapshot, _read_table, open_snapshot
from stoker._dataset.versions import table_versions
from stoker.errors import CorruptDataError, UnknownVersionError
from test_tags import tag

GOLDEN = Path(__file__).resolve().parents[2] / "schemas/src/test/resources/golden"
DATASET = "5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"


def expire(path: Path, text: str) -> None:
    """Commits the entry of an expiry, as `stoker expire` does."""
    (path / "_stoker" / "expired.txt").touch()
    newest = open_snapshot(path).version
    entry = LogEntry(newest + 1, "expire", f"expire-{newest}", 1_800_000_000_000, "ada", [], [], {}, {"expired": text})
    entry_path(path, newest + 1).write_bytes(encode_entry(entry, read_info(path).id))


@pytest.fixture
def grown(tmp_path: Path) -> Path:
    """Four versions, with one more sample each."""
    path = tmp_path / "data"
    for key in "abcd":
        put(path, key)
    return path


def test_the_golden_entry_is_read_and_encoded(tmp_path: Path) -> None:
    path = entry_path(tmp_path, 7)
    path.parent.mkdir(parents=True)
    content = (GOLDEN / "log-entry-expire-1.avro").read_bytes()
    path.write_bytes(content)
    entry = read_entry(tmp_path, 7, DATASET)
    assert entry.operation == "expire"
    assert parse_expired(entry.properties["expired"], entry.version) == ((1, 3, 7), (5, 5, 7))
    assert encode_entry(entry, DATASET) == content


def test_the_golden_table_is_read_and_encoded(tmp_path: Path) -> None:
    path = GOLDEN / "chunk-table-expired-1.arrow"
    info = DatasetInfo(DATASET, "x", "", (), {})
    table = _read_table(path, info, 6)
    assert table.expired == ((1, 1, 5), (2, 2, 6), (3, 3, 5))
    assert text_of(table.expired) == "1-1@5,2-2@6,3-3@5"
    snapshot = Snapshot(tmp_path, info, 6, (), {}, table.chunks(), table.topics, table.recovered, table.expired)
    assert encode_table(snapshot) == path.read_bytes()


def test_an_expired_version_cannot_be_opened(grown: Path) -> None:
    expire(grown, "1-2")
    assert len(stoker.open(grown)) == 4
    assert len(stoker.open(grown, version=3)) == 3
    with pytest.raises(
        UnknownVersionError, match="version 2 was expired by version 5; the oldest version that was kept is 3"
    ):
        stoker.open(grown, version=2)
    with pytest.raises(UnknownVersionError, match="was expired"):
        stoker.Feed(grown, version=1)
    assert open_snapshot(grown, 2, any_version=True).version == 2


def test_a_tag_or_a_use_keeps_an_expired_version_readable(grown: Path) -> None:
    tag(grown, "paper", 1, 1)
    expire(grown, "1-3")
    assert len(stoker.open(grown, version="paper")) == 1
    assert len(stoker.open(grown, version=1)) == 1
    use = grown / "_stoker" / "uses" / f"{2:020d}" / "6f1d2c3b-4a59-5687-9784-a5b6c7d8e9f0.json"
    use.parent.mkdir(parents=True)
    use.write_bytes(b"unreadable, but there")
    assert len(stoker.open(grown, version=2)) == 2
    tag(grown, "paper", 2, 0)
    with pytest.raises(UnknownVersionError, match="was expired"):
        stoker.open(grown, version=1)


def test_tables_of_a_python_writer_keep_the_expired_versions(grown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expire(grown, "1-2")
    monkeypatch.setattr(_table, "COMMITS", 1)
    put(grown, "e")
    assert table_versions(grown)[-1] == 6
    assert _read_table(grown / "_stoker/tables" / f"{6:020d}.arrow", read_info(grown), 6).expired == ((1, 2, 5),)
    with pytest.raises(UnknownVersionError, match="was expired by version 5"):
        stoker.open(grown, version=1)


@pytest.mark.parametrize("text", ["", "0-1", "2-1", "1-9", "1-2,2-3", "3-3,1-1", "1-2@3", "a", "1-2,"])
def test_a_wrong_list_is_corrupt(grown: Path, text: str) -> None:
    expire(grown, text)
    with pytest.raises(CorruptDataError):
        stoker.open(grown)


def test_a_version_is_expired_once() -> None:
    known = parse_expired("1-3@5")
    assert oldest_kept(known) == 4
    assert merged(known, [(4, 4, 6)]) == ((1, 3, 5), (4, 4, 6))
    with pytest.raises(ValueError, match="version 3 was expired twice"):
        merged(known, [(3, 4, 6)])
