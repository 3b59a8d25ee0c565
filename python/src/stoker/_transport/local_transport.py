"""Feeders on this machine: whose Unix-domain socket may be used instead of their TCP address."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from stoker._source.instance import host_id

TRANSPORTS: Final = ("auto", "tcp", "unix", "local-reads")
_LEAST_LOCAL = 16 << 10
"""Bytes of payload a row from which it is cheaper to find it in the files than to receive it, by measurement."""
_MAX_PATH = 100


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


def reads_locally() -> bool:
    """Whether payload may be read from files that the feeder names."""
    return transport() in ("auto", "local-reads")


def least_local() -> int:
    """Returns the bytes of payload a row from which it is read from files; 0 if the transport is `local-reads`."""
    return 0 if transport() == "local-reads" else _LEAST_LOCAL


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
