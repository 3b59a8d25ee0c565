"""The Java client against real feeders: the batches of the Python package byte for byte, its state, its failover."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from certificates import Authority
from growing import FOLLOWING, Growing
from processes_seen import get
from stoker_processes import LIMIT_S, QUICK_JVM, REPOSITORY, environment, make_tree, until, views

import stoker
from stoker import Feed

ORDER = {"batch_size": 12, "lanes": 6, "shuffle_window": 96 << 10}


def java(tool):
    """A tool of the JDK that the command runs on."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", tool)) if home else tool


CLASS_PATH = ":".join(
    str(REPOSITORY / part) for part in ("client/target/classes", "client/target/test-classes", "cli/target/dist/lib/*")
)


class JavaTrainer:
    def __init__(self, cli, notes, target, epochs, variables=None, **options):
        flags = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        self.notes = notes
        self.process = subprocess.Popen(
            [
                java("java"),
                *flags,
                "-cp",
                CLASS_PATH,
                "dev.stoker.client.JavaTrainer",
                str(notes),
                str(target),
                str(epochs),
                json.dumps(options),
            ],
            env=environment(cli.home) | (variables or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lines(self):
        if not self.notes.exists():
            return []
        return [json.loads(line) for line in self.notes.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def after(self, batches):
        until(lambda: len(self.lines()) >= batches or self.process.poll() is not None, f"{batches} batches are noted")
        return self.lines()

    def allow(self, batches):
        self.process.stdin.write("x" * batches)
        self.process.stdin.flush()

    def how(self):
        """What it says at its end: its figures, or the error that ended it."""
        out, err = self.process.communicate(timeout=LIMIT_S)
        assert self.process.returncode == 0, err
        return json.loads(out)

    def end(self):
        self.said = self.how()
        assert "error" not in self.said, self.said
        return [(*v[:4], tuple(v[4]), v[5]) for v in (line["view"] for line in self.lines())]


@pytest.fixture
def train(cli, tmp_path):
    started = []

    def begin(target, epochs=1, **options):
        notes = tmp_path / f"notes-{len(started)}"
        started.append(JavaTrainer(cli, notes, target, epochs, **options))
        return started[-1]

    yield begin
    for trainer in started:
        trainer.process.kill()
        trainer.process.communicate()


@pytest.mark.cells
@pytest.mark.parametrize(
    ("name", "tail"), [("single", "pad"), ("quadruple", "pad"), ("quadruple", "drop"), ("quadruple", "keep")]
)
@pytest.mark.full("programs")
def test_batches_are_those_of_python_byte_for_byte(photos, feeders, train, name, tail):
    for world_size in (1, 3):
        trainers = [
            train(name, 2, group=f"java-{name}-{tail}-{world_size}", rank=r, world_size=world_size, tail=tail)
            for r in range(world_size)
        ]
        for rank, trainer in enumerate(trainers):
            with Feed(photos.path, **ORDER, rank=rank, world_size=world_size, tail=tail) as feed:
                assert trainer.end() == [*views(feed), *views(feed)]


def test_a_state_of_python_is_gone_on_with_in_java_and_back(photos, feeders, train):
    with Feed(photos.path, **ORDER, world_size=2, rank=1) as feed:
        batches = list(feed)
        rest = {n: views(batches[n + 1 :]) for n in range(len(batches))}
        following = views(feed)
    states = [batch.state for batch in batches]
    for at in (0, 7, len(batches) - 2, len(batches) - 1):
        trainer = train("single", 2, group=f"resume-{at}", world_size=2, rank=1, state=states[at])
        expected = rest[at] + following if rest[at] else following
        found = trainer.end()
        assert found[: len(expected)] == expected
    lines = trainer.lines()
    with Feed(photos.path, **ORDER, world_size=3, rank=0) as feed:
        feed.load_state_dict(lines[3]["state"])
        assert feed.state_dict() == lines[3]["state"], "the same keys and values"


@pytest.mark.full("programs")
def test_skipped_batches_and_states_are_those_of_python(photos, feeders, train):
    skip = [(0, 4, 6), (0, 9, 9), (1, 0, 3)]
    for tail in ("pad", "keep"):
        trainers = [
            train("quadruple", 2, group=f"skip-{tail}", rank=r, world_size=2, tail=tail, skip=skip) for r in range(2)
        ]
        for rank, trainer in enumerate(trainers):
            with Feed(photos.path, **ORDER, rank=rank, world_size=2, tail=tail, skip=skip) as feed:
                epochs = [list(feed), list(feed)]
                states = [batch.state for epoch in epochs for batch in epoch]
                assert trainer.end() == [*views(epochs[0]), *views(epochs[1])]
            assert [line["state"] for line in trainer.lines()] == states
    refused = train("quadruple", group="skip-state", state=states[0]).how()
    assert refused["error"] == "StateMismatchException"
    assert "(0, 4, 6), (0, 9, 9), (1, 0, 3) are skipped in the state" in refused["message"]


@pytest.mark.full("programs")
def test_each_epoch_of_a_feed_that_follows_has_its_own_version(cli, start_feeder, train, tmp_path):
    growing = Growing(tmp_path / "grown")
    growing.append(ant=20, cat=17)
    feeder = start_feeder("java-follows", f"train={growing.path}", *FOLLOWING).ready()
    trainer = train("java-follows", 2, buffer_bytes=1, stepwise=True)
    trainer.allow(3)
    trainer.after(3)
    growing.append(bee=9)
    trainer.allow(20)
    expected = growing.views(1, 0), growing.views(2, 1)
    assert trainer.end() == expected[0] + expected[1]
    lines = trainer.lines()
    assert [line["state"]["version"] for line in lines] == [1] * 6 + [2] * 7
    growing.append(cat=4)
    for at, epoch in ((2, 0), (8, 1)):
        state = lines[at]["state"]
        with Feed("java-follows", group=f"python-{at}") as feed:
            feed.load_state_dict(state)
            assert views(feed) == expected[epoch][state["batch"] :]
        assert train("java-follows", group=f"java-{at}", state=state).end() == expected[epoch][state["batch"] :]
    refused = train("java-follows", state=lines[2]["state"] | {"version": 2}).how()
    assert refused["error"] == "StateMismatchException"
    assert "version 1 here" in refused["message"]
    feeder.stop()
    assert json.loads(cli.run("audit", "java-follows", "--json"))["clean"]


@pytest.mark.full("programs")
def test_a_java_trainer_outlives_a_killed_feeder(cli, photos, start_feeder, train):
    options = ["--batch-size", 10, "--lanes", 6, "--shuffle-window", "96kb", "--seed", 3]
    feeder = start_feeder("ashes", f"train={photos.path}@2", *options).ready()
    trainer = train("ashes", 1, group="java", tail="keep", buffer_bytes=1, stepwise=True)
    trainer.allow(4)
    trainer.after(4)
    feeder.kill()
    feeder = start_feeder("ashes", f"train={photos.path}@2", *options).ready()
    trainer.allow(1000)
    with Feed(photos.path, batch_size=10, lanes=6, shuffle_window=96 << 10, seed=3, tail="keep") as feed:
        expected = views(feed)
    assert trainer.end() == expected
    feeder.stop()
    report = json.loads(cli.run("audit", "ashes", "--json", "--epochs", 1))
    (passed,) = report["passes"]
    assert passed["epochs"][0]["acknowledged"] == len(expected)
    assert report["clean"] is True


@pytest.mark.full("programs")
def test_a_feeder_on_this_machine_is_read_by_every_way(photos, feeders, train):
    with Feed(photos.path, **ORDER) as feed:
        expected = views(feed)
    trainers = {
        (transport, target): train(target, group=f"java-{transport}", variables={"STOKER_TRANSPORT": transport})
        for transport in ("tcp", "unix", "local-reads")
        for target in ("quadruple", feeders["single"].address)
    }
    for (transport, target), trainer in trainers.items():
        assert trainer.end() == expected, (transport, target)
        how = trainer.said
        assert how["unix_connections"] == (0 if transport == "tcp" else how["connections"]), how
        assert how["local_read_bytes"] == (how["bytes"] if transport == "local-reads" else 0)
        assert how["corrupt_pieces"] == 0


@pytest.mark.full("programs")
def test_payload_is_read_out_of_the_feeders_files(cli, start_feeder, train, tmp_path):
    """Rows of some size, as small ones are sent anyway; and files that are cut short end nothing but the feed."""
    content = make_tree(tmp_path / "files", {"left": 60, "right": 60}, lambda n: 30_000 + 100 * n)
    path = tmp_path / "data"
    cli.run(
        *("ingest", tmp_path / "files", path, "--label-from", "parent-dir"),
        *("--chunk-size", "256kb", "--payload", "data"),
    )
    feeder = start_feeder("large", path, "--batch-size", 8, "--shuffle-window", "1mb").ready()
    with Feed("large", group="python") as feed:
        expected = views(feed)
        assert feed.stats()["local_read_bytes"] > 2_000_000
    trainer = train("large", group="java")
    assert trainer.end() == expected
    assert sum(len(view[4]) for view in expected) == len(content)
    assert trainer.said["local_read_bytes"] == trainer.said["bytes"] > 2_000_000
    assert trainer.said["report"].startswith("rank 0 waited ")
    assert 'stoker_batches_total{feed="large",group="java",' in trainer.said["prometheus"]

    trainer = train("large", group="cut", buffer_bytes=1, stepwise=True)
    trainer.allow(2)
    trainer.after(2)
    for chunk in (path / "chunks").rglob("*.arrow"):
        os.truncate(chunk, chunk.stat().st_size // 3)
    trainer.allow(1000)
    assert trainer.how()["error"] in ("CorruptBatchException", "FeedProtocolException")
    assert feeder.alive
    feeder.stop()


@pytest.mark.full("programs")
def test_parts_joined_batches_and_another_batch_size_are_those_of_python(photos, feeders, train):
    begun = [
        (options, train("single", 3, group=f"java-shape-{n}", **options))
        for n, options in enumerate(
            (
                {"epoch_batches": 4, "world_size": 2, "rank": 1},
                {"concat": 2, "world_size": 2, "rank": 1},
                {"concat": 3, "epoch_batches": 2, "tail": "keep"},
                {"replicas": 2, "world_size": 4, "rank": 3},
            )
        )
    ]
    with Feed(photos.path, **(ORDER | {"batch_size": 10})) as feed:
        state = [batch.state for batch in feed][8]
    resumed = train("single", group="java-regrouped", state=state, allow=True)
    refused = train("single", group="java-regrouped-not", state=state)
    for options, trainer in begun:
        with Feed(photos.path, **ORDER, **options) as feed:
            assert trainer.end() == [v for _ in range(3) for v in views(feed)], options
    with Feed(photos.path, **ORDER) as feed:
        feed.load_state_dict(state, allow=("batch_size",))
        assert resumed.end() == views(feed)
        assert resumed.said["repeats"] == feed.repeats > 0
    said = refused.how()
    assert said["error"] == "StateMismatchException"
    assert "batch_size 10 in the state, 12 here" in said["message"]


@pytest.mark.full("programs")
def test_a_secured_feed_lets_in_whom_it_should(photos, start_feeder, train, tmp_path):
    authority, stranger = Authority(tmp_path / "ca", "ca"), Authority(tmp_path / "other", "stranger")
    pem, key = authority.issue("java-tls", "DNS:localhost")
    shown, shown_key = authority.issue("trainer")
    foreign, foreign_key = stranger.issue("impostor")
    secret = "c0ffee-a-secret-that-must-not-be-seen"
    token = tmp_path / "token"
    token.write_text(secret + "\n")
    token.chmod(0o600)
    feeder = start_feeder(
        "java-tls", f"{photos.path}@2", *("--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb"),
        *("--tls-cert", pem, "--tls-key", key, "--tls-client-ca", authority.pem, "--token-file", token),
    ).ready()  # fmt: skip
    address = feeder.address.replace("127.0.0.1", "localhost")
    mine = {"tls_cert": str(shown), "tls_key": str(shown_key)}
    trusting = {"tls": str(authority.pem)}
    variables = {
        "STOKER_TLS_CA": str(authority.pem),
        "STOKER_TLS_CERT": str(shown),
        "STOKER_TLS_KEY": str(shown_key),
        "STOKER_TLS_NAME": "localhost",
        "STOKER_TOKEN_FILE": str(token),
    }
    welcome = [
        train(feeder.address, group="java-1", variables=variables),
        train("java-tls", group="java-2", **mine),
        train("java-tls", group="java-3"),  # over its Unix-domain socket
    ]
    matrix = [
        ("UnauthorizedException", "does not know the token", {**trusting, "token": "Xguessed", **mine}),
        ("UnauthorizedException", "served over TLS only", {"token_file": str(token)}),
        ("TlsException", "requires a certificate of the trainer", trusting),
        ("TlsException", "refuses the certificate",
         {**trusting, "tls_cert": str(foreign), "tls_key": str(foreign_key)}),
        ("TlsException", "is not signed by one that", {"tls": str(stranger.pem), **mine}),
    ]  # fmt: skip
    refused = [train(address, variables={"STOKER_TRANSPORT": "tcp"}, **options) for _, _, options in matrix]
    with Feed(photos.path, version=2, **ORDER) as feed:
        expected = views(feed)
    for trainer in welcome:
        assert trainer.end() == expected
    assert [trainer.said["unix_connections"] for trainer in welcome] == [0, 0, 1]
    for trainer, (error, message, _) in zip(refused, matrix, strict=True):
        said = trainer.how()
        assert said["error"] == error, said
        assert message in said["message"]
        assert secret not in said["message"]
        assert "Xguessed" not in said["message"]
        assert trainer.lines() == []
    feeder.stop()


@pytest.mark.full("programs")
def test_trainers_go_on_over_a_new_connection_before_a_key_of_tls_1_2_is_used_up(
    photos, start_feeder, train, tmp_path, monkeypatch, caplog
):
    limits = tmp_path / "java.security"
    limits.write_text(
        "jdk.tls.keyLimits=AES/GCM/NoPadding KeyUpdate 131072\n"
        "jdk.tls.disabledAlgorithms=TLSv1.3, SSLv3, TLSv1, TLSv1.1\n"
    )
    authority = Authority(tmp_path / "ca", "ca")
    pem, key = authority.issue("key-limit", "IP:127.0.0.1")
    feeder = start_feeder(
        "key-limit", f"{photos.path}@2", *("--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb"),
        *("--tls-cert", pem, "--tls-key", key),
        within=["env", f"STOKER_JAVA_OPTS={QUICK_JVM} -Djava.security.properties={limits}"],
    ).ready()  # fmt: skip
    trainer = train(feeder.address, 2, group="java", tls=str(authority.pem))
    monkeypatch.setenv("STOKER_TRANSPORT", "tcp")
    with Feed(photos.path, version=2, **ORDER) as feed:
        expected = views(feed) + views(feed)
    with caplog.at_level("INFO", logger="stoker"), Feed(feeder.address, tls=authority.pem) as feed:
        assert views(feed) + views(feed) == expected
        stats = feed.stats()
    assert stats["reconnects"] >= 2
    assert stats["corrupt_pieces"] == stats["failovers"] == 0
    assert caplog.messages == []
    assert trainer.end() == expected
    assert trainer.said["reconnects"] >= 2
    feeder.stop()


@pytest.mark.full("programs")
def test_the_feeder_is_told_how_a_java_trainer_fares(cli, photos, feeders, train):
    trainer = train("single", group="java-told", stepwise=True)
    trainer.allow(3)
    trainer.after(3)

    def told():
        (url,) = json.loads((cli.home / "feeds" / "single.json").read_text())["status"]
        groups = [g for g in json.loads(get(f"{url}/status.json"))["groups"] if g["group"] == "java-told"]
        return groups and groups[0]["ranks"][0]["trainer"]

    said = until(told, "the feeder knows")
    assert said["seconds"] >= said["waited"] >= 0


@pytest.mark.full("programs")
def test_the_example_counts_the_labels_within_stoker_run(cli, photos):
    example = REPOSITORY / "examples" / "src" / "main" / "java" / "dev" / "stoker" / "examples" / "LabelCounts.java"
    stream = f"{photos.path}@1"
    jars = REPOSITORY / "client" / "target" / "dist" / "*"  # as the example itself says
    out = cli.run("run", stream, "--port", 0, "--", java("java"), "-cp", jars, example)
    keys = list(stoker.open(photos.path, version=1, split="train").keys())
    for label in ("ant", "cat", "dog"):
        assert f"{label} {sum(photos.label_of(key) == label for key in keys)}\n" in out
