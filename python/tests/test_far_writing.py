"""`Writer` and `commit` to an object store."""

from __future__ import annotations

import json
import multiprocessing
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from far_stores import KEYS, answering, environment, s3
from stoker._commit.remote_store import RemoteStore
from stoker._commit.stores import store_of
from stoker._dataset.versions import newest_version
from stoker._store import downloads as downloads_module
from stoker._store import obstore_objects
from stoker._store.obstore_objects import ObstoreObjects
from stoker._store.remote_path import RemotePath
from stoker.errors import CommitRefusedError, DuplicateKeyError

SCHEMA = {"label": "categorical", "image": "binary"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STOKER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(downloads_module._Process, "downloads", None)
    yield
    downloads_module._Process.downloads = None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3() as address, environment(AWS_ENDPOINT_URL=address, **KEYS):
        yield address


def write(target: Any, first: int, count: int = 30, **more: Any) -> int | None:
    rng = np.random.default_rng(first)
    with stoker.Writer(target, schema=SCHEMA, payload=["image"], chunk_size=4000, **more) as writer:
        for n in range(first, first + count):
            writer.write({"key": f"k{n}", "label": f"class {n % 3}", "image": rng.bytes(int(rng.integers(0, 900)))})
    return writer.version


def objects(uri: str) -> set[str]:
    path = RemotePath.of(uri)
    assert path is not None
    return {name.removeprefix(f"{path.key}/") for name in path.objects.walk(path.key)}


def test_a_dataset_in_s3_is_read_as_it_was_written(server: str, tmp_path: Path) -> None:
    uri = "s3://bucket/written"
    for target in (uri, tmp_path / "near"):
        assert write(target, 0) == 1
        assert write(target, 100, append=True) == 2
        assert write(target, 200, count=5, split="val", append=True) == 3
    near, far = stoker.open(tmp_path / "near"), stoker.open(uri)
    assert [dict(sample) for sample in far] == [dict(sample) for sample in near]
    names = objects(uri)
    assert not [name for name in names if "/leases/" in name or "/scratch/" in name or "tmp" in name]
    assert {name for name in names if "/log/" in name} == {f"_stoker/log/{n:020d}.avro" for n in (1, 2, 3)}
    assert len([name for name in names if "/ingests/" in name or "/versions/" in name]) == 6


def test_a_commit_asks_for_the_size_of_no_log_entry(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = "s3://bucket/sizes"
    for first in (0, 100):
        write(uri, first, append=first > 0)
    asked: list[str] = []
    stat = RemotePath.stat
    monkeypatch.setattr(RemotePath, "stat", lambda path: asked.append(path.key) or stat(path))
    assert write(uri, 200, append=True) == 3
    assert any(".arrow" in key for key in asked)
    assert not [key for key in asked if "/log/" in key]


def test_google_cloud_storage_is_written_and_read(server: str, tmp_path: Path) -> None:
    with environment(STORAGE_EMULATOR_HOST=server.removeprefix("http://")):
        uri = "gs://bucket/google"
        assert write(uri, 0) == 1
        assert write(uri, 100, append=True) == 2
        assert len(stoker.open(uri)) == 60
        path = RemotePath.of("gs://bucket/google/_stoker/dataset.json")
        assert path is not None
        assert not path.objects.create(path.key, b"other")


def test_replace_and_the_ingest_id_work_in_s3(server: str) -> None:
    uri = "s3://bucket/replaced"
    assert write(uri, 0, ingest_id="first") == 1
    assert write(uri, 0, ingest_id="first") == 1
    assert write(uri, 50, count=3, replace=True) == 2
    assert sorted(stoker.open(uri).keys()) == ["k50", "k51", "k52"]
    with pytest.raises(CommitRefusedError, match="already has version 2"):
        write(uri, 0)


def test_an_aborted_writer_leaves_nothing_but_an_empty_dataset(server: str) -> None:
    uri = "s3://bucket/aborted"
    writer = stoker.Writer(uri, schema=SCHEMA, chunk_size=100)
    for n in range(20):
        writer.write({"label": "x", "image": bytes(100 + n)})
    writer.abort()
    assert objects(uri) <= {"_stoker/dataset.json", "_stoker/dataset-copy.json"}


def test_a_key_that_the_dataset_has_is_refused(server: str) -> None:
    uri = "s3://bucket/keys"
    write(uri, 0)
    with pytest.raises(DuplicateKeyError, match="k7"):
        write(uri, 7, count=1, append=True)
    assert newest_version(RemotePath.of(uri)) == 1


def test_parts_are_committed_together(server: str) -> None:
    uri = "s3://bucket/parts"
    parts = []
    for first in (0, 50):
        with stoker.Writer(uri, schema=SCHEMA, part=True) as writer:
            for n in range(first, first + 10):
                writer.write({"key": f"k{n}", "label": "a", "image": b"x"})
        parts.append(json.loads(json.dumps(writer.part)))
    assert stoker.commit(uri, parts) == 1
    assert len(stoker.open(uri)) == 20


def test_a_bucket_with_other_objects_is_refused(server: str) -> None:
    RemotePath.of("s3://bucket/other/readme.txt").objects.create("other/readme.txt", b"hello")
    with pytest.raises(CommitRefusedError, match=r"is not a dataset and contains readme.txt"):
        write("s3://bucket/other", 0)


def test_a_failed_first_writer_binds_nothing_in_s3(server: str) -> None:
    uri = "s3://bucket/unbound"
    with pytest.raises(ZeroDivisionError), stoker.Writer(uri, {"n": "int8"}, chunk_size=1) as w:  # noqa: PT012
        w.write({"n": 1})
        w.write({"n": 2})
        1 / 0  # noqa: B018
    with stoker.Writer(uri, {"n": "int64"}) as w:
        w.write({"n": 300})
    assert [s["n"] for s in stoker.open(uri)] == [300]


class Forgetful:
    """A store without conditional writes."""

    def create(self, name: str, content: bytes) -> bool:
        return True

    def delete(self, name: str) -> None:
        pass


@pytest.mark.parametrize("name", ["/scratch/", "dataset.json", "/chunks/", "/log/", "/ingests/"])
def test_a_write_that_meets_another_one_is_repeated(server: str, name: str) -> None:
    """S3 answers 409 then, whether or not the name is taken."""
    uri = f"s3://bucket/conflict{name.replace('/', '-')}"
    with answering(name, 409), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert write(uri, 0) == 1
    assert len(stoker.open(uri)) == 30
    assert [found for found in objects(uri) if "ingests" in found]


def test_an_object_that_is_refused_but_never_exists_is_an_error(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obstore_objects, "_CREATES", 2)
    with answering("new", 409, times=2), pytest.raises(OSError, match=r"s3://bucket/new: the store refused 2"):
        RemotePath.of("s3://bucket/new").objects.create("new", b"content")


def test_an_upload_without_a_reply_is_repeated(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reply is lost after the object was created, as after a time limit."""
    uri = "s3://bucket/lost"
    lost = []
    create = ObstoreObjects.create

    def losing(self: ObstoreObjects, name: str, content: bytes) -> bool:
        created = create(self, name, content)
        if created and "/chunks/" in name:
            lost.append(name)
            raise OSError(f"{name}: operation timed out")
        return created

    monkeypatch.setattr(ObstoreObjects, "create", losing)
    assert write(uri, 0) == 1
    assert lost
    assert len(stoker.open(uri)) == 30


def test_an_upload_that_keeps_failing_is_an_error(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def refused(self: ObstoreObjects, name: str, content: bytes) -> bool:
        tried.append(name)
        raise kind(f"{name} was refused")

    monkeypatch.setattr(ObstoreObjects, "create", refused)
    upload = RemoteStore(RemotePath.of("s3://bucket/refused")).unpublished(RemotePath.of("s3://bucket/refused/chunk"))
    for kind, times in ((OSError, 3), (PermissionError, 1)):
        tried.clear()
        with pytest.raises(kind, match="refused/chunk was refused"):
            upload.publish()
        assert len(tried) == times


def test_a_store_without_conditional_writes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RemotePath, "objects", Forgetful())
    with pytest.raises(CommitRefusedError, match="does not support conditional writes"):
        store_of(RemotePath.of("s3://bucket/x")).require_atomic_creates()


def test_web_servers_and_the_hub_are_read_only() -> None:
    with pytest.raises(CommitRefusedError, match=r"Python only reads https://example\.org/new"):
        write("https://example.org/new", 0)
    with pytest.raises(CommitRefusedError, match="Python only reads hf://datasets/me/new"):
        stoker.Writer("hf://datasets/me/new", schema=SCHEMA)


def contend(uri: str, number: int, count: int, barrier: Any, results: Any) -> None:
    barrier.wait()
    for n in range(count):
        results.put(write(uri, 1000 * number + 10 * n, count=3, append=True))


def test_two_processes_commit_to_one_dataset(server: str) -> None:
    uri = "s3://bucket/contested"
    write(uri, 10**6, count=1)
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    processes = [context.Process(target=contend, args=(uri, i, 4, barrier, results)) for i in (1, 2)]
    for process in processes:
        process.start()
    versions = sorted(results.get(timeout=60) for _ in range(8))
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert versions == list(range(2, 10))
    samples = stoker.open(uri)
    assert sorted(samples.keys()) == sorted(
        ["k1000000", *(f"k{1000 * i + 10 * n + j}" for i in (1, 2) for n in range(4) for j in range(3))]
    )
