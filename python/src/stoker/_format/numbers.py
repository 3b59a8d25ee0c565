"""The types of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._format.once import once


@dataclass(frozen=True)
class Number:
    """A type of numbers."""

    name: str
    digits: int = 0
    """Binary digits of a floating-point number, which holds whole numbers of this length exactly; else 0."""

    @property
    def stored(self) -> str:
        """NumPy's and Arrow's name of the type in which it is stored: bfloat16 as its bits."""
        return "uint16" if self.name == "bfloat16" else self.name

    @once
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the stored numbers."""
        return np.dtype(self.stored)

    def arrow(self) -> pa.DataType:
        """Arrow type of the stored numbers."""
        return pa.type_for_alias(self.stored)


NUMBERS = {f"{sign}int{bits}": Number(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)} | {
    name: Number(name, digits) for name, digits in (("float16", 11), ("bfloat16", 8), ("float32", 24), ("float64", 53))
}
"""All types of numbers, by name."""
FLOATS = tuple(number.name for number in NUMBERS.values() if number.digits)
"""The names of the floating-point types."""


def bfloat16_bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """The upper halves of the nearest float32, ties to even."""
    with np.errstate(over="ignore"):
        bits = np.asarray(values, np.float64).astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), bits >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16)


def bfloat16_values(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The numbers that these bits of bfloat16 are."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
