"""Each way to write a dataset from Python beside each other one, and beside a writer of another language.

Pairs run under drawn schedules with at most two switches in front of calls to the file system, and each program with a
crash at every call that changes something. Nothing that was committed is lost, nothing else is seen, and a program that
is asked again under its ingest id commits once. `TEST_EXHAUSTIVE=1` tries all schedules.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import stoker
from interleaving import Call, Crash, Ended, Run
from rounds import EXHAUSTIVE, rounds
from stoker._commit import table
from stoker._commit import target as targets
from stoker._commit.entry import encode_entry
from stoker._commit.local_store import LocalStore
from stoker._dataset.log import LogEntry, entry_path, read_entry, read_info
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version
from stoker._packing.pack import ChunkSummary
from stoker.errors import CommitRefusedError, CorruptDataError

FIELDS = {"label": "categorical", "data": "binary"}
INGESTS = ("aaaa", "bbbb")


def write(path: Path, ingest: str, **options: Any) -> stoker.Writer:
    """Writes one sample whose key is the ingest's id, and returns the writer. A part has a separate ingest id."""
    own = f"{ingest}-part" if options.get("part") else ingest
    with stoker.Writer(path, FIELDS, ingest_id=own, shuffle=False, **options) as w:
        w.write({"key": ingest, "label": "x", "data": b"data of " + ingest.encode()})
    return w


def parts(path: Path, ingest: str) -> None:
    """Commits a part, as several processes do that write parts of one version."""
    part = write(path, ingest, part=True).part
    assert part is not None
    stoker.commit(path, [part], append=True, ingest_id=ingest)


def foreign(path: Path, ingest: str) -> None:
    """The protocol of docs/formats/dataset.md, step by step, as another language has it."""
    part = write(path, ingest, part=True).part
    assert part is not None
    store, info = LocalStore(path), read_info(path)

    def names() -> list[int]:
        return sorted(int(n[:20]) for n in os.listdir(path / "_stoker/log") if n[:1] != "." and n.endswith(".avro"))

    (path / "_stoker/log").mkdir(exist_ok=True)
    if (path / f"_stoker/ingests/{ingest}.avro").exists() or any(
        read_entry(path, version, info.id).ingest == ingest for version in names()[-1:]
    ):
        return
    while True:
        newest = max(names(), default=0)
        if (path / f"_stoker/versions/{newest + 1:020d}.txt").exists() and newest + 1 not in names():
            raise CorruptDataError("the newest version is lost")
        ordinal = 0
        for version in range(1, newest + 1):
            entry = read_entry(path, version, info.id)
            assert entry.ingest != ingest
            ordinal = max([ordinal, *(a["ordinal"] + 1 for a in entry.added)])
        if newest:
            with open(entry_path(path, newest), "rb") as file:
                content = file.read()
            store.create_if_absent(f"_stoker/versions/{newest:020d}.txt", f"{entry.ingest}\n".encode())
            store.create_if_absent(f"_stoker/ingests/{entry.ingest}.avro", content)
        chunk = ChunkSummary(**part["chunks"][0])
        added = [{**chunk.to_json(), "ordinal": ordinal, "id": bytes.fromhex(chunk.id.replace("-", ""))}]
        new = LogEntry(newest + 1, "ingest", ingest, 0, "ada@host", added, [], {"label": ["x"]}, {})
        if store.create_if_absent(f"_stoker/log/{newest + 1:020d}.avro", encode_entry(new, info.id)):
            store.create_if_absent(f"_stoker/versions/{newest + 1:020d}.txt", f"{ingest}\n".encode())
            store.create_if_absent(f"_stoker/ingests/{ingest}.avro", encode_entry(new, info.id))
            (path / f"_stoker/leases/{ingest}-part.json").unlink(missing_ok=True)
            return


def read(path: Path, ingest: str) -> None:
    """Whatever the newest version is, it can be read, and stays what it is."""
    if not newest_version(path):
        return
    snapshot = open_snapshot(path)
    for _ in range(2):
        assert len(keys(path, snapshot.version)) == len(snapshot.live_ordinals())


