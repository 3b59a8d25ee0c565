"""Trains a small NumPy model for two epochs from a running feed, then scores it on the validation split.

``stoker run DATASET -- python train.py DATASET`` runs it and sets ``STOKER_FEED``.
``--report FILE`` writes the figures of the run as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
from model import Classifier, MeanColours, features

from stoker import Feed

EPOCHS, BATCH = 2, 64
RATE_EPOCHS = 10


def train(report: dict) -> tuple[Classifier, MeanColours]:
    """Trains both classifiers on the same batches of the feed."""
    began = time.perf_counter()
    with Feed(batch_size=BATCH, decode={"image": "rgb"}) as feed:
        classes = feed.classes["label"]
        model, colours = Classifier(len(classes)), MeanColours(len(classes))
        for epoch in range(EPOCHS):
            losses = []
            for batch in feed:
                if "first_batch_at" not in report:
                    report["first_batch_at"] = time.time()
                    print(f"first batch {time.perf_counter() - began:.2f} s after the trainer asked", flush=True)
                images, labels = np.stack(batch["image"]), batch["label"]
                losses.append(model.train(features(images), labels))
                colours.train(images, labels)
            tenth = max(1, len(losses) // 10)
            first, last = np.mean(losses[:tenth]), np.mean(losses[-tenth:])
            print(f"epoch {epoch}: {len(losses)} batches of {BATCH} images, loss {first:.2f} → {last:.2f}", flush=True)
        print(feed.stall_report())
        report["training"] = feed.stats()
    report["classes"] = list(classes)
    return model, colours


def measure(report: dict) -> None:
    """Reads a few epochs as fast as the feed delivers them, in a separate group. They are acknowledged, too."""
    with Feed(batch_size=BATCH, group="rate", epochs=RATE_EPOCHS) as feed:
        for _ in range(RATE_EPOCHS):
            for batch in feed:
                batch["image"]
        report["rate"] = feed.stats()


def validate(dataset: str, model: Classifier, colours: MeanColours, report: dict) -> None:
    """Scores both classifiers on the validation split, reading the dataset's files without a server."""
    right = by_colour = total = 0
    with Feed(dataset, split="val", shuffle="none", tail="keep", decode={"image": "rgb"}) as feed:
        for batch in feed:
            images, labels = np.stack(batch["image"]), batch["label"]
            right += int((model.classify(features(images)) == labels).sum())
            by_colour += int((colours.classify(images) == labels).sum())
            total += len(labels)
    report |= {"images": total, "right": right, "by_colour": by_colour}
    print(f"validation: {right} of {total} images right; by their mean colour alone {by_colour}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Trains a small model from a running feed.")
    parser.add_argument("dataset", help="the dataset's directory, for its validation split")
    parser.add_argument("--report", help="file to write the figures to, as JSON")
    options = parser.parse_args()
    report: dict = {}
    model, colours = train(report)
    measure(report)
    validate(options.dataset, model, colours, report)
    if options.report:
        with open(options.report, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
