"""Looking at a running feed, and peeking into it in another group, leaves its trainers and its audit alone."""

from __future__ import annotations

import json
import pickle
from typing import Any

from stoker_processes import until

from stoker import Feed

GROUP = "looked-at"


def audited(cli: Any) -> list[dict[str, Any]]:
    """The epochs of the group in the audit."""
    report = json.loads(cli.run("audit", "quadruple", "--json"))
    return [epoch for one in report["passes"] if one["group"] == GROUP for epoch in one["epochs"]]


def test_looks_leave_trainers_and_the_audit_alone(photos, feeders, cli):
    with Feed("quadruple", "train", group=GROUP) as feed:
        iterator = iter(feed)
        got = [next(iterator).number for _ in range(5)]
        until(lambda: (epochs := audited(cli)) and epochs[0]["acknowledged"] == 4, "four receipts in the ledger")
        before = audited(cli), feed.state_dict(), feed.remaining
        for command in (
            ("ps",),
            ("top", "quadruple", "--once"),
            ("wait", "quadruple"),
            ("why", "--feed", "quadruple", "--stream", "train", "--step", 7),
            ("info", photos.path, "--samples"),
            ("verify", photos.path),
        ):
            cli.run(*command)
        with Feed("quadruple", "train", group="peeking") as other:
            assert len(next(iter(other)).keys)
        with Feed("quadruple", "train", group=GROUP) as other:
            assert (other.fingerprint, len(other), other.state_dict()["batch"]) == (feed.fingerprint, len(feed), 0)
        looks = repr(feed), feed._repr_html_(), feed.report(), feed.stats(), iter(feed), feed.why(step=0)
        assert all(looks)
        pickle.loads(pickle.dumps(feed)).close()
        assert (audited(cli), feed.state_dict(), feed.remaining) == before
        got += [batch.number for batch in iterator]
        assert got == list(range(len(feed)))
