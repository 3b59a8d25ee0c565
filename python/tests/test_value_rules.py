"""One value has one meaning on every way into a dataset: the ways of Python, by the table that Java's tests read."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from stoker._format.fields import Field
from stoker._packing.columns import Unfit, segment
from stoker.errors import InvalidSampleError
from written import Writer, contents

_TABLE = json.loads(
    (Path(__file__).resolve().parents[2] / "schemas/src/test/resources/vectors/values.json")
    .read_text()
    .replace("\\ue000", "a" * (1 << 16))
)
_ITEM = re.compile(r"(.*)(\[\]|\[2\])")
TYPES = sorted({case["type"] for case in _TABLE["cases"]})


def cases(way: str, kind: str) -> list[dict[str, Any]]:
    """The cases of a type that a way can express. The others have a reason in the table."""
    found = []
    for case in _TABLE["cases"]:
        given = case["type"] + " from " + case.get("typed", {}).get("type", "")
        rule = _TABLE["ways"][way]["not"]
        if (
            case["type"] != kind
            or way in case.get("not", {})
            or any(re.fullmatch(p, t) for p in rule for t in (case["type"], given))
        ):
            continue
        assert "typed" in case or "typed" in case.get("not", {}) or "record" in case or "json" in case, case
        if "typed" in case or (way == "writer" and "writer" in case.get("also", {})):
            found.append(case)
    return found


def value(kind: str, given: Any) -> Any:
    """A value of the table as a program has it."""
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, list):
        match = _ITEM.fullmatch(kind)
        assert match
        return [value(match[1].removesuffix("?"), item) for item in given]
    if re.match("u?int", kind):
        return int(given)
    if "float" in kind:
        return float(given)
    if kind.startswith("decimal"):
        return Decimal(given)
    if kind == "date":
        return dt.date.fromisoformat(given)
    if kind.startswith("timestamp"):
        text = given.removesuffix("Z")
        if "[ns" in kind:
            return np.datetime64(text, "ns")
        return dt.datetime.fromisoformat(text).replace(tzinfo=dt.timezone.utc if "," in kind else None)
    # Python 3.10 reads three or six digits.
    return dt.time.fromisoformat(re.sub(r"\.(\d)$", r".\g<1>00", given)) if kind.startswith("time") else given


def stored(kind: str, text: Any) -> Any:
    """A stored value of the table as a reader gives it: numbers as float or int."""
    if text is None:
        return None
    if isinstance(text, list):
        match = _ITEM.fullmatch(kind)
        assert match
        return [stored(match[1].removesuffix("?"), item) for item in text]
    if "float" in kind:
        return float(text)
    if kind == "bool":
        return text == "true"
    return Decimal(text) if kind.startswith("decimal") else text if kind in ("utf8", "categorical") else int(text)


def found(kind: str, read: Any) -> Any:
    """What a reader gives, in the form of `stored`."""
    if read is None:
        return None
    if kind.startswith("bfloat16"):
        wide = (np.asarray(read).astype(np.uint32) << np.uint32(16)).view(np.float32)
        return found("float32", wide if wide.ndim else wide[()])
    if isinstance(read, np.ma.MaskedArray):
        return [None if masked else found(kind, each) for each, masked in zip(read.data, read.mask, strict=True)]
    if isinstance(read, (list, np.ndarray)):
        return [found(kind, each) for each in read]
    if isinstance(read, (np.datetime64, np.timedelta64)):
        return int(read.astype(np.int64))
    return read.item() if isinstance(read, np.generic) else read


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal: NaN equals NaN, and -0.0 is not 0.0."""
    return repr(one) == repr(other)


def problem(case: dict[str, Any], refusal: str | None) -> str | None:
    """What is wrong with the outcome of a case, but for the stored value."""
    if "refused" not in case:
        return None if refusal is None else f"{case}: refused: {refusal}"
    if refusal is None:
        return f"{case}: expected a refusal"
    is_named = case["refused"].lower() in refusal.lower() or "expected a column" in refusal
    return None if is_named else f"{case}: expected the word {case['refused']} in: {refusal}"


def differences(kind: str, expected: Mapping[str, Any], read: Mapping[str, Any]) -> list[str]:
    """What samples have instead of the values that the table names."""
    wrong = []
    for key, case in expected.items():
        if "stored" in case:
            wanted, given = stored(kind, case["stored"]), found(kind, read[key]["x"])
            if not same(wanted, given):
                wrong.append(f"{case}: stored {given!r}, not {wanted!r}")
    return wrong


@pytest.mark.parametrize("kind", TYPES)
def test_a_value_that_a_program_writes_has_its_one_meaning(tmp_path: Path, kind: str) -> None:
    problems, expected = [], {}
    with Writer(tmp_path / "d", {"x": kind + "?"}) as writer:
        writer.write({"key": "first", "x": None})
        for number, case in enumerate(cases("writer", kind)):
            also = case.get("also", {})
            given = also["writer"] if "writer" in also else value(case["typed"]["type"], case["typed"]["value"])
            refusal = None
            try:
                writer.write({"key": str(number), "x": given})
                expected[str(number)] = case
            except InvalidSampleError as e:
                refusal = str(e)
            problems.append(problem(case, refusal))
    problems += differences(kind, expected, contents(tmp_path / "d"))
    assert [each for each in problems if each] == []


def column(kind: str, given: Any) -> pa.Array:
    """An Arrow array with a value of the table."""
    arrow = Field("x", kind).arrow().type
    if isinstance(given, str) and kind.startswith("timestamp"):
        count = np.datetime64(given.removesuffix("Z"), kind[10:-1].split(",")[0]).astype(np.int64)
        return pa.array([int(count)], pa.int64()).cast(arrow)
    if isinstance(arrow, pa.ExtensionType):
        return pa.array([value(kind, given)], arrow.storage_type)
    return pa.array([value(kind, given)], arrow)


@pytest.mark.parametrize("kind", TYPES)
def test_a_value_of_a_batch_has_its_one_meaning(tmp_path: Path, kind: str) -> None:
    problems, expected = [], {}
    with Writer(tmp_path / "d", {"x": kind + "?"}) as writer:
        writer.write({"key": "first", "x": None})
        for number, case in enumerate(cases("write_batch", kind)):
            if "typed" not in case:
                continue
            array = column(case["typed"]["type"], case["typed"]["value"])
            refusal = None
            try:
                segment(array, Field("x", kind, nullable=True))
                writer.write_batch(pa.RecordBatch.from_arrays([pa.array([str(number)]), array], ["key", "x"]))
                expected[str(number)] = case
            except (Unfit, InvalidSampleError) as e:
                refusal = str(e)
            problems.append(problem(case, refusal))
    problems += differences(kind, expected, contents(tmp_path / "d"))
    assert [each for each in problems if each] == []
