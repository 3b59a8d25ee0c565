"""Two feeds of one machine never mix, neither at their doors nor in their ledgers; forged ledgers are found out."""

import json
import random
import shutil
import socket
import struct
from itertools import islice
from pathlib import Path
from urllib.parse import urlparse

import pytest
from ledger_bytes import alter_a_receipt, receipts_in, records
from stoker_processes import until, views

from stoker import Feed
from stoker.errors import ProtocolError

ORDER = {"batch_size": 10, "lanes": 6, "shuffle_window": 96 << 10}
OPTIONS = ["--batch-size", 10, "--lanes", 6, "--shuffle-window", "96kb"]


def described(cli, name):
    return json.loads((cli.home / "feeds" / f"{name}.json").read_text())


def ledger_of(cli, name):
    return Path(urlparse(described(cli, name)["ledger"]).path)


def parts(folder):
    return sorted(folder.glob("part-*"))


def with_receipts(folder, least=3):
    """Returns the part files with receipts of the group; an empty list if there are fewer than `least`."""
    found = [part for part in parts(folder) if any(r.values["group"] == "read" for r in records(part) if r.entry_crcs)]
    return found if len(found) >= least else []


@pytest.fixture(scope="module")
def pair(photos, start_feeder):
    both = [start_feeder(name, f"train={photos.path}@2", *OPTIONS) for name in ("honest", "stranger")]
    return [feeder.ready() for feeder in both]


def test_a_feed_at_the_address_of_another_is_refused_by_name(cli, pair):
    honest, stranger = pair
    file = cli.home / "feeds" / "honest.json"
    truth = file.read_text()
    # As after a crash of one feed, when the other was given its port.
    file.write_text(json.dumps(json.loads(truth) | {"addresses": [stranger.address]}))
    try:
        with Feed("honest", connect_timeout=20) as feed, pytest.raises(ProtocolError) as refused:
            next(iter(feed))
    finally:
        file.write_text(truth)
    assert refused.value.code == "wrong_feed"
    assert "honest" in str(refused.value)
    assert "stranger" in str(refused.value)
    assert honest.alive
    assert stranger.alive


def hello(version):
    body = b"STKR" + struct.pack("<HH", version, 0) + json.dumps({"feed": None, "rank": 0, "world_size": 1}).encode()
    return struct.pack("<IBBH", 4 + len(body), 1, 0, 0) + body


def answer(address, sent):
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(sent)
        received = b""
        while data := connection.recv(65536):
            received += data
    length, kind, _, _ = struct.unpack_from("<IBBH", received)
    return kind, received[8:length]


@pytest.mark.parametrize("version", [0, 2, 65535])
def test_another_protocol_version_is_refused_naming_both(pair, version):
    kind, body = answer(pair[0].address, hello(version))
    assert kind == 13
    error = json.loads(body)
    assert error["code"] == "unsupported_protocol"
    assert str(version) in error["message"]
    assert "1" in error["message"].replace(str(version), "")
    with Feed("honest", group="version", epochs=1) as feed:
        assert len(next(iter(feed))) == ORDER["batch_size"]


@pytest.fixture(scope="module")
def ledgers(cli, photos, pair):
    """One epoch of each feed by two ranks, its receipts in several files; both feeds have ended in good order."""
    with Feed(photos.path, **ORDER, tail="keep") as files:
        expected = views(files)
    for name in ("honest", "stranger"):
        ledger = ledger_of(cli, name)
        feeds = [Feed(name, group="read", rank=r, world_size=2, tail="keep", epochs=1, buffer_bytes=1) for r in (0, 1)]
        got = []
        running = [iter(feed) for feed in feeds]
        for third in range(3):
            for batches in running:
                got += views(islice(batches, 5))
            if third < 2:
                until(lambda at=ledger, n=third: with_receipts(at, n + 1), "a checkpoint publishes receipts")
        for batches, feed in zip(running, feeds, strict=True):
            got += views(batches)
            feed.close()
        assert sorted(got) == expected
    for feeder in pair:
        feeder.stop()
    found = ledger_of(cli, "honest"), ledger_of(cli, "stranger")
    assert all(with_receipts(ledger) for ledger in found)
    return found


@pytest.fixture
def forge(ledgers, photos, cli, tmp_path):
    """A copy of the ledger at a place that keeps its feed's identity, and what the audit says of it."""
    copy = tmp_path / "data" / "_stoker" / "feeds" / ledgers[0].parent.name / "ledger"
    shutil.copytree(ledgers[0], copy)
    for name in ("dataset.json", "log"):
        (copy.parents[2] / name).symlink_to(photos.path / "_stoker" / name)
    (copy.parents[3] / "chunks").symlink_to(photos.path / "chunks")
    arguments = ["audit", "--ledger", copy]

    def judged():
        said = cli.fails(*arguments, "--json")
        return json.loads(said[said.index("{") : said.rindex("}") + 1])

    def passed():
        return json.loads(cli.run(*arguments, "--json"))

    return copy, judged, passed


def kinds(report):
    assert report["clean"] is False
    assert report["findings"]
    return set(report["counts"])


def test_a_true_ledger_passes_and_copied_files_count_once(forge):
    ledger, _, passed = forge
    one = passed()
    for part in parts(ledger):
        shutil.copy(part, ledger / f"part-copy-{part.name}")
    two = passed()
    assert two["duplicates"] == one["receipts"] + one["duplicates"] > 0
    assert sorted(map(str, two["passes"])) == sorted(map(str, one["passes"]))


@pytest.mark.full("feeds")
def test_a_missing_file_is_found_out(forge):
    ledger, judged, _ = forge
    with_receipts(ledger)[0].unlink()
    report = judged()
    assert kinds(report) & {"missing", "foreign"}


def test_missing_receipts_are_named(forge):
    ledger, judged, _ = forge
    middle = with_receipts(ledger)[1]
    assert receipts_in(middle) > 0
    middle.unlink()
    report = judged()
    assert "missing" in kinds(report)
    assert any("batch" in finding["message"] for finding in report["findings"])


@pytest.mark.full("feeds")
def test_an_altered_receipt_is_found_out_though_every_checksum_fits(forge):
    ledger, judged, _ = forge
    alter_a_receipt(with_receipts(ledger)[1])
    assert kinds(judged()) == {"altered"}


@pytest.mark.full("feeds")
def test_files_of_another_feed_are_foreign(forge, ledgers):
    ledger, judged, _ = forge
    for part in with_receipts(ledgers[1]):
        shutil.copy(part, ledger / f"part-{part.name}-more.avro")
    assert "foreign" in kinds(judged())


@pytest.mark.parametrize("damage", ["bit", "cut"])
@pytest.mark.full("feeds")
def test_a_damaged_file_is_named(forge, damage):
    ledger, judged, _ = forge
    part = with_receipts(ledger)[1]
    data = bytearray(part.read_bytes())
    rng = random.Random(4)
    if damage == "bit":
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    else:
        del data[rng.randrange(len(data)) :]
    part.write_bytes(data)
    report = judged()
    assert kinds(report)
    assert any(part.name in finding["message"] for finding in report["findings"])
