"""One dataset and a few feeders for all system tests of a session."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import warm_command
from export_tables import table, write_arrow
from s3_server import S3Server
from stoker_processes import COMMAND, Cli, Feeder, make_tree

from images import image_tree

CHUNK_SIZE = "8kb"


@dataclass(frozen=True)
class Photos:
    """Version 1: 230 samples of three classes; version 2 appends 90 of two, one of them new."""

    path: Path
    content: dict[str, bytes]

    def label_of(self, key: str) -> str:
        return key.split("/")[0]


def pytest_sessionfinish() -> None:
    warm_command.close_all()


@pytest.fixture(scope="session")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    # Builds the command if the sources are newer, as after an edit.
    subprocess.run([COMMAND, "--version"], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return Cli(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module", autouse=True)
def _own_home(cli: Cli) -> Iterator[None]:
    """Feeds in this process use the same home as the command."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("STOKER_FEED", "STOKER_RUN", "RANK", "WORLD_SIZE"):
            patch.delenv(name, raising=False)
        patch.setenv("STOKER_HOME", str(cli.home))
        yield


@pytest.fixture(scope="session")
def _s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3"), "127.0.0.1") as server:
        yield server


@pytest.fixture
def s3(_s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The S3 server of the session, to which the commands of this test go. Each test has its own names there."""
    hadoop = tmp_path / "hadoop"
    hadoop.mkdir()
    _s3_server.configure(hadoop)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(hadoop))
    return _s3_server


@pytest.fixture(scope="session")
def photos(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Photos:
    root = tmp_path_factory.mktemp("photos")
    options = ["--label-from", "parent-dir", "--split", "val=0.1", "--chunk-size", CHUNK_SIZE, "--payload", "data"]
    content = make_tree(root / "one", {"ant": 90, "cat": 80, "dog": 60}, lambda n: 150 + 37 * n % 400)
    cli.run("ingest", root / "one", root / "data", *options)
    content |= make_tree(root / "two", {"bee": 50, "cat": 40}, lambda n: 100 + 53 * n % 700, salt="x")
    cli.run("ingest", root / "two", root / "data", "--append", "--label-from", "parent-dir")
    return Photos(root / "data", content)


@pytest.fixture(scope="session")
def start_feeder(cli: Cli) -> Iterator[Callable[..., Feeder]]:
    """Starts a feeder that ends with the session at the latest; does not wait until it is ready."""
    started: list[Feeder] = []

    def start(name: str, *args: object, **options: Any) -> Feeder:
        started.append(Feeder(cli, name, *args, **options))
        return started[-1]

    yield start
    for feeder in started:
        if feeder.alive:
            feeder.kill()


@pytest.fixture(scope="session")
def feeders(photos: Photos, start_feeder: Callable[..., Feeder]) -> dict[str, Feeder]:
    """The same streams, from one feeder subtask and from four."""
    streams = [f"train={photos.path}@2", f"val={photos.path}@2:val", f"old={photos.path}@1"]
    options: list[Any] = ["--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb"]
    both = {
        name: start_feeder(name, *streams, *options, "--parallelism", parallelism)
        for name, parallelism in (("single", 1), ("quadruple", 4))
    }
    return {name: feeder.ready() for name, feeder in both.items()}


@pytest.fixture(scope="session")
def crumbs(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Photos:
    """Some 1,500 samples of 40 bytes in many chunks of a few kilobytes."""
    root = tmp_path_factory.mktemp("crumbs")
    content = make_tree(root / "files", {"left": 750, "right": 750}, lambda n: 40)
    cli.run(
        *("ingest", root / "files", root / "data", "--label-from", "parent-dir"),
        *("--chunk-size", "6kb", "--payload", "data"),
    )
    return Photos(root / "data", content)


@pytest.fixture(scope="session")
def photo_feed(cli: Cli, start_feeder: Callable[..., Feeder], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where data/photos lies, packed and fed as docs/python.md says; the splits are fed as two streams."""
    root = tmp_path_factory.mktemp("page")
    image_tree(root / "photos")
    data = root / "data" / "photos"
    cli.run("ingest", root / "photos", data, "--label-from", "parent-dir", "--split", "val=0.2")
    start_feeder("photos", f"train={data}:train", f"val={data}:val").ready()
    return root


@pytest.fixture(scope="session")
def everything(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Table]:
    """A dataset with two splits and a field of each kind, and the table with its samples."""
    root = tmp_path_factory.mktemp("everything")
    source = table()
    write_arrow(root / "source.arrow", source)
    cli.run(
        *("ingest", root / "source.arrow", root / "data", "--key", "id", "--label", "label", "--payload", "image"),
        *("--split", "val=0.2", "--chunk-size", "32kb"),
    )
    return root / "data", source
