"""Converts points in time, days, times of day and decimal numbers for a chunk: see `values`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from stoker._format.temporal import UNITS, Date, Decimal128, Special, Time, Timestamp

Converter = Callable[[Any], Any]
_EPOCH = dt.datetime(1970, 1, 1)
_INT64 = 1 << 63
_INT32 = 1 << 31
_MICROSECOND = dt.timedelta(microseconds=1)


def special_converter(kind: Special) -> Converter:
    """The converter of such a type: it returns the stored number, or the 16 bytes of a decimal."""
    if isinstance(kind, Timestamp):
        return _timestamp(kind)
    if isinstance(kind, Date):
        return _date
    return _time(kind) if isinstance(kind, Time) else _decimal(kind)


def _timestamp(kind: Timestamp) -> Converter:
    name = kind.arrow()
    per_second = UNITS[kind.unit]

    def convert(value: Any) -> int:
        if hasattr(value, "to_datetime64"):  # pandas: a datetime with nanoseconds
            _check_zone(value, kind)
            value = value.to_datetime64()
        if isinstance(value, np.datetime64):
            return _exact(value, kind.view, name)
        if not isinstance(value, dt.datetime):
            raise TypeError(f"expected a datetime or a numpy.datetime64, not {_kind(value)}")
        _check_zone(value, kind)
        # Subtracted as a number, since a datetime ends with the year 9999.
        microseconds: int = (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        microseconds -= (value.utcoffset() or dt.timedelta()) // _MICROSECOND
        count, rest = divmod(microseconds * per_second, 1_000_000)
        if rest:
            raise ValueError(f"{value} has fractions that {name} cannot hold")
        if not -_INT64 <= count < _INT64:
            raise ValueError(f"{value} is outside of the range of {name}")
        return count

    return convert


def _check_zone(value: dt.datetime, kind: Timestamp) -> None:
    if kind.zone is None and value.tzinfo is not None:
        raise ValueError(
            f"{value} has a time zone, but the field has none; convert it to a local time, or declare "
            f"timestamp[{kind.unit},UTC]"
        )
    if kind.zone is not None and value.tzinfo is None:
        raise ValueError(f"{value} has no time zone, but the field has {kind.zone}; give a datetime with tzinfo")


def _date(value: Any) -> int:
    if isinstance(value, np.datetime64):
        days = _exact(value, Date().view, "date")
        if not -_INT32 <= days < _INT32:
            raise ValueError(f"{value} is outside of the range of date")
        return days
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise TypeError(f"expected a date or a numpy.datetime64 in days, not {_kind(value)}")
    return value.toordinal() - _EPOCH.toordinal()


def _time(kind: Time) -> Converter:
    def convert(value: Any) -> int:
        if isinstance(value, np.timedelta64):
            count = _exact(value, kind.view, f"time[{kind.unit}]")
        elif isinstance(value, dt.time):
            if value.tzinfo is not None:
                raise ValueError(f"{value} has a time zone, which a time of day cannot have")
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            count, rest = divmod((seconds * 1_000_000 + value.microsecond) * UNITS[kind.unit], 1_000_000)
            if rest:
                raise ValueError(f"{value} has fractions that time[{kind.unit}] cannot hold")
        else:
            raise TypeError(f"expected a time or a numpy.timedelta64, not {_kind(value)}")
        if not 0 <= count < kind.per_day:
            raise ValueError(f"{value} is not a time of day; time[{kind.unit}] is at least 0 and less than 24 hours")
        return count

    return convert


def _exact(value: Any, wanted: np.dtype[Any], name: object) -> int:
    """The count of a NumPy value in other units, without rounding."""
    if np.isnat(value):
        raise ValueError("NaT is not a value; give None if the field is nullable")
    converted = value.astype(wanted)
    # A conversion to smaller units overflows without an error, one to larger units rounds.
    if np.isnat(converted) or converted.astype(value.dtype) != value:
        raise ValueError(f"{value} ({value.dtype}) cannot be {name} without rounding or overflow")
    return int(converted.astype(np.int64))


def _decimal(kind: Decimal128) -> Converter:
    limit = 10**kind.precision

    def convert(value: Any) -> bytes:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Decimal, int, np.integer)):
            raise TypeError(f"expected a Decimal or a whole number, not {_kind(value)}")
        exact = value if isinstance(value, Decimal) else Decimal(int(value))
        if not exact.is_finite():
            raise ValueError(f"{exact} is not a number")
        unscaled = _unscaled(exact, kind)
        if unscaled is None or not -limit < unscaled < limit:
            raise ValueError(
                f"{value} is not a number of at most {kind.precision - kind.scale} digits before and {kind.scale} "
                f"behind the decimal point, the range of decimal({kind.precision},{kind.scale})"
            )
        return unscaled.to_bytes(16, "little", signed=True)

    return convert


def _unscaled(value: Decimal, kind: Decimal128) -> int | None:
    """The number times ten to the power of the scale; None if it does not fit."""
    if not value:
        return 0
    if value.adjusted() >= kind.precision - kind.scale:
        return None
    with localcontext() as context:
        context.prec = max(len(value.as_tuple().digits), 1) + 2
        context.Emax, context.Emin = 999_999_999_999_999, -999_999_999_999_999
        scaled = value.scaleb(kind.scale)
        return int(scaled) if scaled == scaled.to_integral_value() else None


def _kind(value: Any) -> str:
    short = repr(value)
    return f"{type(value).__name__} {short if len(short) <= 40 else short[:37] + '...'}"
