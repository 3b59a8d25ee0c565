"""Makes a feed pass for a torch `IterableDataset` where torch is in use, and its batches into tensors.

Nothing imports torch before it is asked for.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from stoker._batch.tensors import Tensors, converted
from stoker.errors import MissingDependencyError

if TYPE_CHECKING:
    from stoker._batch.batch import Batch
    from stoker._batch.ragged import Ragged


def class_for(feed_class: type) -> type:
    """A subclass of `feed_class` and IterableDataset once `torch.utils.data` is loaded, else `feed_class` itself."""
    data: Any = sys.modules.get("torch.utils.data")
    dataset = getattr(data, "IterableDataset", None)  # absent while torch is being imported
    return feed_class if dataset is None else _both(feed_class, dataset)


@functools.cache
def _both(feed_class: type, dataset: Any) -> type:
    return type(dataset)(feed_class.__name__, (feed_class, dataset), {"__module__": feed_class.__module__})


def tensors_of(batch: Batch, device: Any, non_blocking: bool) -> Tensors:
    """See `Batch.to`."""
    torch = _imported("Batch.to")

    def array(values: Any, element: str) -> Any:
        return _tensor(torch, values, element).to(device, non_blocking=non_blocking)

    return converted(batch, array, lambda ragged: jagged(ragged, device, non_blocking))


def jagged(ragged: Ragged, device: Any, non_blocking: bool) -> Any:
    """See `Ragged.nested`."""
    torch = _imported("Ragged.nested")
    make = getattr(torch.nested, "nested_tensor_from_jagged", None)
    if make is None:
        raise MissingDependencyError(f"nested tensors need torch 2.4, this is {torch.__version__}")
    first, last = int(ragged.offsets[0]), int(ragged.offsets[-1])
    values = _tensor(torch, ragged.values[first:last], "").to(device, non_blocking=non_blocking)
    offsets = torch.from_numpy(ragged.offsets.astype(np.int64) - first).to(device, non_blocking=non_blocking)
    return make(values, offsets)


def _tensor(torch: Any, values: Any, element: str) -> Any:
    if element == "bfloat16":
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(values)


def _imported(what: str) -> Any:
    try:
        import torch
    except ImportError as e:
        raise MissingDependencyError(f"{what} needs torch: pip install torch") from e
    return torch
