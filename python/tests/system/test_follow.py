"""Feeds that follow their dataset: each epoch reads the version that was the newest when it was first asked for."""

import json
import multiprocessing
from collections import Counter
from itertools import islice
from threading import Barrier, Thread

import pytest
from growing import FOLLOWING, ORDER, Growing, WorkerLoop
from stoker_processes import until, views

from stoker import Feed
from stoker.errors import CorruptDataError, StateMismatchError


@pytest.fixture
def growing(tmp_path):
    dataset = Growing(tmp_path)
    dataset.append(ant=20, cat=17)
    return dataset


@pytest.fixture
def follow(growing, start_feeder):
    """Starts feeds with `--follow`; each has a different name."""
    started = []

    def start(name, *more):
        started.append(start_feeder(name, f"train={growing.path}", *FOLLOWING, *more))
        return started[-1].ready()

    yield start
    for feeder in started:
        if feeder.alive:
            feeder.kill()


def audit(cli, name, *options):
    return json.loads(cli.run("audit", name, "--json", *options))


def choices(growing):
    return sorted(growing.path.glob("_stoker/feeds/*/epochs/*/*.json"))


def test_an_epoch_reads_the_newest_version_and_the_next_one_a_newer(cli, growing, follow):
    feeder = follow("growing", "--epochs", 4)
    with Feed("growing") as feed:
        assert len(feed) == 6
        assert feed.version == 1
        running = iter(feed)
        first = list(islice(running, 3))
        growing.append(bee=9)
        first += running
        assert views(first) == growing.views(1, 0)
        assert {batch.state["version"] for batch in first} == {1}
        assert feed.version == 1
        second = list(feed)
        assert views(second) == growing.views(2, 1)
        assert [batch.state["version"] for batch in second] == [2] * 7
        assert feed.version == 2
        assert feed.classes["label"] == ("ant", "cat", "bee")
        assert Counter(n for batch in second for n in batch["label"].tolist())[2] >= 9
        growing.append(cat=40)
        assert len(feed) == 13
        assert views(feed) == growing.views(3, 2)
        assert f"train={growing.path}@3+:train" in cli.run("ps")
        ((group,),) = (shown["groups"] for shown in json.loads(cli.run("top", "growing", "--once", "--json")))
        assert (group["version"], group["epoch"], group["batches"]) == (3, 2, 13)
        assert views(feed) == growing.views(3, 3)
        assert list(feed) == []
        assert "start" in feed.report() or feed.stats()["wait_s"] >= 0
    until(lambda: not feeder.alive, "the feed ends with its epochs")
    report = audit(cli, "growing", "--epochs", 4)
    assert report["clean"]
    assert [epoch["version"] for epoch in report["passes"][0]["epochs"]] == [1, 2, 3, 3]
    assert [epoch["acknowledged"] for epoch in report["passes"][0]["epochs"]] == [6, 7, 13, 13]
    told = cli.run("audit", "growing")
    assert "following its dataset" in told
    assert "epoch 1 (version 2): 7 of 7 batches exactly once" in told


@pytest.mark.full("feeds")
def test_ranks_at_two_subtasks_agree_while_versions_are_committed(cli, growing, follow):
    feeder = follow("racing", "--parallelism", 2)
    epochs, seen = 4, [[], []]
    barrier = Barrier(3)

    def train(rank):
        with Feed("racing", rank=rank, world_size=2, tail="keep") as feed:
            for _ in range(epochs):
                barrier.wait(100)
                seen[rank].append((list(feed), feed.version))

    trainers = [Thread(target=train, args=(rank,), daemon=True) for rank in range(2)]
    for trainer in trainers:
        trainer.start()
    for n in range(epochs):
        barrier.wait(100)
        growing.append(cat=2 + n)
    for trainer in trainers:
        trainer.join(100)
        assert not trainer.is_alive()
    for epoch, (one, other) in enumerate(zip(*seen, strict=True)):
        assert one[1] == other[1] >= epoch + 1
        assert sorted(views(one[0] + other[0])) == sorted(growing.views(one[1], epoch, tail="keep"))
    feeder.stop()
    assert audit(cli, "racing", "--epochs", epochs)["clean"]


@pytest.mark.full("feeds")
def test_every_position_resumes_exactly_though_versions_came(growing, follow, tmp_path):
    follow("resumed")
    states = []
    with Feed("resumed") as feed:
        for _ in range(3):
            for batch in feed:
                states.append(batch.state)
            growing.append(cat=9)
    states = json.loads(json.dumps(states))
    expected = [growing.views(version, epoch) for epoch, version in enumerate((1, 2, 3))] + [[]]
    with Feed("resumed") as feed:
        for state in states:
            feed.load_state_dict(state)
            epoch = state["epoch"]
            assert views(feed) == expected[epoch][state["batch"] :] or epoch == 3
            # Behind the last batch of an epoch nothing binds the next one but what was chosen for it.
            assert feed.version == (epoch + 1 if epoch < 3 else 4)
    # Another feed knows of nothing but the state.
    follow("elsewhere")
    with Feed("elsewhere") as feed:
        middle = states[8]
        assert (middle["epoch"], middle["version"]) == (1, 2)
        feed.load_state_dict(middle)
        assert views(feed) == expected[1][middle["batch"] :]
        assert feed.version == 2
        list(feed)
        assert feed.version == 4
    for world in (2, 3):
        ranks = [Feed("resumed", rank=r, world_size=world, tail="keep", group=f"w{world}") for r in range(world)]
        got = []
        for rank in ranks:
            with rank as feed:
                feed.load_state_dict(middle)
                got += views(feed)
        assert sorted(got) == sorted(growing.views(2, 1, tail="keep")[middle["batch"] :])


