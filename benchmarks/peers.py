"""Measures Stoker beside the loaders it would be chosen instead of, in one run, over the same samples.

    python3 -m venv PEERS && PEERS/bin/pip install mosaicml-streaming litdata webdataset torch pillow ./python
    PEERS/bin/python benchmarks/peers.py [--files 10000] [--bytes 110000] [--decode] [--seconds 15] [--json FILE]

A tree of equal files is packed by each system's own writer (Stoker: `stoker ingest`, and `stoker.Writer` where a Python
program makes the samples), then read shuffled, page cache warm, batches of 64. Every sample is obtained as an object
of bytes, and the consumer reads each byte once, for a CRC-32C. With --decode the files are JPEGs of 500 x 375, decoded
by Pillow and cropped to 224 x 224 in each system's way of doing that. Peers run with 0 and with 2 DataLoader workers,
and the better of the two counts. Each measurement is a separate process: it warms up for a few seconds and then times
epochs from their first batch, so that the start of workers does not count. Rounds alternate, and the best counts. A
system that cannot be imported is named and left out.

`--child read views DATASET 0 no SECONDS` measures the consumer alone, on views of a dataset of `stoker ingest`.

`--json FILE` keeps what was found for `benchmarks/peers_picture.py`.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from make_tree import make_tree

ROOT = Path(__file__).resolve().parents[1]
BATCH = 64
SEED = 1
CROP = 224


def identity(batch: list) -> list:
    return batch


def decode(data: object) -> object:
    """Returns a JPEG's pixels, cropped in the middle."""
    import numpy as np
    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")  # type: ignore[arg-type]
    left, top = (image.width - CROP) // 2, (image.height - CROP) // 2
    return np.asarray(image.crop((left, top, left + CROP, top + CROP)))


def sources(tree: str) -> list[tuple[str, int]]:
    """Returns paths and labels of a tree."""
    out = []
    for label, directory in enumerate(sorted(Path(tree).iterdir())):
        out += [(str(f), label) for f in sorted(directory.iterdir())]
    return out


# --- writers ----------------------------------------------------------------------------------------------------------


def pack_stoker(tree: str, out: str) -> None:
    subprocess.run(
        [ROOT / "stoker", "ingest", tree, out, "--label-from", "parent-dir"], check=True, capture_output=True
    )


def pack_stoker_writer(tree: str, out: str) -> None:
    import stoker

    with stoker.Writer(out, schema={"label": "int32", "image": "binary"}) as writer:
        for path, label in sources(tree):
            with open(path, "rb") as file:
                writer.write({"key": Path(path).stem, "label": label, "image": file.read()})


def pack_mosaicml(tree: str, out: str) -> None:
    from streaming import MDSWriter

    with MDSWriter(out=out, columns={"key": "str", "label": "int", "image": "bytes"}) as writer:
        for path, label in sources(tree):
            with open(path, "rb") as file:
                writer.write({"key": Path(path).stem, "label": label, "image": file.read()})


def read_file(item: tuple[str, int]) -> dict:
    with open(item[0], "rb") as file:
        return {"key": Path(item[0]).stem, "label": item[1], "image": file.read()}


def pack_litdata(tree: str, out: str) -> None:
    import litdata

    litdata.optimize(fn=read_file, inputs=sources(tree), output_dir=out, chunk_bytes="64MB", num_workers=2)


def pack_webdataset(tree: str, out: str) -> None:
    import webdataset

    os.makedirs(out)
    with webdataset.ShardWriter(f"{out}/%06d.tar", maxsize=64 << 20, verbose=0) as writer:
        for number, (path, label) in enumerate(sources(tree)):
            with open(path, "rb") as file:
                writer.write({"__key__": f"{number:08d}", "jpg": file.read(), "cls": str(label).encode()})


# --- readers: batches, each a list of objects of bytes or of decoded images -------------------------------------------


def loaded(dataset: object, workers: int, shuffle: bool | None = None) -> Iterator[list]:
    from torch.utils.data import DataLoader

    return iter(DataLoader(dataset, BATCH, shuffle=shuffle, num_workers=workers, collate_fn=identity))


def take(decoding: bool) -> Callable[[object], object]:
    return decode if decoding else identity  # type: ignore[return-value]


def epochs_stoker(target: str, workers: int, decoding: bool) -> Iterator[Iterator[list]]:
    from stoker import Feed

    feed = Feed(target, batch_size=BATCH, seed=SEED, **({"decode": {"image": decode}} if decoding else {}))
    while True:
        yield (list(batch["image"]) for batch in feed)


