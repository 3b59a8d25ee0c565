"""`where`: the rows that a condition selects, judged by SQLite, and feeds that have only these rows."""

from __future__ import annotations

import json
import sqlite3
from decimal import Decimal
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import order_prototype as prototype
import stoker
from rounds import rounds
from small_datasets import DatasetWriter, small_dataset
from stoker import Feed, errors
from stoker._condition.syntax import canonical, column_text, parse
from stoker._dataset import selection
from stoker._dataset.bound_condition import BoundCondition, ChunkValues
from stoker._dataset.chunk import ChunkHead, ChunkReader, ColumnData
from stoker._dataset.selection import select
from stoker._dataset.snapshot import open_snapshot
from stoker._format.fields import Field
from stoker._format.message import Column
from stoker.errors import ConditionError

FIELDS = [
    {"name": "label", "type": "categorical", "nullable": True},
    {"name": "flag", "type": "bool", "nullable": True},
    {"name": "score", "type": "float64", "nullable": True},
    {"name": "n", "type": "int64"},
    {"name": "tiny", "type": "int8", "nullable": True},
    {"name": "caption", "type": "utf8", "nullable": True},
    {"name": "tokens", "type": "int32[]"},
    {"name": "image", "type": "binary", "payload": True},
]
LABELS = ["zebra", "ant", "cat", "ünder"]
CAPTIONS = ["", "a", "ab", "a'b", "\uffff", "\U0001f600", "z\u0000"]
SCORES = [0.0, -0.0, 0.1, 0.25, 1e300, -3.5, float("inf")]


def _samples(rng: Random, count: int) -> list[dict[str, Any]]:
    def maybe(value: Any) -> Any:
        return None if rng.random() < 0.2 else value

    return [
        {
            "key": f"k{i:04d}",
            "label": maybe(rng.choice(LABELS)),
            "flag": maybe(rng.random() < 0.5),
            "score": maybe(rng.choice(SCORES)),
            "n": rng.choice([0, 1, i, -(2**63), 2**63 - 1]),
            "tiny": maybe(rng.randrange(-128, 128)),
            "caption": maybe(rng.choice(CAPTIONS)),
            "tokens": list(range(i % 3)),
            "image": bytes([i % 256]) * (i % 9),
        }
        for i in range(count)
    ]


def _write(root: Path, seed: int = 1, chunks: tuple[int, ...] = (13, 1, 64, 30, 9, 17)) -> DatasetWriter:
    writer = DatasetWriter(root, FIELDS, seed=seed)
    samples = iter(_samples(Random(seed), sum(chunks)))
    writer.commit([[next(samples) for _ in range(n)] for n in chunks])
    return writer


def _write_with_the_writer(root: Path, seed: int = 1) -> list[dict[str, Any]]:
    """The same samples in chunks with footers, from which single columns can be read."""
    fields = {f["name"]: f["type"] + ("?" if f.get("nullable") else "") for f in FIELDS}
    samples = _samples(Random(seed), 134)
    with stoker.Writer(root, fields, payload=["image"], shuffle=False, chunk_size=8192) as writer:
        for sample in samples:
            writer.write(sample)
    return samples


