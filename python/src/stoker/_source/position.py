"""Who reads, and positions of a feed."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stoker._format.plural import plural
from stoker._format.requires import check_requires
from stoker._order.regroup import regroup
from stoker._order.skip import Skipped, skipped_of
from stoker._source.batch_source import StreamInfo
from stoker.errors import FormatTooNewError, StateMismatchError


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


def starting_worker() -> bool:
    """Whether an object is being pickled for a DataLoader worker that this process starts.

    Other processes that are started with the object, such as ranks, are other readers.
    """
    context: Any = sys.modules.get("multiprocessing.context")
    if context is None or context.get_spawning_popen() is None:
        return False
    frame: Any = sys._getframe(1)
    while frame is not None:
        process = frame.f_locals.get("process_obj")  # of `Popen._launch`, with spawn and forkserver
        if process is not None:
            target = getattr(process, "_target", None)
            module = getattr(target, "__module__", "").partition(".")[0]
            return getattr(target, "__name__", "") == "_worker_loop" and module in ("torch", "torchdata")
        frame = frame.f_back
    return False


_TASKS = (
    ("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("Slurm", "SLURM_PROCID", "SLURM_NTASKS"),
    ("MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MPI", "PMI_RANK", "PMI_SIZE"),
)
"""Launchers, and their variables for the number of a task and the number of tasks."""


def lonely_task(environment: Mapping[str, str]) -> str | None:
    """Returns a warning for a reader of the whole stream if a launcher says that it has started several tasks."""
    for launcher, task, tasks in _TASKS:
        texts = environment.get(task, ""), environment.get(tasks, "")
        if texts[0].isdecimal() and texts[1].isdecimal():
            if int(texts[1]) < 2:
                return None
            return (
                f"this is task {texts[0]} of {texts[1]} for {launcher} ({task}, {tasks}), but the feed reads as rank 0 "
                "of 1, so every task gets all batches; call torch.distributed.init_process_group before you iterate, "
                "set RANK and WORLD_SIZE, or give rank and world_size to Feed (rank=0, world_size=1 if this is wanted)"
            )
    return None


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
        own, stored = info.order.to_json(), state["order"]
        for name in [*own, *(name for name in stored if name not in own)]:
            mine, there = own.get(name), stored.get(name)
            if name == "function" and there in (1, 2):
                continue  # follows from the other keys
            if there != mine and name in allow:
                order = replace(order, **{name: there})
            elif there != mine:
                differing.append(f"{name} {_shown(there)} in the state, {_shown(mine)} here")
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


def _shown(value: Any) -> Any:
    return "not set" if value is None else value
