"""Decoded rows that cannot form one array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

ARRAY_NAMES: Final = frozenset(
    ("shape", "dtype", "ndim", "size", "T", "astype", "reshape", "transpose", "permute", "numpy", "to", "float", "mean")
)
"""What users look for first in an array or a tensor."""


class UnequalRows(list[Any]):
    """A list of arrays or tensors. Its errors say why it is not one array."""

    def __init__(self, rows: Iterable[Any] = (), field: str = "") -> None:
        super().__init__(rows)
        self._field = field

    def _why(self) -> str:
        forms = sorted({str(getattr(row, "shape", None)) for row in self} - {"None"})
        other = "different types, or some have no value" if len(forms) < 2 else f"shapes such as {forms[0]}, {forms[1]}"
        return (
            f"the rows of field {self._field!r} have {other}, so they are a list: give them one shape in "
            f"decode={{{self._field!r}: function}}, for example with a resize or a crop"
        )

    def __getattr__(self, name: str) -> Any:
        if name in ARRAY_NAMES:
            raise AttributeError(f"there is no {name!r}: {self._why()}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if dtype != np.dtype(object):
            raise ValueError(self._why())
        out = np.empty(len(self), object)
        out[:] = list(self)
        return out

    def __dlpack__(self, **_: Any) -> Any:
        raise ValueError(self._why())

    def __dlpack_device__(self) -> Any:
        """Asked by `torch.tensor` first."""
        raise ValueError(self._why())

    def __reduce__(self) -> tuple[Any, ...]:
        return UnequalRows, (list(self), self._field)
