"""Values of conditions as numbers in the unit of their columns."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

from stoker._condition.syntax import Value
from stoker._condition.words import stripped
from stoker._format.temporal import DAY_SECONDS, UNITS, Date, Decimal128, Time, Timestamp

_DATE = re.compile(r"([+-]?)([0-9]{4,9})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{0,9}))?)?")
_OFFSET = re.compile(r"(.*?)(Z|[+-][0-9]{2}(?::[0-9]{2}(?::[0-9]{2})?)?)", re.DOTALL)
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def number(text: str) -> Fraction:
    """The value of a canonical number."""
    return Fraction(text)


def real(text: str, narrow: bool) -> float:
    """A canonical number as the nearest float64; if `narrow`, as the nearest float32."""
    value = float(text)
    if not narrow:
        return value
    with np.errstate(over="ignore"):
        near = np.float32(value)
    if not np.isfinite(near):
        # The float64 may have been rounded up to where a float32 overflows.
        largest = float(np.finfo(np.float32).max)
        overflows = abs(number(text)) >= Fraction(largest) + Fraction(2) ** 103
        return math.copysign(math.inf if overflows else largest, value)
    # The way over a float64 rounds twice, which can choose the wrong one of two neighbours.
    exact = number(text)
    with np.errstate(over="ignore"):
        around = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    finite = [n for n in around if np.isfinite(n)]
    return float(min(finite, key=lambda n: (abs(Fraction(float(n)) - exact), int(n.view(np.uint32)) & 1)))


def units(kind: Date | Time | Timestamp, value: Value) -> Fraction:
    """A date, time or timestamp in units of its column. Raises `ValueError` if the text is none."""
    text = stripped(value.text)
    if isinstance(kind, Date):
        return Fraction(_days(text))
    if isinstance(kind, Time):
        return _seconds(text) * UNITS[kind.unit]
    return _instant(text) * UNITS[kind.unit]


def scaled(kind: Decimal128, value: Value) -> Fraction:
    """A number in units of the last digit of a decimal column."""
    return number(value.text) * Fraction(10**kind.scale)


def _instant(text: str) -> Fraction:
    """Seconds since 1970-01-01T00:00Z."""
    day, separator, rest = text.replace(" ", "T").partition("T")
    if not separator:
        return Fraction(_days(day) * DAY_SECONDS)
    offset = _OFFSET.fullmatch(rest)
    seconds = _days(day) * DAY_SECONDS + _seconds(offset[1] if offset else rest)
    return seconds - (_offset(offset[2]) if offset else 0)


def _offset(text: str) -> int:
    if text == "Z":
        return 0
    hours, minutes, seconds = (int(part) for part in (text[1:] + ":00:00").split(":")[:3])
    total = (hours * 60 + minutes) * 60 + seconds
    if minutes > 59 or seconds > 59 or total > 18 * 3600:
        raise ValueError
    return -total if text[0] == "-" else total


def _days(text: str) -> int:
    """Days since 1970-01-01, of the proleptic Gregorian calendar."""
    match = _DATE.fullmatch(text)
    if match is None or (match[1] == "+") != (len(match[2]) > 4 and match[1] != "-"):
        raise ValueError
    if match[1] == "-" and not int(match[2]):
        raise ValueError
    year, month, day = int(match[1] + match[2]), int(match[3]), int(match[4])
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1] or ((month, day) == (2, 29) and not is_leap):
        raise ValueError
    # Years begin in March, so that a leap day is the last one.
    y = year - (month <= 2)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return 365 * y + y // 4 - y // 100 + y // 400 + day_of_year - 719_468


def _seconds(text: str) -> Fraction:
    """Seconds since midnight."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError
    fraction = match[4] or ""
    return Fraction((hours * 60 + minutes) * 60 + seconds) + Fraction(int(fraction or 0), 10 ** len(fraction))


def bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
