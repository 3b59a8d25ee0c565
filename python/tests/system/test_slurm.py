"""The Slurm script with an `srun` that starts its tasks here; it runs on the oldest Flink that the jobs support."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from clusters import DIST, SCRIPT, little_conf, small_jvm
from stoker_processes import LIMIT_S, REPOSITORY, environment, until, views

from stoker import Feed

pytestmark = pytest.mark.full("programs")

FAKES = Path(__file__).with_name("slurm")
INGEST = DIST / "jobs" / "ingest-job.jar"
OLDEST = REPOSITORY / "flink-conf" / "oldest"
ORDER = {"batch_size": 10, "lanes": 8, "shuffle_window": 96 << 10, "seed": 9}
OPTIONS = ["--batch-size", 10, "--lanes", 8, "--shuffle-window", "96kb", "--seed", 9]


@pytest.fixture(scope="module")
def oldest():
    """The jars of the oldest Flink; the build has put them there."""
    if not (OLDEST / "target" / "lib").exists():
        module = str(OLDEST.relative_to(REPOSITORY))
        subprocess.run([REPOSITORY / "mvnw", "-q", "-Dfast", "-pl", module, "package"], cwd=REPOSITORY, check=True)
    (core,) = (OLDEST / "target" / "lib").glob("flink-core-[0-9]*.jar")
    assert core.name == f"flink-core-{re.search('<flink.version>(.*)</', (OLDEST / 'pom.xml').read_text())[1]}.jar"
    return OLDEST / "target" / "lib"


def test_a_job_of_two_nodes_has_a_feed_of_its_own(cli, crumbs, oldest, tmp_path):
    trainer = tmp_path / "trainer"
    program = Path(__file__).with_name("trainer_program.py")
    # The other job, on the same cluster.
    files, data = crumbs.path.parent / "files", tmp_path / "data"
    ingest = shlex.join(map(str, [SCRIPT, "flink", "run", INGEST, files, data]))
    ingest += " --label-from parent-dir --parallelism 2"
    train = shlex.join(map(str, [sys.executable, program]))
    trainer.write_text(
        "#!/bin/sh\n"
        "export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS\n"
        f"[ $RANK = 1 ] || {ingest} >{tmp_path}/ingest.log 2>&1 || exit 8\n"
        f"""{train} {tmp_path}/rank$RANK "$STOKER_FEED" 1 "{{'tail': 'keep'}}" && exit 7\n"""
    )
    trainer.chmod(0o755)
    work, number = tmp_path / "job", os.getpid()
    job = subprocess.Popen(
        [REPOSITORY / "flink-conf" / "slurm" / "stoker.sbatch", crumbs.path, *map(str, OPTIONS), "--", trainer],
        env=environment(cli.home)
        | {
            "PATH": f"{FAKES}:{os.environ['PATH']}",
            "SLURM_JOB_ID": str(number),
            "SLURM_JOB_NODELIST": "127.0.0.41,127.0.0.42",
            "SLURM_SUBMIT_DIR": str(tmp_path),
            "STOKER_ROOT": str(REPOSITORY),
            "STOKER_WORK": str(work),
            "STOKER_FLINK_CONF": str(little_conf(tmp_path / "conf")),
            "STOKER_FLINK_LIB": str(oldest),
            "STOKER_JAVA_OPTS": small_jvm(tmp_path),
            "HADOOP_CLASSPATH": "",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = job.communicate(timeout=4 * LIMIT_S)
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
    assert job.returncode == 7, said + "".join(path.read_text()[-2000:] for path in work.glob("*.log"))
    for rank in range(2):
        with Feed(crumbs.path, **ORDER, tail="keep", rank=rank, world_size=2) as feed:
            expected = [[*view[:4], list(view[4]), view[5]] for view in views(feed)]
        noted = (tmp_path / f"rank{rank}").read_text().splitlines()
        assert [json.loads(line)["view"] for line in noted] == expected
    addresses = json.loads((work / "home" / "feeds" / f"job{number}.json").read_text())["addresses"]
    assert sorted(address.partition(":")[0] for address in addresses) == ["127.0.0.41", "127.0.0.42"]
    assert (work / "token").stat().st_mode & 0o777 == 0o600
    until(lambda: str(work) not in processes(), "nothing of the job is left")
    assert json.loads(cli.run("info", data, "--json"))["samples"] == 1500
    cli.run("audit", "--ledger", ledger(work, number), "--dataset", crumbs.path, "--epochs", 1)


def processes():
    return subprocess.run(["ps", "axww", "-o", "args"], check=True, stdout=subprocess.PIPE, text=True).stdout


def ledger(work, number):
    return json.loads((work / "home" / "feeds" / f"job{number}.json").read_text())["ledger"].removeprefix("file:")
