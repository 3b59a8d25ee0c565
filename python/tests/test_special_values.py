"""Values and types of special columns that the writer takes, and those that it refuses with a reason."""

from __future__ import annotations

import datetime as dt
import functools
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker._format.fields import Field
from stoker.errors import InvalidSampleError

Writer = functools.partial(stoker.Writer, shuffle=False)
UTC = dt.timezone.utc


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("timestamp[s]", dt.datetime(2026, 1, 1, 0, 0, 0, 1), "has fractions that timestamp"),
        ("timestamp[s]", dt.datetime(2026, 1, 1, tzinfo=UTC), "has a time zone, but the field has none"),
        ("timestamp[s,UTC]", dt.datetime(2026, 1, 1), "has no time zone, but the field has UTC"),
        ("timestamp[ns]", dt.datetime(9999, 1, 1), "outside of the range of timestamp"),
        ("timestamp[ns]", np.datetime64("9999-01-01", "s"), "without rounding or overflow"),
        ("timestamp[ms]", np.datetime64(1, "us"), "without rounding or overflow"),
        ("timestamp[ms]", np.datetime64("NaT"), "NaT is not a value"),
        ("timestamp[ms]", 5, "expected a datetime or a numpy.datetime64, not int 5"),
        ("date", dt.datetime(2026, 1, 1), "expected a date or a numpy.datetime64 in days, not datetime"),
        ("date", np.datetime64("2026-01-01T01", "h"), "without rounding or overflow"),
        ("date", np.datetime64(2**31, "D"), "outside of the range of date"),
        ("time[ms]", dt.time(0, 0, 0, 1), "has fractions that time"),
        ("time[us]", dt.time(0, tzinfo=UTC), "which a time of day cannot have"),
        ("time[us]", np.timedelta64(86400, "s"), "is not a time of day"),
        ("time[us]", np.timedelta64(-1, "us"), "is not a time of day"),
        ("time[us]", "12:00", "expected a time or a numpy.timedelta64, not str"),
        ("decimal(5,2)", Decimal("1000"), "at most 3 digits before and 2 behind the decimal point"),
        ("decimal(5,2)", Decimal("0.001"), "at most 3 digits before and 2 behind the decimal point"),
        ("decimal(5,2)", Decimal("1e999999"), "at most 3 digits before"),
        ("decimal(5,2)", Decimal("1e-999999"), "at most 3 digits before"),
        ("decimal(5,2)", Decimal("NaN"), "NaN is not a number"),
        ("decimal(5,2)", 0.5, "expected a Decimal or a whole number, not float"),
        ("decimal(38,0)", 10**38, "at most 38 digits before and 0 behind"),
        ("utf8[]", "text", "expected a list of utf8, not str 'text'"),
        ("utf8[]", ["a", None], "item 1 is null; items of utf8\\[\\] cannot be null"),
        ("utf8[]", ["a", b"b"], "item 1: expected str, not bytes"),
        ("binary[]", [b"a", "b"], "item 1: expected bytes, not str"),
        ("int8[][]", [[1], [128]], "item 1: 128 is not between -128 and 127"),
        ("int8[][]", [1, 2], "item 0: expected one dimension"),
        ("int8[][]", 7, "expected a list of int8\\[\\], not int 7"),
    ],
)
def test_wrong_values_are_named(tmp_path: Path, kind: str, value: Any, why: str) -> None:
    wrong = pytest.raises(InvalidSampleError, match=rf"sample 'a', field 'f': .*{why}")
    with wrong, Writer(tmp_path / "x", {"f": kind}) as w:
        w.write({"key": "a", "f": value})


