"""Evaluates conditions on the columns of chunks, with the three truth values of SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stoker._condition import literals
from stoker._condition.syntax import And, Comparison, Condition, IsNull, Not, Operator, Value, ValueKind, columns
from stoker._dataset.chunk import ChunkHead, ColumnData, PayloadPlaces
from stoker._format.fields import Field
from stoker._format.numbers import FLOATS, bfloat16_values
from stoker._format.temporal import DECIMAL, Date, Decimal128, Time, Timestamp
from stoker.errors import ConditionError

Bools = npt.NDArray[np.bool_]
_SHOWN: dict[ValueKind, str] = {
    "number": "a number",
    "text": "text",
    "bool": "TRUE or FALSE",
    "date": "a date",
    "time": "a time",
    "timestamp": "a timestamp",
}
_KEY = Field("Key", "utf8")
_LISTED = 20


class Truth(NamedTuple):
    """The truth of a condition for each row."""

    true: Bools
    unknown: Bools | None
    """Rows for which it is neither true nor false; None: there are none."""


class ChunkValues(NamedTuple):
    """What conditions read of a chunk, with the columns of the version."""

    rows: int
    small: Callable[[int], ColumnData]
    """Gives a column by its number: the key is 0, and the small fields follow."""
    payload: Callable[[int], PayloadPlaces]
    """Gives a payload field by its number among them."""

    @staticmethod
    def of(head: ChunkHead) -> ChunkValues:
        """The values of a whole head."""
        return ChunkValues(head.rows, head.small.__getitem__, head.payload.__getitem__)


_Test = Callable[[ChunkValues], Truth]


class BoundCondition:
    """A condition on the samples of a dataset. Safe for several threads."""

    def __init__(
        self, condition: Condition, fields: Sequence[Field], classes: Mapping[str, tuple[str, ...]], where: str
    ) -> None:
        """Takes the fields and the class names of a version. `where` is the name of the version in errors.

        Raises `ConditionError` for columns that do not exist, and for values that do not fit their type.
        """
        self._small = {"key": 0}
        self._payload: dict[str, int] = {}
        self._fields = {"key": _KEY, **{field.name: field for field in fields}}
        self._classes, self._where = classes, where
        for field in fields:
            if field.payload:
                self._payload[field.name] = len(self._payload)
            else:
                self._small[field.name] = len(self._small)
        for name in columns(condition):
            self._check_name(name)
        self._test = self._bind(condition)

    def selects(self, chunk: ChunkValues) -> Bools:
        """Returns for each row of a chunk whether the condition is true."""
        return self._test(chunk).true

    def _check_name(self, name: str) -> None:
        if name in self._fields:
            return
        near = get_close_matches(name, self._fields, 1) or [f for f in self._fields if f.lower() == name.lower()]
        names = ", ".join([*self._fields][:_LISTED]) + (", …" if len(self._fields) > _LISTED else "")
        hint = f"did you mean {near[0]}?" if near else f"it has: {names}"
        raise ConditionError(f"{self._where} has no column {name}; {hint}")

    def _bind(self, condition: Condition) -> _Test:
        if isinstance(condition, Comparison):
            return self._comparison(condition)
        if isinstance(condition, IsNull):
            return self._is_null(condition.column)
        if isinstance(condition, Not):
            inner = self._bind(condition.part)
            return lambda chunk: _not(inner(chunk))
        tests = [self._bind(part) for part in condition.parts]
        join = _and if isinstance(condition, And) else _or

        def joined(chunk: ChunkValues) -> Truth:
            result = tests[0](chunk)
            for test in tests[1:]:
                result = join(result, test(chunk))
            return result

        return joined

    def _is_null(self, name: str) -> _Test:
        payload, small = self._payload.get(name), self._small.get(name)

        def test(chunk: ChunkValues) -> Truth:
            valid = (chunk.small(small or 0) if payload is None else chunk.payload(payload)).validity
            return Truth(np.zeros(chunk.rows, np.bool_) if valid is None else ~valid, None)

        return test

    def _comparison(self, comparison: Comparison) -> _Test:
        field = self._fields[comparison.column]
        name = f"the column {comparison.column} of type {field.type}"
        kinds = _kinds(field)
        if not kinds:
            raise ConditionError(f"{name} cannot be compared; only IS NULL and IS NOT NULL work for its type")
        if comparison.value.kind not in kinds:
            raise ConditionError(
                f"{name} cannot be compared with {comparison.value.canonical()}, which is "
                f"{_SHOWN[comparison.value.kind]}; give {' or '.join(_SHOWN[kind] for kind in kinds)}"
            )
        if field.payload:
            raise ConditionError(
                f"{name} is payload, which the condition of a feed cannot compare; only IS NULL and IS NOT NULL work. "
                "Compare small fields."
            )
        try:
            test = self._values(field, comparison.operator, comparison.value)
        except ValueError:
            raise ConditionError(
                f"{name} cannot be compared: '{comparison.value.text}' is no value of its type"
            ) from None
        number = self._small[field.name] if field is not _KEY else 0

        def compared(chunk: ChunkValues) -> Truth:
            column = chunk.small(number)
            true = test(column)
            if column.validity is None:
                return Truth(true, None)
            return Truth(true & column.validity, ~column.validity)

        return compared

    def _values(self, field: Field, operator: Operator, value: Value) -> Callable[[ColumnData], Bools]:
        """Returns a comparison of all rows of a column, whatever it says for missing values."""
        kind = field.special
        if field.type == "categorical":
            literal = value.text.encode()
            names = [name.encode() for name in self._classes.get(field.name, ())]
            chosen = np.array([_accepts(operator, (n > literal) - (n < literal)) for n in names] or [False], np.bool_)
            return lambda column: chosen.take(column.data, mode="clip")
        if field.type in ("utf8", "binary"):
            return _bytes_test(operator, value.text.encode())
        if field.type in FLOATS:
            return _float_test(operator, literals.real(value.text, field.type == "float32"), field.type)
        if isinstance(kind, Decimal128):
            return _decimal_test(operator, literals.scaled(kind, value))
        if isinstance(kind, (Date, Time, Timestamp)):
            exact = literals.units(kind, value)
        elif field.type == "bool":
            exact = Fraction(value.text == "TRUE")
            return lambda column: _integers(column.data.view(np.uint8), operator, exact)
        else:
            exact = literals.number(value.text)
        return lambda column: _integers(column.data, operator, exact)


def _kinds(field: Field) -> tuple[ValueKind, ...]:
    """How values for a column can be written; none for lists and tensors."""
    kind = field.special
    if isinstance(kind, Date):
        return ("text", "date")
    if isinstance(kind, Time):
        return ("text", "time")
    if isinstance(kind, Timestamp):
        return ("text", "date", "timestamp")
    if field.list_type is not None or field.shape:
        return ()
    if field.type == "bool":
        return ("bool",)
    return ("text",) if field.type in ("utf8", "binary", "categorical") else ("number",)


def _not(truth: Truth) -> Truth:
    false = ~truth.true
    return Truth(false if truth.unknown is None else false & ~truth.unknown, truth.unknown)


def _and(one: Truth, other: Truth) -> Truth:
    true = one.true & other.true
    if one.unknown is None and other.unknown is None:
        return Truth(true, None)
    possible = _possible(one) & _possible(other)
    return Truth(true, possible & ~true)


def _or(one: Truth, other: Truth) -> Truth:
    true = one.true | other.true
    if one.unknown is None and other.unknown is None:
        return Truth(true, None)
    return Truth(true, (_possible(one) | _possible(other)) & ~true)


def _possible(truth: Truth) -> Bools:
    return truth.true if truth.unknown is None else truth.true | truth.unknown


def _accepts(operator: Operator, comparison: int) -> bool:
    return {
        "=": comparison == 0,
        "<>": comparison != 0,
        "<": comparison < 0,
        "<=": comparison <= 0,
        ">": comparison > 0,
        ">=": comparison >= 0,
    }[operator]


def _result(operator: Operator, less: Bools, equal: Bools) -> Bools:
    """Returns the result of an operator from the rows that are less and the rows that are equal."""
    if operator == "=":
        return equal
    if operator == "<>":
        return ~equal
    if operator == "<":
        return less
    if operator == ">=":
        return ~less
    return less | equal if operator == "<=" else ~(less | equal)


def _integers(values: npt.NDArray[Any], operator: Operator, exact: Fraction) -> Bools:
    low, high = literals.bounds(values.dtype)
    above = math.ceil(exact)
    if above > high:
        less = np.ones(len(values), np.bool_)
    elif above <= low:
        less = np.zeros(len(values), np.bool_)
    else:
        less = values < values.dtype.type(above)
    if exact.denominator == 1 and low <= above <= high:
        equal = values == values.dtype.type(above)
    else:
        equal = np.zeros(len(values), np.bool_)
    return _result(operator, less, equal)


def _float_test(operator: Operator, literal: float, kind: str) -> Callable[[ColumnData], Bools]:
    compare: Mapping[Operator, Any] = {
        "=": np.equal,
        "<>": np.not_equal,
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
    }

    def test(column: ColumnData) -> Bools:
        values = column.data
        if kind == "bfloat16":
            values = bfloat16_values(values)
        result: Bools = compare[operator](values.astype(np.float64, copy=False), literal)
        return result

    return test


def _decimal_test(operator: Operator, exact: Fraction) -> Callable[[ColumnData], Bools]:
    limit = 1 << 127
    above = min(max(math.ceil(exact), -limit), limit - 1)
    is_whole = exact.denominator == 1 and above == exact
    beyond = exact > limit - 1
    high, low = np.int64(above >> 64), np.uint64(above & (1 << 64) - 1)

    def test(column: ColumnData) -> Bools:
        values = column.data.view(DECIMAL).reshape(-1)
        same = values["high"] == high
        less = (values["high"] < high) | (same & (values["low"] < low)) if not beyond else np.ones(len(values), bool)
        equal = same & (values["low"] == low) if is_whole else np.zeros(len(values), np.bool_)
        return _result(operator, less, equal)

    return test


def _bytes_test(operator: Operator, literal: bytes) -> Callable[[ColumnData], Bools]:
    compare = {
        "=": pc.equal,
        "<>": pc.not_equal,
        "<": pc.less,
        "<=": pc.less_equal,
        ">": pc.greater,
        ">=": pc.greater_equal,
    }[operator]
    scalar = pa.scalar(literal, pa.large_binary())

    def test(column: ColumnData) -> Bools:
        assert column.offsets is not None
        rows = len(column.offsets) - 1
        if not rows:
            return np.zeros(0, np.bool_)
        offsets = pa.py_buffer(column.offsets.astype(np.int64))
        data = pa.py_buffer(np.ascontiguousarray(column.data).view(np.uint8))
        values = pa.Array.from_buffers(pa.large_binary(), rows, [None, offsets, data])
        result: Bools = compare(values, scalar).to_numpy(zero_copy_only=False)
        return result

    return test
