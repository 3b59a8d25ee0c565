"""Types of points in time, days, times of day and decimal numbers: their canonical strings and their parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""Units in a second, in the order of Arrow's TimeUnit."""
MAX_PRECISION = 38
DECIMAL = np.dtype([("low", "<u8"), ("high", "<i8")])
"""An unscaled number of 128 bits, two's complement."""
DAY_SECONDS = 86_400

_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*|[+-]([01][0-9]|2[0-3]):[0-5][0-9]")
_TIMESTAMP = re.compile(r"timestamp\[(s|ms|us|ns)(?:,([^]]*))?\]")
_TIME = re.compile(r"time\[(s|ms|us|ns)\]")
_DECIMAL = re.compile(r"decimal(256)?\(([1-9][0-9]{0,8}),(0|[1-9][0-9]{0,8})\)")


@dataclass(frozen=True)
class Timestamp:
    """A point in time, or without a zone a local date and time, in units since 1970-01-01T00:00."""

    unit: str
    zone: str | None

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the values as they are stored."""
        return np.dtype(np.int64)

    @property
    def view(self) -> np.dtype[Any]:
        """NumPy type of the values as a batch has them."""
        return np.dtype(f"datetime64[{self.unit}]")

    def arrow(self) -> pa.DataType:
        """The Arrow type."""
        return pa.timestamp(self.unit, self.zone)


@dataclass(frozen=True)
class Date:
    """A day, in days since 1970-01-01."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """See `Timestamp.dtype`."""
        return np.dtype(np.int32)

    @property
    def view(self) -> np.dtype[Any]:
        """See `Timestamp.view`."""
        return np.dtype("datetime64[D]")

    def arrow(self) -> pa.DataType:
        """See `Timestamp.arrow`."""
        return pa.date32()


@dataclass(frozen=True)
class Time:
    """A time of day, in units since midnight."""

    unit: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """See `Timestamp.dtype`."""
        return np.dtype(np.int32 if self.unit in ("s", "ms") else np.int64)

    @property
    def view(self) -> np.dtype[Any]:
        """See `Timestamp.view`."""
        return np.dtype(f"timedelta64[{self.unit}]")

    @property
    def per_day(self) -> int:
        """Units of a day; a value is smaller."""
        return DAY_SECONDS * UNITS[self.unit]

    def arrow(self) -> pa.DataType:
        """See `Timestamp.arrow`."""
        return pa.time32(self.unit) if self.unit in ("s", "ms") else pa.time64(self.unit)


@dataclass(frozen=True)
class Decimal128:
    """A decimal number with at most `precision` digits, `scale` of them behind the point."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        if not 1 <= self.precision <= MAX_PRECISION:
            raise ValueError(
                f"a decimal has 1 to {MAX_PRECISION} digits, not {self.precision}; decimals of 256 bits are not "
                "supported; use utf8 for longer numbers"
            )
        if self.scale > self.precision:
            raise ValueError(
                f"the scale of a decimal with {self.precision} digits is 0 to {self.precision}, not {self.scale}"
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """See `Timestamp.dtype`."""
        return DECIMAL

    def arrow(self) -> pa.DataType:
        """See `Timestamp.arrow`."""
        return pa.decimal128(self.precision, self.scale)


Special = Timestamp | Date | Time | Decimal128


@cache
def special(kind: str) -> Special | None:
    """The parameters of one of these types, None for any other text. Raises `ValueError` if they are impossible."""
    if kind == "date":
        return Date()
    if match := _TIMESTAMP.fullmatch(kind):
        zone = match[2]
        if zone is not None and (len(zone) > 64 or _ZONE.fullmatch(zone) is None):
            raise ValueError(
                f"time zone '{zone}' is not an IANA name such as Europe/Berlin or an offset such as +02:00, of 1 to "
                "64 characters"
            )
        return Timestamp(match[1], zone)
    if match := _TIME.fullmatch(kind):
        return Time(match[1])
    if match := _DECIMAL.fullmatch(kind):
        if match[1]:
            raise ValueError(f"decimal256 is not supported: '{kind}'; use decimal(p,s) with at most 38 digits, or utf8")
        return Decimal128(int(match[2]), int(match[3]))
    return None
