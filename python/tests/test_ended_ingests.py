"""Ingests that `stoker gc --break` has ended never commit."""

from __future__ import annotations

from pathlib import Path

import pytest

import stoker
from commits import FIELDS, assert_whole, put
from stoker._commit.commit import VersionCommitter, VersionRequest
from stoker._commit.lease import read_lease, this_process
from stoker._commit.local_store import LocalStore
from stoker._dataset.versions import newest_version
from stoker.errors import CommitRefusedError
from written import Writer


def abandon(path: Path, ingest: str) -> None:
    committer = VersionCommitter(LocalStore(path), lambda: 0, "test")
    committer.commit(VersionRequest(ingest, "abandon", [], {}, {}), lambda _: None)


def test_an_ingest_that_was_ended_never_commits(tmp_path: Path) -> None:
    put(tmp_path, "first")
    w = Writer(tmp_path, append=True, ingest_id="slow", chunk_size=1000)
    for key in "ab":
        w.write({"key": key, "label": "y", "data": bytes(2000)})
    lease = read_lease(tmp_path / "_stoker/leases/slow.json")
    assert (lease.ingest, lease.process) == ("slow", this_process())
    abandon(tmp_path, "slow")
    with pytest.raises(CommitRefusedError, match=r"ingest slow .* was ended by `stoker gc --break` .version 2"):
        w.close()
    put(tmp_path, "last")
    with pytest.raises(CommitRefusedError, match="was ended"):
        Writer(tmp_path, append=True, ingest_id="slow")
    assert_whole(tmp_path, 3, 2)


def test_parts_of_which_one_was_ended_do_not_commit(tmp_path: Path) -> None:
    parts = []
    for n in range(2):
        with Writer(tmp_path / "x", FIELDS, part=True, ingest_id=f"part-{n}") as w:
            w.write({"key": f"{n}", "label": "y", "data": bytes(2000)})
        parts.append(w.part)
    leases = tmp_path / "x/_stoker/leases"
    assert {p.name for p in leases.iterdir()} == {"part-0.json", "part-1.json"}
    assert stoker.commit(tmp_path / "x", parts) == 1
    assert list(leases.iterdir()) == []
    with Writer(tmp_path / "x", FIELDS, part=True, ingest_id="part-2") as w:
        w.write({"key": "2", "label": "y", "data": bytes(2000)})
    abandon(tmp_path / "x", "part-2")
    with pytest.raises(CommitRefusedError, match=r"ingest part-2 .* was ended"):
        stoker.commit(tmp_path / "x", [w.part], append=True, ingest_id="all")
    assert newest_version(tmp_path / "x") == 2


def test_a_version_that_only_ended_an_ingest_leaves_the_dataset_new(tmp_path: Path) -> None:
    w = Writer(tmp_path / "x", FIELDS, ingest_id="dead", chunk_size=1000)
    for key in "ab":
        w.write({"key": key, "label": "y", "data": bytes(2000)})
    abandon(tmp_path / "x", "dead")
    w.abort()
    with Writer(tmp_path / "x", FIELDS) as w:
        w.write({"key": "a", "label": "y", "data": bytes(2000)})
    assert w.version == 2
