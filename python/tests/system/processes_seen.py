"""What a process does as others see it: ports, Flink's REST server, trainers that are connected."""

from __future__ import annotations

import http.client
import os
import re
import urllib.request
from pathlib import Path
from typing import Any


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        text: str = answer.read().decode(errors="replace")
        return text


def _sockets_of(pid: int) -> set[str]:
    inodes: set[str] = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.update(re.findall(r"socket:\[([0-9]+)\]", os.readlink(link)))
        except FileNotFoundError:
            continue
    return inodes


def _rows(state: str) -> list[list[str]]:
    """Rows of /proc/net/tcp and tcp6 in a state."""
    text = "".join(
        Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6") if Path(f"/proc/net/{name}").exists()
    )
    rows = [line.split() for line in text.splitlines()]
    return [row for row in rows if len(row) > 9 and row[3] == state]


def _port(row: list[str]) -> int:
    return int(row[1].rpartition(":")[2], 16)


def listening() -> set[int]:
    """The TCP ports at which any process of this machine listens."""
    return {_port(row) for row in _rows("0A")}


def ports_of(pid: int) -> set[int]:
    """The TCP ports at which a process listens."""
    sockets = _sockets_of(pid)
    return {_port(row) for row in _rows("0A") if row[9] in sockets}


def answers(pid: int, path: str) -> str:
    """The beginning of the URLs under which a process answers for a path."""
    for port in sorted(ports_of(pid)):
        try:
            get(f"http://127.0.0.1:{port}{path}")
        except (OSError, http.client.HTTPException):
            continue
        return f"http://127.0.0.1:{port}"
    raise AssertionError(f"no port of {ports_of(pid)} answers {path}")


def no_sessions(feeder: Any) -> bool:
    """Whether no trainer is connected to a feeder."""
    port, sockets = int(feeder.address.rpartition(":")[2]), _sockets_of(feeder.process.pid)
    return not any(_port(row) == port and row[9] in sockets for state in ("01", "08") for row in _rows(state))
