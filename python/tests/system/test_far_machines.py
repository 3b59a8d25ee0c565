"""A feed on two machines with samples in an S3 server: one machine dies, and every rank gets exactly its batches."""

import pytest
from clusters import Cluster, Team
from s3_server import S3Server
from stoker_processes import until
from test_machines import OPTIONS, RANKS, SLOWLY, audited, expected, received

pytestmark = pytest.mark.full("feeds")


@pytest.fixture
def far(cli, tmp_path, monkeypatch):
    """A cluster, and the server."""
    hadoop = tmp_path / "hadoop"
    hadoop.mkdir()
    # For the command, which reads the ledger there.
    monkeypatch.setenv("HADOOP_CONF_DIR", str(hadoop))
    with (
        Cluster(tmp_path / "cluster", cli.home, 2, hadoop=hadoop) as cluster,
        S3Server(tmp_path, cluster.network.here) as server,
    ):
        server.configure(hadoop)
        try:
            cluster.start()
        except BaseException:
            print(cluster.logs())
            raise
        yield cluster, server


def test_a_machine_dies_while_the_samples_lie_far_away(cli, crumbs, far, tmp_path):
    cluster, server = far
    job = cluster.submit("far", server.upload(crumbs.path), *OPTIONS, "--epochs", 1, "--parallelism", 2)
    until(lambda: len(cluster.serving("far")) == 2, "both machines serve")
    team = Team(cli.home, tmp_path / "notes", "far", RANKS, 1, **SLOWLY)
    try:
        team.go(8)
        team.go(12, cluster.workers[0].kill)
        notes = team.finish()
    finally:
        team.kill()
    assert received(notes) == expected(crumbs.path, 1)
    until(lambda: cluster.state(job) == "FINISHED", "the feed ends when its epoch is done")
    audited(cli, "far", 1)