def _sqlite(samples: list[dict[str, Any]]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    names = ("key", "label", "flag", "score", "n", "tiny", "caption")
    database.execute(f"CREATE TABLE samples ({', '.join(names)})")
    rows = [[s[name] for name in names] for s in samples]
    database.executemany(f"INSERT INTO samples VALUES ({', '.join('?' * len(names))})", rows)
    return database


def _condition(rng: Random, depth: int) -> str:
    kind = rng.randrange(4 if depth else 1)
    if kind == 1:
        return f"NOT ({_condition(rng, depth - 1)})"
    if kind > 1:
        parts = [f"({_condition(rng, depth - 1)})" for _ in range(rng.randrange(2, 4))]
        return (" AND " if kind == 2 else " OR ").join(parts)
    column, values = rng.choice(
        [
            ("label", [f"'{v}'" for v in [*LABELS, "missing"]]),
            ("score", ["0", "0.1", "-3.5", "2.5E-1", "1e300", "7"]),
            ("n", ["0", "1", "17", "0.5", "-9223372036854775808", "9223372036854775807", "1e3"]),
            ("tiny", ["-128", "127", "3", "-0.5", "300", "-300"]),
            ("caption", ["'" + v.replace("'", "''") + "'" for v in CAPTIONS[:-1]]),
            ("key", ["'k0003'", "'k01'", "''"]),
        ]
    )
    match rng.randrange(6):
        case 0:
            return f"{column} IS {rng.choice(['', 'NOT '])}NULL"
        case 1:
            return f"{column} {rng.choice(['', 'NOT '])}IN ({', '.join(rng.choices(values, k=3))})"
        case 2:
            return f"{column} {rng.choice(['', 'NOT '])}BETWEEN {rng.choice(values)} AND {rng.choice(values)}"
        case 3:
            return f"{rng.choice(values)} {rng.choice(['<', '>=', '<>'])} {column}"
        case 4:
            return rng.choice(["flag", "NOT flag", "flag = FALSE", "flag IS NULL", "flag <> TRUE"])
    return f"{column} {rng.choice(['=', '<>', '!=', '<', '<=', '>', '>='])} {rng.choice(values)}"


@pytest.mark.parametrize("has_footers", [False, True])
def test_a_condition_selects_what_sqlite_selects(
    tmp_path: Path, has_footers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_footers:
        monkeypatch.setattr(selection, "_COLUMNS_FROM", 0)
        monkeypatch.setattr(ChunkReader, "head", None)  # no chunk may fall back to its whole head
        samples = _write_with_the_writer(tmp_path / "d")
        keys = {}
        for row in stoker.open(tmp_path / "d").to_arrow(columns=["key", "stoker.chunk", "stoker.row"]).to_pylist():
            keys[row["stoker.chunk"], row["stoker.row"]] = row["key"]
        assert len(keys) == len(samples)
    else:
        writer = _write(tmp_path / "d")
        samples = [writer.rows[at] for at in sorted(writer.rows)]
        keys = {at: s["key"] for at, s in writer.rows.items()}
    database = _sqlite(samples)
    snapshot = open_snapshot(tmp_path / "d")

    def one(rng: Random) -> None:
        text = _condition(rng, 3)
        expected = {key for (key,) in database.execute(f"SELECT key FROM samples WHERE {text}")}
        where = canonical(parse(text))
        assert canonical(parse(where)) == where
        again = {key for (key,) in database.execute(f"SELECT key FROM samples WHERE {where}")}
        assert again == expected, where
        if not expected:
            with pytest.raises(ConditionError, match="selects none of the 134 rows"):
                select(snapshot, "train", where)
            return
        chunks = select(snapshot, "train", where)
        found = {keys[i, row] for i in np.flatnonzero(chunks.ordered()).tolist() for row in chunks.rows_of(i).tolist()}
        assert found == expected, text
        assert chunks.live_rows().sum() == len(expected)

    rounds(one, seconds=1, at_least=100)


def _keys(feed: Feed) -> list[str]:
    return [key for batch in feed for key in batch.keys]


def test_an_epoch_has_the_selected_rows_only(tmp_path: Path) -> None:
    writer = _write(tmp_path / "d")
    live = writer.live()
    expected = {s["key"] for s in live.values() if s["tiny"] is not None and s["tiny"] >= 0}
    with Feed(tmp_path / "d", where="tiny>=0", batch_size=4, lanes=3, tail="keep") as feed:
        for _ in range(2):
            assert sorted(_keys(feed)) == sorted(expected)
        assert feed.info.samples == len(expected)
        assert feed.info.order.where == "tiny >= 0"


@pytest.mark.parametrize("shuffle", ["window", "none"])
def test_the_global_order_is_that_of_any_number_of_ranks(tmp_path: Path, shuffle: str) -> None:
    _write(tmp_path / "d")
    options: dict[str, Any] = {"where": "n >= 0", "batch_size": 4, "lanes": 3, "shuffle": shuffle, "tail": "keep"}
    with Feed(tmp_path / "d", **options) as feed:
        alone = [list(batch.keys) for batch in feed]
    if shuffle == "none":
        stored = list(chain.from_iterable(alone))
        assert stored == sorted(stored)
    for world_size in (2, 3, 8):
        ranks = []
        for rank in range(world_size):
            with Feed(tmp_path / "d", rank=rank, world_size=world_size, **options) as feed:
                ranks.append([list(batch.keys) for batch in feed])
        joined = [ranks[m % world_size][m // world_size] for m in range(len(alone))]
        assert joined == alone


def test_the_order_is_the_prototypes_with_hidden_rows_as_removed_ones(tmp_path: Path) -> None:
    writer = _write(tmp_path / "d")
    removed = {2: [0, 5, 63], 4: [1]}
    writer.commit([], removed=removed)
    spec = prototype.spec(batch_size=4, lanes=3, shuffle_window=30_000, seed=7)
    hidden: dict[int, list[int]] = {}
    for (ordinal, row), values in writer.all_rows.items():
        if values["tiny"] is None or values["tiny"] < 0 or row in removed.get(ordinal, ()):
            hidden.setdefault(ordinal, []).append(row)
    columns = open_snapshot(tmp_path / "d").chunks.columns
    chunks = []
    for ordinal, rows, length in zip(*(columns[c].tolist() for c in ("ordinal", "rows", "length")), strict=True):
        gone = sorted(hidden.get(ordinal, []))
        chunks.append(prototype.Chunk(ordinal, rows, length, live=len(gone) < rows, removed=gone))
    lanes, lane_of = prototype.assign_lanes(spec, chunks)
    of_lane = []
    for lane in range(lanes):
        mine = [c for c, x in zip(chunks, lane_of, strict=True) if x == lane and c.live]
        _, _, windows = prototype.lane_epoch(spec, prototype.divisor(spec, chunks), lane, mine, 1)
        of_lane.append([at for window in windows for at in window])
    expected = [
        [writer.all_rows[at]["key"] for lane, first, count in pieces for at in of_lane[lane][first : first + count]]
        for pieces in prototype.epoch_batches(spec, [len(rows) for rows in of_lane], 1)
    ]
    options: dict[str, Any] = {**spec, "where": "tiny >= 0"}
    del options["function"]
    with Feed(tmp_path / "d", tail="keep", **options) as feed:
        feed.set_epoch(1)
        assert [list(batch.keys) for batch in feed] == expected


def test_a_resumed_feed_goes_on_with_other_ranks(tmp_path: Path) -> None:
    _write(tmp_path / "d")
    options: dict[str, Any] = {"where": "NOT (label = 'cat')", "batch_size": 4, "lanes": 3}
    with Feed(tmp_path / "d", **options) as feed:
        alone = [list(batch.keys) for batch in feed]
    with Feed(tmp_path / "d", **options) as feed:
        for _ in zip(range(3), feed, strict=False):
            state = feed.state_dict()
    assert json.loads(json.dumps(state))["order"]["where"] == "NOT (label = 'cat')"
    rest = []
    for rank in range(2):
        with Feed(tmp_path / "d", rank=rank, world_size=2, **options) as feed:
            feed.load_state_dict(state)
            rest.append([list(batch.keys) for batch in feed])
    start = state["batch"]
    for m in range(start, len(alone)):
        steps = (m - start) // 2
        assert rest[m % 2][steps] == alone[m]


def test_a_state_of_another_condition_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "d")
    with Feed(tmp_path / "d", where="tiny > 0", batch_size=4) as feed:
        next(iter(feed))
        state = feed.state_dict()
    for other in (None, "tiny >= 0"):
        refused = pytest.raises(errors.StateMismatchError, match="where tiny > 0 in the state")
        with Feed(tmp_path / "d", where=other, batch_size=4) as feed, refused:
            feed.load_state_dict(state)
    with Feed(tmp_path / "d", where="0 < tiny", batch_size=4) as feed:
        feed.load_state_dict(state)


def test_conditions_that_mean_the_same_have_one_fingerprint(tmp_path: Path) -> None:
    _write(tmp_path / "d")
    found = set()
    for where in ("label IN ('cat','ant')", " (label='cat' or label = 'ant')", "'cat' = label OR label = 'ant'"):
        with Feed(tmp_path / "d", where=where) as feed:
            found.add(feed.fingerprint)
    with Feed(tmp_path / "d") as feed:
        assert feed.fingerprint not in found
    assert len(found) == 1


def test_a_selection_is_kept_and_made_again_if_it_is_damaged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "d")

    def read() -> list[str]:
        with Feed(tmp_path / "d", where="tiny > 0", batch_size=4) as feed:
            return _keys(feed)

    expected = read()
    (kept,) = (tmp_path / "d/_stoker/filters").iterdir()
    whole = kept.read_bytes()
    evaluated = []
    selects = BoundCondition.selects
    monkeypatch.setattr(BoundCondition, "selects", lambda *a: evaluated.append(1) or selects(*a))
    assert read() == expected
    assert not evaluated
    for damaged in (b"", whole[:-1], whole + b"\0", whole[:20] + bytes([whole[20] ^ 1]) + whole[21:]):
        kept.write_bytes(damaged)
        caplog.clear()
        assert read() == expected
        assert "is damaged" in caplog.text
        assert evaluated
        assert kept.read_bytes() == whole
        evaluated.clear()


def test_a_chunk_with_a_damaged_footer_is_read_by_its_whole_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = _write_with_the_writer(tmp_path / "d")
    monkeypatch.setattr(selection, "_COLUMNS_FROM", 0)
    damaged = 0
    for chunk in (tmp_path / "d").rglob("*.arrow"):
        chunk.write_bytes(chunk.read_bytes()[:-20] + bytes(20))
        damaged += 1
    assert damaged
    found = select(open_snapshot(tmp_path / "d"), "train", "tiny > 0")
    assert found.live_rows().sum() == sum(s["tiny"] is not None and s["tiny"] > 0 for s in samples)


def test_a_dataset_that_cannot_be_written_is_filtered_too(tmp_path: Path) -> None:
    _write(tmp_path / "d")
    (tmp_path / "d/_stoker/filters").write_bytes(b"not a directory")
    with Feed(tmp_path / "d", where="tiny > 0") as feed:
        assert _keys(feed)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("tiny > ", r"where: expected a value, at character 8, the end"),
        ("tiny = 'a'", r"tiny of type int8 cannot be compared with 'a', which is text; give a number"),
        ("Tiny = 1", r"has no column Tiny; did you mean tiny\?"),
        ("label = 'nobody' AND n = 0", r"selects none of the 134 rows of .* label = 'nobody' selects 0, n = 0 selects"),
        ("image = 'x'", r"the column image of type binary is payload"),
        ("tokens = 1", r"only IS NULL and IS NOT NULL work for its type"),
        ("n", r"n of type int64 cannot be compared with TRUE"),
    ],
)
def test_what_cannot_be_selected_says_why(tmp_path: Path, where: str, message: str) -> None:
    _write(tmp_path / "d")
    with pytest.raises(ValueError, match=message):
        Feed(tmp_path / "d", where=where)


