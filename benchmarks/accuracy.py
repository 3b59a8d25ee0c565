"""Trains a small network in Stoker's orders and in full permutations, and compares the accuracies.

    python/.venv/bin/python -m pip install mnist1d matplotlib
    python/.venv/bin/python benchmarks/accuracy.py [--samples 40000] [--epochs 10] [--seeds 10] [--picture FILE.svg]

The data is MNIST-1D (Greydanus and Kobak, 2024), whose package generates any number of samples: ten classes of curves
with 40 points. A fifth of as many samples again is the test set. The training set is sorted by class, which is the hard
case for shuffling within windows, and is packed twice by `stoker.Writer`: shuffled (the default) and in the order of
the files (`shuffle=False`), so that a chunk has samples of one class.

A perceptron with two hidden layers is trained with momentum and a learning rate that falls to zero, in NumPy. Only the
order of the samples differs: a new full permutation for each epoch, or the order that the path reader and the feeder
deliver for windows of 0.5 to 10 % of the dataset, in 16 lanes as by default. The orders come from the order function,
without reading; before training, the script reads an epoch of each dataset with `Feed` and compares. A seed determines
the initial weights and the orders. As a control, the network is also trained without shuffling, class after class.

The table has the mean and the standard deviation of the test accuracy over the seeds, the difference from the full
permutations with its 95 % confidence interval, and the p-value of Welch's t-test, adjusted for the number of windows
(Holm). Each run uses one thread; two run at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from shuffle import delivered

from stoker._dataset.snapshot import open_snapshot
from stoker._order.spec import OrderSpec
from stoker._order.stream_order import StreamChunks

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

WINDOWS = (0.005, 0.01, 0.02, 0.05, 0.1)
CLASSES, POINTS = 10, 40
HIDDEN = 128
BATCH = 64
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
HEAD_BYTES, ROW_BYTES = 3400, 200
FULL = "full permutation"
STORED = 0.0
"""The window of an order without shuffling."""


class Data(NamedTuple):
    x: Floats
    y: Ints
    test_x: Floats
    test_y: Ints


class Packed(NamedTuple):
    """A dataset as the order function sees it, and the sample at each of its places."""

    chunks: StreamChunks
    samples: Ints


class Order(NamedTuple):
    packing: str
    window: float


def generate(samples: int) -> Data:
    """Returns a training set that is sorted by class, and a test set."""
    from mnist1d.data import get_dataset_args, make_dataset

    arguments = get_dataset_args()
    arguments.num_samples, arguments.train_split = samples * 6 // 5, 5 / 6
    made = make_dataset(arguments)
    by_class = np.argsort(made["y"], kind="stable")
    return Data(
        made["x"][by_class].astype(np.float32), made["y"][by_class], made["x_test"].astype(np.float32), made["y_test"]
    )


def pack(folder: Path, data: Data, rows: int, shuffled: bool) -> Packed:
    """Writes a dataset, and checks that a feed of it delivers what the order function says."""
    import pyarrow as pa

    import stoker

    x = pa.FixedShapeTensorArray.from_numpy_ndarray(data.x)
    table = pa.table({"id": np.arange(len(data.x)), "x": x, "label": data.y})
    size = HEAD_BYTES + rows * ROW_BYTES
    with stoker.Writer(folder, schema=table.schema, payload=[], shuffle=shuffled, chunk_size=size) as out:
        out.write_batch(table)
    chunks = open_snapshot(folder).stream("train")
    with stoker.Feed(folder, batch_size=BATCH, shuffle="none", lanes=1, tail="keep") as feed:
        packed = Packed(chunks, np.concatenate([batch["id"] for batch in feed]))
    window = int(WINDOWS[0] * chunks.lengths.sum())
    with stoker.Feed(folder, batch_size=BATCH, shuffle_window=window, seed=1, tail="keep") as feed:
        read = np.concatenate([batch["id"] for batch in feed])
    if not np.array_equal(read, stoker_order(packed, WINDOWS[0], 1, 0)):
        sys.exit(f"{folder}: the feed delivered another order than the order function")
    return packed


def stoker_order(packed: Packed, window: float, seed: int, epoch: int) -> Ints:
    """Returns the samples of an epoch in the order of delivery."""
    if window == STORED:
        return packed.samples
    spec = OrderSpec(seed=seed, batch_size=BATCH, shuffle_window=int(window * packed.chunks.lengths.sum()))
    return packed.samples[delivered(packed.chunks, spec, epoch)]


def permutation(samples: int, seed: int, epoch: int) -> Ints:
    return np.random.default_rng((seed, epoch)).permutation(samples)


def train(data: Data, order: Callable[[int], Ints], epochs: int, seed: int) -> float:
    """Returns the share of the test set that the trained network classifies correctly."""
    rng = np.random.default_rng(seed)
    sizes = (POINTS, HIDDEN, HIDDEN, CLASSES)
    weights = [rng.normal(0, (2 / a) ** 0.5, (a, b)).astype(np.float32) for a, b in pairwise(sizes)]
    parameters = weights + [np.zeros(b, np.float32) for b in sizes[1:]]
    speeds = [np.zeros_like(p) for p in parameters]
    steps, step = epochs * (len(data.x) // BATCH), 0
    for epoch in range(epochs):
        samples = order(epoch)
        for rows in samples[: len(samples) // BATCH * BATCH].reshape(-1, BATCH):
            rate = np.float32(0.02 * (1 + np.cos(np.pi * step / steps)))
            slopes = gradients(parameters, data.x[rows], data.y[rows])
            for value, speed, slope in zip(parameters, speeds, slopes, strict=True):
                speed *= np.float32(0.9)
                speed -= rate * slope
                value += speed
            step += 1
    return float((layers(parameters, data.test_x)[-1].argmax(1) == data.test_y).mean())


def layers(parameters: Sequence[Floats], x: Floats) -> list[Floats]:
    """Returns the input and what each layer makes of it."""
    w, b = parameters[:3], parameters[3:]
    first = np.maximum(x @ w[0] + b[0], 0)
    second = np.maximum(first @ w[1] + b[1], 0)
    return [x, first, second, second @ w[2] + b[2]]


def gradients(parameters: Sequence[Floats], x: Floats, y: Ints) -> list[Floats]:
    """Returns the gradients of the mean cross entropy, first of the weights, then of the biases."""
    passed = layers(parameters, x)
    scores = np.exp(passed[3] - passed[3].max(1, keepdims=True))
    error = scores / scores.sum(1, keepdims=True)
    error[np.arange(len(y)), y] -= 1
    error /= len(y)
    of_weights, of_biases = [], []
    for layer in (2, 1, 0):
        of_weights.insert(0, passed[layer].T @ error)
        of_biases.insert(0, error.sum(0))
        if layer:
            error = (error @ parameters[layer].T) * (passed[layer] > 0)
    return of_weights + of_biases


# --- runs -------------------------------------------------------------------------------------------------------------

SHARED: dict[str, Any] = {}
"""The data and the packed datasets, inherited by the processes that train."""


def run(order: Order | None, seed: int, epochs: int) -> float:
    """Trains with one order; None for full permutations."""
    data: Data = SHARED["data"]
    if order is None:
        return train(data, partial(permutation, len(data.x), seed), epochs, seed)
    return train(data, partial(stoker_order, SHARED[order.packing], order.window, seed), epochs, seed)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values that are adjusted for their number."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(np.argsort(p_values)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def compare(full: Sequence[float], orders: dict[Order, list[float]]) -> list[dict[str, Any]]:
    """Returns one row for each order, and a first one for the full permutations."""
    from scipy import stats

    rows: list[dict[str, Any]] = [{"packing": "", "window": 1.0, "accuracies": list(full)}]
    tests = [stats.ttest_ind(found, full, equal_var=False) for found in orders.values()]
    p_values: dict[Order, float] = {}
    for packing in dict.fromkeys(order.packing for order in orders):
        of = {order: test.pvalue for order, test in zip(orders, tests, strict=True) if order.packing == packing}
        p_values |= dict(zip(of, holm(list(of.values())), strict=True))
    for (order, found), test in zip(orders.items(), tests, strict=True):
        interval = test.confidence_interval(0.95)
        difference = float(np.mean(found) - np.mean(full))
        row = {"difference": difference, "low": interval.low, "high": interval.high, "p": p_values[order]}
        rows.append({"packing": order.packing, "window": order.window, "accuracies": found} | row)
    return rows


def table(rows: list[dict[str, Any]]) -> None:
    print("| packing | window | test accuracy, mean ± sd | difference, points (95 % interval) | p | within noise |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        found = 100 * np.array(row["accuracies"])
        accuracy = f"{found.mean():.2f} ± {found.std(ddof=1):.2f} %"
        if not row["packing"]:
            print(f"| – | {FULL} | {accuracy} | | | |")
            continue
        difference, low, high = (100 * row[key] for key in ("difference", "low", "high"))
        verdict = "yes" if row["p"] > 0.05 else "**no**"
        window = "not shuffled" if row["window"] == STORED else f"{row['window']:.1%}"
        print(
            f"| {row['packing']} | {window} | {accuracy} "
            f"| {difference:+.2f} ({low:+.2f} to {high:+.2f}) | {row['p']:.2g} | {verdict} |"
        )


def picture(rows: list[dict[str, Any]], file: str) -> None:
    import pictures

    figure, axes = pictures.panels(2, 10, 3.8)
    full = 100 * np.array(rows[0]["accuracies"])
    drawn = [100 * accuracy for row in rows if row["window"] != STORED for accuracy in row["accuracies"]]
    room = (max(drawn) - min(drawn)) / 20
    for ax, packing in zip(axes[0], ("shuffled", "listed"), strict=True):
        ax.axhspan(full.min(), full.max(), color="tab:gray", alpha=0.25, label=f"{FULL}, all seeds")
        of = [row for row in rows if row["packing"] == packing and row["window"] != STORED]
        x = [100 * row["window"] for row in of]
        for seed in range(len(full)):
            label = "each seed" if seed == 0 else None
            ax.plot(x, [100 * row["accuracies"][seed] for row in of], ".", color="tab:blue", alpha=0.5, label=label)
        ax.plot(x, [100 * np.mean(row["accuracies"]) for row in of], "-o", color="tab:blue", label="mean")
        ax.set(title=f"Packed {packing}", xscale="log", xlabel="shuffle window, % of the data", ylabel="accuracy, %")
        ax.set_xticks(x, [f"{v:g}" for v in x])
        ax.set_ylim(min(drawn) - room, max(drawn) + 8 * room)  # the legend is above the points
        ax.minorticks_off()
        ax.grid(alpha=0.3)
        ax.legend(frameon=False, fontsize=9)
    pictures.save(figure, file)


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    SHARED["data"] = data = generate(options.samples)
    with tempfile.TemporaryDirectory() as folder:
        for packing in ("shuffled", "listed"):
            SHARED[packing] = pack(Path(folder, packing), data, options.rows, packing == "shuffled")
    chunks = SHARED["shuffled"].chunks.rows
    print(f"{len(data.x):,} samples in {len(chunks):,} chunks of {chunks.mean():.0f}", file=sys.stderr, flush=True)
    orders = [None, *(Order(packing, window) for packing in ("shuffled", "listed") for window in WINDOWS)]
    orders.append(Order("listed", STORED))
    with ProcessPoolExecutor(options.processes) as pool:
        runs = {o: [pool.submit(run, o, s, options.epochs) for s in range(1, options.seeds + 1)] for o in orders}
        found = {order: [future.result() for future in futures] for order, futures in runs.items()}
    return compare(found.pop(None), found)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=40_000, help="of the training set")
    parser.add_argument("--rows", type=int, default=20, help="samples of a chunk")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--picture", help="an SVG file for the picture; needs matplotlib")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--found", type=Path, help="what --json left of another run, instead of a new one")
    options = parser.parse_args()
    if not ONE_THREAD.items() <= os.environ.items():  # NumPy reads them when it is imported
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    rows = json.loads(options.found.read_text()) if options.found else measure(options)
    table(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    if options.picture:
        picture(rows, options.picture)


if __name__ == "__main__":
    main()
