"""Random access to the samples of a running feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any

from stoker._dataset.sample_index import ListEntry, SampleStat
from stoker._format.fields import Field
from stoker._lookup.feeders import Choice, Feeders
from stoker._lookup.rows import RowReader
from stoker._lookup.session import Session
from stoker._wire import protocol as p
from stoker.errors import CorruptDataError

_REQUEST_BYTES = p.MAX_TO_SERVER - 64
"""Bytes of the keys of one request, with four for each key."""

# A class with a method `list` cannot use the type of this name.
_Found = list[dict[str, Any] | None]
_Stats = list[SampleStat | None]


class FeedSamples:
    """The samples of one stream of a running feed, by key. The feeders read the chunks, through their tiers.

    `samples["dir/cat.jpg"]` gives a dict as `Samples` does. `stat`, `list` and `get` look up, list and read samples by
    key; `get` reads many keys with one request. The object reads one version. If a feeder fails, it asks another one.

    Safe for several threads; each of them uses a separate connection. Works after a fork. A context manager; `close`
    ends the connections.
    """

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._feeders = Feeders(choice)
        info = self._feeders.welcome.info
        self._info = info
        self._rows = RowReader(info.fields, info.classes)

    def __enter__(self) -> FeedSamples:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process connects again and reads the same version."""
        return _reopen, (self._choice, self.version)

    def __repr__(self) -> str:
        return f"<FeedSamples of {self._choice.target}, stream {self.stream}, version {self.version}>"

    def __len__(self) -> int:
        return self._info.samples

    @property
    def version(self) -> int:
        """The version that is read."""
        return self._info.version

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self._info.dataset_name

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self._info.stream

    @property
    def split(self) -> str:
        """The split of the stream. Samples of other splits are not found."""
        return self._info.split

    @property
    def fields(self) -> tuple[Field, ...]:
        """The dataset's fields, small ones first."""
        return self._info.fields

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]:
        """Class names of each categorical field."""
        return self._info.classes

    def __getitem__(self, key: str) -> dict[str, Any]:
        if not isinstance(key, str):
            raise TypeError(f"samples[{key!r}]: expected a key; positions work only if the dataset is opened by path")
        sample = self.get([key])[0]
        if sample is None:
            raise KeyError(f"stream {self.stream} of {self._choice.target}, version {self.version}: no sample {key!r}")
        return sample

    def __iter__(self) -> Iterator[dict[str, Any]]:
        raise TypeError("a feed's samples are read by key: use list() for the keys, or Feed to read all samples")

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.stat(key) is not None

    def stat(self, key: str) -> SampleStat | None:
        """What is known about a sample without reading it: split, length, checksum and place. None if it is missing."""
        return self.stats([key])[0]

    def stats(self, keys: Iterable[str]) -> _Stats:
        """`stat` of many keys, in their order."""
        wanted = _keys(keys)
        found: _Stats = [None] * len(wanted)
        for numbers in _requests(wanted):
            for number, place in self._feeders.call(partial(self._places, wanted, numbers)):
                found[number] = SampleStat(
                    wanted[number], self.split, place.ordinal, place.row, place.length, place.crc32c
                )
        return found

    def list(self, prefix: str = "", delimiter: str = "") -> Iterator[ListEntry]:
        """Lists samples in the order of the UTF-8 bytes of their keys. See `Samples.list`."""
        after = ""
        while True:
            part = self._feeders.call(partial(_list, prefix, delimiter, after))
            for entry in part.entries:
                stat = SampleStat(entry.name, self.split, entry.ordinal, entry.row, entry.length, entry.crc32c)
                yield ListEntry(entry.name, stat if entry.sample else None)
            if not part.more:
                return
            after = part.entries[-1].name

    def get(self, keys: Iterable[str]) -> _Found:
        """Reads samples by key. One element for each key, in the order of the keys; None if missing.

        Raises `CorruptDataError` if a sample is damaged. The other samples can be read.
        """
        wanted = _keys(keys)
        reading = _Reading(wanted)
        for numbers in _requests(wanted):
            reading.left = dict.fromkeys(numbers)
            self._feeders.call(partial(self._read, reading))
        if reading.damage:
            raise CorruptDataError(reading.damage[min(reading.damage)])
        return reading.found

    def close(self) -> None:
        """Ends the connections."""
        self._feeders.close()

    def _places(self, wanted: _Keys, numbers: _Numbers, session: Session) -> _Places:
        return [
            (numbers[item.key], item)
            for part in session.get([wanted[number] for number in numbers], stat_only=True)
            for item in part.items
            if item.state != p.MISSING
        ]

    def _read(self, reading: _Reading, session: Session) -> None:
        """Requests what is left, and adds it to the samples that were found."""
        numbers = [*reading.left]
        wanted = [reading.wanted[number] for number in numbers]
        for part in session.get(wanted, stat_only=False):
            samples = iter(self._rows.read(part.message, f"the answer of {session.address}") if part.message else ())
            for item in part.items:
                number, key = numbers[item.key], wanted[item.key]
                if item.state == p.FOUND:
                    sample = next(samples, None)
                    if sample is None or sample["key"] != key:
                        found = "nothing" if sample is None else repr(sample["key"])
                        raise CorruptDataError(f"{session.address} answered the key {key!r} with {found}")
                    reading.found[number] = sample
                elif item.state == p.DAMAGED:
                    reading.damage[number] = item.problem
                del reading.left[number]


_Keys = list[str]
_Numbers = list[int]
_Places = list[tuple[int, p.Item]]


class _Reading:
    """What was read of some keys, over all feeders that answered a part."""

    def __init__(self, wanted: _Keys) -> None:
        self.wanted = wanted
        self.found: _Found = [None] * len(wanted)
        self.damage: dict[int, str] = {}
        self.left: dict[int, None] = {}
        """Numbers of the keys of the present request without an answer."""


def _list(prefix: str, delimiter: str, after: str, session: Session) -> p.Entries:
    return session.list(prefix, delimiter, after)


def _reopen(choice: Choice, version: int) -> FeedSamples:
    return FeedSamples(replace(choice, version=version))


def _keys(keys: Iterable[str]) -> _Keys:
    return [keys] if isinstance(keys, str) else [*keys]


def _requests(keys: _Keys) -> Iterator[_Numbers]:
    """The numbers of the keys, divided into requests."""
    some: _Numbers = []
    size = 0
    for number, key in enumerate(keys):
        try:
            length = 4 + len(key.encode())
        except UnicodeEncodeError:
            continue  # no key has unpaired surrogates
        if length > _REQUEST_BYTES:
            raise ValueError(f"a key of {length - 4} bytes cannot be requested; the limit is {_REQUEST_BYTES - 4}")
        if some and (len(some) == p.MAX_KEYS or size + length > _REQUEST_BYTES):
            yield some
            some, size = [], 0
        some.append(number)
        size += length
    if some:
        yield some
