"""Arrow arrays on their way into a chunk: `Writer.write_batch`. Values are not copied, checks are vectorised."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stoker._format import arrow_arrays
from stoker._format.fields import Field
from stoker._format.list_types import TEXTS
from stoker._format.nested_rows import rows_of, without_nulls
from stoker._format.numbers import FLOATS, NUMBERS
from stoker._format.temporal import Date, Decimal128, Special, Time, Timestamp
from stoker._packing.segments import Segment
from stoker._packing.stored_numbers import NumberError, stored_numbers
from stoker._packing.values import MAX_CLASS_BYTES, null_advice
from stoker.errors import InvalidSampleError

_TEXTS = (pa.utf8(), pa.large_utf8())
_BYTES = (pa.binary(), pa.large_binary())
_ALIKE: dict[type[Special], Any] = {
    Timestamp: pa.types.is_timestamp,
    Date: pa.types.is_date,
    Time: pa.types.is_time,
    Decimal128: pa.types.is_decimal,
}


class Unfit(Exception):  # noqa: N818 - caught where row and key are known
    """A value of a column does not fit; `row` is the first one, or None if it is the whole column."""

    def __init__(self, why: str, row: int | None = None) -> None:
        super().__init__(why)
        self.row = row


def segment(array: pa.Array, field: Field) -> Segment:
    """The rows of an array as a field has them; raises `Unfit`."""
    if isinstance(array, pa.ExtensionArray):
        if field.shape and getattr(array.type, "shape", None) not in (None, list(field.shape), field.shape):
            raise Unfit(f"expected shape {field.shape}, not {tuple(array.type.shape)}")
        array = array.storage
    valid = None
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        if not field.nullable:
            raise Unfit("there is no value, but the field is not nullable", int(np.argmin(valid)))
    if field.special is not None:
        return Segment(len(array), valid, _special(array, field, field.special))
    if field.item is not None:
        return _nested(array, field, valid)
    if field.type in TEXTS:
        return _bytes(array, field, valid)
    if field.is_list:
        return _list(array, field, valid)
    if field.shape:
        return _tensor(array, field, valid)
    if field.type == "categorical":
        return _categorical(array, valid)
    return Segment(len(array), valid, _numbers(array, field))


def sliced(whole: Segment, start: int, end: int) -> Segment:
    """Some rows of a segment that `segment` made."""
    valid = None if whole.valid is None else whole.valid[start:end]
    if valid is not None and valid.all():
        valid = None
    if whole.values is not None:
        return Segment(end - start, valid, whole.values[start:end], whole.names)
    lengths = whole.lengths
    first = int(lengths[:start].sum())
    part = whole.parts[0][first : first + int(lengths[start:end].sum())]
    return Segment(end - start, valid, lengths=lengths[start:end], parts=[part])


def keys_of(array: pa.Array) -> Segment:
    """The key column; raises `Unfit`."""
    keys = _bytes(array, Field("_key", "utf8"), None) if not array.null_count else None
    if keys is None:
        raise Unfit("the key is missing", int(np.argmin(array.is_valid().to_numpy(zero_copy_only=False))))
    if len(keys.lengths) and not keys.lengths.all():
        raise Unfit("the key is empty", int(np.argmin(keys.lengths)))
    return keys


def _bytes(array: pa.Array, field: Field, valid: npt.NDArray[np.bool_] | None) -> Segment:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    wanted = _TEXTS if field.type == "utf8" else _BYTES
    if array.type not in wanted:
        if pa.types.is_null(array.type) or (field.type == "binary" and pa.types.is_fixed_size_binary(array.type)):
            array = array.cast(wanted[0])
        else:
            raise Unfit(f"expected a column of {field.type}, not {array.type}")
    if field.type == "utf8":
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as e:
            raise Unfit(f"the text is not UTF-8: {e}") from None
    offsets = _offsets(array)
    return _variable(array, offsets, 1, array.buffers()[2], valid)


def _offsets(array: pa.Array) -> npt.NDArray[np.int64]:
    wide = pa.types.is_large_list(array.type) or array.type in (pa.large_utf8(), pa.large_binary())
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(len(array) + 1, np.int64)
    offsets = np.frombuffer(buffer, np.int64 if wide else np.int32)
    return offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)


def _variable(
    array: pa.Array, offsets: npt.NDArray[np.int64], width: int, buffer: Any, valid: npt.NDArray[np.bool_] | None
) -> Segment:
    """Rows between offsets (in elements) of a buffer; a row without a value loses the bytes that it may have."""
    lengths = (offsets[1:] - offsets[:-1]) * width
    start, end = int(offsets[0]) * width, int(offsets[-1]) * width
    data = memoryview(b"") if buffer is None else memoryview(buffer).cast("B")[start:end]
    if valid is not None and np.any(lengths[~valid]):
        keep = np.repeat(valid, lengths)
        data = memoryview(np.frombuffer(data, np.uint8)[keep].tobytes())
        lengths = np.where(valid, lengths, 0)
    return Segment(len(array), valid, lengths=lengths, parts=[data])


def _list(array: pa.Array, field: Field, valid: npt.NDArray[np.bool_] | None) -> Segment:
    kind = array.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        if pa.types.is_null(kind):
            array = array.cast(pa.list_(pa.int8()))
        elif pa.types.is_fixed_size_list(kind):
            array = array.cast(pa.list_(kind.value_type))
        else:
            raise Unfit(f"expected a column of lists, not {kind}")
    offsets = _offsets(array)
    first, last = int(offsets[0]), int(offsets[-1])
    child = array.values.slice(first, last - first)
    numbers = _elements(child, field, lambda at: int(np.searchsorted(offsets, first + at, "right")) - 1)
    return _variable(array, offsets - first, field.dtype.itemsize, pa.py_buffer(numbers), valid)


def _nested(array: pa.Array, field: Field, valid: npt.NDArray[np.bool_] | None) -> Segment:
    kind = array.type
    if pa.types.is_null(kind):
        array = array.cast(field.arrow().type)
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise Unfit(f"expected a column of lists of {field.item}, not {kind}")
    outer = _offsets(array)
    first, last = int(outer[0]), int(outer[-1])
    child = array.values.slice(first, last - first)

    def row_of(at: int) -> int:
        return int(np.searchsorted(outer, first + at, "right")) - 1

    if child.null_count and not field.null_items:
        at = int(np.argmin(child.is_valid().to_numpy(zero_copy_only=False)))
        raise Unfit(f"an item is null; items of {field.type} cannot be null{null_advice(field)}", row_of(at))
    assert field.item is not None
    try:
        items = segment(child, Field(field.name, field.item, nullable=field.null_items))
    except Unfit as e:
        raise Unfit(str(e), None if e.row is None else row_of(e.row)) from None
    unit = field.dtype.itemsize
    if items.values is not None:
        inner = np.arange(len(child) + 1)
        values = np.ascontiguousarray(items.values).view(np.uint8)
    else:
        inner = np.zeros(len(child) + 1, np.int64)
        np.cumsum(items.lengths // unit, out=inner[1:])
        values = np.frombuffer(items.parts[0], np.uint8)
    offsets, data = without_nulls(*rows_of(outer - first, inner, values, unit, items.valid), valid)
    return Segment(len(array), valid, lengths=np.diff(offsets), parts=[memoryview(data)])


def _special(array: pa.Array, field: Field, wanted: Special) -> npt.NDArray[Any]:
    """Stored numbers of a column of timestamps, dates, times or decimals; anything where there is no value."""
    kind = array.type
    is_whole = isinstance(wanted, Decimal128) and pa.types.is_integer(kind)
    if not pa.types.is_null(kind) and not is_whole and not _ALIKE[type(wanted)](kind):
        raise Unfit(f"expected a column of {field.type}, not {kind}")
    if isinstance(wanted, Timestamp) and pa.types.is_timestamp(kind) and (kind.tz is None) != (wanted.zone is None):
        raise Unfit(f"expected a column of {field.type}, not {kind}; one of them has a time zone and the other has not")
    try:
        if is_whole:
            array = array.cast(pa.decimal128(20, 0)).cast(pa.decimal128(38, 0))
        cast = array.cast(wanted.arrow())
    except pa.ArrowInvalid as e:
        raise Unfit(f"a value of {kind} does not fit {field.type}: {e}") from None
    if len(cast) == 0:
        return np.zeros(0, wanted.dtype)
    values = np.frombuffer(cast.buffers()[1], wanted.dtype)[cast.offset : cast.offset + len(cast)]
    if isinstance(wanted, Time):
        good = (values >= 0) & (values < wanted.per_day)
        if cast.null_count:
            good |= ~cast.is_valid().to_numpy(zero_copy_only=False)
        if not good.all():
            row = int(np.argmin(good))
            raise Unfit(f"{values[row]} is not a time of day in units of {field.type}", row)
    return values


def _tensor(array: pa.Array, field: Field, valid: npt.NDArray[np.bool_] | None) -> Segment:
    size = field.row_bytes // field.dtype.itemsize
    if pa.types.is_null(array.type):
        array = pa.nulls(len(array), pa.list_(pa.int8(), size))
    if not pa.types.is_fixed_size_list(array.type) or array.type.list_size != size:
        raise Unfit(f"expected a column of tensors or fixed-size lists of {size} elements, not {array.type}")
    child = array.values.slice(array.offset * size, len(array) * size)
    if valid is not None:
        child = pc.if_else(arrow_arrays.fixed(np.repeat(valid, size)), child, pa.scalar(0, child.type))
    numbers = _elements(child, field, lambda at: at // size)
    lengths = np.full(len(array), field.row_bytes, np.int64)
    return Segment(len(array), valid, lengths=lengths, parts=[memoryview(numbers).cast("B")])


def _elements(child: pa.Array, field: Field, row_of: Any) -> npt.NDArray[Any]:
    """Contiguous elements of lists or tensors."""
    if child.null_count:
        advice = f"; declare the field as {field.element}?[]" if field.is_list else ""
        at = int(np.argmin(child.is_valid().to_numpy(zero_copy_only=False)))
        raise Unfit(f"an item is null{advice}", row_of(at))
    if field.element == "uint8" and pa.types.is_boolean(child.type):
        child = child.cast(pa.uint8())
    try:
        numbers = _numbers(child, Field(field.name, field.element))
    except Unfit as e:
        raise Unfit(str(e), None if e.row is None else row_of(e.row)) from None
    return np.ascontiguousarray(numbers)


def _numbers(array: pa.Array, field: Field) -> npt.NDArray[Any]:
    """Elements of a number or bool column; anything where there is no value."""
    kind = array.type
    if field.type == "bool":
        if pa.types.is_integer(kind):
            return _bools(array)
        if not pa.types.is_boolean(kind) and not pa.types.is_null(kind):
            raise Unfit(f"expected a column of bool, not {kind}")
        return np.asarray(pc.fill_null(array.cast(pa.bool_()), False).to_numpy(zero_copy_only=False))
    if pa.types.is_null(kind):
        return np.zeros(len(array), field.dtype)
    is_float = field.type in FLOATS
    if not (pa.types.is_integer(kind) or (is_float and pa.types.is_floating(kind))):
        raise Unfit(f"expected a column of {'numbers' if is_float else 'whole numbers'}, not {kind}")
    if array.null_count:
        array = pc.fill_null(array, pa.scalar(0, pa.int8()).cast(kind))
    values: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    # A column of uint16 is taken for the bits of bfloat16, as Arrow has no such type.
    if kind == NUMBERS[field.type].arrow():
        return values
    try:
        return stored_numbers(values, field.type)
    except NumberError as e:
        raise Unfit(str(e), e.at) from None


def _bools(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Whole numbers that are 0 or 1, as bools."""
    values = pc.fill_null(array, pa.scalar(0, array.type)).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if len(wrong):
        raise Unfit(f"{values[wrong[0]]} is not True, False, 1 or 0", int(wrong[0]))
    return np.asarray(values == 1)


