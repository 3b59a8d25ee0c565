"""Trains ResNet-50 on a GPU and measures how long the GPU waits for data.

    PYTHON benchmarks/gpu.py --seconds 120 --systems synthetic path files litdata [--batch-size 64] [--work DIRECTORY]

PYTHON needs torch and torchvision with CUDA, and Stoker. Images are pixels (uint8, 3 x 224 x 224, 150,528 bytes), so
that reading is measured and not decoding. Each system runs in a separate process: bfloat16, channels last, SGD, the
next step is prepared while the GPU computes the present one. `synthetic` trains with one batch that is on the GPU, and
is the ceiling. `path` and `feed` receive into pinned memory, `feed` from a `stoker feed` beside the trainer. `files` is
torch's DataLoader over one file for each image, `litdata` LitData's, both with `--workers` processes and pinned memory.

A wait is the time from asking for a batch until it is in this machine's memory. The first epoch is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from feed import ROOT, start_feeder

SHAPE = (3, 224, 224)
CLASSES = 1000
LATE_S = 0.001


def pictures(count: int) -> Iterator[tuple[np.ndarray, int]]:
    generator = np.random.default_rng(0)
    for _ in range(count):
        label = int(generator.integers(CLASSES))
        yield generator.integers(0, 256, SHAPE, np.uint8), label


# --- packing ----------------------------------------------------------------------------------------------------------


def pack_stoker(out: Path, count: int) -> None:
    import stoker

    schema = {"image": f"uint8({','.join(map(str, SHAPE))})", "label": "int64"}
    with stoker.Writer(out, schema=schema) as writer:
        for number, (image, label) in enumerate(pictures(count)):
            writer.write({"key": f"{number:08d}", "image": image, "label": label})


def pack_files(out: Path, count: int) -> None:
    out.mkdir()
    for number, (image, label) in enumerate(pictures(count)):
        (out / f"{number:08d}-{label}").write_bytes(image.tobytes())


class Pixels:
    """One sample for LitData; a class, so that processes can be sent one."""

    def __init__(self, folder: Path) -> None:
        self.names = sorted(os.listdir(folder))
        self.folder = folder

    def __call__(self, number: int) -> dict[str, Any]:
        name = self.names[number]
        return {"image": (self.folder / name).read_bytes(), "label": int(name.split("-")[1])}


def pack_litdata(out: Path, count: int) -> None:
    import litdata

    pixels = Pixels(out.with_name("files"))
    litdata.optimize(fn=pixels, inputs=list(range(count)), output_dir=str(out), chunk_bytes="64MB", num_workers=4)


# --- reading: batches in the memory of the processor ------------------------------------------------------------------


def of_stoker(target: str, batch_size: int, workers: int) -> Iterator[Iterator[Any]]:
    from stoker import Feed

    with Feed(target, batch_size=batch_size, tail="drop", pin_memory=True) as feed:
        while True:
            yield ((data["image"], data["label"]) for data in (batch.to("cuda", non_blocking=True) for batch in feed))


class Files:
    """A map-style dataset."""

    def __init__(self, folder: str) -> None:
        self.pixels = Pixels(Path(folder))

    def __len__(self) -> int:
        return len(self.pixels.names)

    def __getitem__(self, number: int) -> tuple[Any, int]:
        import torch

        sample = self.pixels(number)
        return torch.frombuffer(bytearray(sample["image"]), dtype=torch.uint8).view(SHAPE), sample["label"]


def epochs(loader: Any) -> Iterator[Iterator[Any]]:
    while True:
        yield iter(loader)


def of_files(target: str, batch_size: int, workers: int) -> Iterator[Iterator[Any]]:
    from torch.utils.data import DataLoader

    options = {"num_workers": workers, "pin_memory": True, "persistent_workers": workers > 0}
    return epochs(DataLoader(Files(target), batch_size, shuffle=True, drop_last=True, **options))


def of_litdata(target: str, batch_size: int, workers: int) -> Iterator[Iterator[Any]]:
    import litdata
    import torch

    class Samples(litdata.StreamingDataset):
        def __getitem__(self, at: Any) -> tuple[Any, int]:
            sample = super().__getitem__(at)
            return torch.frombuffer(bytearray(sample["image"]), dtype=torch.uint8).view(SHAPE), sample["label"]

    options = {"num_workers": workers, "pin_memory": True, "persistent_workers": workers > 0}
    samples = Samples(target, shuffle=True, drop_last=True)
    return epochs(litdata.StreamingDataLoader(samples, batch_size=batch_size, drop_last=True, **options))


def of_nothing(target: str, batch_size: int, workers: int) -> Iterator[Iterator[Any]]:
    import torch

    image = torch.randint(0, 256, (batch_size, *SHAPE), dtype=torch.uint8, device="cuda")
    label = torch.randint(0, CLASSES, (batch_size,), device="cuda")
    while True:
        yield ((image, label) for _ in range(100))


def on_gpu(batch: Any) -> tuple[Any, Any]:
    """Images and labels."""
    if isinstance(batch, (tuple, list)):
        return batch[0].to("cuda", non_blocking=True), batch[1].to("cuda", non_blocking=True)
    data = batch.to("cuda", non_blocking=True)
    return data["image"], data["label"]


PACK: dict[str, Callable[[Path, int], None]] = {"stoker": pack_stoker, "files": pack_files, "litdata": pack_litdata}
READ: dict[str, tuple[Callable[[str, int, int], Iterator[Iterator[Any]]], str]] = {
    "synthetic": (of_nothing, ""),
    "path": (of_stoker, "stoker"),
    "feed": (of_stoker, "stoker"),
    "files": (of_files, "files"),
    "litdata": (of_litdata, "litdata"),
}

# --- training, in a separate process ----------------------------------------------------------------------------------


def train(system: str, target: str, batch_size: int, workers: int, seconds: float) -> dict[str, Any]:
    import torch
    from torchvision.models import resnet50

    torch.backends.cudnn.benchmark = True
    model = resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    waits: list[float] = []
    began = end = 0.0
    before: Any = None
    for epoch, batches in enumerate(READ[system][0](target, batch_size, workers)):
        while True:
            asked = time.perf_counter()
            batch = next(batches, None)
            arrived = time.perf_counter()
            if batch is None:
                break
            if end:
                waits.append(arrived - asked)
            image, label = on_gpu(batch)
            pixels = image.to(torch.bfloat16, memory_format=torch.channels_last).div_(255)
            with torch.autocast("cuda", torch.bfloat16):
                loss = loss_of(model(pixels), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done = torch.cuda.Event()
            done.record()
            if before is not None:
                before.synchronize()
            before = done
            if end and time.perf_counter() >= end:
                break
        if end and time.perf_counter() >= end:
            break
        if epoch == 0:
            torch.cuda.synchronize()
            began = time.perf_counter()
            end = began + seconds
    torch.cuda.synchronize()
    spent = time.perf_counter() - began
    waits.sort()
    return {
        "images_per_s": len(waits) * batch_size / spent,
        "steps": len(waits),
        "late": sum(wait > LATE_S for wait in waits) / len(waits),
        "p50_ms": 1e3 * waits[len(waits) // 2],
        "p999_ms": 1e3 * waits[int(len(waits) * 0.999)],
        "max_ms": 1e3 * waits[-1],
    }


def child(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, __file__, "--child", *arguments], check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(system: str, options: argparse.Namespace) -> dict[str, Any]:
    folder = READ[system][1]
    target = str(options.work / folder)
    rest = (str(options.batch_size), str(options.workers), str(options.seconds))
    if system != "feed":
        return child(system, target, *rest)
    feeder, address, _ = start_feeder(target, options.batch_size, stoker=options.stoker)
    try:
        return child(system, address, *rest)
    finally:
        feeder.terminate()
        feeder.wait(60)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", choices=READ, default=["synthetic", "path", "files"])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--stoker", default=str(ROOT / "stoker"), help="the command")
    parser.add_argument("--work", type=Path, default=Path(os.environ.get("TMPDIR", "/tmp"), "stoker-gpu"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    wanted = {READ[system][1] for system in options.systems} - {""}
    for name in sorted(wanted | ({"files"} if "litdata" in wanted else set())):
        if not (options.work / name).exists():
            PACK[name](options.work / name, options.images)
    head = f"{'system':<12}{'images/s':>10}{'of synthetic':>14}{'steps':>8}{'> 1 ms':>9}"
    print(f"{head}{'P50 ms':>9}{'P99.9':>9}{'longest':>9}")
    ceiling = 0.0
    for system in options.systems:
        found = measure(system, options)
        rate = found["images_per_s"]
        ceiling = rate if system == "synthetic" else ceiling
        share = f"{rate / ceiling:.1%}" if ceiling else "-"
        times = f"{found['p50_ms']:>9.3f}{found['p999_ms']:>9.3f}{found['max_ms']:>9.3f}"
        print(f"{system:<12}{rate:>10,.0f}{share:>14}{found['steps']:>8,}{found['late']:>9.3%}{times}", flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        system, target, batch_size, workers, seconds = sys.argv[2:]
        print(json.dumps(train(system, target, int(batch_size), int(workers), float(seconds))))
        sys.exit(0)
    sys.exit(main())
