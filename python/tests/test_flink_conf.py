"""The configurations of `flink-conf`: what can be checked without a cluster."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

CONF = Path(__file__).parents[2] / "flink-conf"
CONFIGURATIONS = {path.parent.name: yaml.safe_load(path.read_text()) for path in CONF.glob("*/config.yaml")}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_flink_stop_finds_a_directory_for_its_savepoint(name):
    assert CONFIGURATIONS[name]["execution"]["checkpointing"]["savepoint-dir"].startswith("file:///")


def test_one_machine_listens_on_loopback_only():
    conf = CONFIGURATIONS["one-machine"]
    assert {conf["jobmanager"]["bind-host"], conf["taskmanager"]["bind-host"], conf["rest"]["bind-address"]} == {
        "127.0.0.1"
    }


def test_clients_of_zookeeper_do_not_try_kerberos():
    """Each command and process would log a failed login with a stack trace."""
    assert CONFIGURATIONS["standalone"]["zookeeper"]["sasl"]["disable"] is True


@pytest.fixture
def cluster(tmp_path):
    """Runs the script with a Java that prints its arguments."""
    java = tmp_path / "java-home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    (tmp_path / "lib").mkdir()

    def run(*arguments, place="flink"):
        environment = {
            **os.environ, "JAVA_HOME": str(tmp_path / "java-home"), "STOKER_FLINK_LIB": str(tmp_path / "lib"),
            "STOKER_FLINK_WORK": str(tmp_path / place), "STOKER_JAVA_OPTS": "-Dlog4j2.configurationFile=mine",
        }  # fmt: skip
        return subprocess.run(
            [CONF / "standalone" / "cluster", *arguments], env=environment, capture_output=True, text=True, timeout=60
        )

    return run


def test_the_command_of_flink_logs_to_a_file(cluster, tmp_path):
    words = cluster("flink", "run", "job.jar", "--json").stdout.splitlines()
    assert words[-4:] == ["org.apache.flink.client.cli.CliFrontend", "run", "job.jar", "--json"]
    configured = [word for word in words if word.startswith("-Dlog4j2.configurationFile=")]
    assert configured[0].endswith("/log4j2-client.properties")
    assert configured[-1] == "-Dlog4j2.configurationFile=mine", "the user's own comes last and wins"
    assert f"-Dlog.file={tmp_path}/flink/flink-client.log" in words
    client = (CONF / "standalone" / "log4j2-client.properties").read_text()
    assert "Console" not in client
    assert "${sys:log.file}" in client


def test_a_second_task_manager_is_told_how_to_start(cluster, tmp_path):
    (tmp_path / "flink").mkdir()
    (tmp_path / "flink" / "taskmanager.pid").write_text(str(os.getpid()))
    done = cluster("start", "taskmanager")
    assert done.returncode == 1
    assert f"taskmanager is already running as process {os.getpid()}" in done.stderr
    assert f"STOKER_FLINK_WORK={tmp_path}/flink2 " in done.stderr
    assert done.stderr.rstrip().endswith("/cluster start taskmanager")
