"""Numbers in the types in which a chunk stores them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stoker._format.numbers import FLOATS, NUMBERS, bfloat16_bits, bfloat16_values


class NumberError(ValueError):
    """The type of its field does not hold a number; `at` is its place among the given ones."""

    def __init__(self, why: str, at: int = 0) -> None:
        super().__init__(why)
        self.at = at


class TooLargeError(NumberError):
    """A finite number is too large for the type of its field."""

    @staticmethod
    def of(value: Any, kind: str, at: int = 0) -> TooLargeError:
        """The error of a value and a type."""
        return TooLargeError(f"{value} is too large for {kind}; clip it{_WIDER.get(kind, '')}", at)


_WIDER: Final = {
    "float16": ", or declare the field as float32 or float64",
    "bfloat16": ", or declare the field as float64",
    "float32": ", or declare the field as float64",
}


def float_bits(values: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """Numbers in the floating-point type of a field, rounded to the nearest, ties to even. Raises `TooLargeError`."""
    if kind == "bfloat16":
        rounded: npt.NDArray[Any] = bfloat16_bits(values)
        infinite = rounded & np.uint16(0x7FFF) == np.uint16(0x7F80)
    else:
        with np.errstate(over="ignore"):
            rounded = np.asarray(values, np.float64).astype(kind)
        infinite = np.isinf(rounded)
    if infinite.any():
        wrong = np.flatnonzero(infinite & np.isfinite(values))
        if len(wrong):
            raise TooLargeError.of(np.ravel(values)[wrong[0]], kind, int(wrong[0]))
    if kind == "float16":
        nan = np.isnan(rounded)
        if nan.any():
            bits = rounded.view(np.uint16)
            bits[nan] = bits[nan] & np.uint16(0x8000) | np.uint16(0x7E00)
    return rounded


def whole_floats(values: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """Whole numbers in the floating-point type of a field, which must hold them exactly. Raises `NumberError`."""
    stored = float_bits(values, kind)
    limit = 1 << NUMBERS[kind].digits
    large = np.flatnonzero((values > limit) | (values < -limit))
    if len(large):
        held = np.ravel(stored)[large]
        if kind == "bfloat16":
            held = bfloat16_values(held)
        pairs = zip(large.tolist(), np.ravel(values)[large].tolist(), held.tolist(), strict=True)
        for at, number, near in pairs:
            if int(near) != number:
                raise NumberError(f"{number} is not exactly a {kind}; give a float to round it", at)
    return stored


def stored_numbers(values: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """Numbers in a type: whole numbers must be its values, others are rounded. Raises `NumberError`."""
    if kind in FLOATS:
        return whole_floats(values, kind) if values.dtype.kind in "iu" else float_bits(values, kind)
    dtype = NUMBERS[kind].dtype
    info = np.iinfo(dtype)
    if values.size and ((below := int(values.min()) < info.min) or int(values.max()) > info.max):
        at = int(values.argmin() if below else values.argmax())
        raise NumberError(f"{np.ravel(values)[at]} is not between {info.min} and {info.max}, the range of {kind}", at)
    return values.astype(dtype, copy=False)
