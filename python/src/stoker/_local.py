"""Feeders on this machine: whose Unix-domain socket may be used instead of their TCP address."""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

TRANSPORTS: Final = ("auto", "tcp", "unix", "handover")
_LEAST_HANDED = 16 << 10
"""Bytes of payload a row from which it is cheaper to find it in the files than to receive it, by measurement."""
_MAX_PATH = 100
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class UnixAddress(NamedTuple):
    """The Unix-domain socket that leads to the same feeder as a TCP address."""

    host: str
    """Identity of the machine it is on."""
    path: str


def read_unix(values: Any) -> dict[str, UnixAddress]:
    """The object `unix` of a lane map or of a feed's file, by TCP address; raises `ValueError` for anything else."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise ValueError("unix is not an object")
    found = {}
    for address, place in values.items():
        if not isinstance(place, Mapping) or not all(isinstance(place.get(key), str) for key in ("host", "path")):
            raise ValueError(f"unix: {address!r} has no host and path")
        if not place["path"].startswith("/") or len(place["path"]) > _MAX_PATH or not place["host"]:
            raise ValueError(f"unix: {address!r} has no absolute path of at most {_MAX_PATH} characters on a host")
        found[str(address)] = UnixAddress(place["host"], place["path"])
    return found


def transport() -> str:
    """How feeders of this machine are reached: `STOKER_TRANSPORT`, one of `TRANSPORTS`, by default auto."""
    text = os.environ.get("STOKER_TRANSPORT") or "auto"
    if text not in TRANSPORTS:
        raise ValueError(f"STOKER_TRANSPORT={text!r} is not one of {', '.join(TRANSPORTS)}")
    return text


def hands_over() -> bool:
    """Whether payload may be taken from files that the feeder names."""
    return transport() in ("auto", "handover")


def least_handed() -> int:
    """Bytes of payload a row from which it is to be: all rows where the transport is `handover`."""
    return 0 if transport() == "handover" else _LEAST_HANDED


@functools.cache
def host_id() -> str | None:
    """The identity of this machine, None where it has none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip() or None
    except (OSError, ValueError):
        return None


def usable(place: UnixAddress) -> bool:
    """Whether the socket is on this machine, and lies where nobody but this user could have put it."""
    if place.host != host_id():
        return False
    try:
        directory = os.stat(os.path.dirname(place.path))
        return (
            directory.st_uid == os.geteuid()
            and not stat.S_IMODE(directory.st_mode) & 0o077
            and stat.S_ISSOCK(os.stat(place.path).st_mode)
        )
    except (OSError, ValueError):
        return False