def epochs_views(target: str, workers: int, decoding: bool) -> Iterator[Iterator[list]]:
    """Hands out views of the packed samples that were made before: what the consumer alone can do. Checks nothing."""
    import numpy as np
    import pyarrow as pa

    views = []
    for chunk in sorted(Path(target).glob("chunks/*/*.arrow")):
        table = pa.ipc.open_file(pa.memory_map(str(chunk))).read_all()
        views += [np.frombuffer(sample.as_buffer(), np.uint8) for sample in table["image"]]
    random.Random(SEED).shuffle(views)
    while True:
        yield (views[at : at + BATCH] for at in range(0, len(views), BATCH))


def epochs_mosaicml(target: str, workers: int, decoding: bool) -> Iterator[Iterator[list]]:
    from streaming import StreamingDataset

    class Samples(StreamingDataset):
        def __getitem__(self, at: int) -> object:
            return take(decoding)(super().__getitem__(at)["image"])

    dataset = Samples(local=target, shuffle=True, batch_size=BATCH, shuffle_seed=SEED)
    while True:
        yield loaded(dataset, workers)


def epochs_litdata(target: str, workers: int, decoding: bool) -> Iterator[Iterator[list]]:
    import litdata

    class Samples(litdata.StreamingDataset):
        def __getitem__(self, at: object) -> object:
            return take(decoding)(super().__getitem__(at)["image"])

    loader = litdata.StreamingDataLoader(
        Samples(target, shuffle=True, seed=SEED), batch_size=BATCH, num_workers=workers, collate_fn=identity
    )
    while True:
        yield iter(loader)


class Jpg:
    """Takes the payload out of a WebDataset sample; a class, so that workers can be sent one."""

    def __init__(self, decoding: bool) -> None:
        self.take = take(decoding)

    def __call__(self, sample: dict) -> object:
        return self.take(sample["jpg"])


def epochs_webdataset(target: str, workers: int, decoding: bool) -> Iterator[Iterator[list]]:
    import webdataset

    shards = sorted(str(f) for f in Path(target).glob("*.tar"))
    dataset = (
        webdataset.WebDataset(shards, shardshuffle=len(shards), seed=SEED, empty_check=False)
        .shuffle(1000)
        .map(Jpg(decoding))
    )
    while True:
        yield loaded(dataset, workers)


class Files:
    """The tree itself, as a map-style dataset."""

    def __init__(self, tree: str, decoding: bool) -> None:
        self.paths = [path for path, _ in sources(tree)]
        self.take = take(decoding)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, at: int) -> object:
        with open(self.paths[at], "rb") as file:
            return self.take(file.read())


def epochs_files(target: str, workers: int, decoding: bool) -> Iterator[Iterator[list]]:
    dataset = Files(target, decoding)
    while True:
        yield loaded(dataset, workers, shuffle=True)


# --- a measurement in a separate process ------------------------------------------------------------------------------

SYSTEMS: dict[str, tuple[str | None, Callable | None, Callable | None]] = {
    "stoker feed": (None, pack_stoker, epochs_stoker),
    "stoker path": (None, None, epochs_stoker),
    "stoker Writer": ("stoker", pack_stoker_writer, None),
    "mosaicml": ("streaming", pack_mosaicml, epochs_mosaicml),
    "litdata": ("litdata", pack_litdata, epochs_litdata),
    "webdataset": ("webdataset", pack_webdataset, epochs_webdataset),
    "files": ("torch", None, epochs_files),
}
"""Module, writer and reader of each."""
CEILING = "views"


def size_of(sample: object) -> int:
    return sample.nbytes if hasattr(sample, "nbytes") else len(sample)  # type: ignore[arg-type,attr-defined]


def measure(name: str, target: str, workers: int, decoding: bool, seconds: float) -> dict:
    import google_crc32c

    epochs = epochs_views if name == CEILING else SYSTEMS[name][2]
    assert epochs is not None
    passes = epochs(target, workers, decoding)
    samples = total = 0
    spent = 0.0
    warm = time.perf_counter() + seconds / 3
    for number, batches in enumerate(passes):
        next(batches)  # whatever has to start has started
        began = time.perf_counter()
        warming = number == 0
        end = warm if warming else began + seconds - spent
        for batch in batches:
            if not warming:
                samples += len(batch)
                for sample in batch:
                    total += size_of(sample)
                    if not decoding:
                        google_crc32c.value(sample)
            if time.perf_counter() > end:
                break
        if not warming:
            spent += time.perf_counter() - began
            if spent >= seconds or number == 3:
                break
    return {"samples": samples, "bytes": total, "seconds": spent}


def child(*arguments: str) -> dict:
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments], capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def run_child(arguments: list[str]) -> dict:
    match arguments:
        case ["pack", name, tree, out]:
            writer = SYSTEMS[name][1]
            assert writer is not None
            began = time.perf_counter()
            writer(tree, out)
            os.sync()
            return {"seconds": time.perf_counter() - began}
        case ["read", name, target, workers, decoding, seconds]:
            return measure(name, target, int(workers), decoding == "yes", float(seconds))
    raise ValueError(f"unknown measurement {arguments}")


