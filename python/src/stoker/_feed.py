"""`Feed`: the batches of a dataset, from its files or from a feeder, exactly and in a determined order."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker._batch import Batch, Form
from stoker._dataset import open_snapshot
from stoker._decode import Decoding
from stoker._delivery import BatchPlan, Share
from stoker._discovery import target_of
from stoker._followed import FollowedPath
from stoker._instance import Instance, Launch
from stoker._iteration import Epochs, Iteration, Span
from stoker._kafka import KafkaSource
from stoker._kafka import target_of as topic_of
from stoker._loaders import check_readers
from stoker._mixing import mixing
from stoker._options import Options, suggesting
from stoker._path import PathSource
from stoker._pinned import pool_of
from stoker._position import SharedEpochs, Start, place_of, rank_of, seat_of, spawning, start_of, worker_of
from stoker._progress import Progress
from stoker._report import Watched, report, watch
from stoker._security import Security
from stoker._source import BatchSource, Consumer, DeliveredBatch, StreamInfo
from stoker._spec import OrderSpec, Tail
from stoker._stream import PathStream
from stoker._tally import Tally
from stoker._torch import class_for
from stoker.errors import StateMismatchError, StokerError

_LOG = logging.getLogger("stoker")
_LOOKED_AT: set[str] = set()
"""Fingerprints of the streams whose class mixing was checked."""


class Feed:
    """Iterates over the batches of one rank; `for batch in feed` is one epoch.

    `target` is one of the following; the batches are the same bytes for all of them. The default is `STOKER_FEED`.

    - a **path**, read directly, without a server: anything with a slash or starting with `.` or `~`
    - the **name** of a running feed, or its addresses `host:port,…`
    - a **topic** that a feed writes to, `kafka://host:port,…/topic` (needs confluent-kafka)

    The first iteration begins at the loaded position, or else at the first batch of epoch 0. Each further iteration
    begins at the start of the following epoch, also after `break`. `set_epoch` overrides that. After an error or an
    interrupt within the feed, the same iterator or a new one continues with the batch that was not handed out. A
    permanent error is raised again.

    Order (the default is the feed's value, or for a path the value in brackets): `batch_size` (64, samples per rank),
    `seed` (0), `lanes` (16), `shuffle_window` (1 GiB), `shuffle` ("window"; "none" or False: stored order),
    `lane_order` ("mixed").

    Data: `stream` names a stream of the feed. `split` ("train") and `version` (the newest) select the data of a path;
    for a feed they are checked against its stream. With `follow`, each epoch of a path reads the version that is newest
    when the epoch begins, as a feed with `--follow` does. `follow` supports only one reader.

    Readers: `rank` and `world_size` (from an initialised torch.distributed, else RANK and WORLD_SIZE, else 0 of 1),
    `run` (STOKER_RUN, at most 2^62), `group`. With `replicas` k, each k consecutive processes get the same batches
    (tensor and pipeline parallel ranks); `replica` sets the number of this process explicitly. Each DataLoader worker
    takes its exact share of the rank's batches.

    Delivery: `tail` selects what happens at an uneven end of an epoch. "pad" repeats batches so that all ranks take the
    same number of full steps, "drop" leaves the rest out, and "keep" delivers exactly the rest. Iterations from epoch
    `epochs` on are empty. An iteration ends after `epoch_batches` batches, and the next one continues there. `concat` k
    joins k batches to one, so that W ranks take the steps of k · W. `columns` names the fields to read. `decode` maps
    fields to "rgb", "gray" or a function of a row, which runs in `decode_threads` threads; arrays of one shape are
    stacked. `pin_memory` receives into pinned memory if CUDA is available. `on_corrupt` ("fail" or "skip") applies to
    damaged samples of a path. Timeouts are in seconds. A place in a group belongs to one live process. Another process
    waits for `place_timeout` (STOKER_PLACE_TIMEOUT, 30 s) and then raises `PlaceTakenError`. A process that only uses
    `info` or `len` takes no place.

    Security: `token` or `token_file` (STOKER_TOKEN, STOKER_TOKEN_FILE) authenticates this trainer. `tls` is a file of
    certificates to trust, or True for the system's certificates (STOKER_TLS_CA: a file, or "system"). `tls_name` is the
    name in the feeder's certificate if it differs from the host of the address. `tls_cert` and `tls_key` are the
    trainer's own certificate and key. A feed that is opened by name on its own machine needs only the last two.

    Only one thread may use a feed. A feed can be forked, pickled into spawned processes, and used as the dataset of a
    `torch.utils.data.DataLoader(feed, batch_size=None)`. It is a context manager; `close` ends its threads and
    connections.

    Raises `StokerError` and its subclasses in `stoker.errors`, and `ValueError` for invalid arguments.
    """

    @suggesting
    def __init__(
        self,
        target: str | os.PathLike[str] | None = None,
        stream: str | None = None,
        *,
        batch_size: int | None = None,
        seed: int | None = None,
        lanes: int | None = None,
        shuffle_window: int | None = None,
        shuffle: str | bool | None = None,
        lane_order: str | None = None,
        split: str | None = None,
        version: int | None = None,
        follow: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
        replica: int = 0,
        replicas: int = 1,
        run: int | None = None,
        group: str = "default",
        tail: Tail = "pad",
        epochs: int | None = None,
        epoch_batches: int | None = None,
        concat: int = 1,
        columns: Sequence[str] | None = None,
        decode: Mapping[str, str | Callable[[Any], Any]] | None = None,
        decode_threads: int | None = None,
        on_corrupt: str = "fail",
        pin_memory: bool = False,
        buffer_bytes: int = 256 << 20,
        connect_timeout: float = 30.0,
        reconnect_timeout: float = 600.0,
        batch_timeout: float = 300.0,
        place_timeout: float | None = None,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        tls: bool | str | os.PathLike[str] | None = None,
        tls_cert: str | os.PathLike[str] | None = None,
        tls_key: str | os.PathLike[str] | None = None,
        tls_name: str | None = None,
    ) -> None:
        order = {
            "batch_size": batch_size,
            "seed": seed,
            "lanes": lanes,
            "shuffle_window": shuffle_window,
            "lane_order": lane_order,
        }
        options = Options.of(
            target,
            shuffle=shuffle,
            run=run,
            order=order,
            stream=stream,
            split=split,
            version=version,
            follow=follow,
            rank=rank,
            world_size=world_size,
            replica=replica,
            replicas=replicas,
            group=group,
            tail=tail,
            epochs=epochs,
            epoch_batches=epoch_batches,
            concat=concat,
            columns=columns,
            decode=decode,
            decode_threads=decode_threads,
            on_corrupt=on_corrupt,
            pin_memory=pin_memory,
            buffer_bytes=buffer_bytes,
            connect_timeout=connect_timeout,
            reconnect_timeout=reconnect_timeout,
            batch_timeout=batch_timeout,
            place_timeout=place_timeout,
            security=Security(token, token_file, tls, tls_cert, tls_key, tls_name),
        )
        self._set_up(options, SharedEpochs())

    def _set_up(self, options: Options, shared: SharedEpochs) -> None:
        self._options = options
        self._decoding = Decoding(options.decode, options.decode_threads) if options.decode else None
        self._progress = Progress(self._share, shared)
        self._iteration: Iteration | None = None
        self._kept: tuple[Span, Iterator[DeliveredBatch]] | None = None  # what a part of an epoch left in the source
        self.repeats: int = 0
        """Samples that come again because `load_state_dict` was allowed another batch size."""
        self._closed = False
        self._pid = os.getpid()
        self._source: BatchSource | None = None
        self._info: StreamInfo | None = None
        self._joined = 0  # the run that the feed has taken part in, in the process that it was pickled in
        self._looked: tuple[Start | None, StreamInfo] | None = None  # of an epoch that has not begun
        self._tally = Tally()
        self._end: Watched | None = None  # the last figures of a closed feed
        self._path_stream: PathStream | None = None
        self._chosen: dict[int, int] = {}  # versions by epoch, of a path that is followed
        options.security.look(options.target)
        if options.path is not None:
            stream = self._open_path(options.version)
            self._look_at_classes(stream)
            if not options.follow:
                self._path_stream = stream
                self._adopt(stream.info(options.run))

    def _open_path(self, version: int | None) -> PathStream:
        o = self._options
        assert o.path is not None
        snapshot = open_snapshot(o.path, version)
        return PathStream(snapshot, o.split or o.stream or "train", OrderSpec(**o.order))

    def _look_at_classes(self, stream: PathStream) -> None:
        """Warns, once a process, if batches will hold too few classes."""
        if worker_of() is not None or rank_of(self._options.rank, self._options.world_size)[0] or spawning():
            return
        what = stream.fingerprint
        if what in _LOOKED_AT:
            return
        _LOOKED_AT.add(what)
        try:
            found = mixing(stream)
        except (StokerError, OSError):
            return  # reading the chunk will report the error
        for each in found:
            if each.is_poor:
                where = f"{stream.snapshot.root}@{stream.snapshot.version}, split {stream.split}"
                _LOG.warning("%s: %s", where, each.warning())

    # ---- torch

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Also an `IterableDataset`, once torch is loaded."""
        return class_for(Feed)

    def __reduce__(self) -> tuple[Any, ...]:
        self._options.security.look(self._options.target)
        extras: dict[str, Any] = {
            "next": self._progress.next,
            "rank": rank_of(self._options.rank, self._options.world_size),
        }
        if self._info is not None:
            extras["version"] = self._info.version
        if spawning():  # a loader worker of this process
            extras["shared"] = self._progress.shared
            extras["instance"], extras["joined"] = self._options.instance, self._run()
        return _revive, (self._options, extras)

    # ---- what is being read

    def _ready(self, start: Start | None = None) -> tuple[BatchSource, StreamInfo]:
        """Returns this process's open source. If each epoch has its own version, moves the source to that of `start`.

        The source of a feed has a place in the group from now on.
        """
        if self._closed:
            raise StokerError("this feed is closed")
        self._own()
        self._looked = None
        if self._source is None:
            source = self._make_source()
            try:
                self._adopt(source.open(self._consumer(start)), None if start is None else start.version)
                self._source = source
            except BaseException:
                source.close()
                raise
        elif start is not None and self._info is not None and not self._info.is_of(start.epoch, start.version):
            try:
                self._adopt(self._source.turn_to(start.epoch, start.version), start.version)
            except BaseException:
                self._source.close()
                self._source = None
                raise
        assert self._info is not None
        return self._source, self._info

    def _ready_for_first(self) -> None:
        """Takes the place at once if the first epoch is certain to be read, which saves a separate look."""
        start = self._progress.next
        if self._info is None and start == Start(0) and self._options.epochs != 0:
            self._ready(start)

    def _look(self, start: Start | None = None) -> StreamInfo:
        """Returns what is read at a position. Asks a feeder for that without taking a place in the group."""
        if self._closed:
            raise StokerError("this feed is closed")
        self._own()
        if self._options.path is not None or topic_of(self._options.target) is not None:
            return self._ready(start)[1]
        if self._looked is not None and self._looked[0] == start:
            return self._looked[1]
        looker = self._make_source()
        try:
            info = looker.open(replace(self._consumer(start), look=True))
        finally:
            looker.close()
        self._check(info)
        if self._source is None or not info.follows:
            self._adopt(info, None if start is None else start.version)
        if start is not None and not info.is_of(start.epoch, start.version):
            self._looked = start, info  # the newest version, which the epoch will have if it begins now
        return info

    def _own(self) -> None:
        if self._pid != os.getpid():  # forked: what the parent opened is not ours
            self._pid = os.getpid()
            self._source = self._iteration = self._kept = None
            if self._decoding is not None:
                self._decoding = Decoding(self._options.decode or {}, self._options.decode_threads)

    def _make_source(self) -> BatchSource:
        o = self._options
        if self._path_stream is not None:
            return self._path_source(self._path_stream)
        if o.path is not None:
            return FollowedPath(self._open_path, self._path_source, self._chosen)
        topic = topic_of(o.target)
        if topic is not None:
            return KafkaSource(
                topic,
                buffer_bytes=o.buffer_bytes,
                connect_timeout=o.connect_timeout,
                batch_timeout=o.batch_timeout,
                pool=pool_of(min(o.buffer_bytes, 256 << 20), o.pin_memory),
            )
        from stoker._client import FeedClient

        return FeedClient(
            target_of(o.target),
            security=o.security,
            buffer_bytes=o.buffer_bytes,
            connect_timeout=o.connect_timeout,
            reconnect_timeout=o.reconnect_timeout,
            batch_timeout=o.batch_timeout,
            place_timeout=o.place_timeout,
            pool=pool_of(min(o.buffer_bytes, 256 << 20), o.pin_memory),
        )

    def _path_source(self, stream: PathStream) -> PathSource:
        o = self._options
        ahead = min(o.buffer_bytes, 32 << 20)
        return PathSource(
            stream,
            on_corrupt=o.on_corrupt,
            ahead_bytes=ahead,
            buffer_bytes=o.buffer_bytes,
            timeout_s=o.batch_timeout,
            pool=pool_of(max(4 * ahead, 64 << 20), o.pin_memory),
        )

    def _consumer(self, start: Start | None) -> Consumer:
        o = self._options
        rank, world_size, replica = self._seat()
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
            self._run(),
            o.instance,
            o.launch,
            None if start is None else start.epoch,
            None if start is None else start.version,
        )

    def _run(self) -> int:
        """The run that this feed has taken part in; 0 before the first."""
        return self._info.run if self._info is not None and self._info.run else self._joined

    def _seat(self) -> tuple[int, int, int]:
        """(rank, world size, replica)."""
        o = self._options
        return seat_of(o.rank, o.world_size, o.replicas, o.replica)

    def _check(self, info: StreamInfo) -> None:
        o = self._options
        for name, wanted, found in (("split", o.split, info.split), ("version", o.version, info.version)):
            if wanted is not None and wanted != found:
                raise StateMismatchError(f"stream {info.stream}: {name} {found}, asked for {wanted}")

    def _adopt(self, info: StreamInfo, named: int | None = None) -> None:
        """Checks the source's information against the options, and against what this feed has read before.

        `named`: the version of the epoch according to the loaded state, if the state is within that epoch.
        """
        self._check(info)
        before = self._info
        other = before is not None and before.fingerprint != info.fingerprint
        same = before is not None and named is None and before.epoch == info.epoch is not None
        if before is not None and other and (same or not (before.follows and info.follows)):
            raise StateMismatchError(
                f"the feed now serves fingerprint {info.fingerprint}; before, it served {before.fingerprint}"
            )
        if before is None or other:
            self._form = Form(info.fields, self._options.columns)
            self._plan = BatchPlan(info.order, info.lane_rows)
            if self._decoding is not None:
                self._decoding.check(self._form.fields.values())
        self._info = info

    @property
    def info(self) -> StreamInfo:
        """Dataset, version, fields, order, fingerprint, and the samples and batches of an epoch.

        Connects to a feeder if necessary, without taking a place in the group.
        """
        return self._info if self._info is not None and not self._closed else self._look()

    @property
    def version(self) -> int:
        """Version of the dataset. For a feed that follows its dataset, the version of the current or last epoch."""
        return self.info.version

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]:
        """Class names of each categorical field; a batch holds their indexes. Later versions only append to them."""
        return self.info.classes

    @property
    def fingerprint(self) -> str:
        """A hash of everything that determines the batches: dataset, version, split, chunks and order."""
        return self.info.fingerprint

    # ---- position

    def __len__(self) -> int:
        """Number of batches that this rank takes in the running iteration, or in the next one if none is running.

        For a feed that follows its dataset, this assumes that the next iteration reads the version that is newest now.
        """
        if self._iteration is not None and self._iteration.running:
            return self._iteration.steps
        return self._share(self._progress.following).steps

    def _info_at(self, start: Start) -> StreamInfo:
        """Returns what is read at a position; after the last epoch, without asking the source for another epoch."""
        info = self._info if self._info is not None and not self._closed else self._look(start)
        ended = any(n is not None and start.epoch >= n for n in (self._options.epochs, info.epochs))
        return info if ended or info.is_of(start.epoch, start.version) else self._look(start)

    def _epochs_of(self, info: StreamInfo) -> int | None:
        return min((n for n in (self._options.epochs, info.epochs) if n is not None), default=None)

    @property
    def _epochs(self) -> int | None:
        """Number of epochs to read; None: no limit."""
        return self._epochs_of(self.info)

    def _share(self, start: Start) -> Share:
        info, o = self._info_at(start), self._options
        epochs = self._epochs_of(info)
        epochs = start.epoch + 1 if epochs is None else epochs
        rank, world_size, _ = self._seat()
        at = start.batch if start.epoch < epochs else info.batches
        plan = self._plan if info is self._info else BatchPlan(info.order, info.lane_rows)
        return Share(plan, o.tail, at, rank, world_size, o.concat, o.epoch_batches)

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next iteration. It begins at the loaded position if that is in the epoch, else at 0.

        With `epoch_batches`, parts of epochs are counted instead: an epoch of three parts is followed by epoch 3.
        """
        self._progress.set_epoch(epoch, self._options.epoch_batches)

    def state_dict(self) -> dict[str, Any]:
        """Returns the position after the last batch that was handed out, as small JSON; the same on every rank.

        Raises `StokerError` if DataLoader workers read the feed: then use `batch.state` of the last batch.
        """
        return self._progress.state(lambda: self.info)

    def load_state_dict(self, state: Mapping[str, Any], *, allow: Collection[str] = ()) -> None:
        """Resumes at the position of `batch.state` or `state_dict`, also with another world size, also after `iter`.

        Raises `StateMismatchError`, which names the differences, if the state is of other data or another order. With
        `allow=("batch_size",)` the batch size may differ. No sample is then left out, and `repeats` is the number of
        samples that come again. It is less than lanes times (old + new batch size), except at the end of an epoch with
        unequal lanes.
        """
        worker = worker_of()
        start, self.repeats = start_of(state, self._info_at(place_of(state, worker)), worker, allow)
        now, before = self.info.order.batch_size, state["order"]["batch_size"]
        if now != before:
            _LOG.warning(
                "stream %s: the batch size has changed from %d to %d: resuming at epoch %d, batch %d; %d samples are "
                "repeated",
                *(self.info.stream, before, now, start.epoch, start.batch, self.repeats),
            )
        self._progress.go_to(start)

    def __iter__(self) -> Iterator[Batch]:
        self._own()
        if worker_of() is None:  # a worker learns with its first batch which epoch it is to read
            self._ready_for_first()
            self._info_at(self._progress.following)
        check_readers(self._seat()[1])
        if self._iteration is not None:
            self._iteration.end()
        self._iteration = Iteration(self)
        return self._iteration

    def batches(self) -> Iterator[Batch]:
        """Iterates over the batches of one epoch after the other, up to `epochs` if the feed has that limit.

        Raises `StokerError` if no epoch has a batch, instead of searching without end.
        """
        return Epochs(self)

    def _require_steps(self) -> None:
        """Raises `StokerError` if no epoch will ever have a step."""
        if self._epochs is None:
            raise StokerError(
                f"stream {self.info.stream}: no epoch of {self.info.batches} batches has a step for "
                f"{self._seat()[1]} ranks with tail {self._options.tail!r}"
            )

    def as_tf_dataset(self, signature: Mapping[str, Any] | None = None) -> Any:
        """Returns a `tf.data.Dataset` of the feed: a dict of tensors for each batch, ragged if rows vary in length.

        Each iteration over it is one iteration over the feed. `signature` gives the types of fields that a function
        decodes.
        Raises `MissingDependencyError` without TensorFlow.
        """
        from stoker._tensorflow import dataset_of

        return dataset_of(self, signature or {})

    # ---- how it goes

    def stats(self) -> dict[str, float]:
        """Returns batches, samples and bytes handed out, seconds since the first batch, and seconds waited.

        The waits are given in total and, if known, by cause.
        """
        return dict(self._end.stats) if self._end is not None else self._tally.stats(self._source)

    def stall_report(self) -> str:
        """Returns the first line of `report`: how long the trainer waited for data, and for what."""
        return self.report().partition("\n")[0]

    def report(self) -> str:
        """Returns a readable report: how long the trainer waited, for which feeder, lane and cause, and what may help.

        With STOKER_REPORT=1 in the environment, `close` prints it. `stoker.prometheus` exports the same as metrics.
        """
        return report(self._end or watch(self))

    def close(self) -> None:
        """Ends threads and connections. Batches that were handed out stay valid. A second call completes a failed one.

        The last batch that was handed out counts as consumed. Its receipt has reached a feeder when this returns,
        unless no feeder can be reached within a second. The feeder writes it to the ledger with its next checkpoint.
        """
        self._closed = True
        source, iteration, ours = self._source, self._iteration, self._pid == os.getpid()
        if ours and source is not None:
            if self._end is None:
                self._end = watch(self)
                if os.environ.get("STOKER_REPORT") == "1":
                    print(report(self._end), file=sys.stderr)
            if iteration is not None:
                iteration.end()
            source.close()
        if ours and self._decoding is not None:
            self._decoding.close()
        self._source = self._iteration = self._kept = None

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = self._options.target or os.environ.get("STOKER_FEED", "?")
        return f"Feed({where!r})" if self._info is None else f"Feed({where!r}, {self._info.split}@{self._info.version})"


def _revive(options: Options, extras: dict[str, Any]) -> Feed:
    rank, world_size = extras["rank"]
    instance = extras.get("instance") or Instance.of_this_process()
    options = replace(options, rank=rank, world_size=world_size, instance=instance, launch=Launch.of(os.environ))
    if options.path is not None and not options.follow and "version" in extras:
        options = replace(options, version=extras["version"])
    feed = Feed.__new__(Feed)
    feed._set_up(options, extras.get("shared") or SharedEpochs())
    feed._progress.next = extras["next"]
    feed._joined = extras.get("joined", 0)
    if "shared" not in extras:
        feed._progress.shared.set(extras["next"])
    return feed
