"""Columns whose types differ between files or from the declared type: a value is kept, or the ingest says why not."""

from __future__ import annotations

import datetime as dt

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stoker

INT, LONG, FLOAT, DOUBLE = pa.int32(), pa.int64(), pa.float32(), pa.float64()
DAY = dt.datetime(2024, 2, 29, 12)


def parquet(folder, *columns, **options):
    folder.mkdir()
    for number, column in enumerate(columns):
        pq.write_table(pa.table({"v": column}), folder / f"{folder.name}-{number}.parquet", **options)
    return folder


def values(cli, source, target, *options):
    cli.run("ingest", source, target, "--order", "listed", *options)
    found = [sample["v"] for sample in stoker.open(target)]
    return [x.tolist() if hasattr(x, "tolist") else x for x in found]


@pytest.mark.parametrize(
    ("columns", "options", "kind", "expected"),
    [
        pytest.param((pa.array([1], INT), pa.array([2**40], LONG)), (), "int64", [1, 2**40], id="wider-integers"),
        pytest.param((pa.array([2**40], LONG), pa.array([1], INT)), (), "int64", [2**40, 1], id="wider-integers-first"),
        pytest.param((pa.array([1.5], FLOAT), pa.array([0.1], DOUBLE)), (), "float64", [1.5, 0.1], id="wider-floats"),
        pytest.param((pa.array([1], INT), pa.array([0.1], DOUBLE)), (), "float64", [1.0, 0.1], id="integers-in-floats"),
        pytest.param(
            (pa.array([1], LONG), pa.array([2.5], DOUBLE)),
            ("--type", "v=float64"),
            "float64",
            [1.0, 2.5],
            id="declared-floats",
        ),
        pytest.param(
            (pa.array([[1], [], None], pa.list_(INT)), pa.array([[2**40]], pa.list_(LONG))),
            (),
            "int64[]",
            [[1], [], None, [2**40]],
            id="lists",
        ),
        pytest.param((pa.nulls(1), pa.array(["x"])), (), "utf8", [None, "x"], id="nulls-first"),
        pytest.param((pa.array(["x"]), pa.nulls(1)), (), "utf8", ["x", None], id="nulls-later"),
        pytest.param((pa.nulls(2),), ("--type", "v=utf8"), "utf8", [None, None], id="declared-nulls"),
        pytest.param(
            (pa.array([DAY], pa.timestamp("ms")), pa.array([DAY], pa.timestamp("us"))),
            (),
            "timestamp[us]",
            [DAY, DAY],
            id="units",
        ),
        pytest.param(
            (pa.array([DAY], pa.timestamp("ns")), pa.array([DAY], pa.timestamp("us"))),
            ("--type", "v=timestamp[ms]"),
            "timestamp[ms]",
            [DAY, DAY],
            id="declared-units",
        ),
        pytest.param((pa.array([7], LONG),), ("--type", "v=int8"), "int8", [7], id="declared-narrow"),
    ],
)
def test_files_are_read_as_one_type(cli, tmp_path, columns, options, kind, expected):
    found = values(cli, parquet(tmp_path / "in", *columns), tmp_path / "d", *options)
    assert found == expected
    assert [str(field.type) for field in stoker.open(tmp_path / "d").fields if field.name == "v"] == [kind]


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        pytest.param(
            (pa.array([1], LONG), pa.array([2.5], DOUBLE)),
            (),
            "declare one type for all files with --type v=float64",
            id="integers-and-floats",
        ),
        pytest.param(
            (pa.array([1], INT), pa.array([2], LONG)),
            ("--type", "v=int32"),
            "1.parquet, which the declared type int32 does not hold",
            id="narrower",
        ),
        pytest.param(
            (pa.array([1], LONG), pa.array(["x"])),
            ("--type", "v=int64"),
            "1.parquet, which the declared type int64 does not hold",
            id="text",
        ),
        pytest.param(
            (pa.array([2**53 + 1], LONG),),
            ("--type", "v=float64"),
            "9007199254740993 is not exactly a float64",
            id="inexact",
        ),
        pytest.param((pa.array([-1], LONG),), ("--type", "v=uint64"), "-1 does not fit into uint64", id="below-zero"),
        pytest.param(
            (pa.array([2**64 - 1], pa.uint64()),),
            ("--type", "v=int64"),
            "18446744073709551615 does not fit into int64",
            id="beyond-a-sign",
        ),
        pytest.param(
            (pa.array([1_001], pa.timestamp("ns")),),
            ("--type", "v=timestamp[us]"),
            "has a fraction that timestamp[us] does not hold",
            id="fraction",
        ),
        pytest.param(
            (pa.array([1], pa.date32()),), ("--type", "v=timestamp[us]"), "its values are date, which", id="other-kind"
        ),
    ],
)
def test_values_that_a_type_does_not_hold_are_refused(cli, tmp_path, columns, options, words):
    said = cli.fails("ingest", parquet(tmp_path / "in", *columns), tmp_path / "d", *options)
    assert words in said


def test_an_append_converts_units_to_those_of_the_dataset(cli, tmp_path):
    target = tmp_path / "d"
    assert values(cli, parquet(tmp_path / "us", pa.array([DAY], pa.timestamp("us"))), target) == [DAY]
    appended = parquet(tmp_path / "ns", pa.array([DAY], pa.timestamp("ns")))
    assert values(cli, appended, target, "--append") == [DAY, DAY]


def test_days_beyond_the_nanoseconds_of_int96(cli, tmp_path):
    days = pa.array([dt.datetime(9999, 12, 31), DAY], pa.timestamp("us"))
    source = parquet(tmp_path / "in", days, use_deprecated_int96_timestamps=True)
    assert values(cli, source, tmp_path / "d", "--type", "v=timestamp[us]") == days.to_pylist()
    assert "--type v=timestamp[us]" in cli.fails("ingest", source, tmp_path / "other")


def test_avro_files_are_read_as_one_type(cli, tmp_path):
    for number, (kind, value) in enumerate((("int", 1), ("long", 2**40), ("null", None))):
        with open(tmp_path / f"{number}.avro", "wb") as out:
            fields = [{"name": "v", "type": kind}, {"name": "i", "type": "int"}]
            fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, [{"v": value, "i": 1}])
    assert values(cli, tmp_path / "*.avro", tmp_path / "d") == [1, 2**40, None]
