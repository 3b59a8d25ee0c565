"""Arrow arrays of NumPy arrays and texts.

`pyarrow.array` imports pandas where that is installed, to know its types. That takes a second, usually while a trainer
waits for its first batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def fixed(values: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers or bools, without a copy of numbers. `valid`: False where a value is null; None if none is."""
    kind = pa.from_numpy_dtype(values.dtype)
    data = _bits(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [None if valid is None else _bits(valid), data])


def texts(values: Sequence[str]) -> pa.StringArray:
    """Strings, none of them null."""
    rows = [value.encode() for value in values]
    ends = np.zeros(len(rows) + 1, np.int32)
    np.cumsum([len(row) for row in rows], out=ends[1:])
    return pa.Array.from_buffers(pa.utf8(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(rows))])


def _bits(values: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))
