"""Runs the quickstart after the build: draws images, packs them, trains from a feed, audits the feed, prints a summary.

./quickstart calls it. It writes to examples/quickstart/target; ``stoker run`` also writes files of the feed to
STOKER_HOME.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from draw import SHAPES, contact_sheet

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKED = re.compile(r"([\d,]+) samples in [\d,]+ chunks?, ([\d.]+) ([kMG]?)B, ([\d.]+) s \(start-up ([\d.]+) s\)")
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


class StepFailedError(Exception):
    """A command of the quickstart failed; the command has printed the reason."""

    def __init__(self, code: int, command: str) -> None:
        super().__init__(f"exit code {code} of: {command}")
        self.code = code


def shown(path: Path) -> str:
    """Returns a path relative to the current directory if it is below it."""
    relative = os.path.relpath(path)
    if relative.startswith(".."):
        return str(path)
    return relative if "/" in relative else f"./{relative}"


def step(mark: object, title: str) -> None:
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "")
    print(f"\n{bold}{mark}  {title}{plain}", flush=True)


def run(*command: str | Path, capture: bool = False, quiet: bool = False) -> str:
    """Runs a command, prints it and its output, and returns the output if it is captured."""
    line = shlex.join(shown(part) if isinstance(part, Path) else part for part in command)
    print(f"$ {line}", flush=True)
    arguments = [str(part) for part in command]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE if capture else None, text=True, encoding="utf-8") as child:

        def passed_on(number: int, _: object) -> None:
            # The terminal already sends Ctrl-C to the command.
            if number != signal.SIGINT or not sys.stdin.isatty():
                child.send_signal(number)

        before = {number: signal.signal(number, passed_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        text = ""
        for part in child.stdout or ():
            text += part
            if not quiet:
                print(part, end="", flush=True)
        code = child.wait()
        for number, handler in before.items():
            signal.signal(number, handler)
    if code:
        if quiet:
            print(text, end="", flush=True)
        raise StepFailedError(128 - code if code < 0 else code, line)
    return text


def megabytes(count: float) -> str:
    return f"{count / 1e6:,.1f} MB"


def drawn(work: Path, images: int) -> Path:
    """Draws the images unless an earlier run has drawn them."""
    files = work / f"shapes-{images}"
    if files.is_dir():
        print(f"{shown(files)} already exists")
    else:
        run(Path(sys.executable), HERE / "draw.py", files, "--images", str(images))
    sheet = work / "shapes.png"
    contact_sheet(files).save(sheet)
    print(f"{shown(sheet)} shows some of them")
    return files


def quickstart(work: Path, images: int) -> dict:
    """Runs the four steps and returns the figures of each."""
    stoker, data, trained = ROOT / "stoker", work / "data", work / "trained.json"

    step(1, f"Draw {images:,} images: {', '.join(SHAPES)}; the classes differ only by shape")
    files = drawn(work, images)

    step(2, "Pack them into a dataset")
    shutil.rmtree(data, ignore_errors=True)
    packed = PACKED.search(
        run(stoker, "ingest", files, data, "--label-from", "parent-dir", "--split", "val=0.1", capture=True)
    )
    if packed is None:
        raise ValueError("the ingest printed no summary")
    count, size, unit, seconds, start_up = packed.groups()
    figures = {"samples": int(count.replace(",", "")), "bytes": float(size) * UNITS[unit]}

    step(3, "Train two epochs from a feeder")
    trained.unlink(missing_ok=True)
    train = [Path(sys.executable), HERE / "train.py", data, "--report", trained]
    began = time.time()
    run(stoker, "run", data, "--name", "quickstart", "--", *train)
    report = json.loads(trained.read_text("utf-8"))

    step(4, "Audit: was every batch delivered exactly once?")
    audit = json.loads(run(stoker, "audit", "quickstart", "--epochs", "2", "--json", capture=True, quiet=True))

    return report | {
        "packed": figures | {"seconds": float(seconds), "start_up": float(start_up)},
        "first_batch": report["first_batch_at"] - began,
        "audit": audit,
    }


def spread(figures: dict) -> float:
    """Returns three standard deviations of the accuracy of guessing for this number of images."""
    chance = 1 / len(figures["classes"])
    return 3 * (chance * (1 - chance) / figures["images"]) ** 0.5


def tell(figures: dict) -> None:
    """Prints what happened."""
    packed, rate, training, audit = (figures[name] for name in ("packed", "rate", "training", "audit"))
    total, chance = figures["images"], 100 / len(figures["classes"])
    epochs = [epoch for group in audit["passes"] for epoch in group["epochs"] if epoch["acknowledged"]]
    batches = sum(epoch["acknowledged"] for epoch in epochs)
    seconds = max(packed["seconds"], 0.1)  # the ingest prints tenths of a second
    rows = {
        "packed": f"{packed['samples'] / seconds:,.0f} samples/s, {megabytes(packed['bytes'] / seconds)}/s"
        f" ({packed['samples']:,.0f} files in {packed['seconds']:.1f} s, after {packed['start_up']:.1f} s of start-up)",
        "fed": f"{rate['samples'] / rate['seconds']:,.0f} samples/s, {megabytes(rate['bytes'] / rate['seconds'])}/s"
        " to one trainer that does nothing else",
        "first batch": f"{figures['first_batch']:.1f} s after the start of stoker run, including the start of Flink",
        "waited": f"{100 * training['wait_share']:.1f} % of the {training['seconds']:.1f} s of training,"
        " for data and decoding",
        "learned": f"{100 * figures['right'] / total:.1f} % of {total} validation images; chance is {chance:.0f} %",
        "by colour": f"{100 * figures['by_colour'] / total:.1f} % by the nearest mean colour,"
        f" where guessing gives {chance:.0f} ± {100 * spread(figures):.0f} %",
        "audit": f"{batches:,} batches of {len(epochs)} epochs, each delivered exactly once",
    }
    step("✓", "What happened")
    for name, text in rows.items():
        print(f"   {name:<12} {text}")
    print()


def judge(figures: dict) -> list[str]:
    """Returns the problems found."""
    wrong = []
    chance = 1 / len(figures["classes"])
    if not figures["audit"]["clean"]:
        wrong.append("the audit found batches that are missing, altered or foreign")
    if figures["right"] / figures["images"] < 2 * chance:
        wrong.append("the model is not clearly above chance")
    if figures["by_colour"] / figures["images"] > chance + spread(figures):
        wrong.append("the mean colour distinguishes the classes, which it should not")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="quickstart", description=__doc__)
    parser.add_argument("--images", type=int, default=4000, help="images to draw (default: %(default)s)")
    parser.add_argument("--work", type=Path, default=HERE / "target", help="directory to write to (default: target)")
    options = parser.parse_args()
    try:
        options.work.mkdir(parents=True, exist_ok=True)
        figures = quickstart(options.work, options.images)
    except StepFailedError as e:
        print("quickstart: interrupted" if e.code == 130 else f"quickstart: failed, {e}", file=sys.stderr)
        return e.code
    except KeyboardInterrupt:
        print("quickstart: interrupted", file=sys.stderr)
        return 130
    except OSError as e:
        print(f"quickstart: {e}", file=sys.stderr)
        return 1
    (options.work / "figures.json").write_text(json.dumps(figures, indent=1), "utf-8")
    tell(figures)
    wrong = judge(figures)
    for text in wrong:
        print(f"quickstart: {text}", file=sys.stderr)
    if not wrong:
        data = shlex.quote(shown(options.work / "data"))
        print(f"Next: {shlex.quote(shown(ROOT / 'stoker'))} info {data}; see README.md for more commands")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
