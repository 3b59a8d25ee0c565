"""Datasets in object stores and on web servers: the same batches as from a directory."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pytest

import stoker
from far_stores import KEYS, FileServer, HubServer, environment, s3, upload, web
from small_datasets import DatasetWriter, sample, small_dataset
from stoker._commit.entry import seal
from stoker._store import downloads as downloads_module
from stoker._store import obstore_objects
from stoker._store.remote_path import RemotePath, list_names
from stoker.errors import CorruptDataError, NotADatasetError, UnknownVersionError

ORDER = {"batch_size": 5, "lanes": 2, "shuffle_window": 1 << 20, "seed": 3}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("STOKER_CACHE_DIR", str(folder))
    monkeypatch.setattr(downloads_module._Process, "downloads", None)
    yield folder
    downloads_module._Process.downloads = None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3() as address, environment(AWS_ENDPOINT_URL=address, **KEYS):
        yield address


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    """Several versions with removed rows and an overlay."""
    writer = small_dataset(tmp_path_factory.mktemp("dataset") / "photos")
    rng = np.random.default_rng(5)
    writer.commit([[sample(rng, 100 + n) for n in range(6)]], removed={0: [1, 3], 2: None})
    writer.update({(1, 0): {"label": "cat"}, (1, 2): {"label": "ant"}})
    return writer


@pytest.fixture(scope="module")
def in_s3(server: str, dataset: DatasetWriter) -> str:
    upload(dataset.root, "s3://bucket/data/my photos")
    return "s3://bucket/data/my photos"


def batches(target: Any, **more: Any) -> list[tuple[Any, ...]]:
    """Everything of one epoch's batches, as bytes."""
    with stoker.Feed(target, **ORDER, epochs=1, **more) as feed:
        return [(batch.number, list(batch.keys), batch.arrow.serialize().to_pybytes()) for batch in feed]


def copies(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file() and not path.name.endswith(("lock", "TAG")))


def test_s3_gives_the_batches_of_a_directory(dataset: DatasetWriter, in_s3: str, cache: Path) -> None:
    expected = batches(dataset.root)
    assert batches(in_s3) == expected
    assert len(copies(cache)) == 7  # six live chunks and one overlay
    assert batches(in_s3.replace("s3://", "s3a://")) == expected


def test_a_tag_of_s3_is_found(dataset: DatasetWriter, in_s3: str) -> None:
    assert stoker.open(in_s3).version == 3
    assert batches(in_s3, version=1) == batches(dataset.root, version=1)


def test_a_web_server_gives_the_batches_of_a_directory(dataset: DatasetWriter) -> None:
    expected = batches(dataset.root)
    with web(FileServer, dataset.root.parent) as (address, _):
        assert batches(f"{address}/photos") == expected
        assert batches(f"{address}/photos", version=2) == batches(dataset.root, version=2)
        with pytest.raises(UnknownVersionError, match="it has 1 to 3"):
            stoker.Feed(f"{address}/photos", version=4)


def test_stores_give_the_samples_that_satisfy_a_condition(dataset: DatasetWriter, in_s3: str) -> None:
    where = "label IN ('ant', 'cat')"
    expected = batches(dataset.root, where=where)
    assert 0 < len(expected) < len(batches(dataset.root))
    kept = RemotePath.of(f"{in_s3}/_stoker/filters")
    for _ in range(2):
        assert batches(in_s3, where=where) == expected
        assert len(list_names(kept)) == 1  # the next process does not read all heads again
    with web(FileServer, dataset.root.parent) as (address, _):
        assert batches(f"{address}/photos", where=where) == expected


def test_the_hub_gives_the_batches_of_a_directory(dataset: DatasetWriter) -> None:
    expected = batches(dataset.root)
    with web(HubServer, dataset.root.parent) as (address, requests):
        with environment(HF_ENDPOINT=address, HF_TOKEN="secret"):
            assert batches("hf://datasets/me/photos/photos") == expected
            assert batches("hf://datasets/me/photos@main/photos") == expected
        with environment(HF_ENDPOINT=address, HF_TOKEN="wrong"), pytest.raises(PermissionError, match="not allowed"):
            stoker.Feed("hf://datasets/me/photos/photos")
    assert any(request.startswith("GET /cdn/photos/chunks/") for request in requests)


