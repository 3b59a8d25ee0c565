"""Draws the results: the resume cases as a table of colours, and below it the rates as bars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from scoreboard.judge import FAIL, NOT_INSTALLED, NOT_OFFERED, PASS
from scoreboard.report import best_workers

CELLS = {PASS: ("#3a9a5b", "✓"), FAIL: ("#c8443c", "✗"), NOT_OFFERED: ("#c9c9c9", "–"), NOT_INSTALLED: ("white", "")}


def draw(found: dict[str, Any], *files: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "stoker"
    from matplotlib import pyplot

    entries = list(found["systems"].values())
    judged = [entry for entry in entries if entry["cases"]]
    measured = any(entry["speed"] for entry in entries)
    height = 0.36 * len(entries)
    heights = [height + 2.2] * bool(judged) + [height + 0.9] * 2 * measured
    figure = pyplot.figure(figsize=(11, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    if judged:
        table(figure.add_subplot(grid[0, :]), found["cases"], judged)
    if measured:
        for row, size in enumerate(found["sizes"], int(bool(judged))):
            packing = {e["title"]: e["speed"].get(size, {}).get("pack") for e in entries}
            reading = {e["title"]: (best_workers(e["speed"].get(size, {})) or (0, None))[1] for e in entries}
            bars(figure.add_subplot(grid[row, 0]), f"packing {size}, samples/s", packing)
            bars(figure.add_subplot(grid[row, 1]), f"reading {size}, samples/s", reading)
    for file in files:
        figure.savefig(file, dpi=110, metadata={"Date": None} if file.suffix == ".svg" else None)


def table(axes: Any, titles: Sequence[str], entries: Sequence[dict[str, Any]]) -> None:
    for row, entry in enumerate(entries):
        for column, verdict in enumerate(entry["cases"]):
            colour, mark = CELLS[verdict["result"]]
            axes.add_patch(_cell(column, row, colour))
            axes.text(column + 0.5, row + 0.5, mark, ha="center", va="center", color="white", fontsize=11)
        passed = sum(verdict["result"] == PASS for verdict in entry["cases"])
        axes.text(len(titles) + 0.3, row + 0.5, f"{passed} of {len(titles)}", va="center")
    labels = [f"{number}: {title}" for number, title in enumerate(titles, 1)]
    axes.set_xticks([column + 0.5 for column in range(len(titles))], labels, rotation=38, ha="left")
    axes.set_yticks([row + 0.5 for row in range(len(entries))], [entry["title"] for entry in entries])
    axes.set(xlim=(0, len(titles) + 1.5), ylim=(len(entries), 0))
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_frame_on(False)
    axes.set_xlabel("resumed epochs: ✓ each sample once   ✗ fails   – the system offers no way")


def _cell(column: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column + 0.04, row + 0.06), 0.92, 0.88, facecolor=colour, edgecolor="none")


def bars(axes: Any, title: str, rates: dict[str, Sequence[float] | None]) -> None:
    drawn = {name: values for name, values in rates.items() if values}
    if not drawn:
        axes.set_axis_off()
        return
    middles = [median(values) for values in drawn.values()]
    spread = [
        [middle - min(values) for middle, values in zip(middles, drawn.values(), strict=True)],
        [max(values) - middle for middle, values in zip(middles, drawn.values(), strict=True)],
    ]
    colours = ["tab:blue" if name.startswith("Stoker") else "tab:gray" for name in drawn]
    shown = axes.barh(list(drawn), middles, color=colours, xerr=spread, error_kw={"lw": 1, "capsize": 2})
    axes.bar_label(shown, [f"{middle:,.0f}" for middle in middles], padding=6, fontsize=9)
    axes.set(title=title, xlim=(0, 1.25 * max(max(values) for values in drawn.values())))
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
