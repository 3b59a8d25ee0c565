"""Draws pictures for docs/images, which are the same on every machine for the same figures. Needs matplotlib."""

from __future__ import annotations

from typing import Any


def panels(columns: int, width: float, height: float, rows: int = 1) -> tuple[Any, Any]:
    """Returns a figure and an array of axes, rows by columns."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "stoker"
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)


def bars(axes: Any, title: str, values: dict[str, float], ours: str = "stoker", form: str = "{:,.0f}") -> None:
    """Draws horizontal bars with their values; those whose name begins with `ours` are blue."""
    colours = ["tab:blue" if name.lower().startswith(ours) else "tab:gray" for name in values]
    drawn = axes.barh(list(values), list(values.values()), color=colours)
    axes.bar_label(drawn, [form.format(value) for value in values.values()], padding=3, fontsize=9)
    axes.set(title=title, xlim=(0, 1.2 * max(values.values())))
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def save(figure: Any, file: str) -> None:
    """Writes an SVG file without a date."""
    figure.savefig(file, metadata={"Date": None})
