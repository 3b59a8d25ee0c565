"""`feed.why` and `stoker why` name what trainers of a running feed receive."""

from __future__ import annotations

import json

from stoker import Feed


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
