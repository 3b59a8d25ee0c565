"""Values of rows that have none: what a masked array hides, and what a tensor gets, which has no mask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._format.fields import Field
from stoker._format.numbers import bfloat16_bits
from stoker._format.plural import plural

NO_CLASS = -100
"""The class of a row without one. Torch's losses ignore it, and as an index it is out of bounds everywhere."""
Missing = float | Mapping[str, Any] | None
"""A value for the missing values of all fields that are no classes, or a value for each field by name."""


def hidden(field: Field, dtype: np.dtype[Any]) -> Any:
    """Returns the value below the mask of a missing value; None: it stays zero. `dtype`: of the array.

    Code that drops the mask should fail, and not train on a value that a sample could have.
    """
    kind = dtype.kind
    if field.type == "categorical":
        return NO_CLASS
    if field.element == "bfloat16":
        return 0xFFFF  # not a number
    if kind in "mM":
        return np.datetime64("NaT") if kind == "M" else np.timedelta64("NaT")
    if kind == "f":
        return np.nan
    if kind == "i":
        return np.iinfo(dtype).min
    return np.iinfo(dtype).max if kind == "u" else None


class Filling:
    """Gives tensors values where a batch has none."""

    def __init__(self, missing: Missing, fields: Mapping[str, Field], what: str, where: str) -> None:
        """`what` names the method that has the argument `missing`, and `where` the batch, for errors."""
        self._missing, self._what, self._where = missing, what, where
        if missing is not None and not isinstance(missing, Mapping):
            _number(missing, f"{what}(missing={missing!r})")
        for name in missing if isinstance(missing, Mapping) else ():
            if name not in fields:
                raise ValueError(f"missing names field {name!r}; there are {', '.join(fields) or 'none'}")

    def value_of(self, field: Field, absent: int, example: Any) -> Any:
        """Returns the value for the missing values of a field. `absent`: their number; `example`: one for the type.

        Raises `ValueError` if the caller has given none.
        """
        given = self._missing if isinstance(self._missing, Mapping) else {}
        if field.type == "categorical":  # not the number for all fields: that would be a class
            return given.get(field.name, NO_CLASS)
        value = given.get(field.name) if isinstance(self._missing, Mapping) else self._missing
        if value is None:
            raise ValueError(
                f"{self._where}: {plural(absent, 'value')} of field {field.name!r} are missing, and a tensor has no "
                f"mask; give their value, such as {self._what}(missing={{{field.name!r}: {example!r}}}), or leave the "
                "field out with Feed(columns=[…])"
            )
        return value

    def filled(self, field: Field, values: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        """Returns a copy of an array with the value for missing ones where `mask` is True."""
        value = self.value_of(field, int(mask.sum()), 0 if values.dtype.kind in "iub" else 0.0)
        if field.element == "bfloat16" and values.dtype == np.uint16:
            value = _bfloat16(_number(value, f"missing={{{field.name!r}: {value!r}}}"))
        else:
            value = _fitting(value, values.dtype, field)
        filled = values.copy()
        filled[mask] = value
        return filled


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: expected a number, or a number for each field in a dict") from None


def _fitting(value: Any, dtype: np.dtype[Any], field: Field) -> Any:
    given = _number(value, f"missing={{{field.name!r}: {value!r}}}")
    with np.errstate(all="ignore"):
        stored = np.array(value).astype(dtype)
    if dtype.kind != "f" and (given != given or float(stored) != given):
        raise ValueError(f"missing={{{field.name!r}: {value!r}}}: the field's type {field.type} does not have it")
    return stored


def _bfloat16(value: float) -> int:
    if value != value:
        return 0xFFFF
    return int(bfloat16_bits(np.array([value]))[0])
