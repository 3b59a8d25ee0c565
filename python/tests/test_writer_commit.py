"""Commits that meet, fail or die at every step."""

from __future__ import annotations

import errno
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest

import stoker
import writer_program
from commits import FIELDS, assert_whole, put
from stoker._commit import commit as _commit
from stoker._commit.commit import VersionCommitter, VersionRequest
from stoker._commit.local_store import FileCalls, LocalStore
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version
from stoker.errors import CommitRefusedError, CommitUnknownError
from written import Writer

LIMIT_S = 120
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["stoker"])


def start(what: Any, *args: object) -> tuple[Any, Any]:
    """A process and the pipe to it."""
    mine, its = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=what, args=(*args, its), daemon=True)
    process.start()
    its.close()
    return process, mine


def said(pipe: Any) -> str:
    assert pipe.poll(LIMIT_S)
    return pipe.recv()


def test_contested_commits_all_take_place_once(tmp_path: Path) -> None:
    put(tmp_path, "first")
    contenders, commits = 4, 15
    running = [start(writer_program.contend, tmp_path, f"p{c}", commits) for c in range(contenders)]
    for _, pipe in running:
        assert said(pipe) == "ready"
    for _, pipe in running:
        pipe.send("go")
    for process, pipe in running:
        assert said(pipe) == "done"
        process.join(LIMIT_S)
        assert process.exitcode == 0
    assert_whole(tmp_path, contenders * commits + 1, contenders * commits + 1)
    table = open_snapshot(tmp_path).chunks
    assert table.columns["ordinal"].tolist() == list(range(contenders * commits + 1))
    for sample in stoker.open(tmp_path):
        assert sample["key"] == "first" or sample["key"].startswith(sample["label"] + "/")


@pytest.mark.full("stores")
def test_a_process_killed_at_any_step_leaves_nothing_or_one_version(tmp_path: Path) -> None:
    put(tmp_path, "first")
    version, step, seen = 1, 0, set()
    while True:
        ingest = f"ingest-{step}"
        process, pipe = start(writer_program.step, tmp_path, ingest, step)
        killed = said(pipe) == "waiting"
        process.kill()
        process.join(LIMIT_S)
        newest = newest_version(tmp_path)
        assert newest in ((version, version + 1) if killed else (version + 1,)), f"step {step}"
        seen.add((killed, newest > version))
        found = VersionCommitter(LocalStore(tmp_path), lambda: 0, "test").find(ingest)
        assert (found is not None) == (newest > version), f"step {step}"
        version = newest
        assert_whole(tmp_path, version, version)
        if not killed:
            break
        step += 1
    assert step > 12
    assert seen == {(True, False), (True, True), (False, True)}
    put(tmp_path, "last")
    assert_whole(tmp_path, version + 1, version + 1)
    known = {open_snapshot(tmp_path).chunks.id_of(i) + ".arrow" for i in range(version + 1)}
    left = {f.name for f in tmp_path.glob("chunks/*/*")} - known
    assert any(name.startswith(".tmp-") for name in left)
    assert any(name.endswith(".arrow") and not name.startswith(".tmp-") for name in left)


class Faulty(FileCalls):
    """Fails once, at the call of a certain number and kind, before or after it has had its effect."""

    def __init__(self, kind: str, number: int, after: bool, code: int) -> None:
        self._kind, self._left, self._after, self._code = kind, number, after, code
        self.hit = False

    def _maybe(self, kind: str, call: Any, *args: Any) -> Any:
        if kind != self._kind or self.hit:
            return call(*args)
        self._left -= 1
        if self._left >= 0:
            return call(*args)
        self.hit = True
        if self._after:
            call(*args)
        raise OSError(self._code, os.strerror(self._code))

    def link(self, source: Path, target: Path) -> None:
        self._maybe("link", super().link, source, target)

    def force(self, fd: int) -> None:
        self._maybe("force", super().force, fd)

    def force_directory(self, path: Path) -> None:
        self._maybe("force_directory", super().force_directory, path)

    def unlink(self, path: Path) -> None:
        self._maybe("unlink", super().unlink, path)


@pytest.mark.filterwarnings("ignore:stoker. version:RuntimeWarning")
@pytest.mark.parametrize("kind", ["link", "force", "force_directory", "unlink"])
@pytest.mark.parametrize("after", [False, True])
def test_a_failing_call_leaves_nothing_or_one_version(tmp_path: Path, kind: str, after: bool) -> None:
    number = 0
    while True:
        path = tmp_path / str(number)
        put(path, "first")
        calls = Faulty(kind, number, after, errno.EIO)
        w = Writer(path, append=True, ingest_id="mine")
        w._store._calls = calls
        w.write({"key": "second", "label": "y", "data": bytes(2000)})
        failed = False
        try:
            w.close()
        except (OSError, CommitUnknownError):
            failed = True
        if not calls.hit:
            break
        versions = newest_version(path)
        assert versions in (1, 2)
        if not failed:
            assert versions == 2
        assert_whole(path, versions, versions)
        put(path, "third")
        with Writer(path, append=True, ingest_id="mine") as again:
            again.write({"key": "second", "label": "y", "data": bytes(2000)})
        assert again.version == (2 if versions == 2 else 3)
        assert_whole(path, 3, 3)
        number += 1
    assert number >= 2


