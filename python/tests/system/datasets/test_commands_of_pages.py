"""The commands of docs/ingest.md, docs/export.md and docs/bench.md run in a folder with the files that they name.

They run as they stand there; measurements, which take a minute, only for a moment.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stoker_processes import LIMIT_S, REPOSITORY, Cli

import stoker
from images import image_tree

pytestmark = pytest.mark.full("programs")

ELSEWHERE = re.compile(r"^flink |s3a://|hdfs://")
"""What these commands need is tested elsewhere: a cluster, or a remote store."""


def commands(page: str) -> dict[str, list[str]]:
    """The commands of each block, by page and line; without those that run elsewhere."""
    text = (REPOSITORY / "docs" / page).read_text("utf-8")
    found = {}
    for match in re.finditer(r"^```\n(.*?)^```$", text, re.M | re.S):
        lines = match[1].splitlines()
        if all(re.match(r"(stoker|flink) ", line) for line in lines):
            number = text.count("\n", 0, match.start(1)) + 1
            found[f"{page}:{number}"] = [line for line in lines if not ELSEWHERE.search(line)]
    return found


def run(cli: Cli, folder: Path, lines: list[str]) -> None:
    for line in lines:
        match = re.fullmatch(r"(.*?)(?: > ([\w./-]+))?", line)
        assert match is not None
        command, target = match[1], match[2]
        if re.match(r"stoker bench (storage|feed|report --dataset)|stoker bench demand .*--against", command):
            command += " --seconds 1 --rounds 1"
        process = cli.start(*shlex.split(command)[1:], cwd=folder)
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
        assert process.returncode == 0, f"{line}\n{out}{err}"
        if target:
            (folder / target).write_text(out)


def samples(dataset: Path) -> dict[str, dict]:
    return {sample["key"]: dict(sample) for sample in stoker.open(dataset)}


def photos(folder: Path) -> None:
    image_tree(folder / "photos")


def require_photos(folder: Path) -> None:
    packed = samples(folder / "data" / "photos")
    files = [str(file.relative_to(folder / "photos")) for file in (folder / "photos").rglob("*") if file.is_file()]
    assert sorted(packed) == sorted(files)
    assert all(key.split("/")[0] == sample["label"] for key, sample in packed.items())


def tables(folder: Path) -> None:
    (folder / "tables").mkdir()
    for part in range(2):
        ids = [f"{part}-{row}" for row in range(50)]
        table = pa.table({"id": ids, "class": ["cat", "dog"] * 25, "size": range(50)})
        pq.write_table(table, folder / "tables" / f"{part}.parquet")
    (folder / "shards").mkdir()
    with tarfile.open(folder / "shards" / "0.tar", "w") as tar:
        for name, data in (("a.jpg", b"\xff\xd8a"), ("a.cls", b"3"), ("b.jpg", b"\xff\xd8b"), ("b.cls", b"4")):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    (folder / "people.csv").write_text("name,age,city\nAda,36,London\nAlan,41,Wilmslow\n")


def require_tables(folder: Path) -> None:
    packed = samples(folder / "data" / "tables")
    assert len(packed) == 100
    assert (packed["1-7"]["class"], packed["1-7"]["size"]) == ("dog", 7)
    assert {sample["jpg"] for sample in samples(folder / "data" / "photos").values()} == {b"\xff\xd8a", b"\xff\xd8b"}
    people = samples(folder / "data" / "people")
    assert [(person["name"], person["age"]) for person in people.values()] == [("Ada", 36), ("Alan", 41)]
    assert "city" not in people["people.csv#0"]


def logs(folder: Path) -> None:
    (folder / "logs").mkdir()
    table = pa.table({
        "year": [2024, 2025, 2026, 2026],
        "label": ["cat", "öwl", "cat", "dog"],
        "score": [0.9, 0.8, 0.4, 0.9],
        "image": [b"1", b"2", b"3", b"4"],
        "caption": ["one", "two", "three", "four"],
    })  # fmt: skip
    pq.write_table(table, folder / "logs" / "0.parquet")


def require_logs(folder: Path) -> None:
    [only] = samples(folder / "data" / "cats").values()
    assert (only["image"], only["caption"]) == (b"2", "two")


def manifests(folder: Path) -> None:
    (folder / "files").mkdir()
    for name in ("a.jpg", "b.jpg", "a.txt", "b.txt"):
        (folder / "files" / name).write_text(f"content of {name}")
    (folder / "labels.csv").write_text("path,class\nfiles/a.jpg,cat\nfiles/b.jpg,dog\n")
    rows = [{"image": f"files/{name}.jpg", "text": f"files/{name}.txt", "width": 7} for name in "ab"]
    (folder / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def require_manifests(folder: Path) -> None:
    packed = samples(folder / "data" / "photos")
    assert packed["files/b.jpg"]["image"] == b"content of b.jpg"
    assert packed["files/b.jpg"]["class"] == "dog"
    pairs = samples(folder / "data" / "pairs")
    found = [(pair["pixels"], pair["caption"], pair["width"]) for pair in pairs.values()]
    assert sorted(found) == [(b"content of a.jpg", "content of a.txt", 7), (b"content of b.jpg", "content of b.txt", 7)]


def chosen(folder: Path) -> None:
    for name in ("cat/1.jpg", "cat/2.png", "thumbs/3.jpg", "notes.txt"):
        (folder / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "photos" / name).write_text(name)


def require_chosen(folder: Path) -> None:
    assert sorted(samples(folder / "data" / "photos")) == ["cat/1.jpg", "cat/2.png"]
    assert sorted(samples(folder / "data" / "jpegs")) == ["cat/1.jpg", "thumbs/3.jpg"]


def exported(folder: Path) -> None:
    fields = {"label": "categorical", "width": "int32", "image": "binary"}
    with stoker.Writer(folder / "data" / "photos", fields) as writer:
        for row in range(40):
            values = {"label": ("cat", "dog")[row % 2], "width": 620 + row, "image": b"i%d" % row}
            writer.write({"key": f"{row:02d}", **values})


def require_exported(folder: Path) -> None:
    table = pq.read_table(folder / "photos-parquet")
    assert sorted(table["key"].to_pylist()) == [f"{row:02d}" for row in range(40)]
    [file] = (folder / "cats").glob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert sorted((row["key"], row["label"]) for row in rows) == [(str(row), "cat") for row in range(20, 40, 2)]


def require_layout(folder: Path) -> None:
    (file,) = (folder / "photos-hf").glob("*.parquet")
    assert set(pq.read_schema(file).metadata) == {b"huggingface"}


def measured(folder: Path) -> None:
    with stoker.Writer(folder / "data" / "photos", {"label": "categorical", "image": "binary"}) as writer:
        for row in range(900):
            writer.write({"key": f"{row:03d}", "label": ("cat", "dog")[row % 2], "image": b"i" * 2000})


def require_report(folder: Path) -> None:
    page = (folder / "stoker-bench.html").read_text()
    assert "photos, first epoch" in page
    assert "Which resource is the limit" in page
    assert (folder / "stoker-bench.png").read_bytes().startswith(b"\x89PNG")
    kinds = [json.loads((folder / f"stoker-bench-{kind}.json").read_text())["bench"] for kind in ("storage", "feed")]
    assert kinds == ["storage", "feed"]


def require_results(folder: Path) -> None:
    assert not list((folder / "data").glob("stoker-bench-*"))
    page = (folder / "bench.html").read_text()
    assert "network of 25 Gbit/s, as given" in page
    assert "8 × resnet50, h100" in page


def require_demand(folder: Path) -> None:
    assert not (folder / "data" / "photos" / "_stoker" / "feeds").exists()


CASES = {
    "ingest.md": [
        (photos, require_photos),
        (tables, require_tables),
        (logs, require_logs),
        (manifests, require_manifests),
        (chosen, require_chosen),
    ],
    "export.md": [(exported, require_exported), (exported, require_layout)],
    "bench.md": [(measured, require_report), (measured, require_results), (measured, require_demand)],
}
BLOCKS = [
    (name, lines, *case)
    for page, cases in CASES.items()
    for (name, lines), case in zip(commands(page).items(), cases, strict=True)
]


@pytest.mark.parametrize(("name", "lines", "make", "require"), BLOCKS, ids=[block[0] for block in BLOCKS])
def test_the_commands_of_the_page_do_what_it_says(cli, tmp_path, name, lines, make, require):
    assert lines, f"{name} has no command to run here"
    make(tmp_path)
    run(cli, tmp_path, lines)
    require(tmp_path)
