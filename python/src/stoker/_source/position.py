"""How far a feed has come, in this process and across the worker processes of a DataLoader."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stoker._format.plural import plural
from stoker._format.requires import check_requires
from stoker._order.regroup import regroup
from stoker._order.skip import Skipped, skipped_of
from stoker._source.batch_source import StreamInfo
from stoker.errors import FormatTooNewError, StateMismatchError, StokerError

try:
    import fcntl
except ImportError:  # Windows, where no worker process can have the memory of its parent's position

    def _lock(fd: int, wanted: bool) -> None:
        pass
else:

    def _lock(fd: int, wanted: bool) -> None:
        fcntl.lockf(fd, fcntl.LOCK_EX if wanted else fcntl.LOCK_UN)


def worker_of() -> tuple[int, int, int] | None:
    """(worker, workers, a number that one pass of a DataLoader gives to all its workers), or None outside of one."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data is not None else None
    return None if info is None else (info.id, info.num_workers, (info.seed - info.id) & (2**63 - 1) or 1)


def rank_of(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Returns (rank, world size).

    Takes what is given, else an initialised torch.distributed, else RANK and WORLD_SIZE, else (0, 1).
    """
    source = "rank and world_size"
    if rank is None and world_size is None:
        distributed: Any = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank()), int(distributed.get_world_size())
        source = "RANK and WORLD_SIZE"
        texts = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
        if texts == (None, None):
            return 0, 1
        try:
            rank, world_size = (None if t is None else int(t) for t in texts)
        except ValueError:
            raise ValueError(f"RANK={texts[0]} WORLD_SIZE={texts[1]}: not numbers") from None
    if rank is None or world_size is None:
        raise ValueError(f"only one of {source} is set; set both")
    if not 0 <= rank < world_size:
        raise ValueError(f"{source}: rank {rank} is not in [0, {world_size})")
    return rank, world_size


def member_of(rank: int | None, world_size: int | None, replicas: int, replica: int) -> tuple[int, int, int]:
    """(rank, world size, replica) where each `replicas` processes in a row receive the same batches."""
    process, processes = rank_of(rank, world_size)
    if replicas == 1:
        return process, processes, replica
    if processes % replicas:
        raise ValueError(f"{plural(processes, 'rank')} cannot be divided into groups of {replicas} replicas")
    return process // replicas, processes // replicas, process % replicas


@dataclass(frozen=True)
class Start:
    """Where an iteration begins."""

    epoch: int
    batch: int = 0
    taken: int = 0
    """Batches that this worker has already taken from there."""
    version: int | None = None
    """Dataset version of this epoch according to a state; None: no batch of the epoch was read."""


class SharedEpochs:
    """Where the next pass of a DataLoader begins, seen by the feed's process and all its workers.

    DataLoader starts new worker processes for each pass, and their state dies with them. The first worker of a pass
    takes the next epoch and records it here; the other workers of that pass follow it. The memory has no name, so
    nothing is left behind.
    """

    # pass, setting; its epoch, batch; next epoch, batch; settings made so far; version of each of the two, or 0;
    # workers that failed and have not come to the end of their share
    _LAYOUT = struct.Struct("<10Q")

    def __init__(self, fd: int | None = None, seen: int = 0) -> None:
        if fd is None:
            if hasattr(os, "memfd_create"):
                fd = os.memfd_create("stoker")
            else:
                with tempfile.TemporaryFile() as f:
                    fd = os.dup(f.fileno())
            os.ftruncate(fd, self._LAYOUT.size)
        self._fd = fd
        self._memory = mmap.mmap(fd, self._LAYOUT.size)
        self._key = (0, 0)
        self._latest = Start(0)
        self._seen, self._seen_by = seen, os.getpid()
        """How often the position had been set when this process last looked, and the process."""

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):
            os.close(self._fd)

    def __reduce__(self) -> tuple[Any, ...]:
        from multiprocessing import reduction

        return _attach, (reduction.DupFd(self._fd), self._seen)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[list[int]]:
        try:  # an interrupt between the lock and this would keep it; to unlock what is not locked is harmless
            _lock(self._fd, True)
            values = list(self._LAYOUT.unpack_from(self._memory))
            yield values
            self._LAYOUT.pack_into(self._memory, 0, *values)
        finally:
            _lock(self._fd, False)

    def set(self, start: Start) -> None:
        """The next pass begins here, whatever was before."""
        with self._locked() as v:
            v[0] = v[1] = 0
            v[4], v[5], v[8] = start.epoch, start.batch, start.version or 0
            v[6] += 1
            v[9] = 0
            self._seen = v[6]

    def setting(self) -> int:
        """How often the position had been set when the pass was begun that an iteration made now is of.

        The first iteration of a worker process is of the pass that the process was started for.
        """
        with self._locked() as v:
            if self._seen_by == os.getpid():
                self._seen = v[6]
            self._seen_by = os.getpid()
            return self._seen

    def begin(self, the_pass: int, following: Callable[[Start], Start], setting: int | None = None) -> Start:
        """Returns where this worker begins in a pass; `following` says where the one after an iteration begins.

        `setting`: the setting of the pass. It stops a late worker from taking a position that was set for the next
        pass.
        """
        with self._locked() as v:
            key = (the_pass, v[6])
            if setting not in (None, v[6]):
                raise StokerError(
                    "the position of this feed was set after this pass of the DataLoader: begin a new one"
                )
            if v[9] and (key == self._key or (v[0], v[1]) != key):
                raise StokerError(
                    f"the previous pass of the DataLoader failed in epoch {v[2]}, and the feed does not know which "
                    "batches it used. Resume with feed.load_state_dict(batch.state) of the last batch, read the epoch "
                    f"again with feed.set_epoch({v[2]}), or begin a later one with feed.set_epoch({v[4]})"
                )
            if key == self._key:  # workers that stay: they pass over the data several times under one number
                self._latest = following(self._latest)
                after = following(self._latest)
                v[4], v[5] = max((v[4], v[5]), (after.epoch, after.batch))
                v[8] = 0
                return self._latest
            if (v[0], v[1]) != key:
                start = Start(v[4], v[5], version=v[8] or None)
                after = following(start)
                v[:6] = [*key, v[4], v[5], after.epoch, after.batch]
                v[7], v[8] = v[8], after.version or 0
            self._key, self._latest = key, Start(v[2], v[3], version=v[7] or None)
            return self._latest

    def count_failure(self, change: int, setting: int) -> None:
        """A worker has failed (1), or come to the end of its share after all (-1).

        `setting`: the setting of its pass. If the position was set since, a late worker does not fail the new pass.
        """
        with self._locked() as v:
            if setting == v[6]:
                v[9] = max(0, v[9] + change)

    def has_failed(self) -> bool:
        """Whether a worker has failed since the last `set` and has not come to the end of its share."""
        with self._locked() as v:
            return v[9] != 0

    def adopt(self, the_pass: int, start: Start, following: Callable[[Start], Start]) -> None:
        """This worker begins where its own state says; the pass after this one follows that iteration."""
        with self._locked() as v:
            key = (the_pass, v[6])
            if (v[0], v[1]) != key:
                after = following(start)
                v[:6] = [*key, start.epoch, start.batch, after.epoch, after.batch]
                v[7], v[8], v[9] = start.version or 0, after.version or 0, 0
            self._key, self._latest = key, start

    def read(self) -> tuple[bool, Start]:
        """(whether workers have begun since the last `set`, where the next pass begins)."""
        with self._locked() as v:
            return v[0] != 0, Start(v[4], v[5], version=v[8] or None)


def _attach(duplicate: Any, seen: int) -> SharedEpochs:
    shared = SharedEpochs(duplicate.detach(), seen)
    shared._seen_by = 0  # that was another process
    return shared


def spawning() -> bool:
    """Whether an object is being pickled for a process that is being started."""
    context: Any = sys.modules.get("multiprocessing.context")
    return context is not None and context.get_spawning_popen() is not None


def state_of(info: StreamInfo, epoch: int, batch: int, skipped: Skipped = ()) -> dict[str, Any]:
    """The resume state at a position of a feed that leaves out some batches."""
    coming = [list(each) for each in skipped if (each[0], each[2]) >= (epoch, batch)]
    state = {
        "stoker": 1,
        "fingerprint": info.fingerprint,
        "epoch": epoch,
        "batch": batch,
        "dataset": info.dataset,
        "version": info.version,
        "split": info.split,
        "order": info.order.to_json(),
    }
    return state | {"skip": coming} if coming else state


MOST_EPOCH = 2**53 - 1
"""The greatest number of an epoch: JSON has no greater integers that every reader takes."""
ALLOWED = ("batch_size", "skip")
"""Options that may differ between a state and the feed that resumes from it, if the caller permits that."""


def epoch_of(state: Mapping[str, Any], worker: tuple[int, int, int] | None) -> Start:
    """Returns the epoch in which a state resumes and the dataset version it has read of that.

    Raises `FormatTooNewError` if the state needs an unknown feature. Checks no more.
    """
    _require_state(state)
    try:
        check_requires(state, "the state")
        epoch, batch, taken = state["epoch"], state["batch"], 0
        if worker is not None and "worker" in state:
            (epoch, batch), taken = state["start"], state["taken"]
        version = state["version"] if batch or taken else None
        if not isinstance(epoch, int) or epoch < 0 or not (version is None or isinstance(version, int)):
            raise ValueError(f"epoch {epoch!r}, version {version!r}")
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise StateMismatchError(f"not a state of a feed: {e!r}") from e
    return Start(epoch, version=version)


def _require_state(state: Any) -> None:
    """Raises `StateMismatchError` for a whole checkpoint, a text and other things that are often given instead."""
    if isinstance(state, (str, bytes)):
        raise StateMismatchError("the state is a text; parse it first: load_state_dict(json.loads(state))")
    if not isinstance(state, Mapping):
        raise StateMismatchError(f"not a state of a feed, but a {type(state).__name__}; give batch.state")
    if "epoch" not in state or "fingerprint" not in state:
        inside = [name for name, part in state.items() if isinstance(part, Mapping) and "fingerprint" in part]
        names = ", ".join(map(str, list(state)[:8]))
        meant = f"; take its part {inside[0]!r}: load_state_dict(checkpoint[{inside[0]!r}])" if inside else ""
        raise StateMismatchError(f"not a state of a feed: it has {names or 'nothing'}{meant}")


def start_of(
    state: Mapping[str, Any],
    info: StreamInfo,
    worker: tuple[int, int, int] | None,
    allow: Collection[str] = (),
    skipped: Skipped = (),
) -> tuple[Start, int]:
    """Returns the position in a state, and how many samples come again because of an allowed difference.

    Raises `StateMismatchError`, which names all differences from this stream, and ranges of batches that the state
    leaves out behind its position but `skipped` does not.
    """
    unknown = sorted(set(allow) - set(ALLOWED))
    if unknown:
        raise ValueError(f"allow={unknown}: only {', '.join(ALLOWED)} may differ")
    again, order = 0, info.order
    try:
        if state["stoker"] != 1:
            raise FormatTooNewError(f"state of format {state['stoker']!r}, this package reads 1; update stoker")
        differing = []
        place = epoch_of(state, worker)
        # Of a following feed another version is right where nothing was read of the epoch.
        same = not info.follows or place.version is not None
        for name, here in (("dataset", info.dataset), ("version", info.version), ("split", info.split)):
            if state[name] != here and (same or name != "version"):
                differing.append(f"{name} {state[name]} in the state, {here} here")
        for name, here in info.order.to_json().items():
            there = state["order"].get(name)
            if there != here and name in allow:
                order = replace(order, **{name: there})
            elif there != here:
                differing.append(f"{name} {there} in the state, {here} here")
        if same and not differing and order == info.order and state["fingerprint"] != info.fingerprint:
            differing.append(f"contents: fingerprint {state['fingerprint']} in the state, {info.fingerprint} here")
        epoch, batch = state["epoch"], state["batch"]
        if "skip" not in allow:
            coming = [each for each in skipped_of(state.get("skip", ())) if (each[0], each[2]) >= (epoch, batch)]
            delivered = [each for each in coming if not _includes(skipped, each, (epoch, batch))]
            if delivered:
                differing.append(
                    f"skipped batches: {', '.join(map(str, delivered))} are skipped in the state, not here"
                )
        if worker is not None and "worker" in state:
            mine = [worker[0], worker[1]]
            if state["worker"] != mine:
                differing.append(f"worker {state['worker']} in the state, {mine} here")
            if order != info.order:
                differing.append(
                    "another batch size, from which the state of one worker cannot resume (batch.state can)"
                )
            start = Start(state["start"][0], state["start"][1], state["taken"], place.version)
        else:
            start = Start(epoch, batch, version=place.version)
    except (KeyError, TypeError, AttributeError) as e:
        raise StateMismatchError(f"not a state of a feed: {e!r}") from e
    except ValueError as e:
        raise StateMismatchError(f"not a state of a feed: {e}") from e
    if differing:
        told = "the state belongs to another feed: " + "; ".join(differing)
        if len(differing) == 1 and differing[0].startswith(("batch_size", "skipped batches")):
            name = "skip" if differing[0].startswith("skipped") else "batch_size"
            told += f'; to accept this, call load_state_dict(state, allow=("{name}",))'
        raise StateMismatchError(told)
    whole = all(isinstance(n, int) and n >= 0 for n in (start.epoch, start.batch, start.taken))
    if whole and order != info.order:
        try:
            position, again = regroup(info.order, order, info.lane_rows, start.epoch, start.batch)
        except ValueError as e:
            raise StateMismatchError(f"impossible position: epoch {epoch}, {e}") from e
        start = replace(start, batch=position)
    if not whole or start.batch > info.batches or start.epoch > MOST_EPOCH:
        raise StateMismatchError(f"impossible position: epoch {epoch}, batch {batch} of {info.batches}")
    return start, again


def _includes(skipped: Skipped, wanted: tuple[int, int, int], position: tuple[int, int]) -> bool:
    """Whether ranges that are not adjacent contain the part of a range that is not before a position."""
    epoch, begin, end = wanted
    begin = max(begin, position[1]) if epoch == position[0] else begin
    return any(at == epoch and first <= begin and end <= last for at, first, last in skipped)
