"""What only looks changes nothing: not the position, not the batches that follow, no receipt, no place and no file."""

from __future__ import annotations

import contextlib
import copy
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import stoker
from kafka_fake import TOPIC, Writer
from small_datasets import small_dataset
from stoker import Feed
from stoker._feed.reading import Reading
from stoker.testing import ServedFeed, serve

ORDER: dict[str, Any] = {"batch_size": 5, "lanes": 3, "shuffle_window": 6000, "seed": 9}
EPOCHS = 3


def peeking(feed: Feed) -> Any:
    """Another feed that reads in another group."""
    options = feed._reading.options
    given = ORDER if options.path is not None else {}
    target = options.path or options.target
    topic = isinstance(target, str) and target.startswith("kafka:")
    with Feed(target, **given, **({} if topic else {"group": "peeking"})) as other:
        return other.info, len(other), next(iter(other)).keys, other.state_dict()


def a_feed_that_takes_no_batch(feed: Feed) -> Any:
    """Another feed of the same group."""
    options = feed._reading.options
    with Feed(options.path or options.target, **(ORDER if options.path is not None else {})) as other:
        return other.info, other.version, len(other), repr(other), other._repr_html_(), other.state_dict()


def why(feed: Feed) -> Any:
    dataset = None if feed._reading.options.path is not None else DATASETS[-1]
    named = feed.why(step=0, dataset=dataset)
    return named, feed.why(batch=1, dataset=dataset), feed.why(key=named[0].key, epoch=range(3), dataset=dataset)


def no_position(feed: Feed) -> None:
    with pytest.raises(TypeError):
        feed[0]


DATASETS: list[Path] = []

LOOKS: dict[str, Callable[[Feed], Any]] = {
    "info": lambda feed: feed.info,
    "version": lambda feed: feed.version,
    "classes": lambda feed: dict(feed.classes),
    "fingerprint": lambda feed: feed.fingerprint,
    "remaining": lambda feed: feed.remaining,
    "repeats": lambda feed: feed.repeats,
    "state_dict": lambda feed: feed.state_dict(),
    "stats": lambda feed: feed.stats(),
    "report": lambda feed: feed.report(),
    "stall_report": lambda feed: feed.stall_report(),
    "why": why,
    "_repr_html_": lambda feed: feed._repr_html_(),
    "__repr__": lambda feed: (repr(feed), str(feed), f"{feed}"),
    "__len__": lambda feed: (len(feed), bool(feed)),
    "__class__": lambda feed: isinstance(feed, Feed),
    "__reduce__": lambda feed: pickle.loads(pickle.dumps(feed)).close(),
    "__getitem__": lambda feed: no_position(feed),
    "__iter__": lambda feed: (iter(feed), iter(feed)),
    "batches": lambda feed: feed.batches(),
    "__enter__": lambda feed: feed.__enter__(),
    "prometheus": lambda feed: stoker.prometheus(feed),
    "dir, vars and hasattr": lambda feed: (dir(feed), list(vars(feed)), [hasattr(feed, n) for n in dir(feed)]),
    "copy": lambda feed: copy.copy(feed).close(),
    "another group": peeking,
    "another feed": a_feed_that_takes_no_batch,
}
"""Each attribute and method that only looks. An iterator looks until it is asked for a batch."""

ACTS = {"set_epoch", "load_state_dict", "close", "__exit__", "__init__"}
NEEDS = {"as_tf_dataset"}
"""Needs TensorFlow; its datasets iterate as `iter` does."""
PLAIN = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__"}
PLAIN |= {"__static_attributes__", "__parameters__", "__orig_bases__"}


def test_each_attribute_of_a_feed_is_known():
    names = {name for part in Feed.__mro__[:-1] if part.__module__.startswith("stoker") for name in vars(part)}
    names |= {name for name in vars(Feed("x")) if not name.startswith("_")}
    unknown = {name for name in names if name not in LOOKS.keys() | ACTS | NEEDS | PLAIN}
    unknown = {name for name in unknown if not name.startswith("_") or name.startswith("__") or name.endswith("_")}
    assert not unknown, "add them to what looks or to what acts"


