"""The process that opens a feed, and the launcher that started it, as HELLO names them."""

from __future__ import annotations

import functools
import os
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_LOADED = time.time_ns() // 1000
"""Stands for the start of this process where the system does not tell it."""
_MOST_NAME = 255
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Instance:
    """A process. The loader workers of a feed carry the instance of the process that created the feed."""

    boot: str
    """The boot id of the running kernel."""
    pid: int
    start: int
    """When the process started, in a unit of the machine's own."""
    host: str
    """For messages."""

    @staticmethod
    def of_this_process() -> Instance:
        """The calling process."""
        host = _name(socket.gethostname()) or "unknown"
        return Instance(host_id() or host[:64], os.getpid(), _start_of_this_process(), host)

    def to_json(self) -> dict[str, Any]:
        """The object of HELLO."""
        return asdict(self)


@dataclass(frozen=True)
class Launch:
    """One start of a job by a launcher that starts it again when it fails."""

    launcher: str
    id: str
    restarts: int

    @staticmethod
    def of(environment: Mapping[str, str]) -> Launch | None:
        """What torchrun or Slurm says; None without either, and for torchrun's default id, which names no job."""
        for launcher, key, restarts, no_job in (
            ("torchelastic", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "none"),
            ("slurm", "SLURM_JOB_ID", "SLURM_RESTART_COUNT", ""),
        ):
            job = _name(environment.get(key, ""))
            if job and job != no_job:
                return Launch(launcher, job, _count(restarts, environment.get(restarts) or "0"))
        return None

    def to_json(self) -> dict[str, Any]:
        """The object of HELLO."""
        return asdict(self)


def _count(variable: str, text: str) -> int:
    """The number of restarts. A launcher sets a number; another text would make a start look like the first one."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError(
            f"{variable}={text} is not a number of restarts; unset it, or set the number of earlier starts of the job"
        )
    return int(text)


@functools.cache
def host_id() -> str | None:
    """The identity of this machine, None where it has none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip() or None
    except (OSError, ValueError):
        return None


def _name(text: str) -> str:
    return "".join(c for c in text if c.isprintable())[:_MOST_NAME]


def _start_of_this_process() -> int:
    try:
        # The command's name, in brackets, may hold anything; what follows it does not.
        text = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        return int(text.split()[19])
    except (OSError, ValueError, IndexError):
        return _LOADED
