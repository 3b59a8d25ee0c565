"""Columns of batches as torch tensors. Nothing imports torch before it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._batch.pinned_memory import Moves
from stoker._batch.tensors import Converter
from stoker.errors import MissingDependencyError


def converter(move: Moves) -> Converter:
    """Returns the conversion of columns to tensors on a device; see `Batch.to`."""
    torch = _imported("Batch.to")

    def array(values: Any, element: str) -> Any:
        return move(_tensor(torch, values, element))

    def ragged(values: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Any:
        return jagged(values, offsets, move)

    return Converter(array, ragged)


def jagged(values: npt.NDArray[Any], offsets: npt.NDArray[Any], move: Moves) -> Any:
    """See `Ragged.nested`."""
    torch = _imported("Ragged.nested")
    make = getattr(torch.nested, "nested_tensor_from_jagged", None)
    if make is None:
        raise MissingDependencyError(f"nested tensors need torch 2.4, this is {torch.__version__}")
    first, last = int(offsets[0]), int(offsets[-1])
    elements = move(_tensor(torch, values[first:last], ""))
    ends = move(torch.from_numpy(offsets.astype(np.int64) - first))
    return make(elements, ends)


def is_tensor(value: Any) -> bool:
    """Whether something is a tensor of torch, which then is loaded."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def stacked(rows: Sequence[Any]) -> Any:
    """Returns tensors of one shape and type as one tensor."""
    return sys.modules["torch"].stack(rows)


def _tensor(torch: Any, values: Any, element: str) -> Any:
    if is_tensor(values):  # of a decoder
        return values
    if element == "bfloat16":
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(values)


def _imported(what: str) -> Any:
    try:
        import torch
    except ImportError as e:
        raise MissingDependencyError(f"{what} needs torch: pip install torch") from e
    return torch
