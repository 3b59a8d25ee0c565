"""The first frame of a session: who reads what, and what it can receive."""

from __future__ import annotations

import time

from stoker._source.batch_source import Consumer
from stoker._transport.local_transport import least_local
from stoker._version import __version__
from stoker._wire import encoding


def hello(c: Consumer, feed: str | None, token: str | None, joined: int, local_files: int) -> bytes:
    """Returns a HELLO. `joined`: the run that the client takes part in; `local_files`: files that it keeps open."""
    return encoding.hello(
        token=token,
        feed=feed,
        stream=c.stream,
        group=c.group,
        order=c.order,
        rank=c.rank,
        world_size=c.world_size,
        worker=c.worker,
        workers=c.workers,
        replica=c.replica,
        run=c.run,
        client=f"stoker-python/{__version__}",
        local_files=local_files,
        local_reads_from=least_local(),
        epoch=c.epoch,
        version=c.version,
        joined=joined,
        sent=time.monotonic_ns(),
        look=c.look,
        skip=() if c.look else c.skip,
        instance=None if c.instance is None else c.instance.to_json(),
        launch=None if c.launch is None else c.launch.to_json(),
    )
