"""After an interrupt at any place, a writer continues with whole rows, or refuses to and says so."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stoker
from interrupts import Interrupt, everywhere
from stoker import errors

SCHEMA = {"label": "categorical?", "n": "int64", "tokens": "int32[]", "data": "binary"}
ROWS = 24


def sample(n: int, *, keyed: bool) -> dict[str, Any]:
    row = {"label": f"c{n % 3}" if n % 4 else None, "n": n, "tokens": np.full(n % 5, n), "data": bytes([n]) * 100}
    return row | ({"key": f"k{n}"} if keyed else {})


def table(rows: list[dict[str, Any]]) -> pa.Table:
    kinds = {"label": pa.utf8(), "n": pa.int64(), "tokens": pa.list_(pa.int32()), "data": pa.binary(), "key": pa.utf8()}
    return pa.table({name: pa.array([r[name] for r in rows], kinds[name]) for name in rows[0]})


def check(root: Path, version: int | None, taken: int | None, *, exact: bool) -> None:
    """What is committed is readable, and every row is one that was written."""
    found = sorted((s["n"], s["label"], s["tokens"].tolist(), s["data"]) for s in stoker.open(root, version))
    assert len({s["key"] for s in stoker.open(root, version)}) == len(found) == taken
    for n, label, tokens, data in found:
        expected = sample(n, keyed=True)
        assert (label, tokens, data) == (expected["label"], expected["tokens"].tolist(), expected["data"])
    if exact:
        assert [n for n, *_ in found] == list(range(ROWS))


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("keyed", [True, False])
def test_writing_row_by_row_goes_on_or_refuses(tmp_path: Path, shuffle: bool, keyed: bool) -> None:
    names = count()

    def run(interrupt: Interrupt) -> None:
        root = tmp_path / f"x{next(names)}"
        w = stoker.Writer(root, SCHEMA, payload=["data"], chunk_size=1500, shuffle=shuffle, shuffle_buffer=4000)
        n, refused = 0, False
        while n < ROWS:
            before = w.samples
            try:
                with interrupt.on():
                    while n < ROWS:
                        before = w.samples
                        w.write(sample(n, keyed=keyed))
                        n += 1
            except KeyboardInterrupt:
                n += w.samples > before  # it was taken, and the interrupt came behind it
            except errors.StokerError as e:
                if "commits nothing" not in str(e):
                    raise
                refused = True
                break
        if refused:
            with pytest.raises(errors.StokerError, match="commits nothing"):
                w.close()
            with pytest.raises((errors.StokerError, FileNotFoundError)):
                stoker.open(root)
            assert not list(root.rglob("*.arrow"))
            return
        w.close()
        check(root, w.version, ROWS, exact=True)

    everywhere(run, 5)


@pytest.mark.parametrize("shuffle", [True, False])
def test_writing_tables_leaves_whole_rows(tmp_path: Path, shuffle: bool) -> None:
    names = count()

    def run(interrupt: Interrupt) -> None:
        root = tmp_path / f"x{next(names)}"
        w = stoker.Writer(root, SCHEMA, payload=["data"], chunk_size=1500, shuffle=shuffle, shuffle_buffer=4000)
        rows = [sample(n, keyed=True) for n in range(ROWS)]
        try:
            while w.samples < ROWS:
                try:
                    with interrupt.on():
                        while w.samples < ROWS:
                            w.write_batch(table(rows[w.samples : w.samples + 17]))
                except KeyboardInterrupt:
                    pass
            w.close()
        except errors.StokerError as e:
            if "commits nothing" not in str(e):
                raise
            w.abort()
            assert not list(root.rglob("*.arrow"))
            return
        check(root, w.version, ROWS, exact=True)

    everywhere(run, 6)


def test_closing_commits_everything_or_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    names = count()

    def run(interrupt: Interrupt) -> None:
        root = tmp_path / f"x{next(names)}"
        w = stoker.Writer(root, SCHEMA, payload=["data"], chunk_size=1500)
        for n in range(ROWS):
            w.write(sample(n, keyed=True))
        try:
            with interrupt.on():
                w.close()
        except KeyboardInterrupt:
            w.close()
        if w.version is None:
            with pytest.raises(ValueError, match="closed"):
                w.write(sample(0, keyed=True))
            with pytest.raises((errors.StokerError, FileNotFoundError)):
                stoker.open(root)
            w.abort()
            assert not list(root.rglob("*.arrow"))
        else:
            check(root, w.version, ROWS, exact=True)

    everywhere(run, 6)


def test_an_interrupted_commit_of_parts_can_be_repeated(tmp_path: Path) -> None:
    names = count()

    def run(interrupt: Interrupt) -> None:
        root = tmp_path / f"x{next(names)}"
        parts = []
        for part in range(2):
            with stoker.Writer(root, SCHEMA, payload=["data"], chunk_size=1500, part=True) as w:
                for n in range(part, ROWS, 2):
                    w.write(sample(n, keyed=True))
            parts.append(w.part)
        try:
            with interrupt.on():
                version = stoker.commit(root, parts)
        except KeyboardInterrupt:
            version = stoker.commit(root, parts)
        assert version == 1
        check(root, 1, ROWS, exact=True)

    everywhere(run, 5)
