"""What a feed reads in one process: its open source, the properties of the stream, and the position."""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from stoker._batch.decoding import Decoding
from stoker._batch.piece import Form
from stoker._feed.client_stats import ClientStats
from stoker._feed.missing_classes import MissingClasses
from stoker._feed.options import Options
from stoker._feed.progress import Progress
from stoker._feed.report import Watched
from stoker._feed.sources import Sources
from stoker._order.delivery import BatchPlan, Share
from stoker._order.skip import Skip, require_batches
from stoker._order.spec import Tail
from stoker._path.path_stream import PathStream
from stoker._source.batch_source import BatchSource, Consumer, DeliveredBatch, StreamInfo
from stoker._source.position import Start, lonely_task, member_of, worker_of
from stoker._source.shared_epochs import SharedEpochs
from stoker.errors import StateMismatchError, StokerError

_LOG = logging.getLogger("stoker")
_is_lonely_said = False
Span = tuple[int, int, int, int, Tail]
"""Epoch, first number, stride, count, tail."""


class Reading:
    """Shared by a feed and its iterations. One thread; after a fork, the child opens a source for itself."""

    def __init__(self, options: Options, shared: SharedEpochs) -> None:
        self.options = options
        self.decoding = self._new_decoding()
        # Without a circle: a closed feed ends with its last reference.
        self.progress = Progress(partial(Reading.share, weakref.proxy(self)), shared, options.skip)
        self.iteration: object | None = None
        """The only iteration that may hand out batches."""
        self.kept: tuple[Span, Iterator[DeliveredBatch]] | None = None
        """What a part of an epoch left in the source."""
        self.closed = False
        self.source: BatchSource | None = None
        self.found: StreamInfo | None = None
        """What the source said of the stream; None before it was asked."""
        self.joined = 0
        """The run that the feed has taken part in, in the process that it was pickled in."""
        self.client_stats = ClientStats()
        self.form: Form
        self.missing_classes: MissingClasses | None = None
        self._plan: BatchPlan
        self._pid = os.getpid()
        self._said = False
        self._looked: tuple[Start | None, StreamInfo] | None = None  # of an epoch that has not begun
        self._last_figures: Watched | None = None
        options.security.look(options.target)
        self._sources = Sources(options)
        if self._sources.path_stream is not None:
            self._adopt(self._sources.path_stream.info(options.run))

    # ---- the source

    def ready(self, start: Start | None = None) -> tuple[BatchSource, StreamInfo]:
        """Returns this process's open source. If each epoch has its own version, moves it to the version of `start`.

        The source of a feed has a place in the group from now on.
        """
        self._require_open()
        self.own()
        self._looked = None
        if self.source is None:
            source = self._sources.make()
            try:
                self._adopt(source.open(self._consumer(start)), None if start is None else start.version)
                self.source = source
            except BaseException:
                source.close()
                raise
        elif start is not None and self.found is not None and not self.found.is_of(start.epoch, start.version):
            try:
                self._adopt(self.source.move_to(start.epoch, start.version), start.version)
            except BaseException:
                self.source.close()
                self.source = None
                raise
        assert self.found is not None
        return self.source, self.found

    def ready_for_first(self) -> None:
        """Takes the place at once if the first epoch is certain to be read, which saves a separate look."""
        start = self.progress.next
        if self.found is None and start == Start(0) and self.options.epochs != 0:
            self.ready(start)

    def _look(self, start: Start | None = None) -> StreamInfo:
        """Returns what is read at a position. Asks a feeder for that without taking a place in the group."""
        self._require_open()
        self.own()
        if self._sources.look_takes_no_place:
            return self.ready(start)[1]
        if self._looked is not None and self._looked[0] == start:
            return self._looked[1]
        looker = self._sources.make()
        try:
            info = looker.open(replace(self._consumer(start), look=True))
        finally:
            looker.close()
        self._check(info)
        if self.source is None or not info.follows:
            self._adopt(info, None if start is None else start.version)
        if start is not None and not info.is_of(start.epoch, start.version):
            self._looked = start, info  # the newest version, which the epoch will have if it begins now
        return info

    def _require_open(self) -> None:
        if self.closed:
            raise StokerError("this feed is closed")

    def own(self) -> None:
        """Drops what the parent process opened, if this process was forked since."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self.source = self.iteration = self.kept = None
            self.decoding = self._new_decoding()

    def _new_decoding(self) -> Decoding | None:
        o = self.options
        return Decoding(o.decode, o.decode_threads, str(o.path or "DATASET")) if o.decode else None

    @property
    def is_ours(self) -> bool:
        """Whether this process opened what is open."""
        return self._pid == os.getpid()

    def _consumer(self, start: Start | None) -> Consumer:
        o = self.options
        rank, world_size, replica = self.member()
        worker, workers, _ = worker_of() or (0, 1, 0)
        return Consumer(
            o.stream,
            o.group,
            o.order,
            rank,
            world_size,
            worker,
            workers,
            replica,
            o.run,
            self.run(),
            o.instance,
            o.launch,
            None if start is None else start.epoch,
            None if start is None else start.version,
            o.columns,
            skip=o.skip,
        )

    def run(self) -> int:
        """The run that this feed has taken part in; 0 before the first."""
        return self.found.run if self.found is not None and self.found.run else self.joined

    def member(self) -> tuple[int, int, int]:
        """(rank, world size, replica)."""
        o = self.options
        return member_of(o.rank, o.world_size, o.replicas, o.replica)

    def check_tasks(self) -> None:
        """Warns, once a process, if a launcher has started several tasks and this one reads everything."""
        global _is_lonely_said
        if _is_lonely_said or worker_of() is not None or self.options.world_size is not None or self.member()[1] > 1:
            return
        warning = lonely_task(os.environ)
        if warning is not None:
            _is_lonely_said = True
            _LOG.warning("%s: %s", self.options.target or os.environ.get("STOKER_FEED"), warning)

    # ---- the stream

    def _check(self, info: StreamInfo) -> None:
        o = self.options
        for name, wanted, found in (("split", o.split, info.split), ("version", o.version, info.version)):
            if wanted is not None and wanted != found:
                raise StateMismatchError(f"stream {info.stream}: {name} {found}, asked for {wanted}")

    def _adopt(self, info: StreamInfo, named: int | None = None) -> None:
        """Checks the source's information against the options, and against what this feed has read before.

        `named`: the version of the epoch according to the loaded state, if the state is within that epoch.
        """
        self._check(info)
        before = self.found
        other = before is not None and before.fingerprint != info.fingerprint
        same = before is not None and named is None and before.epoch == info.epoch is not None
        if before is not None and other and (same or not (before.follows and info.follows)):
            raise StateMismatchError(
                f"the feed now serves fingerprint {info.fingerprint}; before, it served {before.fingerprint}"
            )
        if not info.follows or info.epoch is not None:
            require_batches(self.options.skip, info.batches, info.epoch)
        if before is None or other:
            self.form = Form(info.fields, self.options.columns)
            where = f"dataset {info.dataset_name}, split {info.split}"
            self.missing_classes = self.missing_classes or MissingClasses(self.form.fields.values(), where)
            self._plan = BatchPlan(info.order, info.lane_rows)
            if self.decoding is not None:
                self.decoding.check(self.form.fields.values())
        self.found = info

    @property
    def info(self) -> StreamInfo:
        """See `Feed.info`."""
        return self.found if self.found is not None and not self.closed else self._look()

    def info_at(self, start: Start) -> StreamInfo:
        """Returns what is read at a position; after the last epoch, without asking the source for another epoch."""
        info = self.found if self.found is not None and not self.closed else self._look(start)
        ended = any(n is not None and start.epoch >= n for n in (self.options.epochs, info.epochs))
        return info if ended or info.is_of(start.epoch, start.version) else self._look(start)

    def path_version(self, epoch: int) -> int | None:
        """Returns the version of a path that an epoch reads; None if a path is followed and the epoch has not begun."""
        stream = self._sources.path_stream
        return self._sources.chosen.get(epoch) if stream is None else stream.snapshot.version

    def path_stream(self, version: int) -> PathStream:
        """Returns a version of a path."""
        return self._sources.path_stream or self._sources.open_path(version)

    def _epochs_of(self, info: StreamInfo) -> int | None:
        return min((n for n in (self.options.epochs, info.epochs) if n is not None), default=None)

    @property
    def epochs(self) -> int | None:
        """Number of epochs to read; None: no limit."""
        return self._epochs_of(self.info)

    def share(self, start: Start) -> Share:
        """Returns what the rank takes of an iteration that begins at a position."""
        info, o = self.info_at(start), self.options
        epochs = self._epochs_of(info)
        epochs = start.epoch + 1 if epochs is None else epochs
        rank, world_size, _ = self.member()
        at = start.batch if start.epoch < epochs else info.batches
        plan = self._plan if info is self.found else BatchPlan(info.order, info.lane_rows)
        skip = Skip.of(o.skip, start.epoch, info.batches)
        return Share(plan, o.tail, at, rank, world_size, o.concat, o.epoch_batches, skip)

    def explain_no_steps(self, start: Start) -> None:
        """Says, once, why an iteration is empty although epochs are left."""
        epochs = self.epochs
        if self.options.tail != "drop" or start.batch or self._said or (epochs is not None and start.epoch >= epochs):
            return
        self._said = True
        info = self.info_at(start)
        _LOG.warning(
            "stream %s: tail='drop' leaves nothing of an epoch: %d samples are less than a batch of %d for each of %d "
            "ranks; use tail='pad' or 'keep', or a smaller batch_size",
            *(info.stream, info.samples, info.order.batch_size, self.member()[1]),
        )

    def require_steps(self) -> None:
        """Raises `StokerError` if no epoch will ever have a step."""
        if self.epochs is None:
            raise StokerError(
                f"stream {self.info.stream}: no epoch of {self.info.batches} batches has a step for "
                f"{self.member()[1]} ranks with tail {self.options.tail!r}"
            )

    # ---- how it goes

    def stats(self) -> dict[str, float]:
        """See `Feed.stats`."""
        return (
            dict(self._last_figures.stats) if self._last_figures is not None else self.client_stats.stats(self.source)
        )

    def figures(self) -> Watched:
        """Returns the figures of this moment, or the last ones of a closed feed; any thread. Connects to nothing."""
        if self._last_figures is not None:
            return self._last_figures
        options, info, source = self.options, self.found, self.source
        rank, world_size, replica = self.member()
        worker, _, _ = worker_of() or (0, 1, 0)
        labels = {"feed": str(options.target or os.environ.get("STOKER_FEED", "")), "group": options.group}
        if info is not None:
            labels |= {"stream": info.stream, "dataset": info.dataset_name, "version": str(info.version)}
        labels |= {"rank": str(rank), "world_size": str(world_size), "worker": str(worker), "replica": str(replica)}
        stalls = getattr(source, "stalls", None)
        rest = "decoding" if self.decoding is not None else "handing out"
        return Watched(labels, self.client_stats.stats(source), stalls() if stalls is not None else (), rest)

    def keep_figures(self) -> Watched | None:
        """Keeps the figures beyond the end of the source; None if they were kept before."""
        if self._last_figures is not None:
            return None
        self._last_figures = figures = self.figures()
        return figures
