"""Locations that are no paths of this machine."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import stoker
from stoker._dataset.location import dataset_path, is_remote
from stoker._store.remote_path import RemotePath
from stoker.errors import MissingDependencyError


def test_tells_paths_from_uris() -> None:
    assert is_remote("s3a://bucket/photos")
    assert is_remote("hdfs://namenode:8020/photos")
    assert is_remote(str(Path("s3a://bucket/photos")))
    assert not is_remote("/data/a:b/photos")
    assert not is_remote("c:/photos")
    assert not is_remote("unix:/run/user/1000/stoker/s")
    assert not is_remote("file:///data/photos")
    assert not is_remote("photos")


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("hdfs://namenode/photos", "photos"),
        ("hdfs://namenode/photos@3:val", "photos"),
        ("hdfs://namenode:8020/data/my%20photos/", "my_20photos"),
        ("viewfs://cluster", "cluster"),
    ],
)
def test_a_feed_over_a_uri_says_to_start_a_feeder(target: str, name: str) -> None:
    with pytest.raises(ValueError, match="stoker feed") as caught:
        stoker.Feed(target)
    assert f"`stoker feed {target}`" in str(caught.value)
    assert f'Feed("{name}")' in str(caught.value)


def test_a_feed_over_a_path_that_was_a_uri_says_so_too() -> None:
    with pytest.raises(ValueError, match="not on this machine"):
        stoker.Feed(Path("hdfs://namenode/photos"))


def test_open_and_writer_want_locations_that_python_reads() -> None:
    with pytest.raises(ValueError, match="stoker feed"):
        stoker.open("hdfs://namenode/photos")
    with pytest.raises(ValueError, match="stoker ingest"):
        stoker.Writer("hdfs://namenode/photos", {"image": "binary"})


@pytest.mark.parametrize(
    ("target", "expected"),
    [("s3://", "s3://BUCKET/PATH"), ("gs:///photos", "gs://BUCKET/PATH"), ("https://", "https://HOST/PATH")],
)
def test_a_uri_without_a_bucket_says_what_is_expected(target: str, expected: str) -> None:
    with pytest.raises(ValueError, match=f"{target}: expected {expected}"):
        stoker.Feed(target)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("s3a://bucket/photos#1", "write ? as %3F and # as %23"),
        ("az://container/photos?sv=1&sig=SECRET", "write ? as %3F and # as %23"),
        ("gs://bucket?x/photos", "write ? as %3F and # as %23"),
        ("https://host/photos?token=SECRET", "write ? as %3F and # as %23"),
        ("s3a://bucket/photos/../../other", "must not contain .."),
        ("gs://bucket/%2E%2e/other", "must not contain .."),
    ],
)
def test_other_locations_of_stores_are_refused_and_no_secret_is_repeated(target: str, reason: str) -> None:
    """The same as in Java."""
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        dataset_path(target, "")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["s3", "gs", "az", "https"])
def test_a_uri_is_decoded_once_and_spelled_so_that_it_can_be_read(scheme: str) -> None:
    path = dataset_path(f"{scheme}://bucket/./my%20photos/50%25%3f%23", "")
    assert isinstance(path, RemotePath)
    assert path.key == "my photos/50%?#"
    assert str(path) == f"{scheme}://bucket/my photos/50%25%3F%23"
    assert dataset_path(str(path), "") == path


def test_a_file_uri_is_a_path(tmp_path: Path) -> None:
    assert dataset_path((tmp_path / "a b").as_uri(), "") == tmp_path / "a b"


def test_without_obstore_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'stoker\[cloud\]'"):
        stoker.Feed("s3://a-bucket-that-no-test-opens/photos")
