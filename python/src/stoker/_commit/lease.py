"""Leases of writers at work, which keep others from deleting their chunks: docs/formats/dataset.md, "Leases"."""

from __future__ import annotations

import contextlib
import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path

from stoker._commit.entry import encode_json
from stoker._commit.local_store import UnknownOutcome
from stoker._commit.stores import Store
from stoker._dataset.log import decode_json, read_verified, texts
from stoker._store.remote_path import AnyPath, list_names
from stoker.errors import CorruptDataError, FormatTooNewError

_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,127})\.json")
_FOLDER = "_stoker/leases"
_READ_BACKS = 5
_TOGETHER = timedelta(seconds=5)
"""Leases that were taken within this time may be of writers that ask at the same time."""
_PAUSE_S = 0.1
_PAUSES = 30


@dataclass(frozen=True)
class Lease:
    """The writer that is at work under an ingest id. The file has the same keys in the same order."""

    dataset: str
    ingest: str
    created: str
    by: str
    process: str
    """The only process that writes, or "" if there may be several."""

    def encode(self) -> bytes:
        """The content of the file."""
        return encode_json(asdict(self))


def read_lease(path: AnyPath) -> Lease:
    """Reads and verifies a lease; FileNotFoundError if there is none."""
    names = [field.name for field in fields(Lease)]
    return decode_json(read_verified(path), path, lambda content: Lease(*texts(content, *names)))


class Leases:
    """The leases of a dataset. Any thread."""

    def __init__(self, store: Store, dataset: str) -> None:
        self._store, self._dataset = store, dataset

    def take(self, ingest: str, created: str, by: str, process: str) -> None:
        """Takes the lease of an ingest, or continues the lease of an earlier attempt with the same id."""
        lease = Lease(self._dataset, ingest, created, by, process)
        unknown: OSError | None = None
        for _ in range(_READ_BACKS + 1):
            try:
                self._store.create_if_absent(_name(ingest), lease.encode())
            except UnknownOutcome as e:
                unknown = e
            try:
                found = read_lease(self._path(ingest))
            except FileNotFoundError:
                continue
            if found.dataset != self._dataset or found.ingest != ingest:
                raise CorruptDataError(
                    f"{self._path(ingest)} is the lease of ingest {found.ingest} of dataset {found.dataset}, "
                    f"expected {ingest} of {self._dataset}"
                )
            if found.process != process and has_ended(found.process):
                # An earlier attempt's; in between nobody can take the ingest for another's.
                self.release([ingest])
                continue
            return
        raise OSError(f"{self._path(ingest)} was written, but is not there") from unknown

    def others(self, ingest: str) -> list[Lease]:
        """Returns the leases of other writers that are, or may be, at work."""
        return [lease for name, lease in self.all().items() if name != ingest and not has_ended(lease.process)]

    def rival(self, ingest: str, has_committed: Callable[[str], bool]) -> Lease | None:
        """Returns the lease that keeps a first writer from its work; None if it is alone.

        A writer that took its lease after another one looked finds it, so at most one continues. Of writers that look
        at the same time, the one with the smallest id waits until the others have released theirs, and continues.
        """
        rivals: list[Lease] = []
        for pause in range(_PAUSES):
            leases = self.all()
            rivals = [r for n, r in leases.items() if n != ingest and not has_ended(r.process)]
            rivals = [r for r in rivals if not has_committed(r.ingest)]
            settled = [r for r in rivals if not _are_together(r, leases.get(ingest))]
            rivals.sort(key=lambda r: r.ingest)
            if settled or not rivals or rivals[0].ingest < ingest:
                return next(iter(settled or rivals), None)
            if pause + 1 < _PAUSES:
                time.sleep(_PAUSE_S)
        return rivals[0]

    def release(self, ingests: Iterable[str]) -> None:
        """Releases the leases of ingests that have committed or never will. `stoker gc` removes those that remain."""
        for ingest in ingests:
            with contextlib.suppress(OSError):
                self._store.delete(self._path(ingest))

    def all(self) -> Mapping[str, Lease]:
        """Every lease by its ingest. One that cannot be read counts by its name."""
        leases = {}
        names = list_names(self._store.path(_FOLDER))
        for name in sorted(names):
            match = _NAME.fullmatch(name)
            if not match:
                continue
            try:
                leases[match[1]] = read_lease(self._path(match[1]))
            except FileNotFoundError:
                continue
            except (CorruptDataError, FormatTooNewError) as e:
                warnings.warn(f"stoker: a lease counts although it cannot be read: {e}", RuntimeWarning, stacklevel=2)
                leases[match[1]] = Lease(self._dataset, match[1], "an unknown time", "an unknown writer", "")
        return leases

    def _path(self, ingest: str) -> AnyPath:
        path: AnyPath = self._store.path(_name(ingest))
        return path


def _name(ingest: str) -> str:
    return f"{_FOLDER}/{ingest}.json"


def _are_together(lease: Lease, own: Lease | None) -> bool:
    try:
        return own is not None and abs(_time(lease) - _time(own)) <= _TOGETHER
    except ValueError:
        return False


def _time(lease: Lease) -> datetime:
    return datetime.fromisoformat(lease.created.replace("Z", "+00:00"))


def this_process() -> str:
    """Returns the name of this process, as docs/formats/dataset.md defines it; "" if it cannot be determined."""
    try:
        pid = os.getpid()
        return f"{_machine()}/{pid}/{_start_time(pid)}"
    except (OSError, IndexError):
        return ""


def has_ended(process: str) -> bool:
    """Whether a process has certainly ended: it ran on the same system as this one, and no longer exists."""
    machine, _, rest = process.rpartition("/")
    machine, _, pid = machine.rpartition("/")
    try:
        if not machine or machine != _machine():
            return False
        return _start_time(int(pid)) != rest
    except FileNotFoundError:
        return True
    except (OSError, ValueError, IndexError):
        return False


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"{boot}/{os.readlink('/proc/self/ns/pid')}"


def _start_time(pid: int) -> str:
    stat = Path(f"/proc/{pid}/stat").read_text("latin-1")
    # The name of the program, in parentheses, may have spaces.
    return stat.rpartition(")")[2].split()[19]