@pytest.mark.full("feeds")
def test_workers_of_a_loader_read_one_version_and_those_of_the_next_pass_a_newer(growing, follow):
    follow("loaded")
    context = multiprocessing.get_context("spawn")

    def read(feed, the_pass):
        """What two workers of a pass read: all of it, and the version of each."""
        workers = []
        for worker in range(2):
            ours, theirs = context.Pipe()
            process = context.Process(target=WorkerLoop(), args=(feed, worker, 2, the_pass, theirs))
            process.start()
            workers.append((ours, process))
        for pipe, process in workers:
            until(lambda p=pipe, q=process: p.poll() or not q.is_alive(), "a worker is through")
        said = [pipe.recv() for pipe, _ in workers]
        for _, process in workers:
            process.join(100)
        return sorted(said[0][0] + said[1][0]), [versions for _, versions in said]

    with Feed(growing.path, version=1, tail="keep", **ORDER) as files:
        state = list(files)[2].state
    with Feed("loaded", tail="keep") as feed:
        assert len(feed) == 6
        first = growing.views(1, 0, tail="keep")
        assert read(feed, 1) == (first, [[1], [1]])
        growing.append(bee=8)
        assert read(feed, 2) == (growing.views(2, 1, tail="keep"), [[2], [2]])
        feed.load_state_dict(state)
        assert read(feed, 3) == (first[3:], [[1], [1]])


@pytest.mark.full("feeds")
def test_a_state_of_another_version_is_refused_naming_both(growing, follow):
    follow("strict")
    with Feed("strict") as feed:
        state = next(iter(feed)).state
    growing.append(cat=3)
    forged = state | {"version": 2}
    with Feed("strict") as feed:
        with pytest.raises(StateMismatchError, match=r"epoch 0 .* version 1.* version 2"):
            feed.load_state_dict(forged)
        feed.load_state_dict(state)
        assert views(feed) == growing.views(1, 0)[1:]
    with Feed("strict", group="other") as feed, pytest.raises(StateMismatchError, match="has no version 9"):
        feed.load_state_dict(state | {"version": 9})
    with Feed("strict", group="other") as feed, pytest.raises(StateMismatchError, match="fingerprint"):
        feed.load_state_dict(forged)  # the version exists, but the fingerprint belongs to another version
    with Feed("strict", version=2) as feed, pytest.raises(StateMismatchError, match="version 1, asked for 2"):
        len(feed)


@pytest.mark.full("feeds")
def test_a_feeder_that_dies_goes_on_with_the_version_of_the_epoch(cli, growing, follow):
    feeder = follow("dying")
    with Feed("dying", buffer_bytes=1) as feed:
        list(feed)
        growing.append(bee=11)
        running = iter(feed)
        got = list(islice(running, 2))
        feeder.kill()
        growing.append(ant=5)
        again = follow("dying")
        got += running
        assert views(got) == growing.views(2, 1)
        assert views(feed) == growing.views(3, 2)
    again.stop()
    report = audit(cli, "dying", "--epochs", 3)
    assert report["clean"]
    assert [epoch["version"] for epoch in report["passes"][0]["epochs"]] == [1, 2, 3]


@pytest.mark.full("feeds")
def test_a_damaged_choice_is_named_and_a_lost_one_written_anew(growing, follow):
    feeder = follow("choosing")
    with Feed("choosing") as feed:
        state = next(iter(feed)).state
    (choice,) = choices(growing)
    right = choice.read_bytes()
    feeder.stop()
    choice.write_bytes(right.replace(b'"version":1', b'"version":2'))
    follow("choosing")
    with Feed("choosing", connect_timeout=20) as feed, pytest.raises(CorruptDataError, match=choice.name):
        next(iter(feed))
    choice.unlink()
    growing.append(cat=3)
    with Feed("choosing") as feed:
        feed.load_state_dict(state)
        assert views(feed) == growing.views(1, 0)[1:]
    assert json.loads(choice.read_bytes())["version"] == 1


@pytest.mark.full("feeds")
def test_a_feed_cannot_follow_and_be_of_a_version(cli, growing):
    said = cli.fails("feed", f"train={growing.path}@1", "--follow", "--port", 0)
    assert "--follow" in said
    assert "stream train is fixed to version 1" in said
