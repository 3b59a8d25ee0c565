"""The validated options of a `Feed`; picklable, so that the feed can be recreated in another process."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from stoker._dataset.location import feed_path, is_remote
from stoker._dataset.log import read_info
from stoker._dataset.tags import version_of
from stoker._format.sizes import bytes_of
from stoker._kafka.target import is_topic
from stoker._order.skip import Skipped, skipped_of
from stoker._order.spec import TAILS, OrderSpec, Tail
from stoker._source.instance import Instance, Launch
from stoker._store.remote_path import AnyPath
from stoker._transport.discovery import is_address_list
from stoker._transport.security import Security
from stoker._wire.protocol import MAX_RUN

Init = TypeVar("Init", bound=Callable[..., None])
_OF_A_LOADER = "it is an argument of the loader: DataLoader(feed, batch_size=None, num_workers=…, {}=…)"
_ONE_DATASET = "a feed reads one dataset; take the batches of several feeds in turn, and save the state of each"
_SOME = "end an iteration with epoch_batches=…, or read some samples with stoker.open(path)[:1000]"
_ELSEWHERE = {
    "drop_last": "use tail='drop'",
    "transform": "use decode={'image': function}; the function receives the bytes of one row. For random or joint "
    "transforms see docs/python.md, Augmentation",
    "transforms": "use decode={'image': function}; the function receives the bytes of one row. For random or joint "
    "transforms see docs/python.md, Augmentation",
    "num_workers": "a feed reads ahead automatically; use decode_threads, or DataLoader(feed, batch_size=None, "
    "num_workers=…)",
    "workers": "a feed reads ahead automatically; use decode_threads",
    "prefetch_factor": "a feed reads ahead automatically, up to buffer_bytes",
    "collate_fn": "a feed already returns batches; change them in the loop, or decode fields with "
    "decode={'image': function}",
    "sampler": "the order follows from seed, shuffle and shuffle_window",
    "generator": "use seed",
    "shuffle_seed": "use seed",
    "filter": "use where=\"label = 'cat' AND width >= 256\"",
    "weights": "each epoch has every sample once; a WeightedRandomSampler can draw from stoker.open(path)",
    "proportion": _ONE_DATASET,
    "streams": _ONE_DATASET,
    "datasets": _ONE_DATASET,
    "remote": "the first argument is the location, such as Feed('s3://bucket/photos')",
    "local": "copies of a remote dataset are kept in STOKER_CACHE_DIR; the first argument is its location",
    "cache_dir": "set STOKER_CACHE_DIR",
    "cache_limit": "set STOKER_CACHE_SIZE",
    "predownload": "a feed reads ahead automatically, up to buffer_bytes",
    "buffer_size": "use shuffle_window, which is in bytes",
    "shuffle_buffer": "use shuffle_window",
    "persistent_workers": _OF_A_LOADER.format("persistent_workers"),
    "multiprocessing_context": _OF_A_LOADER.format("multiprocessing_context"),
    "worker_init_fn": _OF_A_LOADER.format("worker_init_fn"),
    "max_samples": _SOME,
    "num_samples": _SOME,
    "limit": _SOME,
    "subset": _SOME,
    "subsample": _SOME,
    "classes": "the dataset has its classes; feed.classes has their names",
}
"""Option names of other loaders, with the equivalent in Stoker or the reason why none is needed."""


_LEAST = {
    "rank": 0,
    "world_size": 1,
    "replica": 0,
    "replicas": 1,
    "epochs": 1,
    "epoch_batches": 1,
    "concat": 1,
    "decode_threads": 1,
    "buffer_bytes": 0,
}
"""The least value of each option that is a whole number."""
_OPTIONAL = ("rank", "world_size", "version", "epochs", "epoch_batches", "decode_threads")
_LONGEST_S = 2_000_000.0
"""23 days. Sockets take no more than 2^31 ms."""


def suggesting(init: Init) -> Init:
    """Wraps a constructor so that its error about an unknown argument suggests the intended one."""
    parameters = list(inspect.signature(init).parameters.values())[1:]
    known = {parameter.name.replace("_", ""): parameter.name for parameter in parameters}
    by_place = [parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        if len(args) > len(by_place):
            wrong = args[len(by_place)]
            meant = _number_meant(wrong) or ", and the other arguments by name"
            raise TypeError(f"{type(self).__name__}() takes {' and '.join(by_place)} by place, not {wrong!r}{meant}")
        for name in given:
            if name not in known.values():
                if name in _ELSEWHERE and name not in known:
                    raise TypeError(f"{type(self).__name__}() has no argument {name!r}: {_ELSEWHERE[name]}")
                near = get_close_matches(name.replace("_", "").lower(), known, 1)
                hint = f"; did you mean {known[near[0]]!r}?" if near else f"; there are {', '.join(known.values())}"
                raise TypeError(f"{type(self).__name__}() has no argument {name!r}{hint}")
        init(self, *args, **given)

    return checked  # type: ignore[return-value]


def _number_meant(value: Any) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"; did you mean batch_size={value}?" if is_number else ""


def _check_names(target: Any, given: Mapping[str, Any]) -> None:
    """Raises `TypeError` for things that are no names, which the checks of values expect."""
    if target is not None and not isinstance(target, (str, os.PathLike)):
        root = getattr(getattr(target, "_snapshot", None), "root", None)
        meant = "; a feed reads one dataset: use a feed for each" if isinstance(target, (list, tuple, set)) else ""
        meant = f"; give its path: Feed({str(root)!r})" if root is not None else meant
        raise TypeError(f"target must be a path or the name of a feed, not of type {type(target).__name__}{meant}")
    for name in ("stream", "split", "group"):
        value = given[name]
        if not (isinstance(value, str) and value) and (value is not None or name == "group"):
            raise TypeError(f"{name} must be a name, not {value!r}{_number_meant(value)}")


@dataclass(frozen=True)
class Options:
    """See `Feed` for the meaning of each option."""

    target: str | None
    stream: str | None
    order: Mapping[str, Any]
    """Only the keys that the caller gave."""
    split: str | None
    version: int | None
    """The number of the version, also if it was given by a tag."""
    follow: bool
    rank: int | None
    world_size: int | None
    replica: int
    replicas: int
    run: int
    group: str
    tail: Tail
    epochs: int | None
    epoch_batches: int | None
    concat: int
    skip: Skipped
    columns: tuple[str, ...] | None
    decode: Mapping[str, str | Callable[[Any], Any]] | None
    decode_threads: int | None
    on_corrupt: str
    pin_memory: bool
    buffer_bytes: int
    connect_timeout: float
    reconnect_timeout: float
    batch_timeout: float
    place_timeout: float
    security: Security
    instance: Instance
    launch: Launch | None

    @staticmethod
    def of(
        target: str | os.PathLike[str] | None,
        *,
        shuffle: str | bool | None,
        run: int | None,
        order: Mapping[str, Any],
        place_timeout: float | None,
        **given: Any,
    ) -> Options:
        """Checks everything and reports all problems together."""
        _check_names(target, given)
        spec = {name: value for name, value in order.items() if value is not None and value != ""}
        if shuffle is not None:
            spec["shuffle"] = (
                {True: "window", False: "none"}.get(shuffle, shuffle) if isinstance(shuffle, bool) else shuffle
            )
        problems = given["security"].problems()
        for values, name in ((spec, "shuffle_window"), (given, "buffer_bytes")):
            if isinstance(values.get(name), str):
                try:
                    values[name] = bytes_of(values[name])
                except ValueError as e:
                    problems.append(f"{name}={e}")
                    values[name] = 0
        if not isinstance(given["follow"], bool):
            problems.append(f"follow must be True or False, is {given['follow']!r}")
        for name, least in _LEAST.items():
            given[name] = _whole_number(name, given[name], least, problems)
        for name in ("connect_timeout", "reconnect_timeout", "batch_timeout"):
            given[name] = _seconds(name, given[name], problems)
        try:
            checked = OrderSpec(**spec)
            if checked.where:
                spec["where"] = checked.where  # the canonical text
        except ValueError as e:
            problems.append(str(e))
        if given["tail"] not in TAILS:
            problems.append(f"tail must be one of {', '.join(TAILS)}, is {given['tail']!r}")
        if given["on_corrupt"] not in ("fail", "skip"):
            problems.append(f"on_corrupt must be 'fail' or 'skip', is {given['on_corrupt']!r}")
        if (given["rank"] is None) != (given["world_size"] is None):
            problems.append("only one of rank and world_size is given; give both")
        elif given["rank"] is not None and not 0 <= given["rank"] < given["world_size"]:
            problems.append(f"rank {given['rank']} is not in [0, {given['world_size']})")
        if given["replicas"] > 1 and given["replica"]:
            problems.append("replica and replicas: both are set; give only one of them")
        try:
            given["skip"] = skipped_of(given["skip"])
        except ValueError as e:
            problems.append(str(e))
        decode = given["decode"]
        if decode is not None and not isinstance(decode, Mapping):
            raise TypeError(
                f"decode={decode!r}: expected a decoder for each field, such as {{'image': 'rgb'}} or "
                "{'image': function}"
            )
        if isinstance(given["columns"], str):
            problems.append(f"columns must be a list of names, not {given['columns']!r}")
        elif given["columns"] is not None:
            given["columns"] = tuple(given["columns"])
        if isinstance(given["version"], str):
            # The version must stay the same if the tag is moved.
            path = None if target is None else _path_of(os.fspath(target), isinstance(target, os.PathLike))
            if path is None:
                problems.append(f"version={given['version']!r}: a tag can be given for a path only; leave it out")
            else:
                given["version"] = version_of(path, given["version"], read_info(path).id)
        else:
            given["version"] = _whole_number("version", given["version"], 1, problems)
        if given["follow"] and given["version"] is not None:
            problems.append(
                "follow and version cannot be given together: follow=True reads the newest version, "
                f"version={given['version']} that one"
            )
        if run is None:
            text = os.environ.get("STOKER_RUN", "0")
            run = int(text) if text.isdecimal() else -1
            if not 0 <= run <= MAX_RUN:
                problems.append(f"STOKER_RUN={text!r} is not a number from 0 to 2^62")
        elif not 0 <= run <= MAX_RUN:
            problems.append(f"run is {run}; it must be from 0 to 2^62")
        if place_timeout is None:
            text = os.environ.get("STOKER_PLACE_TIMEOUT") or "30"
            try:
                place_timeout = float(text)
            except ValueError:
                problems.append(f"STOKER_PLACE_TIMEOUT={text!r} is not a number of seconds")
                place_timeout = 0.0
        place_timeout = _seconds("place_timeout", place_timeout, problems)
        if problems:
            raise ValueError("; ".join(problems))
        named = None if target is None else os.fspath(target)
        if named is not None and is_remote(named) and not is_topic(named):
            feed_path(named)  # Says what to do instead.
        if isinstance(target, os.PathLike) and named is not None and not _looks_like_path(named):
            named = os.path.join(os.curdir, named)
        options = Options(
            target=named,
            order=spec,
            run=run,
            place_timeout=place_timeout,
            instance=Instance.of_this_process(),
            launch=Launch.of(os.environ),
            **given,
        )
        if options.follow and options.path is None:
            raise ValueError("follow works with a path only; a feed follows its dataset if it is started with --follow")
        return options

    @property
    def path(self) -> AnyPath | None:
        """The dataset directory; None if the target is a feed."""
        return None if self.target is None else _path_of(self.target)


def _whole_number(name: str, value: Any, least: int, problems: list[str]) -> Any:
    """Returns an option as an int, so that it can be written as JSON, or None if it was not given."""
    if value is None and name in _OPTIONAL:
        return None
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        problems.append(f"{name} must be an integer of at least {least}, is {value!r}")
        return least  # for the checks that follow
    return number


def _seconds(name: str, value: Any, problems: list[str]) -> float:
    """Returns a time limit that every wait accepts."""
    try:
        seconds = -1.0 if isinstance(value, (bool, str)) else float(value)
    except (TypeError, OverflowError):
        seconds = -1.0
    if not seconds >= 0:
        problems.append(f"{name} must be a number of seconds and not negative, is {value!r}")
    return min(seconds, _LONGEST_S)


def _path_of(target: str, is_path: bool = False) -> AnyPath | None:
    """The dataset directory; None if the target is a feed."""
    return feed_path(target) if is_path or _looks_like_path(target) else None


def _looks_like_path(target: str) -> bool:
    if is_address_list(target) or is_topic(target):
        return False
    return target.startswith((".", "~")) or "/" in target or os.sep in target