@pytest.mark.parametrize(
    ("kind", "array", "why"),
    [
        ("timestamp[s]", pa.array([1], pa.timestamp("s", "UTC")), "one of them has a time zone"),
        ("timestamp[s]", pa.array([1500], pa.timestamp("ms")), "a value of timestamp.* does not fit timestamp"),
        ("timestamp[s]", pa.array([1], pa.int64()), "expected a column of timestamp"),
        ("time[s]", pa.array([86_400], pa.int32()).view(pa.time32("s")), "86400 is not a time of day"),
        ("decimal(3,1)", pa.array([Decimal("123.4")]), "does not fit decimal"),
        ("utf8[]", pa.array([["a", None]]), "an item is null"),
        ("int8[][]", pa.array([[[1, 300]]]), "300 is not between"),
        ("int8[][]", pa.array([[1]]), "expected a column of lists"),
        ("utf8[]", pa.array(["a"]), "expected a column of lists of utf8"),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, kind: str, array: pa.Array, why: str) -> None:
    wrong = pytest.raises(InvalidSampleError, match=rf"field 'f'.*{why}|column 'f'.*{why}")
    with wrong, Writer(tmp_path / "x", {"f": kind}) as w:
        w.write_batch(pa.table({"key": ["a"], "f": array}))


def test_values_of_other_forms_are_taken(tmp_path: Path) -> None:
    schema = {"t": "timestamp[us,UTC]", "n": "decimal(38,0)", "p": "decimal(5,2)", "s": "int16[][]", "w": "utf8[]"}
    berlin = dt.datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    late = dt.datetime(9999, 12, 31, 23, 59, tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    hours = np.datetime64("2026-07-01T10", "h")
    with Writer(tmp_path / "x", schema) as w:
        w.write({"key": "a", "t": berlin, "n": 10**38 - 1, "p": np.int64(-7), "s": np.ones((2, 2), int), "w": ()})
        w.write({"key": "b", "t": hours, "n": 0, "p": Decimal("1.2"), "s": [], "w": ["x"]})
        w.write({"key": "c", "t": late, "n": -1, "p": 0, "s": [], "w": []})
    a, b, c = stoker.open(tmp_path / "x")
    assert a["t"] == b["t"] == np.datetime64("2026-07-01T10:00")
    assert c["t"] == np.datetime64("9999-12-31T23:59") + np.timedelta64(5, "h")
    assert (a["n"], a["p"], b["p"]) == (10**38 - 1, Decimal("-7.00"), Decimal("1.20"))
    assert [x.tolist() for x in a["s"]] == [[1, 1], [1, 1]]
    assert a["w"] == []


@pytest.mark.parametrize("kind", ["utf8[]", "binary[]", "int32[][]"])
def test_nested_lists_cannot_be_payload(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ValueError, match="a row of it is not one run of bytes; make it a small field"):
        Field("f", kind, payload=True)
    with pytest.raises(ValueError, match="'f' cannot be a payload field"):
        Writer(tmp_path / "x", {"f": kind}, payload=["f"])
    with Writer(tmp_path / "x", {"f": kind}) as w:
        w.write(
            {"key": "a", "f": [[1] * 5000] if kind == "int32[][]" else ["x" * 5000] if kind == "utf8[]" else [b"x"]}
        )
    assert not stoker.open(tmp_path / "x").fields[0].payload


@pytest.mark.parametrize(
    "kind",
    [
        "timestamp[m]", "timestamp[us,]", "timestamp[us,+24:00]", "date[]", "time", "decimal(0,0)", "decimal(39,0)",
        "decimal(3,4)", "decimal256(3,1)", "utf8[][]", "int32[][][]", "utf8?[][]", "int32?[][]", "bool?[]",
        "int32?[][2]",
    ],
)  # fmt: skip
def test_types_that_do_not_exist_are_refused(tmp_path: Path, kind: str) -> None:
    why = "unknown type|not supported|cannot be null|time zone|a decimal has|the scale of"
    with pytest.raises(ValueError, match=why):
        Field("f", kind)
    with pytest.raises(ValueError, match=why):
        Writer(tmp_path / "x", {"f": kind})
