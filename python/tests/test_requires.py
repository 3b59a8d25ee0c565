"""Containers that require features: an unknown one is named, whatever the container, and other keys are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import stoker
from dataset_files import ZERO_CRC, sealed
from stoker import Feed, errors
from stoker._client.welcome import Welcome
from stoker._commit.lease import Lease, read_lease
from stoker._dataset.snapshot import open_snapshot
from stoker._format.requires import check_metadata_requires, check_requires
from stoker._kafka.record import read_info
from stoker._packing.pack import ChunkFormat

RESOURCES = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources"
VECTORS = json.loads((RESOURCES / "vectors" / "requires.json").read_text())
WELCOME = next(
    v["fields"]
    for v in json.loads((RESOURCES / "vectors" / "protocol.json").read_text())["frames"]
    if v["name"] == "welcome"
)
MALFORMED = ["b", "a"]


def assert_named(what: str, reader: Callable[[], Any]) -> None:
    with pytest.raises(errors.FormatTooNewError) as raised:
        reader()
    assert str(raised.value) == (
        f"{what} needs the feature 'leap', which this release does not know; a newer Stoker wrote it; update Stoker "
        "to read it"
    )


def assert_malformed(what: str, reader: Callable[[], Any], kind: type[Exception] = errors.CorruptDataError) -> None:
    with pytest.raises(kind, match=r"requires is \[\"b\",\"a\"\]; expected a sorted list") as raised:
        reader()
    assert str(raised.value).startswith(what)


def change_json(path: Path, **more: Any) -> None:
    """Adds keys to a JSON file with a self-checksum."""
    text = re.sub(rb"stoker\.crc32c=[0-9a-f]{8}", ZERO_CRC, path.read_bytes(), count=1)
    path.write_bytes(sealed(json.dumps(json.loads(text) | more).encode()))


def change_avro(path: Path, requires: Any) -> None:
    """Adds the list to the header of a log entry."""
    data = re.sub(rb"stoker\.crc32c=[0-9a-f]{8}", ZERO_CRC, path.read_bytes(), count=1)
    end = data.index(ZERO_CRC) + len(ZERO_CRC)
    key, value = b"stoker.requires", json.dumps(requires, separators=(",", ":")).encode()
    pair = bytes([2 * len(key)]) + key + bytes([2 * len(value)]) + value
    path.write_bytes(sealed(data[:4] + bytes([data[4] + 2]) + data[5:end] + pair + data[end:]))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    root = tmp_path / "d"
    with stoker.Writer(root, {"n": "int32"}) as writer:
        for i in range(20):
            writer.write({"key": str(i), "n": i})
    return root


@pytest.mark.parametrize("vector", VECTORS["lists"], ids=lambda v: json.dumps(v["requires"]))
def test_agrees_with_java_on_every_list(vector: dict[str, Any]) -> None:
    known, error = frozenset(VECTORS["known"]), vector["error"]
    if error is None:
        check_requires({"requires": vector["requires"]}, "here", known)
        return
    with pytest.raises(errors.FormatTooNewError if error.startswith("here needs") else ValueError) as raised:
        check_requires({"requires": vector["requires"]}, "here", known)
    assert str(raised.value) == error


@pytest.mark.parametrize("text", ["", "leap", '["leap"', '["leap"]]', "[]"])
def test_the_text_in_metadata_is_json(text: str) -> None:
    check_metadata_requires({"stoker.format": "1"}, "here")
    with pytest.raises(ValueError, match="expected a sorted list") as raised:
        check_metadata_requires({"stoker.requires": text}, "here")
    assert str(raised.value).startswith(f"requires is {text}; ")


def test_dataset_json(dataset: Path) -> None:
    path = dataset / "_stoker" / "dataset.json"
    change_json(path, later={"a": [1]})
    assert open_snapshot(dataset).version == 1
    change_json(path, requires=["leap"], fields=[{"type": "unknown too"}])
    assert_named(str(path), lambda: open_snapshot(dataset))
    change_json(path, requires=MALFORMED)
    assert_malformed(str(path), lambda: open_snapshot(dataset))


def test_other_keys_of_a_field_are_ignored(dataset: Path) -> None:
    path = dataset / "_stoker" / "dataset.json"
    field = {"name": "n", "type": "int32", "nullable": False, "payload": False}
    change_json(path, fields=[field | {"later": 1}])
    assert [f.to_json() for f in open_snapshot(dataset).info.fields] == [field]


def test_a_log_entry(dataset: Path) -> None:
    path = dataset / "_stoker" / "log" / f"{1:020d}.avro"
    before = path.read_bytes()
    change_avro(path, ["leap"])
    assert_named(str(path), lambda: open_snapshot(dataset))
    path.write_bytes(before)
    change_avro(path, MALFORMED)
    assert_malformed(str(path), lambda: open_snapshot(dataset))


@pytest.mark.parametrize("requires", [["leap"], MALFORMED])
def test_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requires: list[str]) -> None:
    written = ChunkFormat._metadata
    monkeypatch.setattr(
        ChunkFormat, "_metadata", lambda self, i: written(self, i) | {"stoker.requires": json.dumps(requires)}
    )
    with stoker.Writer(tmp_path / "d", {"n": "int32"}) as writer:
        writer.write({"key": "a", "n": 1})
    snapshot = open_snapshot(tmp_path / "d")
    with Feed(tmp_path / "d", batch_size=1) as feed:
        check = assert_named if requires == ["leap"] else assert_malformed_list
        check(f"chunk 0 ({snapshot.chunk_path(0)})", lambda: next(iter(feed)))


def assert_malformed_list(what: str, reader: Callable[[], Any]) -> None:
    with pytest.raises(errors.CorruptDataError, match="expected a sorted list") as raised:
        reader()
    assert str(raised.value).startswith(what)


def test_a_chunk_table_is_left_for_the_log(dataset: Path) -> None:
    path = dataset / "_stoker" / "tables" / f"{1:020d}.arrow"
    path.parent.mkdir()
    metadata = {"stoker.self": ZERO_CRC.decode(), "stoker.format": "1", "stoker.requires": '["leap"]'}
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, pa.schema([], metadata)):
        pass
    # pyarrow writes the schema twice, Stoker's self-checksum only once.
    data = sink.getvalue().to_pybytes()
    first = data.index(ZERO_CRC) + len(ZERO_CRC)
    path.write_bytes(sealed(data[:first] + data[first:].replace(ZERO_CRC, b"-" * len(ZERO_CRC))))
    with pytest.warns(RuntimeWarning, match="reading the log instead: .* needs the feature 'leap'"):
        assert open_snapshot(dataset).version == 1


def test_a_lease(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    lease = Lease("d", "a", "now", "me", "")
    path.write_bytes(lease.encode())
    change_json(path, later=1)
    assert read_lease(path) == lease
    change_json(path, requires=["leap"])
    assert_named(str(path), lambda: read_lease(path))
    change_json(path, requires=MALFORMED)
    assert_malformed(str(path), lambda: read_lease(path))


def test_a_state(dataset: Path) -> None:
    with Feed(dataset, batch_size=2) as feed:
        state = next(iter(feed)).state
        feed.load_state_dict(state | {"later": 1})
        assert_named("the state", lambda: next(iter(resumed(feed, state | {"requires": ["leap"]}))))
        assert_malformed(
            "not a state of a feed: ",
            lambda: next(iter(resumed(feed, state | {"requires": MALFORMED}))),
            errors.StateMismatchError,
        )


def resumed(feed: Feed, state: dict[str, Any]) -> Feed:
    feed.load_state_dict(state)
    return feed


def test_a_welcome() -> None:
    assert Welcome.from_json(WELCOME | {"later": {}}) == Welcome.from_json(WELCOME)
    assert_named("WELCOME", lambda: Welcome.from_json(WELCOME | {"requires": ["leap"]}))
    assert_malformed(
        "WELCOME frame is malformed: ",
        lambda: Welcome.from_json(WELCOME | {"requires": MALFORMED}),
        errors.ProtocolError,
    )


def test_a_control_record() -> None:
    value = json.loads((RESOURCES / "golden" / "kafka-1-begin-pinned.json").read_bytes())

    def read(**more: Any) -> Any:
        return read_info(json.dumps(value | more).encode(), "topic t, offset 0", 1)

    assert read(later=1) == read()
    assert_named("topic t, offset 0", lambda: read(requires=["leap"]))
    assert_malformed("topic t, offset 0", lambda: read(requires=MALFORMED))
