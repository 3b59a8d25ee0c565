"""Which values, columns and schemas a `Writer` takes, and what it says of others."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker.errors import InvalidSampleError
from written import PHOTOS, Writer, contents, photo


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": 3}, "sample 'k', field 'label': expected str, not int 3"),
        ({"image": "text"}, "sample 'k', field 'image': expected bytes, not str 'text'"),
        ({"weight": "heavy"}, "sample 'k', field 'weight': expected a number, not str 'heavy'"),
        ({"image": None}, "sample 'k', field 'image': there is no value, but the field is not nullable"),
        ({"other": 1}, "sample 'k': there is no field 'other'; there are ['image', 'label', 'weight']"),
        ({"key": ""}, "sample '', field 'key': the key is empty"),
        ({"key": "\ud800"}, "field 'key': the text has half a surrogate pair"),
        ({"key": 7}, "sample 7, field 'key': expected str"),
    ],
)
def test_a_value_that_does_not_fit_names_sample_and_field(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    with Writer(tmp_path / "x", PHOTOS) as w:
        w.write(photo(1))
        with pytest.raises(InvalidSampleError) as error:
            w.write({**photo(2), "key": "k"} | change)
        assert says in str(error.value)
        w.write(photo(3))
    assert contents(tmp_path / "x").keys() == {"00001.jpg", "00003.jpg"}, "the others are taken"


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("int8", 128, "128 is not between -128 and 127"),
        ("uint64", -1, "-1 is not between 0 and 18446744073709551615"),
        ("int32", 1.5, "expected a whole number"),
        ("bool", 2, "expected True or False"),
        ("int32[]", [1, 2**31], "2147483648 is not between"),
        ("int32[]", [1.5], "expected whole numbers"),
        ("int32[]", [[1]], "expected one dimension"),
        ("float32(2,2)", [1, 2, 3, 4], "expected shape (2, 2), not (4,)"),
        ("uint8(2)", np.array([1, 256]), "256 is not between 0 and 255"),
        ("float32[]", ["a"], "expected numbers"),
        ("float32", 1e300, "1e+300 is too large for float32; clip it, or declare the field as float64"),
        ("float32", -3.4028235677973366e38, "is too large for float32"),
        ("float16", 65520, "65520.0 is too large for float16; clip it, or declare the field as float32 or float64"),
        ("bfloat16", 3.4e38, "3.4e+38 is too large for bfloat16"),
        ("float64", 10**400, "is too large for float64; clip it"),
        ("float64", Decimal("1e400"), "1E+400 is too large for float64"),
        ("float32?", np.float64(1e39), "1e+39 is too large for float32"),
        ("float32[]", [1.5, 1e39], "1e+39 is too large for float32"),
        ("float16(2)", np.array([1, 70000]), "70000 is too large for float16"),
        ("float16?[]", [None, 1e6], "item 1: 1000000.0 is too large for float16"),
        ("float32[][]", [[1.5], [1e39]], "item 1: 1e+39 is too large for float32"),
        ("utf8", b"bytes", "expected str"),
    ],
)
def test_what_fits_no_type(tmp_path: Path, kind: str, value: Any, says: str) -> None:
    w = Writer(tmp_path / "x", {"f": kind})
    with pytest.raises(InvalidSampleError) as error:
        w.write({"key": "k", "f": value})
    assert says in str(error.value)
    assert "sample 'k', field 'f'" in str(error.value)
    w.abort()


@pytest.mark.parametrize(
    ("kind", "column", "says"),
    [
        ("int8", pa.array([1, 200]), "sample 'b' (row 1), field 'f': 200 is not between -128 and 127"),
        ("binary", pa.array([b"a", None]), "sample 'b' (row 1), field 'f': there is no value"),
        ("int32[]", pa.array([[1, 2], [3, 2**40]]), "sample 'b' (row 1), field 'f': 1099511627776 is not between"),
        ("int32[]", pa.array([[1, 2], [None]]), "sample 'b' (row 1), field 'f': an item is null"),
        ("utf8", pa.array([1, 2]), "column 'f': expected a column of utf8, not int64"),
        ("categorical", pa.array([1, 2]), "column 'f': expected class names"),
        ("float32(3)", pa.array([[1.0], [2.0]]), "column 'f': expected a column of tensors"),
        ("int64", pa.array([1.0, 2.0]), "column 'f': expected a column of whole numbers, not double"),
        ("float32", pa.array([1.0, 1e300]), "sample 'b' (row 1), field 'f': 1e+300 is too large for float32"),
        ("float16?", pa.array([None, -1e6]), "sample 'b' (row 1), field 'f': -1000000.0 is too large for float16"),
        ("bfloat16", pa.array([1.0, 3.4e38]), "sample 'b' (row 1), field 'f': 3.4e+38 is too large for bfloat16"),
        ("float32[]", pa.array([[1.0, 2.0], [1e39]]), "sample 'b' (row 1), field 'f': 1e+39 is too large for float32"),
        (
            "float16[2]",
            pa.array([[1.0, 2.0], [1.0, 1e6]], pa.list_(pa.float64(), 2)),
            "sample 'b' (row 1), field 'f': ",
        ),
        ("float32?[]", pa.array([[None], [1e39]]), "sample 'b' (row 1), field 'f': 1e+39 is too large for float32"),
    ],
)
def test_columns_that_do_not_fit(tmp_path: Path, kind: str, column: pa.Array, says: str) -> None:
    with Writer(tmp_path / "x", {"f": kind + "?" if kind == "none" else kind}) as w:
        with pytest.raises(InvalidSampleError) as error:
            w.write_batch(pa.table({"key": ["a", "b"], "f": column}))
        assert says in str(error.value)
        with pytest.raises(InvalidSampleError, match="no field 'g'"):
            w.write_batch(pa.table({"key": ["a"], "g": [1]}))
        with pytest.raises(InvalidSampleError, match="key is empty"):
            w.write_batch(pa.table({"key": [""], "f": column.slice(0, 1)}))
        w.abort()


def test_the_largest_numbers_infinities_and_absent_ones_are_taken(tmp_path: Path) -> None:
    largest = {"float16": 65519.0, "bfloat16": 3.3895e38, "float32": 3.4028235e38, "float64": 1.7e308}
    infinite = [float("inf"), float("-inf"), float("nan")]
    with Writer(tmp_path / "x", {kind: f"{kind}?" for kind in largest}) as w:
        w.write({"key": "a", **largest})
        for n, value in enumerate(infinite):
            w.write({"key": f"b{n}", **dict.fromkeys(largest, value)})
        absent = pa.array([1e300, 1.5, None])
        absent = pa.Array.from_buffers(pa.float64(), 3, [pa.py_buffer(b"\x02"), absent.buffers()[1]])
        w.write_batch(pa.table({"key": ["c0", "c1", "c2"], "float32": absent}))
        w.write_batch(pa.table({"key": ["d"], "float16": [-65504.0], "float64": [np.inf]}))
    found = contents(tmp_path / "x")
    assert np.isfinite([float(found["a"][kind]) for kind in ("float16", "float32", "float64")]).all()
    for n, value in enumerate(infinite):
        stored = [float(found[f"b{n}"][kind]) for kind in ("float16", "float32", "float64")]
        np.testing.assert_equal(stored, [value] * 3)
    assert [found[f"c{n}"]["float32"] for n in range(3)] == [None, 1.5, None]


def test_keys_are_all_given_or_all_numbers(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write({"n": 1})
        with pytest.raises(InvalidSampleError, match="all samples a key, or none"):
            w.write({"key": "a", "n": 2})
        w.write_batch(pa.table({"n": [3, 4]}))
    assert list(contents(tmp_path / "x")) == ["00000000", "00000001", "00000002"]
    for n in (5, 6):
        with Writer(tmp_path / "x", append=True, ingest_id=f"more-{n}") as w:
            w.write({"n": n})
    keys = list(contents(tmp_path / "x"))
    assert len(set(keys)) == 5, "later runs do not repeat the numbers of earlier ones"
    assert all(k.endswith("-00000000") for k in keys[3:])


@pytest.mark.parametrize(("size", "payload"), [(1024, False), (1025, True)])
def test_fields_above_a_kibibyte_are_payload(tmp_path: Path, size: int, payload: bool) -> None:
    with Writer(tmp_path / "x", {"a": "binary", "b": "utf8", "c": "int8(2000)", "d": "binary?"}) as w:
        for _ in range(1000):
            w.write({"a": bytes(size), "b": "text", "c": np.zeros(2000, np.int8), "d": bytes(size)})
        w.write({"a": bytes(100_000), "b": "t", "c": np.zeros(2000, np.int8)})
    found = {f.name: f.payload for f in stoker.open(tmp_path / "x").fields}
    assert found == {"a": payload, "b": False, "c": True, "d": False}


def test_a_pyarrow_schema_says_the_same(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("key", pa.utf8()),
            pa.field("label", pa.dictionary(pa.int8(), pa.utf8()), False),
            pa.field("tokens", pa.list_(pa.uint16())),
            pa.field("image", pa.large_binary()),
            pa.field("pixels", pa.fixed_shape_tensor(pa.float32(), (2, 3)), False),
            pa.field("half", pa.float16(), False),
        ]
    )
    with Writer(tmp_path / "x", schema) as w:
        for n in range(3):
            w.write(
                {"key": str(n), "label": "x", "tokens": [n], "image": bytes(4000), "pixels": np.ones((2, 3)), "half": 1}
            )
    fields = {f.name: (f.type, f.nullable, f.payload) for f in stoker.open(tmp_path / "x").fields}
    assert fields == {
        "label": ("categorical", False, False),
        "tokens": ("uint16[]", True, False),
        "pixels": ("float32[2,3]", False, False),
        "half": ("float16", False, False),
        "image": ("binary", False, True),
    }
    with pytest.raises(ValueError, match="no type for duration"):
        Writer(tmp_path / "y", pa.schema([("day", pa.duration("s"))]))