def _categorical(array: pa.Array, valid: npt.NDArray[np.bool_] | None) -> Segment:
    if not pa.types.is_dictionary(array.type):
        if array.type not in _TEXTS and not pa.types.is_null(array.type):
            raise Unfit(f"expected class names, as text or dictionary of text, not {array.type}")
        array = array.cast(pa.utf8()).dictionary_encode()
    names = array.dictionary
    if names.type not in _TEXTS or names.null_count:
        raise Unfit(f"expected class names, not a dictionary of {names.type}")
    codes = pc.fill_null(array.indices, 0).to_numpy(zero_copy_only=False).astype(np.int32)
    lengths = pc.binary_length(names).to_numpy(zero_copy_only=False)
    long = np.flatnonzero(np.isin(codes, np.flatnonzero(lengths > MAX_CLASS_BYTES)))
    if len(long):
        row = int(long[0])
        size = lengths[codes[row]]
        raise Unfit(f"the class name has {size} bytes of UTF-8, at most {MAX_CLASS_BYTES} are allowed", row)
    return Segment(len(array), valid, codes, names.to_pylist())


def unfit(error: Unfit, field: str, keys: Segment | None, first: int) -> InvalidSampleError:
    """The error of a batch, naming sample and field; `first` counts the rows before."""
    if error.row is None:
        return InvalidSampleError(f"column {field!r}: {error}")
    name = f"row {first + error.row}"
    if keys is not None:
        end = int(keys.lengths[: error.row + 1].sum())
        key = bytes(keys.parts[0][end - int(keys.lengths[error.row]) : end])
        name = f"sample {key.decode()!r} ({name})"
    return InvalidSampleError(f"{name}, field {field!r}: {error}")
