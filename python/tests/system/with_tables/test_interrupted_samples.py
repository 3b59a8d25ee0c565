"""Archives whose samples are interrupted: with `--on-error skip`, a sample is kept whole or left out whole."""

from __future__ import annotations

import io
import tarfile

import pytest

import stoker

PAIRS = ["0001.jpg", "0001.txt", "0002.jpg", "0002.txt"]


def archive(path, members):
    with tarfile.open(path, "w") as tar:
        for member in members:
            info = tarfile.TarInfo(member)
            info.size = len(member)
            tar.addfile(info, io.BytesIO(member.encode()))
    return path


@pytest.mark.parametrize(
    "members",
    [
        pytest.param([m for name in PAIRS for m in ("._" + name, name)], id="apple-double"),
        pytest.param([PAIRS[0], "LICENSE", *PAIRS[1:]], id="foreign-member"),
    ],
)
def test_other_members_do_not_divide_a_sample(cli, tmp_path, members):
    cli.run("ingest", archive(tmp_path / "a.tar", members), tmp_path / "d", "--on-error", "skip")
    assert sorted((s["key"], s["jpg"], s["txt"]) for s in stoker.open(tmp_path / "d")) == [
        ("0001", b"0001.jpg", "0001.txt"),
        ("0002", b"0002.jpg", "0002.txt"),
    ]


def test_an_archive_that_is_not_sorted_is_refused(cli, tmp_path):
    source = archive(tmp_path / "a.tar", sorted(PAIRS, key=lambda name: name[5:]))
    said = cli.fails("ingest", source, tmp_path / "d", "--on-error", "skip")
    assert "so it was read in part" in said
    assert "tar --sort=name" in said