def test_a_version_is_made_only_of_chunks_that_are_there(tmp_path: Path) -> None:
    put(tmp_path, "first")
    w = Writer(tmp_path, append=True, chunk_size=1000)
    for key in "ab":
        w.write({"key": key, "label": "y", "data": bytes(2000)})
    deadline = time.monotonic() + LIMIT_S
    known = {p.name for p in tmp_path.glob("chunks/*/[!.]*.arrow")}
    while len(known) < 2 and time.monotonic() < deadline:
        known = {p.name for p in tmp_path.glob("chunks/*/[!.]*.arrow")}
    (gone,) = [p for p in tmp_path.glob("chunks/*/[!.]*.arrow") if p.stem != open_snapshot(tmp_path).chunks.id_of(0)]
    gone.unlink()
    with pytest.raises(CommitRefusedError, match="is missing \\(1 of 2 chunks\\); nothing is committed"):
        w.close()
    assert_whole(tmp_path, 1, 1)
    assert list((tmp_path / "_stoker/leases").iterdir()) == []


def test_an_ingest_that_commits_between_two_looks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "first")
    store = LocalStore(tmp_path)
    request = VersionRequest("mine", "replace", [], {}, {})
    looks = []
    real = _commit.newest_version

    def between(root: Path) -> int:
        # After the first look another process commits the same.
        if len(looks) == 1:
            looks.append("committed")
            assert VersionCommitter(store, lambda: 0, "other").commit(request, lambda _: None).version == 2
        newest = real(root)
        looks.append(newest)
        return newest

    monkeypatch.setattr(_commit, "newest_version", between)
    assert VersionCommitter(store, lambda: 0, "test").commit(request, lambda _: None).version == 2
    assert newest_version(tmp_path) == 2


class Recorded(FileCalls):
    """Notes in which directories names have changed since they were last forced, and that when a version appears."""

    def __init__(self) -> None:
        self.changed: set[Path] = set()
        self.forced: list[Path] = []
        self.at_commit: list[set[Path]] = []

    def mkdir(self, path: Path) -> None:
        super().mkdir(path)
        self.changed.add(path.parent)

    def link(self, source: Path, target: Path) -> None:
        if target.parent.name == "log":
            self.at_commit.append(self.changed - {target.parent})
        super().link(source, target)
        self.changed.add(target.parent)

    def force_directory(self, path: Path) -> None:
        super().force_directory(path)
        self.changed.discard(path)
        self.forced.append(path)


def test_all_names_are_durable_before_the_version_is_and_each_directory_is_forced_once(tmp_path: Path) -> None:
    w = Writer(tmp_path / "x", FIELDS, chunk_size=2000)
    w._store._calls = calls = Recorded()
    for n in range(20):
        w.write({"key": f"{n}", "label": "y", "data": bytes(2000)})
    w.close()
    assert calls.at_commit == [set()]
    assert len(list((tmp_path / "x").glob("chunks/*/*.arrow"))) == 20
    of_chunks = [path for path in calls.forced if "chunks" in path.parts]
    assert len(of_chunks) == len(set(of_chunks)) > 10


def test_an_unknown_outcome_is_read_back(tmp_path: Path) -> None:
    put(tmp_path, "first")
    w = Writer(tmp_path, append=True)
    # Two links name the lease and the chunk. The third names the log entry: it takes effect, but its reply is lost.
    w._store._calls = Faulty("link", 2, True, errno.ETIMEDOUT)
    w.write({"key": "second", "label": "y", "data": bytes(2000)})
    w.close()
    assert w.version == 2
    assert_whole(tmp_path, 2, 2)


def test_a_file_system_without_links_is_named(tmp_path: Path) -> None:
    w = Writer(tmp_path / "x", FIELDS)
    w._store._calls = Faulty("link", 0, False, errno.EPERM)
    w.write({"key": "a", "label": "y", "data": bytes(2000)})
    with pytest.raises(OSError, match="does not support hard links"):
        w.close()


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    w = Writer(tmp_path / "x", FIELDS)
    # After dataset.json, its copy and the lease.
    w._store._calls = Faulty("force", 3, False, errno.ENOSPC)
    w.write({"key": "a", "label": "y", "data": bytes(2000)})
    with pytest.raises(OSError, match="no space left"):
        w.close()
    assert newest_version(tmp_path / "x") == 0
    assert not list((tmp_path / "x").glob("chunks/*/*"))
