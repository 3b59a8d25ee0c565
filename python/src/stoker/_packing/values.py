"""Converts single values for a chunk: each field's converter checks a value and returns the form that is packed.

Variable and tensor fields give bytes, numbers give int or float, bool gives bool, categorical gives the class name.
A value that does not fit raises a ValueError or TypeError that says why. The caller adds the names of sample and field.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._format.fields import Field
from stoker._format.list_types import TEXTS
from stoker._format.nested_rows import encoded
from stoker._format.numbers import FLOATS, bfloat16_values
from stoker._packing.pack import MAX_VALUE
from stoker._packing.special_values import special_converter
from stoker._packing.stored_numbers import NumberError, TooLargeError, float_bits, stored_numbers

Converter = Callable[[Any], Any]


def converter(field: Field) -> Converter:
    """The converter of a field's values, None excepted."""
    if field.special is not None:
        return special_converter(field.special)
    if field.item is not None:
        return _numbers(field) if field.is_ragged else _nested(field)
    if field.is_list or field.shape:
        return _array(field)
    if field.type in _OTHERS:
        return _OTHERS[field.type]
    return _float(field) if field.type in FLOATS else _integer(field)


def text(value: Any) -> bytes:
    """UTF-8 of a str."""
    if not isinstance(value, str):
        raise TypeError(f"expected str, not {_kind(value)}")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError("the text has half a surrogate pair, which UTF-8 cannot hold") from None


def _binary(value: Any) -> bytes:
    if type(value) is bytes:
        data = value
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
    elif isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1:
        data = value.tobytes()
    else:
        raise TypeError(f"expected bytes, not {_kind(value)}")
    if len(data) > MAX_VALUE:
        raise ValueError(f"{len(data)} bytes; 1 GiB is the limit; leave it out or split it")
    return data


MAX_CLASS_BYTES = 65_535


def _class(value: Any) -> str:
    check_class(text(value))
    return str(value)


def check_class(name: bytes) -> None:
    """Refuses a class name that is too long, with a ValueError."""
    if len(name) > MAX_CLASS_BYTES:
        raise ValueError(
            f"the class name has {len(name)} bytes of UTF-8, at most {MAX_CLASS_BYTES} are allowed; "
            "is the field text rather than a class?"
        )


def _bool(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"expected True or False, not {value!r}")


def _integer(field: Field) -> Converter:
    info = np.iinfo(field.dtype)
    low, high = int(info.min), int(info.max)

    def convert(value: Any) -> int:
        if type(value) is not int:
            try:
                if isinstance(value, (bool, np.bool_)):
                    raise TypeError
                value = operator.index(value)
            except TypeError:
                raise TypeError(f"expected a whole number, not {_kind(value)}") from None
        if not low <= value <= high:
            raise ValueError(f"{value} is not between {low} and {high}, the range of {field.type}")
        return value  # type: ignore[no-any-return]

    return convert


def _float(field: Field) -> Converter:
    largest = _LARGEST[field.type]

    def convert(value: Any) -> float:
        number = value if type(value) is float else _float_of(value, field)
        if not -largest <= number <= largest and math.isfinite(number):
            float_bits(np.array([number]), field.type)
        return number

    return convert


_LARGEST = {"float16": 65504.0, "bfloat16": 3.38e38, "float32": 3.4e38, "float64": math.inf}
"""Numbers up to this one need no closer look."""


