"""The interface between a `Feed` and its data: the path reader and the socket client are both a `BatchSource`.

Order, delivery, batches, iteration, resume and statistics are written once, above this interface.

Threads: one thread calls a source. Processes: a `Feed` never calls a source in another process than the
one that opened it; it drops the object and opens a new one. A source's `__del__` must therefore do
nothing in a forked child but release its own descriptors (no BYE, no joins).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stoker._format.fields import Field
from stoker._order.skip import Skipped
from stoker._order.spec import OrderSpec, Tail
from stoker._source.apart import Apart
from stoker._source.instance import Instance, Launch


@dataclass(frozen=True)
class Consumer:
    """A reader: its identity within a group, and the order that it requires."""

    stream: str | None = None
    group: str = "default"
    order: Mapping[str, Any] = field(default_factory=dict)
    """The keys of the order spec that the user gave (JSON names); the rest is the feed's default."""
    rank: int = 0
    world_size: int = 1
    worker: int = 0
    workers: int = 1
    replica: int = 0
    run: int = 0
    """The run number given by the user; 0: the server assigns one."""
    joined: int = 0
    """The run that a server has assigned to this consumer before; 0 for none."""
    instance: Instance | None = None
    launch: Launch | None = None
    epoch: int | None = None
    """The first epoch to read. Unless `look`, it determines the version of a stream that follows its dataset."""
    version: int | None = None
    """The version that its state has read of that epoch; None: the state has read nothing of it."""
    columns: tuple[str, ...] | None = None
    """The columns to receive; None: all."""
    skip: Skipped = ()
    """The batches that it leaves out. Its numbers of an epoch are those of `Numbers`."""
    look: bool = False
    """Whether it only asks for the `StreamInfo`, and takes no place in the group."""


@dataclass(frozen=True)
class StreamInfo:
    """The properties of a stream, known before its first batch."""

    fingerprint: str
    order: OrderSpec
    fields: tuple[Field, ...]
    """Dataset order: small fields, then payload fields; without `key`."""
    classes: Mapping[str, tuple[str, ...]]
    """Categorical field to the version's class names; index = id in a batch."""
    lane_rows: tuple[int, ...]
    """Live rows of each lane."""
    samples: int
    batches: int
    dataset: str
    dataset_name: str
    version: int
    split: str
    stream: str
    run: int
    epochs: int | None = None
    """Number of epochs that the feed serves; None: no limit."""
    follows: bool = False
    """Whether each epoch reads the version of the dataset that was newest when the epoch began."""
    epoch: int | None = None
    """If `follows`, the only epoch that this object describes; None: it describes the newest version instead."""

    def is_of(self, epoch: int, version: int | None = None) -> bool:
        """Whether this object describes an epoch; `version`: the one that a state names for that epoch, or None."""
        return not self.follows or (self.epoch == epoch and version in (None, self.version))

    @classmethod
    def from_json(cls, values: Mapping[str, Any], where: str, run: int) -> StreamInfo:
        """Reads the description of a stream by a feeder or a topic.

        Malformed values raise `KeyError`, `TypeError`, `ValueError` or `AttributeError`.
        """
        stream, epochs = values["stream"], values["epochs"]
        return cls(
            fingerprint=str(values["fingerprint"]),
            order=OrderSpec.from_json(values["order"]),
            fields=tuple(Field.from_json(item, where) for item in values["fields"]),
            classes={str(name): tuple(str(c) for c in found) for name, found in values["classes"].items()},
            lane_rows=tuple(int(rows) for rows in values["lane_rows"]),
            samples=int(values["samples"]),
            batches=int(values["batches"]),
            dataset=str(stream["dataset"]),
            dataset_name=str(stream["dataset_name"]),
            version=int(stream["version"]),
            split=str(stream["split"]),
            stream=str(stream["name"]),
            run=run,
            epochs=None if epochs is None else int(epochs),
            follows=values.get("follows") is True,
            epoch=None if values.get("epoch") is None else int(values["epoch"]),
        )


@dataclass
class PieceData:
    """One piece as it arrived, its checksum already verified."""

    lane: int
    rows: int
    """Rows in the message."""
    repeated: bool
    skipped: int
    """Rows that the order has but the message leaves out (`on-corrupt: skip`)."""
    buffer: npt.NDArray[np.uint8]
    """The record batch message (docs/formats/batch.md) with the consumer's columns, writable, starting at a multiple
    of 64 in memory, from a `stoker._memory.buffers.BufferPool`. Belongs to the receiver of the piece."""
    crc: int = 0
    """CRC-32C of the wire frame; 0 from a path."""
    apart: Apart | None = None
    """Where the payload is if `buffer` has only what comes before it."""

    @property
    def nbytes(self) -> int:
        """Length of the message."""
        return self.buffer.nbytes if self.apart is None else self.apart.length

    def message(self) -> npt.NDArray[np.uint8]:
        """The whole message; copies payload that lies apart."""
        return self.buffer if self.apart is None else self.apart.whole(self.buffer)


@dataclass
class DeliveredBatch:
    """All pieces of one virtual batch number, in order."""

    epoch: int
    number: int
    """Virtual number (may be >= batches under tail `pad`)."""
    pieces: Sequence[PieceData]


class BatchSource(Protocol):
    """Delivers the batches of one stream to one consumer."""

    def open(self, consumer: Consumer) -> StreamInfo:
        """Connects or reads the metadata. Called once, before anything else."""
        ...

    def move_to(self, epoch: int, version: int | None) -> StreamInfo:
        """Moves to an epoch if each epoch has its own version. `version`: the one that a loaded state names, or None.

        Called between two epochs, and only if `StreamInfo.follows`. Raises `StateMismatchError` if the epoch has
        another version.
        """
        ...

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        """Iterates over the virtual numbers first, first + stride, … (`count` of them) of an epoch, in that order.

        If the consumer leaves out batches of the epoch, the numbers are those of `Numbers`.
        Ends the epoch that was being read before. A call with the arguments of the last `prefetch` continues what that
        call started. Raises `BatchTimeoutError`, `CorruptDataError`, `FencedError`, … After an error or an interrupt
        the iterator cannot be used any more. A further call reads on, or raises a permanent error again.
        """
        ...

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        """Announces the call of `epoch` after this one. The source may start it once the current epoch is read."""
        ...

    def finish_empty(self, epoch: int, first: int, stride: int, tail: Tail) -> None:
        """Notes that the consumer has no batch in an epoch, from `first` on, and so has finished it.

        Ends the epoch that was being read. A feed with a limited number of epochs no longer waits for this consumer.
        """
        ...

    def ack(self, epoch: int, number: int) -> None:
        """Notes that the trainer has consumed the batch: it requested the next one, or ended the epoch."""
        ...

    def stats(self) -> Mapping[str, float]:
        """Returns seconds and counts by name, for the stall report (`wait_<cause>_s`, `bytes`, …)."""
        ...

    def close(self) -> None:
        """Ends threads and connections; idempotent."""
        ...
