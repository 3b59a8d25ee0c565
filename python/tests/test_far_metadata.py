"""What a store has besides chunks: which versions there are, and runs of the sample index that others replace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stoker
from far_stores import KEYS, FileServer, environment, s3, upload, web
from small_datasets import DatasetWriter
from stoker._dataset import versions
from stoker._dataset.index_run import IndexRun
from stoker._store import downloads as downloads_module
from stoker._store.remote_path import RemotePath
from stoker.errors import CorruptDataError
from test_sample_index import index

ROWS = 100
CHUNKS = 20


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache."""
    monkeypatch.setenv("STOKER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(downloads_module._Process, "downloads", None)
    yield
    downloads_module._Process.downloads = None


@pytest.fixture
def writer(tmp_path: Path) -> DatasetWriter:
    fields = [{"name": "label", "type": "int64"}, {"name": "image", "type": "binary", "payload": True}]
    writer = DatasetWriter(tmp_path / "data", fields)
    for version in range(2):
        writer.commit(
            [{"key": f"{version}-{chunk:02d}-{row:03d}", "image": b"x", "label": row} for row in range(ROWS)]
            for chunk in range(CHUNKS)
        )
    return writer


@pytest.fixture
def far(tmp_path: Path) -> Iterator[str]:
    """A place in a bucket."""
    with s3() as address, environment(AWS_ENDPOINT_URL=address, **KEYS):
        yield f"s3://bucket/{tmp_path.name}"


def run_in(dataset: str, name: str) -> RemotePath:
    place = RemotePath.of(f"{dataset}/_stoker/index/{name}")
    assert place is not None
    return place


@pytest.mark.parametrize(
    "read",
    [
        lambda samples: samples["1-19-099"]["label"] == 99,
        lambda samples: sum(1 for _ in samples.list()) == 2 * CHUNKS * ROWS,
    ],
    ids=["lookup", "listing"],
)
def test_merged_runs_of_the_index_take_the_place_of_deleted_ones(
    writer: DatasetWriter, far: str, read: Callable[[stoker.Samples], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [index(writer, 1, 1), index(writer, 2, 2)]
    upload(writer.root, far)
    samples = stoker.open(far)
    assert samples["0-00-000"]["label"] == 0
    merged = index(writer, 1, 2)
    for part in parts:
        place = run_in(far, part.name)
        place.objects.delete(place.key)
    place = run_in(far, merged.name)
    assert place.objects.create(place.key, merged.read_bytes())
    opened: list[str] = []
    open_run = IndexRun.__init__
    monkeypatch.setattr(IndexRun, "__init__", lambda run, path: (opened.append(path.name), open_run(run, path))[1])
    assert read(samples)
    assert opened == [merged.name]


def test_a_short_reply_is_damage_of_the_run(writer: DatasetWriter, far: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = index(writer, 1, 2).name
    upload(writer.root, far)
    place = run_in(far, name)
    run = IndexRun(place)
    monkeypatch.setattr(type(place.objects), "get_range", lambda *_: b"short")
    with pytest.raises(CorruptDataError, match=r"ends before byte .*; build the index again with: stoker index"):
        run.find(b"0-00-000")


@pytest.mark.parametrize("newest", [0, 1, 2, 5, 65_535, 65_536, 65_537, 100_000, 1 << 40])
def test_the_newest_of_any_number_of_versions_is_found_without_a_listing(
    newest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Entry:
        def __init__(self, root: str, version: int) -> None:
            self.version = version

        def exists(self) -> bool:
            return self.version <= newest

    monkeypatch.setattr(versions, "entry_path", Entry)
    assert versions._probed("x") == newest


class Polite(FileServer):
    """Answers with a page where nothing is, as single-page applications do."""

    missing = 200


def test_a_web_server_that_has_every_file_says_nothing_about_versions(writer: DatasetWriter) -> None:
    with web(Polite, writer.root.parent) as (address, requests):
        with pytest.raises(
            OSError, match=rf"^{address}/data: the server answers .* with success, .* let it answer 404"
        ):
            stoker.open(f"{address}/data")
        assert len(requests) < 40
