"""Opens what a feed reads from: chunk files, a topic, or feeders, as its options say.

Imports each kind of source when it is used, so that a trainer starts sooner.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from stoker._batch.pinned_memory import pool_of
from stoker._feed.options import Options
from stoker._kafka.target import target_of as topic_of
from stoker._source.batch_source import BatchSource
from stoker._source.position import rank_of, starting_worker, worker_of
from stoker._store.remote_path import RemotePath
from stoker._transport.discovery import target_of
from stoker.errors import StokerError

if TYPE_CHECKING:
    from stoker._path.path_source import PathSource
    from stoker._path.path_stream import PathStream

_LOG = logging.getLogger("stoker")
_LOOKED_AT: set[str] = set()
"""Fingerprints of the streams whose class mixing was checked."""


class Sources:
    """Makes the sources of one feed. Survives forks and opens nothing that has to be closed."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.chosen: dict[int, int] = {}
        """Versions by epoch, of a path that is followed."""
        self.path_stream: PathStream | None = None
        """What is read from a path that is not followed."""
        if options.path is not None:
            stream = self.open_path(options.version)
            self._look_at_classes(stream)
            if not options.follow:
                self.path_stream = stream

    @property
    def look_takes_no_place(self) -> bool:
        """Whether an open source has no place in a group, so that it can also be the one that is looked at."""
        return self._options.path is not None or topic_of(self._options.target) is not None

    def make(self) -> BatchSource:
        """Returns a new source, which is not open yet."""
        o = self._options
        if self.path_stream is not None:
            return self._path_source(self.path_stream)
        if o.path is not None:
            from stoker._path.followed_path import FollowedPath

            return FollowedPath(self.open_path, self._path_source, self.chosen)
        topic = topic_of(o.target)
        if topic is not None:
            from stoker._kafka.topic_source import TopicSource

            return TopicSource(
                topic,
                buffer_bytes=o.buffer_bytes,
                connect_timeout=o.connect_timeout,
                batch_timeout=o.batch_timeout,
                pool=pool_of(min(o.buffer_bytes, 256 << 20), o.pin_memory),
            )
        from stoker._client.feeder_source import FeederSource

        return FeederSource(
            target_of(o.target),
            security=o.security,
            buffer_bytes=o.buffer_bytes,
            connect_timeout=o.connect_timeout,
            reconnect_timeout=o.reconnect_timeout,
            batch_timeout=o.batch_timeout,
            place_timeout=o.place_timeout,
            pool=pool_of(min(o.buffer_bytes, 256 << 20), o.pin_memory),
        )

    def open_path(self, version: int | None) -> PathStream:
        """Opens a version of a path; None: the newest."""
        from stoker._dataset.far_chunks import forget_erased
        from stoker._dataset.snapshot import open_snapshot
        from stoker._order.spec import OrderSpec
        from stoker._path.path_stream import PathStream

        o = self._options
        path = o.path
        assert path is not None
        snapshot = open_snapshot(path, version)
        if isinstance(path, RemotePath):
            forget_erased(path)
        return PathStream(snapshot, o.split or o.stream or "train", OrderSpec(**o.order))

    def _path_source(self, stream: PathStream) -> PathSource:
        from stoker._path.path_source import PathSource

        o = self._options
        ahead = min(o.buffer_bytes, 32 << 20)
        return PathSource(
            stream,
            on_corrupt=o.on_corrupt,
            skip=o.skip,
            ahead_bytes=ahead,
            buffer_bytes=o.buffer_bytes,
            timeout_s=o.batch_timeout,
            pool=pool_of(max(4 * ahead, 64 << 20), o.pin_memory),
        )

    def _look_at_classes(self, stream: PathStream) -> None:
        """Warns, once a process, if batches will hold too few classes, or samples of few chunks."""
        if worker_of() is not None or rank_of(self._options.rank, self._options.world_size)[0] or starting_worker():
            return
        what = stream.fingerprint
        if what in _LOOKED_AT:
            return
        _LOOKED_AT.add(what)
        from stoker._path.mixing import mixing, small_window

        where = f"{stream.snapshot.root}@{stream.snapshot.version}, split {stream.split}"
        small = small_window(stream)
        if small is not None:
            _LOG.warning("%s: %s", where, small)
        try:
            found = mixing(stream)
        except (StokerError, OSError):
            return  # reading the chunk will report the error
        for each in found:
            if each.is_poor:
                _LOG.warning("%s: %s", where, each.warning())
