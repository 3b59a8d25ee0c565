"""Measures how well chunk-wise shuffling mixes, against a full permutation, from the order function alone.

    python/.venv/bin/python benchmarks/shuffle.py [--chunks 2000] [--rows 75] [--classes 1000] [--picture FILE.svg]

For windows from 0.5 to 100 % of the data, per batch and per step of 8 ranks, over one epoch:

- chunks: how many chunks the samples come from;
- label mix: Shannon entropy of the labels, in bits, and the distance of its mean from the mean over full permutations
  of the same labels, in standard errors (below 3: no measurable difference);
- neighbours: of the pairs that share a batch, the share that shares one in the next epoch too, over what chance gives;
- commit order: Spearman's rank correlation of the place in the epoch with the place in the dataset.

A shuffled ingest (the default) has put a random draw into each chunk; a listed one keeps the tree's order, class by
class. The picture needs matplotlib.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._order.delivery import BatchPlan
from stoker._order.spec import OrderSpec
from stoker._order.stream_order import StreamChunks, StreamOrder

WINDOWS = (0.005, 0.02, 0.1, 0.25, 0.5, 1.0)
RANKS = 8
CHUNK_BYTES = 8 << 20
Ints = npt.NDArray[np.int64]


def stream(chunks: int, rows: int) -> StreamChunks:
    return StreamChunks(
        ordinals=np.arange(chunks),
        rows=np.full(chunks, rows),
        lengths=np.full(chunks, CHUNK_BYTES),
        live=np.ones(chunks, np.bool_),
    )


def order_spec(chunks: StreamChunks, window: float, batch: int) -> OrderSpec:
    return OrderSpec(batch_size=batch, shuffle_window=int(window * CHUNK_BYTES * len(chunks.rows)))


def delivered(chunks: StreamChunks, spec: OrderSpec, epoch: int) -> Ints:
    """Returns the samples of an epoch, as places in the dataset, in the order of delivery."""
    order = StreamOrder(spec, chunks)
    first = np.concatenate(([0], np.cumsum(chunks.rows)))
    lanes = []
    for lane in range(order.lanes):
        of_lane = order.lane_epoch(lane, epoch)
        parts = []
        for w in range(len(of_lane.window_ends)):
            places, rows = of_lane.window_rows(w)
            parts.append(first[of_lane.window_chunks(w)][places] + rows)
        lanes.append(np.concatenate(parts))
    plan = BatchPlan(spec, order.lane_rows)
    pieces = (p for number in range(plan.batches) for p in plan.pieces(epoch, number))
    return np.concatenate([lanes[p.lane][p.first : p.first + p.rows] for p in pieces])


def groups(samples: Ints, size: int) -> Ints:
    """Returns the full groups of consecutive samples, one a row."""
    return samples[: len(samples) // size * size].reshape(-1, size)


def entropies(labels: Ints, size: int, classes: int) -> npt.NDArray[np.float64]:
    """Returns the entropy of the labels of each group, in bits."""
    rows = groups(labels, size)
    counts = np.zeros((len(rows), classes))
    np.add.at(counts, (np.arange(len(rows))[:, None], rows), 1)
    share = counts / size
    return -(share * np.log2(np.where(share > 0, share, 1))).sum(1)


def repeated_pairs(now: Ints, after: Ints, size: int) -> float:
    """Returns the share of pairs of a group that are one in the next epoch too, over chance."""
    of = np.empty(len(now), np.int64)
    of[after] = np.arange(len(after)) // size
    mates = np.sort(of[groups(now, size)], axis=1)
    pairs = repeats = 0
    for row in mates:
        _, counts = np.unique(row, return_counts=True)
        repeats += int((counts * (counts - 1) // 2).sum())
        pairs += size * (size - 1) // 2
    return repeats / pairs / ((size - 1) / (len(now) - 1))


def spearman(samples: Ints) -> float:
    return float(np.corrcoef(np.arange(len(samples)), samples)[0, 1])


def evaluate(options: argparse.Namespace) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    count = options.chunks * options.rows
    sorted_labels = np.arange(count) * options.classes // count
    labels = {"shuffled": rng.permutation(sorted_labels), "listed": sorted_labels}
    chunks = stream(options.chunks, options.rows)
    sizes = {"batch": options.batch_size, f"step of {RANKS}": options.batch_size * RANKS}
    full = [rng.permutation(count) for _ in range(6)]
    specs = {w: order_spec(chunks, w, options.batch_size) for w in WINDOWS}
    orders = {f"{w:.1%}": (delivered(chunks, spec, 0), w) for w, spec in specs.items()}
    following = {f"{w:.1%}": delivered(chunks, spec, 1) for w, spec in specs.items()}
    orders["full permutation"], following["full permutation"] = (full[0], 1.0), full[1]
    out = []
    for name, (samples, window) in orders.items():
        assert len(np.unique(samples)) == count
        row: dict[str, Any] = {"order": name, "window": window, "commit order": spearman(samples)}
        for unit, size in sizes.items():
            row[f"chunks/{unit}"] = np.mean([len(np.unique(g)) for g in groups(samples // options.rows, size)])
            row[f"neighbours/{unit}"] = repeated_pairs(samples, following[name], size)
            for ingest, of in labels.items():
                found = entropies(of[samples], size, options.classes)
                chance = np.concatenate([entropies(of[p], size, options.classes) for p in full[2:]])
                error = np.hypot(chance.std() / len(found) ** 0.5, chance.std() / len(chance) ** 0.5)
                row[f"{ingest}/{unit}"] = found.mean(), (found.mean() - chance.mean()) / error
        out.append(row)
    return out


def table(rows: list[dict[str, Any]]) -> None:
    units = [key.partition("/")[2] for key in rows[0] if key.startswith("chunks/")]
    for unit in units:
        print(f"\nper {unit}")
        print("| window | chunks | labels, shuffled ingest | labels, listed ingest | neighbours | commit order |")
        print("| --- | --- | --- | --- | --- | --- |")
        for row in rows:
            mix = [f"{row[f'{i}/{unit}'][0]:.3f} bit ({row[f'{i}/{unit}'][1]:+.1f} σ)" for i in ("shuffled", "listed")]
            print(
                f"| {row['order']} | {row[f'chunks/{unit}']:.1f} | {mix[0]} | {mix[1]} "
                f"| {row[f'neighbours/{unit}']:.2f}x | {row['commit order']:+.3f} |"
            )


def picture(rows: list[dict[str, Any]], file: str) -> None:
    import pictures

    windows, full = rows[:-1], rows[-1]
    x = [100 * row["window"] for row in windows]
    figure, ((left, right),) = pictures.panels(2, 10, 3.8)
    for unit, line in (("batch", "-"), (f"step of {RANKS}", "--")):
        for ingest, colour in (("shuffled", "tab:blue"), ("listed", "tab:orange")):
            share = [row[f"{ingest}/{unit}"][0] / full[f"{ingest}/{unit}"][0] for row in windows]
            left.plot(x, share, line, color=colour, marker="o", label=f"{ingest} ingest, {unit}")
        right.plot(x, [row[f"neighbours/{unit}"] for row in windows], line, color="tab:blue", marker="o", label=unit)
    left.set(title="Label entropy, of a full permutation's", ylim=(0, 1.05))
    right.set(title="Pairs together again in the next epoch, over chance", yscale="log")
    for axes in (left, right):
        axes.set(xscale="log", xlabel="shuffle window, % of the data", xticks=x, xticklabels=[f"{v:g}" for v in x])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=9)
    pictures.save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=75, help="samples of a chunk")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--picture", help="an SVG file for the picture")
    options = parser.parse_args()
    rows = evaluate(options)
    table(rows)
    if options.picture:
        picture(rows, options.picture)


if __name__ == "__main__":
    main()
