"""A feed on three machines and four trainers, while machines die, hang, and are cut off: every rank gets exactly its
batches."""

import json

import pytest
from clusters import Cluster, Team
from stoker_processes import until, views

from stoker import Feed

pytestmark = pytest.mark.full("feeds")

RANKS = 4
ORDER = {"batch_size": 10, "lanes": 12, "shuffle_window": 96 << 10, "seed": 5}
OPTIONS = ["--batch-size", 10, "--lanes", 12, "--shuffle-window", "96kb", "--seed", 5]
SLOWLY = {"tail": "keep", "buffer_bytes": 1}
"""Two batches in flight: most of the epoch is still to come when something happens."""


def expected(path, epochs):
    """What each rank is to receive, read from the chunks."""
    ranks = []
    for rank in range(RANKS):
        with Feed(path, **ORDER, tail="keep", rank=rank, world_size=RANKS) as feed:
            ranks.append([[*view[:4], list(view[4]), view[5]] for _ in range(epochs) for view in views(feed)])
    return ranks


def received(notes):
    return [[line["view"] for line in rank] for rank in notes]


def audited(cli, name, epochs):
    report = json.loads(cli.run("audit", name, "--epochs", epochs, "--json"))
    (only,) = report["passes"]
    assert len(only["epochs"]) == epochs
    return only


@pytest.fixture
def cluster(cli, tmp_path):
    with Cluster(tmp_path / "cluster", cli.home) as cluster:
        try:
            yield cluster.start()
        except BaseException:
            print(cluster.logs())
            raise


def test_trainers_do_not_notice_what_becomes_of_machines(cli, crumbs, cluster, tmp_path):
    epochs = 3
    job = cluster.submit("fleet", crumbs.path, *OPTIONS, "--epochs", epochs, "--parallelism", 3)
    until(lambda: len(cluster.serving("fleet")) == 3, "every machine serves")
    team = Team(cli.home, tmp_path / "notes", "fleet", RANKS, epochs, **SLOWLY)
    first, second, third = cluster.workers
    try:
        team.go(10)
        team.go(15, first.kill)
        until(lambda: first.name not in cluster.serving("fleet"), "the lanes of the dead machine have moved")
        cluster.start_worker(first)
        team.go(15, second.freeze)
        until(lambda: second.name not in cluster.serving("fleet"), "the silent machine counts as dead")
        second.thaw()
        if cluster.network.linked:
            team.go(15, third.cut)
            third.mend()
            team.go(10, third.lose_way)
            third.find_way()
        until(lambda: cluster.state(job) == "RUNNING", "the job runs")
        cluster.head.kill()
        team.go(5)
        cluster.start_head()
        # Receipts of a trainer that ends before the feed's tasks run again would be lost.
        team.go(5, lambda: until(lambda: len(cluster.tasks(job)) == 3, "the tasks are restored"))
        notes = team.finish()
    finally:
        team.kill()
    assert received(notes) == expected(crumbs.path, epochs)
    until(lambda: cluster.state(job) == "FINISHED", "the feed ends when its epochs are done")
    audited(cli, "fleet", epochs)
