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


def named(rates: dict[str, float], renamed: dict[str, str]) -> dict[str, float]:
    return {renamed.get(name, NAMES.get(name, name)): rate for name, rate in rates.items()}


def picture(figures: list[dict[str, Any]], file: str) -> None:
    import pictures

    figure, grid = pictures.panels(2, 11, 2.6 * len(figures), len(figures))
    for (left, right), found in zip(grid, figures, strict=True):
        reading = {name: r["samples_per_s"] for name, r in found["reading"].items()}
        packing = named(found["packing"], {"stoker feed": "stoker ingest"})
        pictures.bars(left, f"packing {found['label']}, samples/s", packing)
        pictures.bars(right, f"reading {found['label']}, samples/s", named(reading, {}))
    pictures.save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="+", metavar="FILE")
    parser.add_argument("--picture", required=True, help="an SVG file")
    options = parser.parse_args()
    picture([json.loads(Path(file).read_text()) for file in options.figures], options.picture)


if __name__ == "__main__":
    main()
