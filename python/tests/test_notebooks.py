"""What notebooks show of samples, feeds and batches."""

from __future__ import annotations

import io
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import stoker
from stoker import Feed, Writer
from stoker._format.notebook import cell


class Table(HTMLParser):
    """The cells of a table, and the images; checks that all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.images: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        assert tag in ("table", "caption", "thead", "tbody", "tr", "th", "td", "img")
        if tag == "img":
            self.images.append(dict(attributes)["src"])
            return
        self._open.append(tag)
        if tag in ("th", "td", "caption"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells[-1] += data


def everything_below(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


def picture(n: int, side: int = 8) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(n).integers(0, 255, (side, side, 3)).astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fields = {
        "label": "categorical",
        "text": "utf8?",
        "n": "int32?",
        "v": "float32[]",
        "image": "binary",
        "raw": "binary",
    }
    with Writer(tmp_path / "d", fields, payload=["image", "raw"], shuffle=False) as w:
        for n in range(20):
            sample = {"label": "<cat>", "text": None if n % 2 else f"<script>{n}</script>", "n": n or None}
            raw = bytes(70_000) if n == 1 else b"<svg onload='x'>"
            w.write({"key": f"k{n:02}", **sample, "v": range(n), "image": picture(n), "raw": raw})
    return tmp_path / "d"


def test_samples(path: Path) -> None:
    samples = stoker.open(path, split="train")
    assert repr(samples).startswith(f"Samples({str(path)!r}, version 1, split train, 20 samples, label: categorical, ")
    assert "splits train, 20 samples" in repr(stoker.open(path))
    before = everything_below(path)
    found = Table(samples._repr_html_())
    assert everything_below(path) == before
    assert found.cells[:8] == [repr(samples), "key", "label", "text", "n", "v", "image", "raw"]
    assert found.cells[8:15] == ["k00", "<cat>", "<script>0</script>", "–", "[]", "", "16 bytes"]
    assert found.cells[15:22] == ["k01", "<cat>", "–", "1", "[0.0]", "", "70,000 bytes"]
    assert found.cells[-1] == "… and 12 more"
    assert len(found.images) == 8
    assert all(source.startswith("data:image/png;base64,") for source in found.images)


def test_samples_that_cannot_be_read(path: Path) -> None:
    samples = stoker.open(path)
    for chunk in path.glob("chunks/*/*"):
        chunk.unlink()
    found = Table(samples._repr_html_())
    assert "The first samples cannot be read: " in found.cells[0]
    assert found.cells[1:7] == ["field", "type", "classes", "label", "categorical", "<cat>"]


def test_a_feed_and_its_batches(path: Path) -> None:
    with Feed(path, batch_size=4, lanes=1, decode={"image": "rgb"}) as feed:
        assert Table(feed._repr_html_()).cells[0].endswith(", batch_size 4, 20 samples")
        batch = next(iter(feed))
    found = Table(batch._repr_html_())
    assert found.cells[:8] == [repr(batch), "key", "label", "text", "n", "v", "image", "raw"]
    assert found.cells[8] == batch.keys[0]
    assert found.cells[13] == "uint8 (8, 8, 3)"
    assert len(found.cells) == 8 + 4 * 7
    with Feed(path, columns=["n"], batch_size=20, lanes=1) as feed:
        assert len(Table(next(iter(feed))._repr_html_()).cells) == 2 + 8 + 1
    closed = Feed("nowhere")
    assert Table(closed._repr_html_()).cells == [repr(closed), "field", "type", "classes"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (np.ma.masked, "–"),
        (np.float32(1.5), "1.5"),
        (np.zeros((2, 3), np.int8), "int8 (2, 3)"),
        (np.zeros(100), "float64 (100)"),
        (np.array(5), "5"),
        (["a", "<b>"], "[a, &lt;b&gt;]"),
        (list(range(10)), "[0, 1, 2, 3, 4, 5, …]"),
        ("x" * 100, "x" * 79 + "…"),
        (b"\xff\xd8\xff" + bytes(70_000), "70,003 bytes"),
        (np.datetime64("2026-01-02"), "2026-01-02"),
    ],
)
def test_cells(value: Any, shown: str) -> None:
    assert cell(value) == shown