def _float_of(value: Any, field: Field) -> float:
    if isinstance(value, (str, bytes, bool, np.bool_)):
        raise TypeError(f"expected a number, not {_kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise TooLargeError.of(_kind(value), field.type) from None
    except (TypeError, ValueError):
        raise TypeError(f"expected a number, not {_kind(value)}") from None
    if isinstance(value, (int, np.integer)) and not -_SMALL <= value <= _SMALL:
        _check_whole(int(value), number, field)
    if math.isinf(number) and value != number:  # a Decimal, or a longdouble
        raise TooLargeError.of(value, field.type)
    return number


_SMALL = 256
"""Whole numbers up to this one are values of each floating-point type."""


def _check_whole(value: int, number: float, field: Field) -> None:
    """Refuses a whole number that the type does not hold exactly; one that is too large for it is refused later."""
    stored = float_bits(np.array([number]), field.type)
    held = bfloat16_values(stored) if field.type == "bfloat16" else stored
    if int(held[0]) != value:
        raise NumberError(f"{value} is not exactly a {field.type}; give a float to round it")


def _leaves(value: Any, depth: int) -> Any:
    """The numbers in lists of lists."""
    return value if depth == 1 else (leaf for each in value for leaf in _leaves(each, depth - 1))


def _check_mixed(value: Any, array: npt.NDArray[Any], field: Field) -> None:
    """Refuses what NumPy hides in numbers of several kinds: bools, and whole numbers that it has rounded."""
    kinds = set(map(type, _leaves(value, array.ndim)))
    if bool in kinds and len(kinds) > 1:
        raise TypeError("expected numbers, not numbers and bools")
    if array.dtype.kind == "f" and int in kinds:
        one = converter(Field(field.name, field.element))
        for leaf in _leaves(value, array.ndim):
            if type(leaf) is int and not -_SMALL <= leaf <= _SMALL:
                one(leaf)


def _check_objects(array: npt.NDArray[Any], field: Field) -> None:
    """Names the first item that no array of numbers has: None, other objects, and whole numbers beyond 64 bits."""
    one = converter(Field(field.name, field.element))
    for at, item in enumerate(array.flat):
        if item is None:
            advice = f"; declare the field as {field.element}?[]" if field.is_list else ""
            raise ValueError(f"item {at} is null{advice}")
        _item(one, at, item)


def _nested(field: Field) -> Converter:
    assert field.item is not None
    item = converter(Field(field.name, field.item))
    unit = field.dtype.itemsize

    def convert(value: Any) -> bytes:
        if isinstance(value, (str, bytes, bytearray, memoryview, dict)) or not hasattr(value, "__iter__"):
            raise TypeError(f"expected a list of {field.item}, not {_kind(value)}")
        items: list[Any] = []
        for at, each in enumerate(value):
            if each is None and field.null_items:
                items.append(None)
                continue
            if each is None:
                raise ValueError(f"item {at} is null; items of {field.type} cannot be null{null_advice(field)}")
            items.append(_item(item, at, each))
        row = encoded(items, unit)
        if len(row) > MAX_VALUE:
            raise ValueError(f"{len(row)} bytes; 1 GiB is the limit; leave it out or split it")
        return row

    return convert


def _item(convert: Converter, at: int, value: Any) -> Any:
    try:
        return convert(value)
    except (TypeError, ValueError) as e:
        raise type(e)(f"item {at}: {e}") from None


def null_advice(field: Field) -> str:
    """The next step if an item of a list is null."""
    return f"; declare the field as {field.item}?[]" if field.item in TEXTS else ""


def _numbers(field: Field) -> Converter:
    """Numbers that may be missing: None, or masked in a masked array."""
    item = Field(field.name, field.element)
    one = converter(item)

    def convert(value: Any) -> bytes:
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            present = ~np.ma.getmaskarray(value)
            given = np.ma.getdata(value)
            given = given[present] if given.ndim == 1 else given
        elif isinstance(value, (str, bytes, bytearray, memoryview, dict)) or not hasattr(value, "__iter__"):
            raise TypeError(f"expected a list of {field.item}, not {_kind(value)}")
        else:
            whole = [None if each is np.ma.masked else each for each in value]
            present = np.fromiter((each is not None for each in whole), np.bool_, len(whole))
            # Each number is converted alone: NumPy takes large and small integers together for floats.
            numbers = [_item(one, at, each) for at, each in enumerate(whole) if each is not None]
            given = np.array(numbers, np.float64 if field.element in FLOATS else field.dtype)
        if given.ndim != 1:
            raise ValueError(f"expected one dimension, not shape {given.shape}")
        data = elements(given, item).tobytes()
        row = np.concatenate([[len(present)], np.where(present, 1, -1)]).astype("<i4").tobytes() + data
        if len(row) > MAX_VALUE:
            raise ValueError(f"{len(row)} bytes; 1 GiB is the limit; leave it out or split it")
        return row

    return convert


def _regular(value: Any) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError("the lists in it have different lengths, so that it has no shape") from None


def _array(field: Field) -> Converter:
    shape = field.shape

    def convert(value: Any) -> bytes:
        array = value if isinstance(value, np.ndarray) else _regular(value)
        if array.dtype.kind == "O" and array.ndim:
            _check_objects(array, field)
        if shape is None:
            if array.ndim != 1:
                raise ValueError(f"expected one dimension, not shape {array.shape}")
        elif array.shape != shape:
            raise ValueError(f"expected shape {shape}, not {array.shape}")
        if isinstance(value, (list, tuple)):
            _check_mixed(value, array, field)
        data = elements(array, field).tobytes()
        if len(data) > MAX_VALUE:
            raise ValueError(f"{len(data)} bytes; 1 GiB is the limit; leave it out or split it")
        return data

    return convert


def elements(array: npt.NDArray[Any], field: Field) -> npt.NDArray[Any]:
    """Numbers as elements of a field: whole numbers must be its values, others are rounded."""
    wanted = field.dtype
    kind = array.dtype.kind
    if field.element == "bfloat16":
        if array.dtype.name == "bfloat16":  # of ml_dtypes
            return array.view(np.uint16)
    elif array.dtype == wanted:
        return array.astype(wanted.newbyteorder("<"), copy=False)
    if array.size == 0:
        return np.zeros(array.shape, wanted)
    # Bools are 0 and 1 in lists of uint8 only.
    if kind not in ("iuf" if field.element in FLOATS else "iub" if field.element == "uint8" else "iu"):
        whole = "" if field.element in FLOATS else "whole "
        raise TypeError(f"expected {whole}numbers, not elements of type {array.dtype}")
    return stored_numbers(array, field.element)


def _kind(value: Any) -> str:
    short = repr(value)
    return f"{type(value).__name__} {short if len(short) <= 40 else short[:37] + '...'}"


_OTHERS: dict[str, Converter] = {"utf8": text, "binary": _binary, "categorical": _class, "bool": _bool}