def files_below(root: Path) -> dict[str, Any]:
    """Content and time of change of all files and directories."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None) for path in root.rglob("*")
    }


class Scene:
    """A feed of some kind, and what can be seen of it from outside."""

    def __init__(self, kind: str, root: Path, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root / "d"
        self.writer = small_dataset(self.root, chunks=(7, 5, 9, 6, 8, 3, 11, 10))
        DATASETS.append(self.root)
        for name in ("STOKER_HOME", "STOKER_CACHE_DIR"):
            place = root / name.lower()
            place.mkdir()
            monkeypatch.setenv(name, str(place))
        self.target, self.order = str(self.root), dict(ORDER)
        self.served: ServedFeed | None = None
        if kind == "feeders":
            self.served = stack.enter_context(serve(self.root, order=ORDER, feeders=2))
            self.target, self.order = self.served.target, {}
        elif kind == "topic":
            topic = Writer(self.root, **ORDER)
            for epoch in range(EPOCHS):
                topic.write(epoch)
            monkeypatch.setitem(sys.modules, "confluent_kafka", topic.topic.module())
            self.target, self.order = f"kafka://broker:9092/{TOPIC}", {}
        self._files = root

    def open(self) -> Feed:
        return Feed(self.target, **self.order)

    def picture(self, feed: Feed, consumed: set[tuple[int, int]]) -> dict[str, Any]:
        """Files, the position and places of the feed, and receipts of batches that are not consumed."""
        reading: Reading = feed._reading
        progress = reading.progress
        seen = files_below(self._files)
        seen["position"] = progress.next, progress.origin, progress.serial, progress.last
        seen["taken"] = [] if feed._iteration is None else [feed._iteration.start, feed._iteration.remaining]
        if self.served is not None:
            state = self.served.state
            with state.changed:
                mine = {place: run for place, run in state.runs.items() if place[0] != "peeking"}
                acks = [ack for ack in state.acks if ack.identity[0] != "peeking"]
                seen["receipts"] = [ack for ack in acks if (ack.epoch, ack.entry.number) not in consumed]
                seen["places"] = mine, {name: run for name, run in state.group_runs.items() if name != "peeking"}
        return seen


@pytest.fixture(params=["path", "feeders", "topic"])
def scene(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    with ExitStack() as stack:
        yield Scene(request.param, tmp_path, stack, monkeypatch)
    DATASETS.clear()


def names_of(batches: Iterator[stoker.Batch]) -> list[tuple[int, int, list[str]]]:
    return [(batch.epoch, batch.number, list(batch.keys)) for batch in batches]


@pytest.mark.parametrize("taken", [0, 4, "epoch"])
def test_looking_changes_nothing(scene: Scene, taken: int | str) -> None:
    with scene.open() as undisturbed:
        expected = [each for _ in range(EPOCHS) for each in names_of(iter(undisturbed))]
        steps = len(undisturbed)
    count = steps if taken == "epoch" else int(taken)
    with scene.open() as feed:
        feed.info  # noqa: B018  (the first look connects)
        iterator = iter(feed)
        got = names_of(next(iterator) for _ in range(count))
        if taken == "epoch":
            with contextlib.suppress(StopIteration):
                next(iterator)
        consumed = {(epoch, number) for epoch, number, _ in (got if taken == "epoch" else got[:-1])}
        before = scene.picture(feed, consumed)
        for name, look in LOOKS.items():
            look(feed)
            after = scene.picture(feed, consumed)
            assert after == before, name
        if taken != "epoch":
            got += names_of(iterator)
        while len(got) < len(expected):
            got += names_of(iter(feed))
        assert got == expected


SAMPLES: dict[str, Callable[[stoker.Samples], Any]] = {
    "__contains__": lambda samples: next(iter(samples.keys())) in samples,
    "__getitem__": lambda samples: (samples[0], samples[next(iter(samples.keys()))], samples[:3]),
    "__iter__": lambda samples: list(samples),
    "__len__": len,
    "__repr__": repr,
    "_repr_html_": lambda samples: samples._repr_html_(),
    "get": lambda samples: samples.get(next(iter(samples.keys()))),
    "keys": lambda samples: list(samples.keys()),
    "list": lambda samples: list(samples.list("")),
    "stat": lambda samples: samples.stat(next(iter(samples.keys()))),
    "to_arrow": lambda samples: samples.to_arrow(),
    "to_pandas": lambda samples: samples.to_pandas(),
    "reader": lambda samples: samples.reader().read_all(),
    "scanner": lambda samples: samples.scanner().to_table(),
    "plain": lambda samples: (samples.classes, samples.fields, samples.name, samples.splits, samples.version),
}
PLAIN_SAMPLES = {"classes", "fields", "name", "splits", "version"}


def test_each_attribute_of_samples_is_known():
    names = {name for name in vars(stoker.Samples) if not name.startswith("_")}
    assert names <= SAMPLES.keys() | PLAIN_SAMPLES, "add them to what looks"


def test_lookups_change_no_file(tmp_path: Path) -> None:
    with stoker.Writer(tmp_path / "d", schema={"size": "int32"}) as writer:
        for number in range(20):
            writer.write({"size": number, "key": f"a/{number}"})
    before = files_below(tmp_path)
    for name, look in SAMPLES.items():
        look(stoker.open(tmp_path / "d"))
        assert files_below(tmp_path) == before, name
