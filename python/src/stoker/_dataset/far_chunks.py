"""Chunks and overlays of a dataset in an object store, as files of the disk cache."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from stoker._dataset.log import read_verified
from stoker._dataset.overlay_names import Overlay
from stoker._dataset.snapshot import Snapshot
from stoker._store.downloads import FarFile, downloads
from stoker._store.objects import NotListableError
from stoker._store.remote_path import RemotePath, list_names
from stoker.errors import CorruptDataError

_WHOLE_FROM = 8
"""A chunk is downloaded when this number of its parts is read."""
_RECORDS = ("certificate.json", "deleting.json")


class FarChunks:
    """The files of one snapshot. Safe for several threads."""

    def __init__(self, snapshot: Snapshot, root: RemotePath) -> None:
        self._snapshot, self._root = snapshot, root
        self._parts: dict[int, int] = {}
        """Parts that were read of each chunk."""

    def fetch(self, indexes: Sequence[int]) -> None:
        """Begins to download chunks that will be opened soon."""
        downloads().start([self._chunk(index) for index in indexes])

    def fetch_heads(self, indexes: Sequence[int]) -> None:
        """Begins to download heads that will be opened soon."""
        downloads().start([self._head(index) for index in indexes])

    def open(self, index: int) -> int:
        """Returns a descriptor of a chunk. Raises `FileNotFoundError`, `CorruptDataError` and `OSError`."""
        return downloads().open(self._chunk(index))

    def open_head(self, index: int) -> int:
        """Returns a descriptor of a file that has the head of a chunk, and perhaps the rest. Raises like `open`."""
        return downloads().open(self._head(index))

    def open_overlay(self, overlay: Overlay) -> int:
        """Returns a descriptor of an overlay. Raises like `open`."""
        name = str(overlay)
        path = self._root / f"overlays/{name[-2:]}/{name}.arrow"
        return downloads().open(FarFile(path, name, "overlay", overlay.length, overlay.crc32c, True))

    def part(self, index: int, start: int, length: int) -> bytes | None:
        """A part of a chunk that has no copy; None if there is one, or if it should be made.

        It should be made from the eighth part of one chunk on, and if the server does not support ranges.
        """
        count = self._parts[index] = self._parts.get(index, 0) + 1
        file = self._chunk(index)
        if count >= _WHOLE_FROM or downloads().has(file):
            return None
        return downloads().range(file.path, start, length)

    def verify(self, index: int) -> None:
        """Deletes damaged copies of a chunk and its head from the cache."""
        downloads().verify(self._chunk(index))
        downloads().verify(self._head(index))

    def verify_overlay(self, overlay: Overlay) -> None:
        """Deletes a damaged copy of an overlay from the cache."""
        name = str(overlay)
        path = self._root / f"overlays/{name[-2:]}/{name}.arrow"
        downloads().verify(FarFile(path, name, "overlay", overlay.length, overlay.crc32c, True))

    def _chunk(self, index: int) -> FarFile:
        return self._file(index, "length", "crc32c", "arrow")

    def _head(self, index: int) -> FarFile:
        return self._file(index, "head_length", "head_crc32c", "head")

    def _file(self, index: int, length: str, checksum: str, kind: str) -> FarFile:
        chunks = self._snapshot.chunks
        name = chunks.id_of(index)
        path = self._root / f"chunks/{name[-2:]}/{name}.arrow"
        size, crc = int(chunks.columns[length][index]), int(chunks.columns[checksum][index])
        return FarFile(path, name, kind, size, crc, size == int(chunks.columns["length"][index]))


def forget_erased(root: RemotePath) -> None:
    """Deletes copies of chunks and overlays that an erasure has deleted. Nothing can be listed on a web server."""
    folder = root / "_stoker" / "erasures"
    try:
        erasures = list_names(folder)
    except NotListableError:
        return
    for erasure in erasures:
        for record in _RECORDS:
            try:
                data = read_verified(folder / erasure / record)
            except FileNotFoundError:
                continue
            except CorruptDataError as e:
                warnings.warn(
                    f"stoker: the disk cache may keep copies of chunks that erasure {erasure} has deleted: {e}",
                    RuntimeWarning,
                    stacklevel=2,
                )
                break
            content: dict[str, Any] = json.loads(data)
            for chunk in content["removed"]:
                downloads().forget(chunk["chunk"])
            for name in content["files"]:
                if name.startswith("overlays/"):
                    downloads().forget(PurePosixPath(name).stem)
            break
