"""`Feed`: the batches of a dataset, from its files or from a feeder, exactly and in a determined order."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker._batch.batch import Batch
from stoker._batch.missing import Missing
from stoker._feed.iteration import Epochs, Iteration
from stoker._feed.loaders import check_readers
from stoker._feed.notebooks import InNotebooks
from stoker._feed.options import Options, suggesting
from stoker._feed.reading import Reading
from stoker._feed.report import report
from stoker._feed.reporting import Reporting
from stoker._feed.tf_dataset import dataset_of
from stoker._feed.torch_dataset import class_for
from stoker._feed.why import Explaining, Explanations
from stoker._order.spec import Tail
from stoker._source.batch_source import StreamInfo
from stoker._source.instance import Instance, Launch
from stoker._source.position import epoch_of, rank_of, start_of, starting_worker, worker_of
from stoker._source.shared_epochs import SharedEpochs
from stoker._transport.security import Security

_LOG = logging.getLogger("stoker")


class Feed(Explaining, Reporting, InNotebooks):
    """Iterates over the batches of one rank; `for batch in feed` is one epoch.

    The first iteration begins at the loaded position, or else at the first batch of epoch 0. Each further iteration
    begins at the start of the following epoch, also after `break`. `set_epoch` overrides that. After an error or an
    interrupt within the feed, the same iterator or a new one continues with the batch that was not handed out. A
    permanent error is raised again.

    Only one thread may use a feed. A feed can be forked, pickled into spawned processes, and used as the dataset of a
    `torch.utils.data.DataLoader(feed, batch_size=None)`. It is a context manager; `close` ends its threads and
    connections. Raises `StokerError` and its subclasses in `stoker.errors`, and `ValueError` for invalid arguments.

    Which data

    - `target` (STOKER_FEED): a **path**, which is read directly, without a server (anything with a slash or starting
      with `.` or `~`), the **name** of a running feed or its addresses `host:port,…`, or a **topic** that a feed writes
      to, `kafka://host:port,…/topic` (needs confluent-kafka). The batches are the same bytes for all of them.
    - `stream`: a stream of the feed; for a path, the same as `split`
    - `split` ("train"), `version` (the newest): the data of a path; for a feed, they are checked against its stream.
      `version` is a number or, for a path, the name of a tag
    - `follow`: each epoch of a path reads the version that is newest when the epoch begins, as a feed with `--follow`
      does; supports only one reader
    - `where`: the condition that samples must satisfy, as in SQL: "label IN ('cat', 'dog') AND width >= 256", over
      `key` and the small fields. The epoch has only these samples (docs/formats/where.md)

    Who reads

    - `rank`, `world_size`: the reader's share; by default from an initialised torch.distributed, else RANK and
      WORLD_SIZE, else 0 of 1. Each DataLoader worker takes its exact share of the rank's batches.
    - `replicas` (1), `replica` (0): with `replicas` k, each k consecutive processes get the same batches (tensor and
      pipeline parallel ranks); `replica` sets the number of this process explicitly
    - `group` ("default"): the trainers that share one pass over the stream. Each has a place, which belongs to one live
      process; a process that only uses `info` or `len` takes none.
    - `run` (STOKER_RUN): the number of this launch, at most 2^62; a greater run replaces a smaller one

    Order and epochs (the default is the feed's value, or for a path the value in brackets)

    - `batch_size` (64): samples of a batch for one rank
    - `seed` (0), `shuffle` ("window"): the order; "none" or False keeps the stored order
    - `lanes` (16), `shuffle_window` (1 GiB, as a number of bytes or a text such as "4g"), `lane_order` ("mixed"): how
      far samples are mixed
    - `tail` ("pad"): what happens at an uneven end of an epoch. "pad" repeats batches so that all ranks take the same
      number of full steps, "drop" leaves the rest out, and "keep" delivers exactly the rest.
    - `epochs`, `epoch_batches`: iterations from epoch `epochs` on are empty; an iteration ends after `epoch_batches`
      batches, and the next one continues there
    - `concat` (1): joins this number of batches to one, so that fewer ranks take the steps of a larger job
    - `skip`: batches to leave out, as (epoch, first, last), by `batch.number`; the ranks divide the rest

    Batches and tensors

    - `columns`: names of the fields to receive, and "key" for `Batch.keys`; by default all
    - `decode`, `decode_threads`: maps fields to "rgb", "gray" (upright images), "rgb:stored", "gray:stored", or a
      function of a row (bytes as a `uint8` array), which runs in this number of threads; arrays or torch tensors of one
      shape are stacked
    - `pin_memory`: receives into pinned memory if CUDA is available
    - `buffer_bytes` (256 MiB): size of the batches that are received or read ahead

    Network and security

    - `token`, `token_file` (STOKER_TOKEN, STOKER_TOKEN_FILE): authenticate this trainer
    - `tls`: a file of certificates to trust, or True for the system's (STOKER_TLS_CA: a file, or "system")
    - `tls_cert`, `tls_key` (STOKER_TLS_CERT, STOKER_TLS_KEY): this trainer's own certificate and key; a feed that is
      opened by name on its own machine needs no other security argument
    - `tls_name` (STOKER_TLS_NAME): the name in the feeder's certificate if it differs from the host of the address

    Waiting and errors (timeouts in seconds)

    - `connect_timeout` (30), `reconnect_timeout` (600), `batch_timeout` (300): limits for the first answer, for being
      without any feeder, and for one batch
    - `place_timeout` (STOKER_PLACE_TIMEOUT, 30): how long to wait for a place that another live process holds, before
      `PlaceTakenError`
    - `on_corrupt` ("fail"): "skip" leaves damaged samples of a path out

    Reporting has no argument: `report`, `stats` and `stoker.prometheus` say how the feed does, and `close` prints the
    report with STOKER_REPORT=1 in the environment.
    """

    @suggesting
    def __init__(
        self,
        target: str | os.PathLike[str] | None = None,
        stream: str | None = None,
        *,
        split: str | None = None,
        version: int | str | None = None,
        follow: bool = False,
        where: str | None = None,
        # Who reads
        rank: int | None = None,
        world_size: int | None = None,
        replicas: int = 1,
        replica: int = 0,
        group: str = "default",
        run: int | None = None,
        # Order and epochs
        batch_size: int | None = None,
        seed: int | None = None,
        shuffle: str | bool | None = None,
        lanes: int | None = None,
        shuffle_window: int | str | None = None,
        lane_order: str | None = None,
        tail: Tail = "pad",
        epochs: int | None = None,
        epoch_batches: int | None = None,
        concat: int = 1,
        skip: Iterable[tuple[int, int, int]] = (),
        # Batches and tensors
        columns: Sequence[str] | None = None,
        decode: Mapping[str, str | Callable[[Any], Any]] | None = None,
        decode_threads: int | None = None,
        pin_memory: bool = False,
        buffer_bytes: int | str = 256 << 20,
        # Network and security
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        tls: bool | str | os.PathLike[str] | None = None,
        tls_cert: str | os.PathLike[str] | None = None,
        tls_key: str | os.PathLike[str] | None = None,
        tls_name: str | None = None,
        # Waiting and errors
        connect_timeout: float = 30.0,
        reconnect_timeout: float = 600.0,
        batch_timeout: float = 300.0,
        place_timeout: float | None = None,
        on_corrupt: str = "fail",
    ) -> None:
        order = {
            "batch_size": batch_size,
            "seed": seed,
            "lanes": lanes,
            "shuffle_window": shuffle_window,
            "lane_order": lane_order,
            "where": where,
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
            skip=skip,
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
        self._set_up(Reading(options, SharedEpochs()))

    def _set_up(self, reading: Reading) -> None:
        self._reading = reading
        self._explanations = Explanations(reading)
        self.repeats: int = 0
        """Samples that come again because `load_state_dict` was allowed another batch size."""

    @property
    def _iteration(self) -> Iteration | None:
        iteration = self._reading.iteration
        return iteration if isinstance(iteration, Iteration) else None

    # ---- torch

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Also an `IterableDataset`, once torch is loaded."""
        return class_for(Feed)

    def __reduce__(self) -> tuple[Any, ...]:
        reading, options = self._reading, self._reading.options
        options.security.look(options.target)
        extras: dict[str, Any] = {"next": reading.progress.next}
        if reading.found is not None:
            extras["version"] = reading.found.version
        if starting_worker():
            extras["rank"] = rank_of(options.rank, options.world_size)
            extras["shared"] = reading.progress.shared
            extras["instance"], extras["joined"] = options.instance, reading.run()
        return _revive, (options, extras)

    # ---- what is being read

    @property
    def info(self) -> StreamInfo:
        """Dataset, version, fields, order, fingerprint, and the samples and batches of an epoch.

        Connects to a feeder if necessary, without taking a place in the group.
        """
        return self._reading.info

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
        """Number of batches that this rank takes in a whole epoch: the running one, or else the next one.

        Does not depend on the position: `remaining` is what is left. With `epoch_batches`, it is the number of batches
        of the running or next iteration. For a feed that follows its dataset, this assumes that the next iteration
        reads the version that is newest now.
        """
        running = self._iteration is not None and self._iteration.running
        if self._reading.options.epoch_batches is not None:
            return self._iteration.steps if self._iteration is not None and running else self._next_steps
        start = self._iteration.start if self._iteration is not None and running else self._reading.progress.following
        return self._reading.share(replace(start, batch=0, taken=0)).steps

    @property
    def _next_steps(self) -> int:
        return self._reading.share(self._reading.progress.following).steps

    @property
    def remaining(self) -> int:
        """Number of batches that this rank has not taken of the running iteration, or takes in the next one.

        After `load_state_dict` in the middle of an epoch it is smaller than `len`. DataLoader workers take batches
        where this process does not see it: here it is then about their next pass.
        """
        if self._iteration is not None and self._iteration.running:
            return self._iteration.remaining
        return self._next_steps

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next iteration. It begins at the loaded position if that is in the epoch, else at 0.

        With `epoch_batches`, parts of epochs are counted instead: an epoch of three parts is followed by epoch 3.
        """
        self._reading.progress.set_epoch(epoch, self._reading.options.epoch_batches)

    def state_dict(self) -> dict[str, Any]:
        """Returns the position after the last batch that was handed out, as small JSON; the same on every rank.

        Raises `StokerError` if DataLoader workers read the feed: then use `batch.state` of the last batch.
        """
        return self._reading.progress.state(lambda: self.info)

    def load_state_dict(self, state: Mapping[str, Any], *, allow: Collection[str] = ()) -> None:
        """Resumes at the position of `batch.state` or `state_dict`, also with another world size, also after `iter`.

        Raises `StateMismatchError`, which names the differences, if the state is of other data or another order, or if
        it skips batches behind its position that this feed does not skip; `allow=("skip",)` delivers these. With
        `allow=("batch_size",)` the batch size may differ. No sample is then left out, and `repeats` is the number of
        samples that come again. It is less than lanes times (old + new batch size), except at the end of an epoch with
        unequal lanes.
        """
        worker = worker_of()
        info = self._reading.info_at(epoch_of(state, worker))
        start, self.repeats = start_of(state, info, worker, allow, self._reading.options.skip)
        now, before = self.info.order.batch_size, state["order"]["batch_size"]
        if now != before:
            _LOG.warning(
                "stream %s: the batch size has changed from %d to %d: resuming at epoch %d, batch %d; %d samples are "
                "repeated",
                *(self.info.stream, before, now, start.epoch, start.batch, self.repeats),
            )
        self._reading.progress.go_to(start)

    def __iter__(self) -> Iterator[Batch]:
        reading = self._reading
        reading.own()
        if worker_of() is None:  # a worker learns with its first batch which epoch it is to read
            reading.ready_for_first()
            reading.info_at(reading.progress.following)
        check_readers(reading.member()[1])
        reading.check_tasks()
        return Iteration(reading)

    def batches(self) -> Iterator[Batch]:
        """Iterates over the batches of one epoch after the other, up to `epochs` if the feed has that limit.

        Raises `StokerError` if no epoch has a batch, instead of searching without end.
        """
        return Epochs(self.__iter__, self._reading)

    def as_tf_dataset(self, signature: Mapping[str, Any] | None = None, *, missing: Missing = None) -> Any:
        """Returns a `tf.data.Dataset` of the feed: a dict of tensors for each batch, ragged if rows vary in length.

        Each iteration over it is one iteration over the feed. `signature` gives the types of fields that a function
        decodes. `missing` is as in `Batch.to`; missing texts and byte strings need a value, too.
        Raises `MissingDependencyError` without TensorFlow.
        """
        return dataset_of(self.__iter__, self._reading, signature or {}, missing)

    def close(self) -> None:
        """Ends threads and connections. Batches that were handed out stay valid. A second call completes a failed one.

        The last batch that was handed out counts as consumed. Its receipt has reached a feeder when this returns,
        unless no feeder can be reached within a second. The feeder writes it to the ledger with its next checkpoint.
        """
        reading = self._reading
        reading.closed = True
        source, iteration, ours = reading.source, self._iteration, reading.is_ours
        if ours and source is not None:
            figures = reading.keep_figures()
            if figures is not None and os.environ.get("STOKER_REPORT") == "1":
                print(report(figures), file=sys.stderr)
            if iteration is not None:
                iteration.end()
            source.close()
        if ours and reading.decoding is not None:
            reading.decoding.close()
        reading.source = reading.iteration = reading.kept = None

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        info, where = self._reading.found, self._reading.options.target or os.environ.get("STOKER_FEED", "?")
        what = [repr(where)] if info is None else [repr(where), f"{info.split}@{info.version}"]
        with contextlib.suppress(ValueError):  # of variables that are not numbers
            rank, world_size, _ = self._reading.member()
            what.append(f"rank {rank} of {world_size}")
        return f"Feed({', '.join(what)})"


def _revive(options: Options, extras: dict[str, Any]) -> Feed:
    rank, world_size = extras.get("rank", (options.rank, options.world_size))
    instance = extras.get("instance") or Instance.of_this_process()
    options = replace(options, rank=rank, world_size=world_size, instance=instance, launch=Launch.of(os.environ))
    if options.path is not None and not options.follow and "version" in extras:
        options = replace(options, version=extras["version"])
    feed = Feed.__new__(Feed)
    reading = Reading(options, extras.get("shared") or SharedEpochs())
    feed._set_up(reading)
    reading.progress.next = extras["next"]
    reading.joined = extras.get("joined", 0)
    if "shared" not in extras:
        reading.progress.shared.set(extras["next"])
    return feed
