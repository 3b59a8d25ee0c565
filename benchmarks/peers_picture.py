"""Draws what `benchmarks/peers.py --json FILE` has found, one row of bars for each file.

    python benchmarks/peers_picture.py --picture docs/images/peers.svg FILE…

Needs matplotlib. Left packing, right reading, in samples a second; Stoker's bars are blue.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

NAMES = {
    "stoker feed": "Stoker, feed",
    "stoker path": "Stoker, path",
    "stoker Writer": "Stoker, Writer",
    "mosaicml": "MosaicML Streaming",
    "litdata": "LitData",
    "webdataset": "WebDataset",
    "files": "DataLoader over files",
}


def bars(axes: Any, title: str, rates: dict[str, float], renamed: dict[str, str]) -> None:
    names = [renamed.get(name, NAMES.get(name, name)) for name in rates]
    colours = ["tab:blue" if name.startswith("stoker") else "tab:gray" for name in rates]
    drawn = axes.barh(names, list(rates.values()), color=colours)
    axes.bar_label(drawn, [f"{rate:,.0f}" for rate in rates.values()], padding=3, fontsize=9)
    axes.set(title=title, xlim=(0, 1.2 * max(rates.values())))
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def picture(figures: list[dict[str, Any]], file: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "stoker"
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(
        len(figures), 2, figsize=(11, 2.6 * len(figures)), layout="constrained", squeeze=False
    )
    for (left, right), found in zip(grid, figures, strict=True):
        reading = {name: r["samples_per_s"] for name, r in found["reading"].items()}
        bars(left, f"packing {found['label']}, samples/s", found["packing"], {"stoker feed": "stoker ingest"})
        bars(right, f"reading {found['label']}, samples/s", reading, {})
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="+", metavar="FILE")
    parser.add_argument("--picture", required=True, help="an SVG file")
    options = parser.parse_args()
    picture([json.loads(Path(file).read_text()) for file in options.figures], options.picture)


if __name__ == "__main__":
    main()
