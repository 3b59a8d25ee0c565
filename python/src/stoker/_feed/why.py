"""`Feed.why`: names the samples of a step, and the steps of a sample."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, overload

from stoker._dataset.location import dataset_path, is_remote
from stoker._dataset.snapshot import open_snapshot
from stoker._explain.order_explanation import OrderExplanation
from stoker._feed.reading import Reading
from stoker._kafka.target import target_of as topic_of
from stoker._order.delivery import Share
from stoker._order.skip import Skip
from stoker._path.path_stream import PathStream
from stoker._source.batch_source import StreamInfo
from stoker._source.position import Start
from stoker._store.remote_path import AnyPath
from stoker._transport.discovery import target_of
from stoker.errors import StateMismatchError, StokerError


@dataclass(frozen=True, slots=True)
class StepSample:
    """A sample of a step, as `Feed.why` names it."""

    epoch: int
    step: int | None
    """Step of the rank; None if a batch was asked for by its number."""
    rank: int | None
    """Rank of the trainer that receives it; None if a batch was asked for by its number."""
    batch: int
    """Number of the batch in the epoch, as in `Batch.number`."""
    index: int
    """Index of the sample in what the rank receives in the step."""
    key: str
    chunk: int
    """Ordinal of the sample's chunk."""
    row: int
    """Row in the chunk."""
    repeated: bool
    """Whether the sample only fills the step, and is also delivered elsewhere in the epoch."""


@dataclass(frozen=True, slots=True)
class SampleStep:
    """The step of an epoch that has a sample, as `Feed.why` names it."""

    key: str
    epoch: int
    step: int | None
    """None if no step has the sample: its batch is before the position where the steps begin, or tail "drop" or `skip`
    leaves it out."""
    rank: int | None
    """Rank of the trainer that receives it; None if no step has the sample."""
    batch: int
    """Number of the batch in the epoch."""
    index: int
    """Index of the sample in what the rank receives in the step, or else in the batch."""


