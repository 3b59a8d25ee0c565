"""`feed.why` and `stoker why` name what trainers of a running feed receive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stoker import Feed

ORDER: dict[str, Any] = {"batch_size": 7, "seed": 3, "lanes": 2}


def test_python_and_the_command_name_what_each_rank_receives(photos, feeders, cli):
    with Feed("quadruple", "train", rank=0, world_size=3, group="asks") as asks:
        for rank in range(3):
            with Feed("quadruple", "train", rank=rank, world_size=3, group="explained") as feed:
                steps = [(0, step, batch) for step, batch in enumerate(feed)]
                steps += [(1, step, batch) for step, batch in enumerate(feed) if step < 2]
                for epoch, step, batch in steps:
                    named = asks.why(epoch=epoch, step=step, rank=rank)  # the feed's file names the dataset
                    assert [sample.key for sample in named] == list(batch.keys)
                    assert {sample.batch for sample in named} == {batch.number}
        order = json.dumps(asks.info.order.to_json())
        for epoch, step in ((0, 0), (0, len(asks) - 1), (1, 1)):
            command = ("--order", order, "--epoch", epoch, "--world-size", 3, "--json")
            out = cli.run("why", f"{photos.path}@2:train", *command, "--step", step)
            named = asks.why(epoch=epoch, step=step)
            expected = [json.loads(line) for line in out.splitlines()]
            names = ("epoch", "batch", "rank", "index", "key", "chunk", "row", "repeated")
            assert [{name: getattr(sample, name) for name in names} for sample in named] == expected
            keys = [sample.key for sample in named[:3]]
            out = cli.run("why", f"{photos.path}@2:train", *command, *(f"--key={key}" for key in keys))
            found = [json.loads(line) for line in out.splitlines()]
            places = [asks.why(epoch=epoch, key=key)[0] for key in keys]
            assert [(p.step, p.rank, p.batch, p.index) for p in places] == [
                (f["step"], f["rank"], f["batch"], f["index"]) for f in found
            ]


def states_of(path: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """One state of each kind, with the options of the feed that loads it."""
    states: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}

    def state(taken: int, **options: Any) -> dict[str, Any]:
        with Feed(path, "train", rank=0, world_size=2, **ORDER, **options) as feed:
            feed.set_epoch(4)
            iterator = iter(feed)
            for _ in range(taken):
                next(iterator)
            return feed.state_dict()

    states["in an epoch"] = state(3), {}
    states["of an epoch's begin"] = state(0), {}
    skip = [(4, 8, 10), (4, 15, 15), (5, 0, 3)]
    states["with skipped batches"] = state(3, skip=skip), {"skip": skip}
    states["of an older version"] = state(2, version=1), {"follow": True}
    worker = {"worker": [1, 2], "start": [4, 0], "taken": 1}
    states["of a loader worker"] = state(2) | worker, {}
    return states


@pytest.mark.parametrize("kind", range(5))
def test_steps_after_a_resume_count_from_the_state(photos, cli, tmp_path, kind):
    state, options = list(states_of(photos.path).values())[kind]
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state))
    names = ("epoch", "batch", "rank", "index", "key", "chunk", "row", "repeated")
    world = 1 if "follow" in options else 3  # several readers of a path would not agree on versions
    with Feed(photos.path, "train", rank=0, world_size=world, **ORDER, **options) as feed:
        feed.load_state_dict(state)
        command = ("why", photos.path, "--state", file, "--world-size", world, "--json")
        for step in (0, 1, 5):
            named = feed.why(step=step)
            assert named[0].batch >= state["batch"]
            out = cli.run(*command, "--step", step)
            assert [{name: getattr(sample, name) for name in names} for sample in named] == [
                json.loads(line) for line in out.splitlines()
            ]
        key = feed.why(batch=state["batch"] + 1)[0].key
        found = json.loads(cli.run(*command, "--key", key))
        [place] = feed.why(key=key)
        assert (place.batch, place.index, place.step, place.rank) == tuple(
            found.get(name) for name in ("batch", "index", "step", "rank")
        )
        assert f"has {feed.remaining} steps" in cli.fails(*command, "--step", 99)
