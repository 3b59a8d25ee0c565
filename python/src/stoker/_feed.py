"""`Feed`: the batches of a dataset, from its files or from a feeder, exactly and in a determined order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from stoker._batch import Batch, Form
from stoker._dataset import open_snapshot
from stoker._decode import Decoding
from stoker._delivery import BatchPlan, Share
from stoker._discovery import target_of
from stoker._iteration import Iteration
from stoker._options import Options
from stoker._path import PathSource
from stoker._position import SharedEpochs, Start, rank_of, spawning, start_of, state_of, worker_of
from stoker._source import BatchSource, Consumer, StreamInfo
from stoker._spec import OrderSpec, Tail
from stoker._stream import PathStream
from stoker._tally import Tally
from stoker._torch import class_for
from stoker.errors import StateMismatchError, StokerError


class Feed:
    """Iterates over the batches of one rank; `for batch in feed` is one epoch.

    `target` is a **path** (read directly, without a server; anything with a slash or starting with `.` or `~`), the
    **name** of a running feed, or its `host:port,…`; without one, `STOKER_FEED`. The batches are the same bytes.

    The first iteration begins at the loaded position (or the first batch of epoch 0), each further one at the start
    of the following epoch, also after `break`. `set_epoch` overrides that.

    Order (what is not given is the feed's default, or for a path the value in brackets): `batch_size` (64, per rank),
    `seed` (0), `lanes` (16), `shuffle_window` (1 GiB), `shuffle` ("window"; "none" or False: stored order),
    `lane_order` ("mixed").

    What is read: `stream` names a stream of the feed; `split` ("train") and `version` (the newest) choose it for a path
    and are checked against a feed's stream.

    Who reads: `rank` and `world_size` (of an initialised torch.distributed, else RANK and WORLD_SIZE, else 0 of 1),
    `replica`, `run` (STOKER_RUN), `group`. In DataLoader workers each takes its exact share of the rank's batches.

    How: `tail` says what becomes of an uneven end: "pad" repeats batches so that all ranks take equally many full
    steps, "drop" leaves the rest out, "keep" delivers exactly the rest. `epochs`: iterations from that epoch on are
    empty. `decode` maps fields to "rgb", "gray" or a function of a row, run in `decode_threads` threads.
    `on_corrupt` ("fail" or "skip") is for damaged samples of a path. Time-outs are in seconds.

    One thread uses a feed. Safe to fork, to pickle into spawned processes, and as the dataset of a
    `torch.utils.data.DataLoader(feed, batch_size=None)`. A context manager; `close` ends its threads and connections.

    Errors: `StokerError` and its kinds in `stoker.errors`; `ValueError` for arguments that cannot be.
    """

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
        rank: int | None = None,
        world_size: int | None = None,
        replica: int = 0,
        run: int | None = None,
        group: str = "default",
        tail: Tail = "pad",
        epochs: int | None = None,
        decode: Mapping[str, str | Callable[[Any], Any]] | None = None,
        decode_threads: int | None = None,
        on_corrupt: str = "fail",
        buffer_bytes: int = 256 << 20,
        connect_timeout: float = 30.0,
        reconnect_timeout: float = 600.0,
        batch_timeout: float = 300.0,
        token: str | None = None,
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
            rank=rank,
            world_size=world_size,
            replica=replica,
            group=group,
            tail=tail,
            epochs=epochs,
            decode=decode,
            decode_threads=decode_threads,
            on_corrupt=on_corrupt,
            buffer_bytes=buffer_bytes,
            connect_timeout=connect_timeout,
            reconnect_timeout=reconnect_timeout,
            batch_timeout=batch_timeout,
            token=token,
        )
        self._set_up(options, SharedEpochs())

    def _set_up(self, options: Options, shared: SharedEpochs) -> None:
        self._options = options
        self._decoding = Decoding(options.decode, options.decode_threads) if options.decode else None
        self._shared = shared
        self._next = Start(0)
        self._loaded_in_worker: Start | None = None
        self._serial = 0  # counts what moves the position under a running iteration
        self._iteration: Iteration | None = None
        self._last: tuple[Share, int, int] | None = None  # share, epoch, step of the last batch handed out
        self._closed = False
        self._pid = os.getpid()
        self._source: BatchSource | None = None
        self._info: StreamInfo | None = None
        self._tally = Tally()
        self._path_stream: PathStream | None = None
        if options.path is not None:
            snapshot = open_snapshot(options.path, options.version)
            split = options.split or options.stream or "train"
            self._path_stream = PathStream(snapshot, split, OrderSpec(**options.order))
            self._adopt(self._path_stream.info(options.run))

    # ---- torch

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Also an `IterableDataset`, once torch is loaded."""
        return class_for(Feed)

    def __reduce__(self) -> tuple[Any, ...]:
        extras: dict[str, Any] = {"next": self._next, "rank": rank_of(self._options.rank, self._options.world_size)}
        if self._info is not None:
            extras["version"], extras["run"] = self._info.version, self._info.run
        if spawning():
            extras["shared"] = self._shared
        return _revive, (self._options, extras)

    # ---- what is being read

    def _ready(self) -> tuple[BatchSource, StreamInfo]:
        """The open source of this process."""
        if self._closed:
            raise StokerError("this feed is closed")
        if self._pid != os.getpid():  # forked: what the parent opened is not ours
            self._pid = os.getpid()
            self._source = self._iteration = None
            if self._decoding is not None:
                self._decoding = Decoding(self._options.decode or {}, self._options.decode_threads)
        if self._source is None:
            self._source = self._make_source()
            try:
                self._adopt(self._source.open(self._consumer()))
            except BaseException:
                self._source.close()
                self._source = None
                raise
        assert self._info is not None
        return self._source, self._info

    def _make_source(self) -> BatchSource:
        o = self._options
        if self._path_stream is not None:
            ahead = min(o.buffer_bytes, 32 << 20)
            return PathSource(self._path_stream, on_corrupt=o.on_corrupt, ahead_bytes=ahead, timeout_s=o.batch_timeout)
        from stoker._client import FeedClient

        return FeedClient(
            target_of(o.target),
            token=o.token,
            buffer_bytes=o.buffer_bytes,
            connect_timeout=o.connect_timeout,
            reconnect_timeout=o.reconnect_timeout,
            batch_timeout=o.batch_timeout,
        )

    def _consumer(self) -> Consumer:
        o = self._options
        rank, world_size = rank_of(o.rank, o.world_size)
        worker, workers, _ = worker_of() or (0, 1, 0)
        run = self._info.run if self._info is not None else o.run
        return Consumer(o.stream, o.group, o.order, rank, world_size, worker, workers, o.replica, run)

    def _adopt(self, info: StreamInfo) -> None:
        """Checks what the source says against what was asked for, and against what this feed has read before."""
        o = self._options
        for name, wanted, found in (("split", o.split, info.split), ("version", o.version, info.version)):
            if wanted is not None and wanted != found:
                raise StateMismatchError(f"stream {info.stream}: {name} {found}, asked for {wanted}")
        if self._info is not None and self._info.fingerprint != info.fingerprint:
            raise StateMismatchError(
                f"the feed now serves fingerprint {info.fingerprint}, before {self._info.fingerprint}"
            )
        if self._decoding is not None:
            self._decoding.check(info.fields)
        if self._info is None or self._info.fingerprint != info.fingerprint:
            self._form = Form(info.fields)
            self._plan = BatchPlan(info.order, info.lane_rows)
        self._info = info

    @property
    def info(self) -> StreamInfo:
        """Dataset, version, fields, order spec, fingerprint, samples, batches of an epoch. Connects if it must."""
        return self._info if self._info is not None and not self._closed else self._ready()[1]

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]:
        """Class names of each categorical field; a batch holds their indexes."""
        return self.info.classes

    @property
    def fingerprint(self) -> str:
        """Names dataset, version, split and order: whatever determines the batches."""
        return self.info.fingerprint

    # ---- position

    def __len__(self) -> int:
        """Batches that this rank takes in the running iteration, or in the next one if none is running."""
        if self._iteration is not None and self._iteration.running:
            return self._iteration.steps
        return self._share(self._following()).steps

    def _following(self) -> Start:
        """Where the next iteration begins, as far as this process can know."""
        by_workers, start = self._shared.read()
        return start if by_workers and worker_of() is None else self._next

    def _share(self, start: Start) -> Share:
        info = self.info
        if self._options.epochs is not None and start.epoch >= self._options.epochs:
            return Share(self._plan, self._options.tail, info.batches)
        if info.epochs is not None and start.epoch >= info.epochs:
            return Share(self._plan, self._options.tail, info.batches)
        rank, world_size = rank_of(self._options.rank, self._options.world_size)
        return Share(self._plan, self._options.tail, start.batch, rank, world_size)

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is this epoch, from its first batch; or from the loaded position, if that is in it."""
        if epoch < 0:
            raise ValueError(f"epoch {epoch}")
        if self._following().epoch != epoch:
            self._move(Start(epoch))

    def _move(self, start: Start) -> None:
        self._next = start
        self._last = None
        if worker_of() is None:
            self._shared.set(start)
        else:
            self._loaded_in_worker = start

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch that was handed out, as small JSON; the same on every rank.

        Where DataLoader workers read, only `batch.state` knows; here that is an error.
        """
        worker = worker_of()
        if worker is None and self._shared.read()[0]:
            raise StokerError("DataLoader workers read this feed: take the state of the last batch (batch.state)")
        info = self.info
        if self._last is None:
            return state_of(info, self._next.epoch, self._next.batch)
        share, epoch, step = self._last
        state = state_of(info, *share.after(epoch, step))
        if worker is not None:
            state |= {"worker": list(worker[:2]), "start": [epoch, share.start], "taken": step // worker[1] + 1}
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on at a position of `batch.state` or `state_dict`, also with another world size, also after `iter`.

        Raises `StateMismatchError` naming what differs, if the state is of other data or another order.
        """
        self._move(start_of(state, self.info, worker_of()))
        self._serial += 1

    def _begin(self) -> tuple[Start, Share]:
        """Takes the position for an iteration that begins now; the next one follows."""
        worker = worker_of()
        if worker is None:
            start = self._next
        elif self._loaded_in_worker is not None:
            start, self._loaded_in_worker = self._loaded_in_worker, None
            self._shared.adopt(worker[2], start)
        else:
            start = self._shared.begin(worker[2])
        self._next = Start(start.epoch + 1)
        return start, self._share(start)

    def __iter__(self) -> Iterator[Batch]:
        self._ready()
        if self._iteration is not None:
            self._iteration.end()
        self._iteration = Iteration(self)
        return self._iteration

    # ---- how it goes

    def stats(self) -> dict[str, float]:
        """Batches, samples and bytes handed out, seconds since the first, seconds waited, by cause where known."""
        return self._tally.stats(self._source)

    def stall_report(self) -> str:
        """One line: how long the trainer waited for data, and for what."""
        return self._tally.report(self._source)

    def close(self) -> None:
        """Ends threads and connections; what was handed out stays valid."""
        if self._closed:
            return
        self._closed = True
        if self._pid == os.getpid():
            if self._iteration is not None:
                self._iteration.end()
            if self._source is not None:
                self._source.close()
            if self._decoding is not None:
                self._decoding.close()
        self._source = self._iteration = None

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = self._options.target or os.environ.get("STOKER_FEED", "?")
        return f"Feed({where!r})" if self._info is None else f"Feed({where!r}, {self._info.split}@{self._info.version})"


def _revive(options: Options, extras: dict[str, Any]) -> Feed:
    rank, world_size = extras["rank"]
    options = replace(options, rank=rank, world_size=world_size, run=extras.get("run", options.run))
    if options.path is not None and "version" in extras:
        options = replace(options, version=extras["version"])
    feed = Feed.__new__(Feed)
    feed._set_up(options, extras.get("shared") or SharedEpochs())
    feed._next = extras["next"]
    if "shared" not in extras:
        feed._shared.set(feed._next)
    return feed
