"""Times, decimals and nested lists between the programs: written by Python, served by a feeder, compacted, verified."""

import json

import pytest

import stoker
from stoker import Feed, Writer
from test_special_types import SCHEMA, expected, plain, row

pytestmark = pytest.mark.full("stores")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("special") / "events"
    with Writer(path, SCHEMA, payload=["image"], chunk_size=40_000, shuffle=False) as w:
        for n in range(60):
            w.write(row(n))
    return path


def messages(feed):
    return [[p.buffer.tobytes() for p in batch._pieces] for batch in feed]


def check(path):
    samples = stoker.open(path)
    assert len(samples) == 60
    for n in range(60):
        found = samples[f"k{n:03d}"]
        for name, value in row(n).items():
            assert plain(found[name]) == expected(name, value), f"{name} of {n}"


def test_a_feeder_serves_them_as_the_path_reader_does(dataset, start_feeder):
    feeder = start_feeder("events", dataset, "--batch-size", 16, "--lanes", 2).ready()
    options = {"batch_size": 16, "lanes": 2, "epochs": 2, "tail": "keep"}
    with Feed(dataset, **options) as path:
        wanted = messages(path)
    with Feed(feeder.address, epochs=2, tail="keep") as feed:
        assert messages(feed) == wanted
    columns = ["key", "us", "small", "words", "spans"]
    with Feed(dataset, columns=columns, **options) as path:
        wanted = messages(path)
    with Feed(feeder.address, epochs=2, tail="keep", columns=columns) as feed:
        assert messages(feed) == wanted
    feeder.stop()


def test_the_command_shows_verifies_and_compacts_them(cli, dataset):
    info = json.loads(cli.run("info", dataset, "--json"))
    types = {field["name"]: field["type"] for field in info["fields"]}
    assert types == {name: text.removesuffix("?") for name, text in SCHEMA.items()}
    shown = json.loads(cli.run("show", dataset, "--n", 2, "--json"))
    assert shown[0]["s"] == "0001-01-01T00:00:00"
    assert shown[1]["us"] == "9999-12-31T23:59:59.999999Z"
    assert (shown[1]["day"], shown[1]["t_ms"]) == ("9999-12-31", "23:59:59.999")
    assert shown[0]["small"] == "99999999.99"
    assert shown[0]["words"] == ["ä", "", "😀"]
    assert shown[0]["tags"] == [None, "", "ä"]
    cli.run("verify", dataset)
    cli.run("compact", dataset, "--chunk-size", "1 mb", "--below", "1 mb")
    check(dataset)
    cli.run("verify", dataset)
