"""Recognises loaders that would change which batches a rank gets from its feed.

Both cases fail silently otherwise: each rank would train on one batch in W², or a collate function would fail far from
the cause. The check costs microseconds once an epoch, imports nothing, and compares only the names of classes.
"""

from __future__ import annotations

import sys
from typing import Any

from stoker.errors import LoaderError

_FRAMES = 24
"""Greater than the number of calls between `iter(feed)` and a loader's own `__iter__`."""
_SHARDERS = ("IterableDatasetShard", "DataLoaderDispatcher")
"""Classes of accelerate and transformers that divide a stream among processes, assuming that all read the same one."""


def check_readers(world_size: int) -> None:
    """Looks at who begins an iteration; raises `LoaderError` if it batches batches or divides a rank's share again."""
    if "torch.utils.data" not in sys.modules:
        return
    frame: Any = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None:
            return
        if "self" in frame.f_code.co_varnames[:1]:
            _check(frame.f_locals.get("self"), world_size)
        frame = frame.f_back


def _check(caller: Any, world_size: int) -> None:
    kind = type(caller)
    if kind.__name__ == "_IterableDatasetFetcher" and kind.__module__.startswith("torch."):
        if caller.auto_collation:
            raise LoaderError(
                "a DataLoader would make batches of this feed's batches: use DataLoader(feed, batch_size=None), and "
                "set the batch size on the Feed"
            )
    elif kind.__name__ in _SHARDERS and kind.__module__.split(".")[0] in ("accelerate", "transformers"):
        state = getattr(caller, "state", None)
        processes: Any = getattr(caller, "num_processes", None) or getattr(state, "num_processes", 1)
        if world_size > 1 and processes > 1:
            raise LoaderError(
                f"{kind.__module__}.{kind.__name__} would divide among {processes} processes what is already this "
                f"rank's share of {world_size}, so that most samples would never be seen: do not give the DataLoader "
                "of a Feed to Accelerator.prepare (see docs/python.md, Hugging Face)"
            )
