"""Makes a feed pass for a torch `IterableDataset` where torch is in use. Nothing imports torch here."""

from __future__ import annotations

import functools
import sys
from typing import Any


def class_for(feed_class: type) -> type:
    """A subclass of `feed_class` and IterableDataset once `torch.utils.data` is loaded, else `feed_class` itself."""
    data: Any = sys.modules.get("torch.utils.data")
    dataset = getattr(data, "IterableDataset", None)  # absent while torch is being imported
    return feed_class if dataset is None else _both(feed_class, dataset)


@functools.cache
def _both(feed_class: type, dataset: Any) -> type:
    made: type = type(dataset)(feed_class.__name__, (feed_class, dataset), {"__module__": feed_class.__module__})
    return made