# --- the measuring process --------------------------------------------------------------------------------------------


def make_jpegs(tree: str, files: int) -> None:
    """Writes JPEGs of about 110 KB: noise over colour gradients, a thousand to a directory."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(SEED)
    y, x = np.mgrid[0:375, 0:500]
    for number in range(files):
        directory = Path(tree, f"class{number // 1000:04d}")
        directory.mkdir(parents=True, exist_ok=True)
        base = np.stack([x * rng.random() / 2, y * rng.random() / 2, (x + y) * rng.random() / 4], -1)
        pixels = (base + rng.normal(64, 24, (375, 500, 1))).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(directory / f"img_{number:08d}.jpg", quality=88)


def report(packed: dict[str, list[float]], read: dict[str, dict[int, list[dict]]], files: int, size: int) -> dict:
    """Prints both tables; returns what was found."""
    print(f"\n{'packing':<16}{'samples/s':>12}{'MB/s':>10}")
    packing = {name: files / min(seconds) for name, seconds in packed.items()}
    for name, rate in packing.items():
        print(f"{name:<16}{rate:>12,.0f}{rate * size / files / 1e6:>10,.0f}")
    print(f"\n{'reading':<16}{'workers':>8}{'samples/s':>12}{'GB/s':>8}")
    reading = {}
    for name, by_workers in read.items():
        rates = {w: max(r["samples"] / r["seconds"] for r in rounds) for w, rounds in by_workers.items()}
        workers = max(rates, key=lambda w: rates[w])
        sample_bytes = by_workers[workers][0]["bytes"] / max(1, by_workers[workers][0]["samples"])
        reading[name] = {"workers": workers, "samples_per_s": rates[workers], "all": rates}
        print(f"{name:<16}{workers:>8}{rates[workers]:>12,.0f}{rates[workers] * sample_bytes / 1e9:>8.2f}")
    peers = {n: r["samples_per_s"] for n, r in reading.items() if not n.startswith("stoker")}
    ours = {n: r["samples_per_s"] for n, r in reading.items() if n.startswith("stoker")}
    if peers:
        best = max(peers, key=lambda n: peers[n])
        for name, rate in ours.items():
            print(f"{name} / {best}, the best of the others: {rate / peers[best]:.1f}x")
    return {"packing": packing, "reading": reading}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--bytes", type=int, default=110_000)
    parser.add_argument("--decode", action="store_true", help="JPEGs, decoded and cropped")
    parser.add_argument("--seconds", type=float, default=15, help="longest measurement")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--work", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "stoker-peers"))
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    from feed import start_feeder

    kind = "jpegs" if options.decode else f"{options.bytes}"
    tree = os.path.join(options.work, f"tree-{options.files}-{kind}")
    if not os.path.exists(tree):
        make_jpegs(tree, options.files) if options.decode else make_tree(tree, options.files, options.bytes)
    size = sum(os.path.getsize(path) for path, _ in sources(tree))
    print(f"{options.files:,} files, {size / 1e9:.2f} GB", flush=True)
    known = {}
    for name, (module, pack, read) in SYSTEMS.items():
        if module and importlib.util.find_spec(module) is None:
            print(f"{name}: {module} is not installed; left out", flush=True)
        else:
            known[name] = (pack, read)
    packed: dict[str, list[float]] = {}
    targets = {"files": tree}
    for _ in range(options.rounds):
        for name, (pack, _read) in known.items():
            if pack is not None:
                targets[name] = os.path.join(options.work, f"{name.replace(' ', '-')}-{options.files}-{kind}")
                shutil.rmtree(targets[name], ignore_errors=True)
                packed.setdefault(name, []).append(child("pack", name, tree, targets[name])["seconds"])
    targets["stoker path"] = targets["stoker feed"]
    feeder, address, _ = start_feeder(targets["stoker feed"], BATCH)
    targets["stoker feed"] = address
    read: dict[str, dict[int, list[dict]]] = {}
    try:
        for number in range(options.rounds):
            for name, (_pack, reader) in known.items():
                if reader is None:
                    continue
                for workers in (0,) if name.startswith("stoker") else (0, 2):
                    decoding = "yes" if options.decode else "no"
                    found = child("read", name, targets[name], str(workers), decoding, str(options.seconds))
                    read.setdefault(name, {}).setdefault(workers, []).append(found)
            print(f"round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
    finally:
        feeder.terminate()
        feeder.wait(60)
    what = "JPEGs, decoded and cropped," if options.decode else "files"
    label = f"{options.files:,} {what} of {size / options.files / 1e3:.0f} KB"
    found = {"label": label} | report(packed, read, options.files, size)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(run_child(sys.argv[2:])))
        sys.exit(0)
    sys.exit(main())
