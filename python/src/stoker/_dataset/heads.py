"""The heads of a version's chunks that were read last."""

from __future__ import annotations

import os
from collections import OrderedDict

from stoker._dataset.chunk import ChunkHead, ChunkReader
from stoker._dataset.snapshot import Snapshot
from stoker._format.fork_lock import ForkLock

_HEADS = 64


class Heads:
    """Reads heads, and keeps the last ones. Safe for several threads."""

    def __init__(self, snapshot: Snapshot, reader: ChunkReader) -> None:
        self._snapshot = snapshot
        self._reader = reader
        self._recent: OrderedDict[int, ChunkHead] = OrderedDict()
        self._lock = ForkLock()

    def head(self, index: int) -> ChunkHead:
        """The head of a chunk, by its index in the chunk table, with its overlay applied."""
        with self._lock:
            head = self._recent.get(index)
            if head is not None:
                self._recent.move_to_end(index)
                return head
        fd = self._reader.open_head(index)
        try:
            head = self._reader.head(fd, index)
        finally:
            os.close(fd)
        with self._lock:
            self._recent[index] = head
            if len(self._recent) > _HEADS:
                self._recent.popitem(last=False)
        return head

    def stored_head(self, index: int) -> ChunkHead:
        """The packed head. The sample index describes samples without overlays."""
        if index not in self._snapshot.chunks.overlays and not self._snapshot.added:
            return self.head(index)
        fd = self._reader.open_head(index)
        try:
            return self._reader.stored_head(fd, index)
        finally:
            os.close(fd)