def test_the_newest_version_of_a_web_server_is_found_without_a_listing(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    writer = small_dataset(tmp_path / "many")
    for n in range(40):
        writer.commit([[sample(rng, 100 + n)]])
    with web(FileServer, tmp_path) as (address, requests):
        assert stoker.open(f"{address}/many").version == 41
        asked = sum("/log/" in request and request.startswith("HEAD") for request in requests)
        assert asked < 60


def test_the_second_epoch_reads_nothing_from_the_store(dataset: DatasetWriter) -> None:
    with (
        web(FileServer, dataset.root.parent) as (address, requests),
        stoker.Feed(f"{address}/photos", **ORDER, epochs=2) as feed,
    ):
        for _ in range(2):
            for _ in feed:
                pass
    chunks = [request for request in requests if request.endswith(".arrow") and "/chunks/" in request]
    assert len(chunks) == len(set(chunks)) == 6


def test_a_damaged_copy_is_read_again(dataset: DatasetWriter, in_s3: str, cache: Path) -> None:
    expected = batches(in_s3)
    for path in copies(cache):
        data = bytearray(path.read_bytes())
        data[-700 if path.suffix == ".arrow" else 40] ^= 1  # payload of some chunks, a head, an overlay
        data[100] ^= 8
        path.write_bytes(data)
    assert batches(in_s3) == expected
    assert [dict(s) for s in stoker.open(in_s3)] == [dict(s) for s in stoker.open(dataset.root)]


def test_a_damaged_payload_of_a_copy_is_read_again(dataset: DatasetWriter, in_s3: str, cache: Path) -> None:
    expected = batches(in_s3)
    damaged = 0
    for path in copies(cache):
        for chunk in dataset.table:
            if path.name.startswith(str(chunk["id"])):
                data = bytearray(path.read_bytes())
                data[chunk["head_length"] + 1] ^= 1
                path.write_bytes(data)
                damaged += 1
    assert damaged == 6
    assert batches(in_s3) == expected
    assert batches(in_s3) == batches(dataset.root)


def test_damage_in_the_store_is_an_error(server: str, tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "damaged")
    chunk = writer.chunk_path(2)
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(data)
    upload(writer.root, "s3://bucket/damaged")
    with pytest.raises(CorruptDataError, match="checksum"):
        batches("s3://bucket/damaged")


def test_a_missing_chunk_is_an_error(server: str, tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "missing")
    writer.chunk_path(1).unlink()
    upload(writer.root, "s3://bucket/missing")
    with pytest.raises(CorruptDataError, match="the file is missing"):
        batches("s3://bucket/missing")


def test_the_cache_keeps_its_quota(dataset: DatasetWriter, in_s3: str, cache: Path, monkeypatch: Any) -> None:
    sizes = [path.stat().st_size for path in dataset.root.glob("chunks/*/*.arrow")]
    quota = 3 * max(sizes)
    monkeypatch.setenv("STOKER_CACHE_SIZE", str(quota))
    expected = batches(dataset.root)
    for _ in range(2):
        assert batches(in_s3) == expected
        assert 0 < sum(path.stat().st_size for path in copies(cache)) <= quota


def test_chunks_beyond_the_quota_are_read_outside_the_cache(
    dataset: DatasetWriter, in_s3: str, cache: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("STOKER_CACHE_SIZE", "1k")
    assert batches(in_s3) == batches(dataset.root)
    assert sum(path.stat().st_size for path in copies(cache)) <= 1024


def test_a_wrong_quota_is_an_error(in_s3: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("STOKER_CACHE_SIZE", "much")
    with pytest.raises(ValueError, match="STOKER_CACHE_SIZE='much' is not a size"):
        batches(in_s3)


def test_single_samples_read_parts_only(dataset: DatasetWriter, in_s3: str, cache: Path) -> None:
    near, far = stoker.open(dataset.root), stoker.open(in_s3)
    keys = list(near.keys())
    assert list(far.keys()) == keys
    assert far[keys[3]] == near[keys[3]]
    assert far[-1] == near[-1]
    assert not any(path.suffix == ".arrow" for path in copies(cache))
    assert far.get(keys) == near.get(keys)
    assert pickle.loads(pickle.dumps(far))[keys[0]] == near[keys[0]]


def test_tables_are_those_of_a_directory(server: str, tmp_path: Path, cache: Path) -> None:
    with stoker.Writer(tmp_path / "numbers", schema={"n": "int64", "text": "utf8"}, chunk_size=500) as writer:
        for n in range(60):
            writer.write({"n": n, "text": f"number {n}"})
    upload(tmp_path / "numbers", "s3://bucket/numbers")
    near, far = stoker.open(tmp_path / "numbers"), stoker.open("s3://bucket/numbers")
    assert far.to_arrow().equals(near.to_arrow())
    for path in copies(cache):
        data = bytearray(path.read_bytes())
        for at in range(len(data) // 4, len(data), 40):
            data[at] ^= 1
        path.write_bytes(data)
    assert far.to_arrow().equals(near.to_arrow())


def test_large_chunks_are_read_in_parts(dataset: DatasetWriter, in_s3: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(downloads_module, "_PART", 500)
    monkeypatch.setattr(downloads_module, "_WHOLE", 500)
    assert batches(in_s3) == batches(dataset.root)


def test_a_web_server_may_refuse_what_is_missing(dataset: DatasetWriter) -> None:
    class Bucket(FileServer):
        missing = 403

    with web(Bucket, dataset.root.parent) as (address, _):
        assert stoker.open(f"{address}/photos").version == 3
        assert batches(f"{address}/photos", version=2) == batches(dataset.root, version=2)


class Plain(FileServer):
    """Answers with the whole file when it is asked for a part, and accepts that the client closes the connection."""

    ranges = False

    def answer(self, *arguments: Any) -> None:
        with contextlib.suppress(ConnectionError):
            super().answer(*arguments)


def test_a_web_server_need_not_know_ranges(dataset: DatasetWriter, cache: Path) -> None:
    with web(Plain, dataset.root.parent) as (address, _):
        near, far = stoker.open(dataset.root), stoker.open(f"{address}/photos")
        keys = list(near.keys())
        assert list(far.keys()) == keys
        assert not any(path.suffix == ".arrow" for path in copies(cache))  # the heads are cut from their streams
        assert far[keys[3]] == near[keys[3]]
        assert far.get(keys) == near.get(keys)
        assert batches(f"{address}/photos") == batches(dataset.root)


def test_an_empty_payload_value_is_read(server: str, tmp_path: Path) -> None:
    with stoker.Writer(tmp_path / "empty", schema={"image": "binary"}, payload=["image"], shuffle=False) as writer:
        for key, image in (("a", b"x"), ("b", b""), ("c", b"y")):
            writer.write({"key": key, "image": image})
    upload(tmp_path / "empty", "s3://bucket/empty")
    with web(FileServer, tmp_path) as (address, _):
        for far in ("s3://bucket/empty", f"{address}/empty"):
            assert [stoker.open(far)[key]["image"] for key in "abc"] == [b"x", b"", b"y"]


def test_large_chunks_of_a_web_server_without_ranges(
    dataset: DatasetWriter, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads_module, "_PART", 500)
    monkeypatch.setattr(downloads_module, "_WHOLE", 500)
    monkeypatch.setattr(obstore_objects, "_BLOCK", 700)
    with web(Plain, dataset.root.parent) as (address, requests):
        assert batches(f"{address}/photos") == batches(dataset.root)
        for path in copies(cache):
            path.unlink()
        requests.clear()
        assert batches(f"{address}/photos") == batches(dataset.root)  # known now
    assert len([request for request in requests if "/chunks/" in request]) == 6


def test_a_damaged_chunk_of_a_web_server_without_ranges(
    dataset: DatasetWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads_module, "_WHOLE", 500)
    writer = small_dataset(tmp_path / "damaged")
    chunk = writer.chunk_path(2)
    length = chunk.stat().st_size
    for content, problem in (
        (chunk.read_bytes() + b"x", f"{length + 1} bytes long, expected {length}"),
        (chunk.read_bytes()[:-1], f"{length - 1} bytes long, expected {length}"),
        (chunk.read_bytes()[:-1] + b"x", "checksum"),
    ):
        chunk.write_bytes(content)
        with web(Plain, tmp_path) as (address, _), pytest.raises(CorruptDataError, match=problem):
            batches(f"{address}/damaged")


class Flaky(FileServer):
    """Answers the first request for each file with something else and status 200."""

    page = b"<html>try again</html>"

    def serve_file(self, path: Path) -> None:
        if self.command == "GET" and self.requests.count(f"GET {unquote(self.path)}") == 1:
            return self.answer(200, self.page)
        return super().serve_file(path)


@pytest.mark.parametrize("whole", [500, 1 << 20])
def test_a_reply_of_wrong_length_is_requested_again(
    dataset: DatasetWriter, monkeypatch: pytest.MonkeyPatch, whole: int
) -> None:
    monkeypatch.setattr(downloads_module, "_WHOLE", whole)
    with web(Flaky, dataset.root.parent) as (address, requests):
        assert batches(f"{address}/photos") == batches(dataset.root)
    assert max(requests.count(request) for request in requests if "/_stoker/" in request) == 2


def in_fork(target: str, queue: Any) -> None:
    queue.put(batches(target))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_reads_a_web_server_without_ranges(
    dataset: DatasetWriter, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads_module, "_WHOLE", 500)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with web(Plain, dataset.root.parent) as (address, _):
        stoker.open(f"{address}/photos")
        process = context.Process(target=in_fork, args=(f"{address}/photos", queue))
        process.start()
        assert queue.get(timeout=60) == batches(dataset.root)
        process.join(60)
    assert process.exitcode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_reads_after_its_parent_has_read(in_s3: str, cache: Path) -> None:
    expected = batches(in_s3)
    for path in copies(cache):
        path.unlink()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=in_fork, args=(in_s3, queue))
    process.start()
    assert queue.get(timeout=60) == expected
    process.join(60)
    assert process.exitcode == 0


def test_why_names_the_samples_of_a_step(dataset: DatasetWriter, in_s3: str) -> None:
    with stoker.Feed(in_s3, **ORDER) as far, stoker.Feed(dataset.root, **ORDER) as near:
        assert far.why(step=2) == near.why(step=2)


def test_copies_of_erased_chunks_are_deleted(server: str, tmp_path: Path, cache: Path) -> None:
    writer = small_dataset(tmp_path / "erased")
    upload(writer.root, "s3://bucket/erased")
    expected = batches("s3://bucket/erased")
    chunk = str(writer.table[2]["id"])
    assert [path for path in copies(cache) if path.name.startswith(chunk)]
    overlay = "01234567-89ab-7def-8123-456789abcdef"
    files = ["_stoker/index/run", f"overlays/ef/{overlay}.arrow"]
    record = {"self": "stoker.crc32c=00000000", "format": 1, "removed": [{"chunk": chunk}], "files": files}
    copy = cache / "copies/ef" / f"{overlay}-00000000.overlay"
    copy.parent.mkdir(exist_ok=True)
    copy.touch()
    folder = RemotePath.of("s3://bucket/erased/_stoker/erasures/erase-1")
    assert folder is not None
    certificate = folder / "certificate.json"
    assert certificate.objects.create(certificate.key, seal(json.dumps(record, separators=(",", ":")).encode()))
    stoker.open("s3://bucket/erased")
    assert not [path for path in copies(cache) if path.name.startswith((chunk, overlay))]
    assert batches("s3://bucket/erased") == expected  # the chunk is still in this store
    damaged = folder.parent / "erase-0" / "certificate.json"
    assert damaged.objects.create(damaged.key, b'{"self":"stoker.crc32c=00000000"}')
    with pytest.warns(RuntimeWarning, match=r"erasure erase-0 has deleted: .*erase-0/certificate\.json: checksum"):
        stoker.open("s3://bucket/erased")
    assert not [path for path in copies(cache) if path.name.startswith((chunk, overlay))]


def test_what_is_no_dataset_says_so(server: str, dataset: DatasetWriter) -> None:
    with pytest.raises(NotADatasetError, match=r"s3://bucket/none is not a Stoker dataset"):
        stoker.Feed("s3://bucket/none")
    with web(FileServer, dataset.root) as (address, _), pytest.raises(NotADatasetError):
        stoker.open(f"{address}/none")
    with pytest.raises(ValueError, match=r"expected hf://datasets/OWNER/NAME"):
        stoker.Feed("hf://photos")


@pytest.mark.parametrize("name", ["100%25", "50%ab", "a b", "é+ü"])
def test_odd_names_survive_pickling(dataset: DatasetWriter, tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(dataset.root)
    with web(FileServer, tmp_path) as (address, _):
        far = stoker.open(f"{address}/{quote(name)}")
        assert list(pickle.loads(pickle.dumps(far)).keys()) == list(far.keys())


@pytest.mark.parametrize(
    "location",
    [
        "http://me:secret@example.org/x",
        "https://secret@example.org/x",
        "s3://AKIA:secret@bucket/x",
        "abfss://photos:secret@acc.dfs.core.windows.net/x",
    ],
)
def test_a_location_with_a_password_is_refused(location: str) -> None:
    with pytest.raises(ValueError, match="must not contain a user or password") as refused:
        stoker.open(location)
    assert "secret" not in str(refused.value)
    assert RemotePath.of("abfss://photos@acc.dfs.core.windows.net/x") is not None


def test_a_refused_read_names_the_object(server: str) -> None:
    with pytest.raises(OSError, match="s3://no-such-bucket/photos/"):
        stoker.Feed("s3://no-such-bucket/photos")
