"""Tags of versions: the files, and where a tag selects a version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stoker
from commits import put
from stoker._commit.entry import seal
from stoker._dataset.log import read_info
from stoker._dataset.tags import Tag, read_tag, version_of
from stoker.errors import CorruptDataError, UnknownVersionError

GOLDEN = Path(__file__).resolve().parents[2] / "schemas/src/test/resources/golden"


def tag(path: Path, name: str, number: int, version: int, dataset: str = "") -> Path:
    """Writes the file of one change."""
    content = {
        "self": "stoker.crc32c=00000000",
        "format": 1,
        "dataset": dataset or read_info(path).id,
        "name": name,
        "number": number,
        "version": version,
        "created": "2026-11-20T10:00:00.120Z",
        "by": "ada@host",
    }
    file = path / "_stoker" / "tags" / name / f"{number:020d}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(seal(json.dumps(content, separators=(",", ":")).encode()))
    return file


@pytest.fixture
def grown(tmp_path: Path) -> Path:
    """Three versions, with one more sample each."""
    path = tmp_path / "data"
    for key in "abc":
        put(path, key)
    return path


def test_the_golden_file_is_read(tmp_path: Path) -> None:
    assert read_tag(GOLDEN / "tag-1.json") == Tag(
        "5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d", "best", 3, 7, "2026-11-20T10:00:00.120Z", "zoë@host"
    )
    content = (GOLDEN / "tag-1.json").read_bytes()
    for at in range(len(content)):
        (tmp_path / "x.json").write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(CorruptDataError):
            read_tag(tmp_path / "x.json")


def test_a_tag_selects_a_version(grown: Path) -> None:
    tag(grown, "paper", 1, 2)
    assert stoker.open(grown, version="paper").version == 2
    with stoker.Feed(grown, version="paper", epochs=1, batch_size=1) as feed:
        assert feed.version == 2
        assert sum(len(batch.keys) for batch in feed) == 2


def test_the_greatest_number_counts(grown: Path) -> None:
    tag(grown, "best", 1, 1)
    tag(grown, "best", 2, 3)
    assert stoker.open(grown, version="best").version == 3
    tag(grown, "best", 3, 0)
    with pytest.raises(UnknownVersionError, match="has no tag best; list the tags with: stoker tag"):
        stoker.open(grown, version="best")


def test_a_state_keeps_the_version_if_the_tag_moves(grown: Path) -> None:
    tag(grown, "best", 1, 2)
    with stoker.Feed(grown, version="best", batch_size=1) as feed:
        state = next(iter(feed)).state
    tag(grown, "best", 2, 3)
    with stoker.Feed(grown, version=2, batch_size=1) as feed:
        feed.load_state_dict(state)
        assert feed.version == 2


def test_what_is_no_tag_is_refused(grown: Path) -> None:
    with pytest.raises(UnknownVersionError, match="has no tag paper"):
        stoker.open(grown, version="paper")
    with pytest.raises(ValueError, match=r"version='a/\.\./b': expected the number of a version or the name of a tag"):
        stoker.open(grown, version="a/../b")
    with pytest.raises(ValueError, match="a tag can be given for a path only"):
        stoker.Feed("photos", version="paper")


def test_a_foreign_or_damaged_file_is_no_tag(grown: Path) -> None:
    file = tag(grown, "best", 1, 1)
    other = grown / "_stoker" / "tags" / "other" / file.name
    other.parent.mkdir()
    other.write_bytes(file.read_bytes())
    with pytest.raises(CorruptDataError, match="it is change 1 of tag best of dataset"):
        version_of(grown, "other", read_info(grown).id)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(CorruptDataError):
        stoker.open(grown, version="best")