PROGRAMS: Mapping[str, tuple[Callable[[Path, str], Any], bool]] = {
    "create": (lambda path, ingest: write(path, ingest), True),
    "append": (lambda path, ingest: write(path, ingest, append=True), False),
    "replace": (lambda path, ingest: write(path, ingest, replace=True), False),
    "parts": (parts, False),
    "foreign": (foreign, False),
    "read": (read, False),
}
"""What it does, and whether another writer may cause its refusal."""


def keys(path: Path, version: int) -> set[str]:
    return {sample["key"] for sample in stoker.open(path, version)}


def check(path: Path) -> list[str]:
    """Every version holds what its entries say; returns the ingests that have committed, in order."""
    ingests: list[str] = []
    expected: set[str] = set()
    if not (path / "_stoker/dataset.json").exists():
        return ingests
    info = read_info(path)
    for version in range(1, newest_version(path) + 1):
        entry = read_entry(path, version, info.id)
        if entry.operation == "replace":
            expected = set()
        expected.add(entry.ingest)
        ingests.append(entry.ingest)
        assert keys(path, version) == expected, f"version {version}"
        if version < newest_version(path):
            assert (path / f"_stoker/ingests/{entry.ingest}.avro").exists()
            assert (path / f"_stoker/versions/{version:020d}.txt").read_text() == f"{entry.ingest}\n"
    assert len(ingests) == len(set(ingests)), "an ingest has two versions"
    return ingests


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions, the newest without its second copy."""
    path = tmp_path_factory.mktemp("base") / "d"
    write(path, "base-1")
    write(path, "base-2", append=True)
    (path / "_stoker/ingests/base-2.avro").unlink()
    return path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No waiting for disks, and chunk tables after each version."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(table, "COMMITS", 1)
    return monkeypatch


def switches(calls: list[Call], others: list[Call]) -> list[int]:
    """The calls before which a switch may matter: both programs touch the same object, and one of them changes it."""
    zones = {(o.zone, o.changes) for o in others}
    matters = [(c.zone, True) in zones or (c.changes and (c.zone, False) in zones) for c in calls]
    return [0, *(i for i, m in enumerate(matters) if m and i), len(calls)]


def alone(path: Path, name: str, ingest: str, quick: pytest.MonkeyPatch) -> list[Call]:
    work = PROGRAMS[name][0]
    return Run(path, 0)([partial(work, path, ingest)], quick).calls[0]


def require_right(name: str, ingest: str, failure: BaseException | None, committed: list[str]) -> None:
    if failure is not None:
        if not (PROGRAMS[name][1] and isinstance(failure, CommitRefusedError)):
            raise AssertionError(f"{name} failed: {failure!r}") from failure
        assert ingest not in committed, f"{name} failed, and has committed"
    elif name != "read":
        assert ingest in committed, f"{name} reported a version"


def require_usable(path: Path) -> None:
    write(path, "last", append=True)
    assert check(path)[-1] == "last"


@pytest.mark.parametrize("other", PROGRAMS)
@pytest.mark.parametrize("one", PROGRAMS)
@pytest.mark.parametrize("state", ["new", "versions"])
def test_two_writers_lose_nothing(
    tmp_path: Path, base: Path, quick: pytest.MonkeyPatch, state: str, one: str, other: str
) -> None:
    if list(PROGRAMS).index(one) > list(PROGRAMS).index(other) or (state == "versions" and "create" in (one, other)):
        return
    fresh = copies(tmp_path, base if state == "versions" else None)
    programs = [one, other]
    calls = [alone(fresh(), name, ingest, quick) for name, ingest in zip(programs, INGESTS, strict=True)]
    points = [switches(calls[0], calls[1]), switches(calls[1], calls[0])]
    singles = [(first, (i,)) for first in (0, 1) for i in points[first]]
    doubles = [(first, (i, j)) for first in (0, 1) for i in points[first] for j in points[1 - first] if j]

    def schedule(first: int, at: tuple[int, ...]) -> None:
        path = fresh()
        what = f"{state}: {one} beside {other}, {first} first, switches {at}"
        work = [partial(PROGRAMS[name][0], path, ingest) for name, ingest in zip(programs, INGESTS, strict=True)]
        run = Run(path, first, at)(work, quick)
        try:
            committed = check(path)
            for name, ingest, failure in zip(programs, INGESTS, run.failures, strict=True):
                require_right(name, ingest, failure, committed)
            require_usable(path)
        except Exception as e:
            raise AssertionError(f"{what}: {e!r}; failures {run.failures}") from e
        shutil.rmtree(path)

    if EXHAUSTIVE:
        for each in (*singles, *doubles):
            schedule(*each)
    else:
        # Half of them have a single switch.
        rounds(lambda rng: schedule(*rng.choice(doubles if doubles and rng.number % 2 else singles)), at_least=4)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "read"])
@pytest.mark.parametrize("state", ["new", "versions"])
def test_a_crash_at_every_call_loses_nothing(
    tmp_path: Path, base: Path, quick: pytest.MonkeyPatch, state: str, name: str
) -> None:
    if state == "versions" and name == "create":
        return
    fresh = copies(tmp_path, base if state == "versions" else None)
    work, ingest = PROGRAMS[name][0], INGESTS[0]
    calls = alone(fresh(), name, ingest, quick)
    # An end at a call that changes nothing leaves the same files as one behind the change before.
    changes = [i for i, call in enumerate(calls) if call.changes]
    ends = [(changes[0], False), *((i, True) for i in changes)]
    for at, after in ends:
        path = fresh()
        run = Run(path, 0, crash=Crash(0, at, after))([partial(work, path, ingest)], quick)
        try:
            assert isinstance(run.failures[0], Ended)
            check(path)
            # The same again, under its id.
            again = Run(path, 0)([partial(work, path, ingest)], quick)
            require_right(name, ingest, again.failures[0], check(path))
            require_usable(path)
        except Exception as e:
            raise AssertionError(f"{state}: {name}, the end at call {at} {calls[at]}, after: {after}: {e!r}") from e
        shutil.rmtree(path)


@pytest.mark.parametrize("lost", [(2,), (1, 2)])
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("create", "read")])
def test_no_writer_takes_the_number_of_a_lost_version(
    tmp_path: Path, base: Path, quick: pytest.MonkeyPatch, name: str, lost: tuple[int, ...]
) -> None:
    path = copies(tmp_path, base)()
    kept = {version: entry_path(path, version).read_bytes() for version in lost}
    for version in lost:
        entry_path(path, version).unlink()
    for file in (path / "_stoker/tables").glob("*.arrow"):
        file.unlink()
    with pytest.raises(CorruptDataError):
        PROGRAMS[name][0](path, INGESTS[0])
    assert newest_version(path) == lost[0] - 1
    # What `stoker recover` does.
    for version, content in kept.items():
        entry_path(path, version).write_bytes(content)
    PROGRAMS[name][0](path, INGESTS[1])
    assert check(path)[-1] == INGESTS[1]


def test_a_dataset_that_another_writer_creates_meanwhile_is_adopted(tmp_path: Path, quick: pytest.MonkeyPatch) -> None:
    path, has_content = tmp_path / "d", targets.has_content
    path.mkdir()

    def other_writer_first(root: Path) -> bool:
        quick.setattr(targets, "has_content", has_content)
        write(path, "other")
        return has_content(root)

    quick.setattr(targets, "has_content", other_writer_first)
    write(path, "own", append=True)
    assert keys(path, newest_version(path)) == {"other", "own"}


def copies(tmp_path: Path, base: Path | None) -> Callable[[], Path]:
    """Makes directories to begin with: one after the other, each as the base, or not there."""
    made = 0

    def fresh() -> Path:
        nonlocal made
        made += 1
        path = tmp_path / f"d{made}"
        if base is not None:
            shutil.copytree(base, path)
        return path

    return fresh
