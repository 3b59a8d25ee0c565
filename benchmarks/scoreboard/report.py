"""Writes the results as tables of Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from scoreboard.judge import FAIL, NOT_INSTALLED, NOT_OFFERED, PASS

BEGIN, END = "<!-- results of benchmarks/scoreboard -->", "<!-- end of the results -->"
MARKS = {PASS: "pass", FAIL: "**fail**", NOT_OFFERED: "–", NOT_INSTALLED: "not installed"}


def markdown(found: dict[str, Any]) -> str:
    parts = [f"{found['date']}; {found['machine']}; load at the start {found['load']:.1f}; {found['seconds']} s.\n"]
    entries = list(found["systems"].values())
    if any(entry["speed"] for entry in entries):
        parts.append(speeds(found["sizes"], entries))
    if any(entry["cases"] for entry in entries):
        parts += [resumes(found["cases"], entries), reasons(entries)]
    parts.append("\n".join(f"- {e['title']}: {e['versions'] or NOT_INSTALLED}" for e in entries) + "\n")
    return "\n".join(parts)


def with_spread(rates: Sequence[float]) -> str:
    """Returns the median, and the least and greatest round relative to it."""
    middle = median(rates)
    low, high = (100 * (rate / middle - 1) for rate in (min(rates), max(rates)))
    return f"{middle:,.0f}" if len(rates) == 1 else f"{middle:,.0f} ({low:+.0f} … {high:+.0f} %)"


def best_workers(speed: dict[str, Any]) -> tuple[str, list[float]] | None:
    """Returns the number of workers with the best median, and its rates."""
    return max(speed["read"].items(), key=lambda item: median(item[1])) if speed.get("read") else None


def speeds(sizes: Sequence[str], entries: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| samples/s | " + " | ".join(f"packing, {s} | reading, {s} | workers | disk" for s in sizes) + " |",
        "| --- |" + " --- |" * (4 * len(sizes)),
    ]
    for entry in entries:
        cells = []
        for size in sizes:
            speed = entry["speed"].get(size, {})
            best = best_workers(speed)
            cells += [
                with_spread(speed["pack"]) if speed.get("pack") else "failed" if "pack error" in speed else "",
                with_spread(best[1]) if best else "failed" if "read error" in speed else "",
                best[0] if best else "",
                f"{speed['disk']:.3f}" if "disk" in speed else "",
            ]
        lines.append(f"| {entry['title']} | " + " | ".join(cells) + " |")
    errors = [
        _item(f"{entry['title']}, {size}, {kind}: {entry['speed'][size][kind]}")
        for entry in entries
        for size in sizes
        for kind in ("pack error", "read error")
        if kind in entry["speed"].get(size, {})
    ]
    return "\n".join(lines + [""] * bool(errors) + errors) + "\n"


def resumes(titles: Sequence[str], entries: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| | case | " + " | ".join(entry["title"] for entry in entries) + " |",
        "| --- | --- |" + " --- |" * len(entries),
    ]
    for number, title in enumerate(titles):
        cells = [MARKS[entry["cases"][number]["result"]] for entry in entries]
        lines.append(f"| {number + 1} | {title} | " + " | ".join(cells) + " |")
    sums = [str(sum(verdict["result"] == PASS for verdict in entry["cases"])) for entry in entries]
    return "\n".join([*lines, "| | **passed** | " + " | ".join(sums) + " |"]) + "\n"


def reasons(entries: Sequence[dict[str, Any]]) -> str:
    lines = []
    for entry in entries:
        by_reason: dict[str, list[str]] = {}
        for number, verdict in enumerate(entry["cases"], 1):
            if verdict["result"] != PASS:
                by_reason.setdefault(verdict["reason"], []).append(str(number))
        lines += [_item(f"{entry['title']}, {', '.join(n)}: {reason}") for reason, n in by_reason.items()]
    return "\n".join(lines) + "\n"


def _item(text: str) -> str:
    return textwrap.fill(f"- {text}", 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def into_page(page: Path, text: str) -> None:
    """Replaces the results of a page, which stand between two comments."""
    before, rest = page.read_text().split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}")