class Explanations:
    """Answers `Feed.why`. Keeps the versions that it has opened."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._opened: dict[int, OrderExplanation] = {}

    def step(
        self, epoch: int | None, step: int, rank: int | None, start: int | None, dataset: str | os.PathLike[str] | None
    ) -> list[StepSample]:
        """The samples of a step, rank after rank."""
        at = self._start(self._epoch(epoch), start)
        order = self._order(at.epoch, dataset)
        found, most = [], 0
        for r in range(self._world_size) if rank is None else (rank,):
            share = self._share(order, at, r)
            most = max(most, share.steps)
            if not 0 <= step < share.steps:
                continue
            index = 0
            for number, again in share.numbers(step):
                for sample in order.batch(at.epoch, number, share.tail):
                    repeated = again or sample.repeated
                    found.append(
                        StepSample(
                            *(at.epoch, step, r, number, index),
                            *(sample.key, sample.chunk, sample.row, repeated),
                        )
                    )
                    index += 1
        if not 0 <= step < most:
            whose = "" if rank is None else f" for rank {rank}"
            raise ValueError(f"step {step}: epoch {at.epoch} has {most} steps{whose}, from batch {at.batch} on")
        return found

    def batch(self, epoch: int | None, number: int, dataset: str | os.PathLike[str] | None) -> list[StepSample]:
        """The samples of a batch by its number."""
        epoch = self._epoch(epoch)
        samples = self._order(epoch, dataset).batch(epoch, number, self._reading.options.tail)
        return [
            StepSample(epoch, None, None, number, i, s.key, s.chunk, s.row, s.repeated) for i, s in enumerate(samples)
        ]

    def key(
        self, epochs: int | Iterable[int] | None, key: str, start: int | None, dataset: str | os.PathLike[str] | None
    ) -> list[SampleStep]:
        """The step that has a sample, for each epoch."""
        found = []
        for epoch in epochs if isinstance(epochs, Iterable) else [self._epoch(epochs)]:
            at = self._start(epoch, start)
            order = self._order(epoch, dataset)
            place = order.place(epoch, key)
            if place is None:
                stream = order.stream
                raise KeyError(
                    f"{stream.snapshot.root} version {stream.snapshot.version}, split {stream.split}: no sample {key!r}"
                )
            rank = self._share(order, at, 0).rank_of(place[0])
            taken = self._share(order, at, rank).step_of(place[0])
            if taken is None:
                found.append(SampleStep(key, epoch, None, None, *place))
            else:
                step, before = taken
                index = before * order.plan.spec.batch_size + place[1]
                found.append(SampleStep(key, epoch, step, rank, place[0], index))
        return found

    @property
    def _world_size(self) -> int:
        return self._reading.member()[1]

    def _epoch(self, epoch: int | None) -> int:
        progress = self._reading.progress
        if epoch is None:
            epoch = progress.following.epoch if progress.last is None else progress.last[2]
        return epoch

    def _start(self, epoch: int, start: int | None) -> Start:
        """Where the steps of an epoch begin: where this feed was told to begin in it, or else at its first batch."""
        if epoch < 0 or (start is not None and start < 0):
            raise ValueError(f"epoch {epoch}, start {start}: expected 0 or more")
        origin = self._reading.progress.origin
        if start is None:
            start = origin.batch if origin.epoch == epoch else 0
        return Start(epoch, start)

    def _share(self, order: OrderExplanation, at: Start, rank: int) -> Share:
        options, world_size = self._reading.options, self._world_size
        if not 0 <= rank < world_size:
            raise ValueError(f"rank {rank} is not in [0, {world_size})")
        if at.batch > order.plan.batches:
            raise ValueError(f"start {at.batch}: the epoch has {order.plan.batches} batches")
        skip = Skip.of(options.skip, at.epoch, order.plan.batches)
        return Share(order.plan, options.tail, at.batch, rank, world_size, options.concat, skip=skip)

    # ---- the dataset

    def _order(self, epoch: int, dataset: str | os.PathLike[str] | None) -> OrderExplanation:
        reading, path = self._reading, self._reading.options.path
        if path is not None and dataset is None:
            version = reading.path_version(epoch)
            if version is None:
                raise StokerError(f"{path} is followed, and this feed has not begun epoch {epoch}: its version is open")
            return self._of_version(version, lambda: reading.path_stream(version))
        info = reading.found if reading.found is not None and not reading.closed else reading.info
        if not info.is_of(epoch):
            raise StokerError(
                f"stream {info.stream} follows its dataset, and this feed does not read epoch {epoch}, so it does not "
                f"know its version; run: stoker why --feed NAME --group {reading.options.group} --epoch {epoch}"
            )
        return self._of_version(info.version, lambda: self._open(info, self._root(info, dataset)))

    def _of_version(self, version: int, make: Callable[[], PathStream]) -> OrderExplanation:
        order = self._opened.get(version)
        if order is None:
            order = OrderExplanation(make())
            self._opened = {version: order}
        return order

    @staticmethod
    def _open(info: StreamInfo, root: AnyPath) -> PathStream:
        stream = PathStream(open_snapshot(root, info.version), info.split, info.order)
        if stream.fingerprint != info.fingerprint:
            found = stream.snapshot.info.id
            raise StateMismatchError(
                f"{root}: {'version has other contents' if found == info.dataset else f'dataset {found}'}; the feed "
                f"reads version {info.version} of dataset {info.dataset}, split {info.split}"
            )
        return stream

    def _root(self, info: StreamInfo, dataset: str | os.PathLike[str] | None) -> AnyPath:
        if dataset is not None:
            return dataset_path(dataset, "give a directory that has the dataset or a copy of it")
        named = self._reading.options.target
        target = None if topic_of(named) is not None else target_of(named)
        place = None if target is None else target.dataset(info.stream)
        if place is not None and not is_remote(place) and dataset_path(place, "").is_dir():
            return dataset_path(place, "")
        where = f"at {place}, which this process cannot read" if place is not None else "not known to this process"
        raise StokerError(
            f"stream {info.stream}: the place of dataset {info.dataset_name} is {where}. Give the directory of the "
            "dataset or of a copy, feed.why(…, dataset=PATH), or run on a machine of the feed: stoker why --feed NAME"
        )


class Explaining:
    """The part of `Feed` that explains steps."""

    _explanations: Explanations

    @overload
    def why(
        self,
        *,
        epoch: int | None = None,
        step: int,
        rank: int | None = None,
        start: int | None = None,
        dataset: str | os.PathLike[str] | None = None,
    ) -> list[StepSample]: ...

    @overload
    def why(
        self, *, epoch: int | None = None, batch: int, dataset: str | os.PathLike[str] | None = None
    ) -> list[StepSample]: ...

    @overload
    def why(
        self,
        *,
        epoch: int | Iterable[int] | None = None,
        key: str,
        start: int | None = None,
        dataset: str | os.PathLike[str] | None = None,
    ) -> list[SampleStep]: ...

    def why(
        self,
        *,
        epoch: Any = None,
        step: int | None = None,
        batch: int | None = None,
        key: str | None = None,
        rank: int | None = None,
        start: int | None = None,
        dataset: str | os.PathLike[str] | None = None,
    ) -> list[Any]:
        """Names the samples of a `step` (of all ranks, or of one) or of a `batch`, or the step that has a `key`.

        Computes them from the order, so it also knows steps that are still to come. `epoch` is the current one by
        default; with `key`, it can be several, and the answer has one element for each. Steps count from the batch
        `start`: by default the position that was loaded or set in the epoch, else 0. `dataset` is the directory of the
        dataset or of a copy; it is needed if this process cannot find the dataset of a feed. Raises `KeyError` if the
        stream has no such key.
        """
        if (step is not None) + (batch is not None) + (key is not None) != 1:
            raise TypeError("why() needs one of step, batch and key")
        if (rank is not None and step is None) or (start is not None and batch is not None):
            raise TypeError("why(): rank needs step, and start needs step or key")
        explanations = self._explanations
        if step is not None:
            return explanations.step(epoch, step, rank, start, dataset)
        if batch is not None:
            return explanations.batch(epoch, batch, dataset)
        assert key is not None
        return explanations.key(epoch, key, start, dataset)
