"""From written chunks to a version: of one writer, or of several that wrote parts."""

from __future__ import annotations

import getpass
import os
import socket
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from stoker._commit.commit import Check, VersionCommitter, VersionRequest, checked_ingest_id
from stoker._commit.keys import OwnKeys, hash_keys, read_keys
from stoker._commit.lease import Leases
from stoker._commit.stores import Store, store_of
from stoker._dataset.location import dataset_path
from stoker._dataset.log import read_info
from stoker._dataset.snapshot import Snapshot
from stoker._packing.pack import ChunkSummary
from stoker._store.remote_path import AnyPath
from stoker._version import __version__
from stoker.errors import CommitRefusedError

_PART_KEYS = {"stoker_part", "dataset", "ingest", "samples", "chunks", "classes"}


def commit(
    path: str | os.PathLike[str],
    parts: Iterable[Mapping[str, Any]],
    *,
    append: bool = False,
    replace: bool = False,
    ingest_id: str | None = None,
) -> int:
    """Publishes the parts of several writers (`Writer(…, part=True)`, then `writer.part`) as one version; returns it.

    Chunks get their places in the order of the parts. The same parts are committed once, however often they are
    asked for: without `ingest_id` the id follows from the parts. Raises `CommitRefusedError` if the dataset has a
    version and neither `append` nor `replace` is given, `DuplicateKeyError`, and `CommitUnknownError`.
    """
    if append and replace:
        raise ValueError("append and replace cannot be given together; leave one out")
    given = [_checked_part(part) for part in parts]
    root = dataset_path(path, "commit it where its parts were written")
    info = read_info(root)
    for part in given:
        if part["chunks"] and part["dataset"] != info.id:
            raise CommitRefusedError(f"a part was written for dataset {part['dataset']}, and {root} is {info.id}")
    summaries = [ChunkSummary(**chunk) for part in given for chunk in part["chunks"]]
    if len({s.id for s in summaries}) != len(summaries):
        raise CommitRefusedError("a part was given twice; give each once")
    ingests = {part["ingest"] for part in given}
    if ingest_id is None:
        ingest_id = ingests.pop() if len(ingests) == 1 else _common_id(summaries)
    keys = OwnKeys(root)
    store = store_of(root)
    if VersionCommitter(store, _now_ms, who()).find(checked_ingest_id(ingest_id)) is None:
        for summary in summaries:
            # As numbers, since the next chunk is read when this one is forgotten.
            texts = read_keys(root, summary)
            offsets = np.frombuffer(texts.buffers()[1], np.int32)[: len(texts) + 1].astype(np.int64)
            data = np.frombuffer(texts.buffers()[2], np.uint8)
            keys.add(summary, hash_keys(data[: offsets[-1]], offsets[1:] - offsets[:-1]))
        keys.compare()
    classes = union_of_classes(part["classes"] for part in given)
    mode = "append" if append else "replace" if replace else "create"
    leases = sorted({part["ingest"] for part in given})
    return publish(store, info.id, ingest_id, mode, summaries, classes, keys, leases)


def publish(
    store: Store,
    dataset: str,
    ingest: str,
    mode: str,
    chunks: Sequence[ChunkSummary],
    classes: Mapping[str, Sequence[str]],
    keys: OwnKeys,
    leases: Sequence[str],
) -> int:
    """Commits chunks of a dataset (its id); `mode` is create, append or replace. Returns the version.

    The chunks were written under `leases`, which are released.
    """
    if not chunks:
        raise CommitRefusedError("no samples to commit; nothing is committed")
    request = VersionRequest(
        ingest,
        "replace" if mode == "replace" else "ingest",
        chunks,
        classes,
        {"source": f"stoker-python/{__version__}"},
        leases,
    )
    committer = VersionCommitter(store, _now_ms, who())
    if committer.dataset != dataset:
        raise CommitRefusedError(
            f"the dataset at {store.root} was recreated while it was written; nothing is committed, run again"
        )
    version = committer.commit(request, _check(store.root, mode, keys)).version
    Leases(store, dataset).release(leases)
    return version


def _check(root: AnyPath, mode: str, keys: OwnKeys) -> Check:
    def check(base: Snapshot | None) -> None:
        if base is None or mode == "replace":
            return
        if mode == "create" and len(base.chunks):
            raise CommitRefusedError(
                f"{root} has version {base.version} by now; nothing is committed. Add to it with append=True, or "
                "create a version with only the new samples with replace=True"
            )
        keys.compare_with(base)

    return check


def union_of_classes(each: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Names used, ascending, by categorical field."""
    union: dict[str, set[str]] = {}
    for classes in each:
        for field, names in classes.items():
            union.setdefault(field, set()).update(names)
    return {field: sorted(names) for field, names in union.items()}


def who() -> str:
    """Who commits, for people: user and host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):
        user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return f"{user}@{os.environ.get('HOSTNAME') or socket.gethostname()}"


def _common_id(summaries: Sequence[ChunkSummary]) -> str:
    """The id of an ingest of several parts, the same whenever they are committed."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "stoker-parts\n" + "\n".join(sorted(s.id for s in summaries))))


def _checked_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(part, Mapping) or set(part) != _PART_KEYS or part["stoker_part"] != 1:
        raise ValueError(f"expected the `part` of a writer, found: {str(part)[:100]}")
    return part


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
