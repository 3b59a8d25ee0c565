"""Training programs that read files: they get the same from a mount as from the directory that was packed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from stoker_processes import Cli

from images import image_tree

# Each prints one line for each sample of each folder: class and checksum of the decoded picture.
IMAGE_FOLDER = """
import sys, zlib
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import PILToTensor

for folder in sys.argv[1:]:
    images = ImageFolder(folder, transform=PILToTensor())
    torch.manual_seed(5)
    for pictures, labels in DataLoader(images, batch_size=7, shuffle=True, num_workers=2):
        for picture, label in zip(pictures, labels):
            print(images.classes[label], zlib.crc32(picture.numpy().tobytes()))
"""

TENSORFLOW = """
import os, sys, zlib
import tensorflow as tf

def load(path):
    return tf.strings.split(path, os.sep)[-2], tf.io.decode_png(tf.io.read_file(path), channels=3)

for folder in sys.argv[1:]:
    files = tf.data.Dataset.list_files(os.path.join(folder, "*", "*.png"), shuffle=False)
    for label, picture in files.shuffle(100, seed=5).map(load, num_parallel_calls=4, deterministic=True):
        print(label.numpy().decode(), zlib.crc32(picture.numpy().tobytes()))
"""

COUNT = 60


@pytest.mark.cells
@pytest.mark.parametrize("program", [IMAGE_FOLDER, TENSORFLOW], ids=["torchvision", "tensorflow"])
def test_reads_the_same_from_a_mount(cli: Cli, tmp_path: Path, program: str) -> None:
    image_tree(tmp_path / "photos", count=COUNT)
    cli.run("ingest", tmp_path / "photos", tmp_path / "data", "--chunk-size", "32kb")
    point = tmp_path / "point"
    point.mkdir()
    cli.run("mount", tmp_path / "data", point, "--background")
    try:
        found = lines(program, tmp_path / "photos", point)
    finally:
        cli.run("unmount", point)
    assert len(set(found)) == COUNT
    assert found[:COUNT] == found[COUNT:]


def lines(program: str, *folders: Path) -> list[str]:
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, "-c", program, *map(str, folders)]
    done = subprocess.run(command, env=os.environ | quiet, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