def test_updates_and_removals_count(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d")
    writer.update({next(iter(writer.live())): {"label": "cat"}})
    writer.commit([], removed={1: [0, 2]})
    names = writer.classes["label"]
    expected = {s["key"] for s in writer.live().values() if names[s["label"]] == "cat"}
    with Feed(tmp_path / "d", where="label = 'cat'", batch_size=2, tail="keep") as feed:
        assert set(_keys(feed)) == expected


def test_a_sample_that_is_left_out_is_explained(tmp_path: Path) -> None:
    _write(tmp_path / "d")
    with Feed(tmp_path / "d", where="key = 'k0003'") as feed:
        assert feed.why(key="k0003")
        with pytest.raises(KeyError, match="does not satisfy where="):
            feed.why(key="k0004")


def test_a_column_is_quoted_where_it_must_be() -> None:
    for name in ("a", "a.b", "box.0", "date", "ünder", "_1"):
        assert column_text(name) == name
    for name in ("and", "my column", "1a", 'a"b', "a-b", "", "a..b", "null"):
        text = column_text(name)
        assert text.startswith('"')
        if name:
            assert canonical(parse(f"{text} IS NULL")) == f"{text} IS NULL"


def _vectors() -> dict[str, Any]:
    path = Path(__file__).parents[2] / "schemas/src/test/resources/vectors/where.json"
    return json.loads(path.read_text("utf-8"))


def test_texts_have_their_canonical_text_or_an_error_at_their_character() -> None:
    for each in _vectors()["texts"]:
        if "canonical" in each:
            assert canonical(parse(each["text"])) == each["canonical"]
            assert canonical(parse(each["canonical"])) == each["canonical"]
        else:
            with pytest.raises(ConditionError, match=rf"(?s), at character {each['error_at']}[:,]"):
                parse(each["text"])


def _column(field: Field, values: list[Any], classes: list[str]) -> ColumnData:
    """A column of the vectors, as a head has it."""
    column, valid = Column.of(field), np.array([value is not None for value in values])
    if field.type in ("utf8", "binary"):
        texts = [(value or "").encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
        return ColumnData(column, valid, ends, np.frombuffer(b"".join(texts), np.uint8))
    if field.type == "categorical":
        return ColumnData(column, valid, None, np.array([classes.index(value or "cat") for value in values], np.int32))
    if field.type.startswith("decimal"):
        numbers = [int((Decimal(value or 0) * 100).to_integral_exact()) for value in values]
        data = np.zeros(len(values), field.dtype)
        data["low"], data["high"] = [n & (1 << 64) - 1 for n in numbers], [n >> 64 for n in numbers]
        return ColumnData(column, valid, None, data)
    if field.is_list or field.shape:
        return ColumnData(column, valid, None, np.zeros(len(values)))
    plain = [0 if value is None else float(value) if isinstance(value, str) else value for value in values]
    if field.type == "bfloat16":
        return ColumnData(column, valid, None, (np.array(plain, np.float32).view(np.uint32) >> 16).astype(np.uint16))
    return ColumnData(column, valid, None, np.array(plain, field.dtype))


def test_conditions_select_the_rows_of_the_vectors() -> None:
    vectors = _vectors()
    fields = [Field(f["name"], f["type"], nullable=True) for f in vectors["fields"]]
    classes = sorted({row["c"] for row in vectors["rows"]} - {None})
    names = [Field("Key", "utf8"), *fields]
    columns = [_column(f, [row[f.name.replace("Key", "key")] for row in vectors["rows"]], classes) for f in names]
    head = ChunkValues.of(ChunkHead(len(vectors["rows"]), tuple(columns), ()))

    def bound(where: str) -> BoundCondition:
        return BoundCondition(parse(where), fields, {"c": tuple(classes)}, "the vectors")

    for case in vectors["cases"]:
        for where in (case["where"], canonical(parse(case["where"]))):
            assert np.flatnonzero(bound(where).selects(head)).tolist() == case["selected"], where
    for where in vectors["refused"]:
        with pytest.raises(ConditionError):
            bound(where)
