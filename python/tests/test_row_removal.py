"""Versions that lose rows one by one: Python makes of the log entries what Java does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stoker._commit.entry import encode_info
from stoker._commit.table import encode_table, live_rows
from stoker._dataset.log import read_info
from stoker._dataset.snapshot import open_snapshot
from stoker._order.spec import OrderSpec
from stoker._order.stream_order import fingerprint

GOLDEN = Path(__file__).parents[2] / "schemas/src/test/resources/golden"
VERSIONS = json.loads((GOLDEN / "row-removal-1.json").read_text())["versions"]


@pytest.mark.parametrize("table", range(len(VERSIONS) + 1))
def test_versions_are_the_same_from_the_log_and_from_any_table(tmp_path: Path, table: int) -> None:
    (tmp_path / "_stoker/log").mkdir(parents=True)
    (tmp_path / "_stoker/dataset.json").write_bytes((GOLDEN / "dataset-1.json").read_bytes())
    # The golden tables have no classes.
    info = replace(read_info(tmp_path), classes={})
    (tmp_path / "_stoker/dataset.json").write_bytes(encode_info(info))
    for number, version in enumerate(VERSIONS, 1):
        (tmp_path / f"_stoker/log/{number:020d}.avro").write_bytes(bytes.fromhex(version["entry"]))
    if table:
        folder = tmp_path / "_stoker/tables"
        folder.mkdir()
        (folder / f"{table:020d}.arrow").write_bytes(bytes.fromhex(VERSIONS[table - 1]["table"]))
    for number, version in enumerate(VERSIONS, 1):
        snapshot = open_snapshot(tmp_path, number)
        assert live_rows(snapshot).tolist() == version["live_rows"]
        assert encode_table(snapshot).hex() == version["table"]
        found = fingerprint(snapshot.info.id, number, "train", snapshot.stream("train"), OrderSpec())
        assert found == version["fingerprint"]
