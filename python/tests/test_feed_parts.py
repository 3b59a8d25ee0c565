"""The pure parts below the socket client: lane maps, spans, feed names, receipts."""

import json

import pytest

from feed_fakes import OpaqueStream
from stoker._client.lane_map import LaneMap, choose, place
from stoker._client.span import Arrival, Span
from stoker._source.batch_source import PieceData
from stoker._transport.discovery import FeedTarget, feed_file, is_address_list, split_address, target_of
from stoker.errors import FeedNotFoundError, ProtocolError

MAP = {"generation": [9, 1], "addresses": ["a:1", "b:2", "c:3"], "lanes": [[0, 1], [1, 2], [2, 0], []]}


def test_lane_maps_name_addresses_by_preference():
    lanes = LaneMap.from_json(MAP, 4)
    assert lanes.lanes == (("a:1", "b:2"), ("b:2", "c:3"), ("c:3", "a:1"), ())
    assert lanes.addresses == ("a:1", "b:2", "c:3")
    assert choose(lanes, ()) == ["a:1", "b:2", "c:3", None]
    assert choose(lanes, {"a:1"}) == ["b:2", "b:2", "c:3", None]
    assert choose(lanes, {"a:1", "b:2", "c:3"}) == ["a:1", "b:2", "c:3", None]


@pytest.mark.parametrize(
    "change",
    [
        {"lanes": [[0]]},
        {"lanes": [[3], [], [], []]},
        {"lanes": [[-1], [], [], []]},
        {"lanes": [["0"], [], [], []]},
        {"lanes": 4},
        {"addresses": ["a", "b:2", "c:3"]},
        {"addresses": ["a:70000", "b:2", "c:3"]},
        {"generation": [1]},
        {"generation": None},
    ],
    ids=str,
)
def test_malformed_lane_maps_are_refused(change):
    with pytest.raises(ProtocolError, match="lane map"):
        LaneMap.from_json({**MAP, **change}, 4)


def test_lanes_move_only_to_live_addresses_and_stay_served_meanwhile():
    wanted = ["a", "b", None, "a"]
    assert place(wanted, [], [None] * 4, ()) == [None] * 4
    assert place(wanted, ["b"], [None] * 4, ()) == [None, "b", "b", None]
    assert place(wanted, ["b"], ["b", "b", "b", None], ()) == ["b", "b", "b", None]
    assert place(wanted, ["b"], [None] * 4, {3}) == [None, "b", "b", "b"]
    assert place(wanted, ["a", "b"], ["b", "b", "b", "b"], ()) == ["a", "b", "b", "a"]


def data(piece):
    return PieceData(piece.lane, piece.rows, piece.repeated, 0, None)


def test_a_span_completes_batches_in_any_order_and_knows_what_is_missing():
    plan = OpaqueStream(lane_rows=(5, 6, 7, 5, 3), batch_size=4).plan()
    span = Span(plan, 2, 1, 2, 4, "pad")
    span.granted = 3
    assert [span.number(i) for i in range(4)] == [1, 3, 5, 7]
    assert [span.index(n) for n in (0, 1, 2, 3, 7, 9)] == [-1, 0, -1, 1, 3, -1]
    lanes = frozenset(range(5))
    everything = [(i, k, q) for i in range(4) for k, q in enumerate(span.planned(i))]
    assert any(k for _, k, _ in everything)
    for i, k, q in reversed(everything):
        assert span.wants(i, k)
        assert not span.received
        assert span.lowest_missing(lanes, set()) == (0, 0)
        span.check(i, k, len(span.planned(i)), data(q))
        complete = span.add(i, k, len(span.planned(i)), data(q), Arrival(None, b""))
        assert complete == (k == 0)
        assert not span.wants(i, k)
    assert span.received
    assert sorted(span.ready) == [0, 1, 2, 3]
    assert span.lowest_missing(lanes, set()) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost:7420", ("localhost", 7420)),
        ("[::1]:80", ("::1", 80)),
        ("unix:/tmp/a.sock", ("unix:/tmp/a.sock", 0)),
    ],
)
def test_addresses(text, expected):
    assert split_address(text) == expected


@pytest.mark.parametrize("text", ["", "a", ":1", "a:", "a:0", "a:65536", "a:b", "::1:80", "./a:1", "/a:1", "a:1,"])
def test_what_is_no_address(text):
    assert not is_address_list(text)


def test_targets_are_names_or_addresses(monkeypatch):
    assert target_of("photos") == FeedTarget(name="photos")
    assert target_of("a:1, b:2") == FeedTarget(given=("a:1", "b:2"))
    monkeypatch.setenv("STOKER_FEED", "h:7420")
    assert target_of() == FeedTarget(given=("h:7420",))
    monkeypatch.setenv("STOKER_FEED", "./x")
    with pytest.raises(ValueError, match=r"STOKER_FEED: '\./x' is neither a feed name nor host:port"):
        target_of()
    monkeypatch.delenv("STOKER_FEED")
    with pytest.raises(FeedNotFoundError, match="no feed given"):
        target_of()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name":"x"}', '{"addresses":["x"]}', '{"addresses":[]}'])
def test_unusable_feed_files_are_named(text, tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "x.json").write_text(text)
    with pytest.raises(FeedNotFoundError, match=r"feed 'x': .*x\.json"):
        feed_file("x")
    (tmp_path / "feeds" / "x.json").write_text(json.dumps({"addresses": ["h:1"]}))
    assert FeedTarget(name="x").addresses() == ("h:1",)
