"""Mounted datasets: the commands of docs/mount.md, and what unmodified programs see."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from stoker_processes import COMMAND, LIMIT_S, REPOSITORY, Cli, environment, until

from images import image_tree

pytestmark = pytest.mark.full("programs")

PAGE = REPOSITORY / "docs" / "mount.md"


@pytest.fixture(scope="module")
def folder(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The pictures of the page, and the dataset that its first command makes of them."""
    folder = tmp_path_factory.mktemp("mounts")
    image_tree(folder / "photos", count=30)
    (folder / "point").mkdir()
    yield folder
    for point in mounts(folder):
        subprocess.run(["umount", "-l", point], check=False)


def mounts(folder: Path) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [point for line in lines if " - fuse.stoker " in line and (point := line.split()[4]).startswith(str(folder))]


def shell(cli: Cli, folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    variables = environment(cli.home) | {"PATH": f"{COMMAND.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-euc", script],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_the_commands_of_the_page(cli: Cli, folder: Path) -> None:
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 2
    for block in blocks:
        done = shell(cli, folder, block)
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
        assert not mounts(folder)
    assert not list((cli.home / "mounts").iterdir())


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_unmounts(cli: Cli, folder: Path, end: signal.Signals) -> None:
    # Closing a file of an ended mount fails.
    with (
        start(cli, folder) as process,
        suppress(OSError),
        open(next((folder / "point").glob("*/*.png")), "rb") as file,
    ):
        assert file.read(4) == b"\x89PNG"
        process.send_signal(end)
        assert process.wait(LIMIT_S) == 0
    assert process.returncode == 0
    assert not mounts(folder)
    assert not list((folder / "data" / "photos" / "_stoker" / "uses").glob("*/*.json"))


def start(cli: Cli, folder: Path) -> subprocess.Popen[str]:
    process = cli.start("mount", folder / "data" / "photos", folder / "point")
    assert process.stdout is not None
    assert "mounted version 1 (30 files) at" in process.stdout.readline()
    return process


def test_a_killed_mount_is_cleaned_up(cli: Cli, folder: Path) -> None:
    with start(cli, folder) as process:
        process.kill()
    until(lambda: "not connected" in shell(cli, folder, "ls point").stderr, "a dead mount")
    assert "cleaned up a mount" in shell(cli, folder, "stoker mount data/photos point --background").stderr
    assert len(list((folder / "point").glob("*/*.png"))) == 30
    assert "is a mount point of" in cli.fails("mount", folder / "data" / "photos", folder / "point")
    cli.run("unmount", folder / "point")
    assert "is not mounted" in cli.fails("unmount", folder / "point")


def test_problems_name_the_next_step(cli: Cli, folder: Path) -> None:
    data, point = folder / "data" / "photos", folder / "point"
    assert "create it with mkdir -p" in cli.fails("mount", data, folder / "absent")
    assert "is not empty" in cli.fails("mount", data, folder / "photos")
    assert "several datasets need names" in cli.fails("mount", data, data, point)
    assert "has no field sound" in cli.fails("mount", data, point, "--field", "sound")
    assert not mounts(folder)
