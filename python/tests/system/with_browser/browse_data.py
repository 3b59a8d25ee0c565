"""Datasets that people browse: pictures, sound, text, and samples that try to run as scripts."""

from __future__ import annotations

import io
import math
import struct
import wave
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from images import CLASSES, encoded
from stoker import Writer

RUNS = "globalThis.hacked = (globalThis.hacked || 0) + 1"
"""What a hostile sample tries to run."""

TAG = f"<script>{RUNS}</script><img src=x onerror='{RUNS}'>"
SVG = f"<svg xmlns='http://www.w3.org/2000/svg' onload='{RUNS}'><script>{RUNS}</script></svg>"
HTML = f"<!doctype html><html><body onload='{RUNS}'>{TAG}</body></html>"


def sound(hertz: float = 440.0) -> bytes:
    """A tone of a fifth of a second."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        wave_form = (int(9000 * math.sin(2 * math.pi * hertz * n / 8000)) for n in range(1600))
        file.writeframes(b"".join(struct.pack("<h", value) for value in wave_form))
    return out.getvalue()


def huge_png() -> bytes:
    """A few bytes that claim a picture of 60000 × 60000 pixels."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(bytes(1000))) + part(b"IEND", b"")


HOSTILE: dict[str, bytes] = {
    "html": HTML.encode(),
    f"key {TAG}": HTML.encode(),
    "svg": SVG.encode(),
    "svg with xml": b"<?xml version='1.0'?>" + SVG.encode(),
    "gif and script": b"GIF89a/*" + HTML.encode() + f"*/=1;{RUNS}".encode(),
    "png and html": encoded(1, 8) + HTML.encode(),
    "bmp and script": b"BM/*\0\0\0\0\0\0\0\0" + f"*/=1;{RUNS};".encode() + bytes(40),
    "mp4 and html": b"\0\0\0\x18ftypisom" + HTML.encode(),
    "pdf": b"%PDF-1.4\n" + HTML.encode(),
    "broken png": encoded(2, 32)[:200],
    "huge png": huge_png(),
    "script": RUNS.encode(),
    "javascript:" + RUNS: b"javascript:" + RUNS.encode(),
    "utf-16": b"\xff\xfe" + HTML.encode("utf-16-le"),
    "utf-7": b"+ADw-script+AD4-" + RUNS.encode(),
    "\u202egnp.lmth\u0000\u2028": HTML.encode(),
    "__proto__": b"",
    "../../etc/passwd": bytes(range(256)),
}


SCHEMA = {"label": "categorical", "image": "binary"}


def hostile(root: Path) -> None:
    with Writer(root, SCHEMA, payload=["image"], shuffle=False, name=f"hostile {TAG}") as writer:
        for i, (key, image) in enumerate(HOSTILE.items()):
            writer.write({"key": key, "label": TAG if i % 2 else "constructor", "image": image})


def picture(number: int) -> dict[str, Any]:
    label = CLASSES[number % 3]
    return {"key": f"{label}/{number:05}.png", "label": label, "image": encoded(number, 96)}


DELETED = [picture(n)["key"] for n in (0, 3, *range(20, 30))]


def zoo(root: Path) -> None:
    """Three versions of pictures, sound and text, in chunks of some ten pictures. Version 4 lacks some of them."""
    options: dict[str, Any] = {"payload": ["image"], "shuffle": False, "chunk_size": 200_000}
    with Writer(root, SCHEMA, name="zoo", **options) as writer:
        for number in range(130):
            writer.write(picture(number))
    with Writer(root, SCHEMA, append=True, split="val", **options) as writer:
        writer.write({"key": "sound/a.wav", "label": "sound", "image": sound()})
        writer.write({"key": "text/a.txt", "label": "text", "image": "Grüße, ein Text.\nZweite Zeile.".encode()})
        writer.write({"key": "bytes/a.bin", "label": "bytes", "image": bytes(range(256)) * 4})
        for number in range(130, 140):
            writer.write(picture(number))
    with Writer(root, SCHEMA, append=True, **options) as writer:
        for number in range(140, 150):
            writer.write(picture(number))


def masks(root: Path) -> None:
    """A mask of class numbers, a gray picture, and a JPEG without its end."""
    mask = np.zeros((40, 60), np.uint8)
    mask[10:20], mask[20:30] = 1, 20
    gray = np.arange(40 * 60, dtype=np.int64).reshape(40, 60) % 256
    with Writer(root, {"image": "binary"}, payload=["image"], shuffle=False) as writer:
        for key, pixels in (("mask", mask), ("gray", gray.astype(np.uint8))):
            out = io.BytesIO()
            Image.fromarray(pixels).save(out, "PNG")
            writer.write({"key": key, "image": out.getvalue()})
        out = io.BytesIO()
        Image.open(io.BytesIO(encoded(1, 96))).save(out, "JPEG")
        writer.write({"key": "cut", "image": out.getvalue()[: len(out.getvalue()) // 2]})


TEXTS = [f"A sentence of some length, number {n}, that a person wants to read." for n in range(60)]
LONG_KEY = "test/data-00000-of-00003.parquet/"


def texts(root: Path) -> None:
    """Texts without payload, with scores and long keys."""
    with Writer(root, {"text": "utf8", "score": "float64", "note": "utf8?"}, payload=[], shuffle=False) as writer:
        for n, text in enumerate(TEXTS):
            row = {"key": f"{LONG_KEY}{n:05}", "text": text, "score": (n * 7 % 60) / 7.0, "note": None}
            writer.write(row)
