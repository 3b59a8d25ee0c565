"""The configurations of `flink-conf`: what can be checked without a cluster."""

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
