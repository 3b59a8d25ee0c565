"""Writes and reads with the library datasets of Hugging Face, in a process with a cache that nothing else uses.

hugging_face.py parquet|saved ROWS.arrow TARGET    writes the rows as Parquet, or with save_to_disk
hugging_face.py splits ROWS.arrow TARGET           saves two splits of images, sounds and classes
hugging_face.py features DIRECTORY TARGET          loads a directory and writes TARGET/features.json, images decoded
hugging_face.py load DIRECTORY TARGET              loads a directory and writes TARGET/SPLIT.arrow
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

FIRST = 200
"""Rows of the split train; the others are in the split test."""


def main(verb: str, source: Path, target: Path) -> None:
    target.mkdir()
    os.environ |= {"HF_DATASETS_CACHE": str(target / "cache"), "HF_HUB_OFFLINE": "1"}
    import datasets

    if verb == "load":
        for split, part in datasets.load_dataset(str(source)).items():
            table = part.with_format("arrow")[:]
            file = pa.OSFile(str(target / f"{split}.arrow"), "wb")
            with file, pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        return
    if verb == "features":
        loaded = datasets.load_dataset(str(source), split="train")
        kinds = {name: type(feature).__name__ for name, feature in loaded.features.items()}
        names = loaded.features["label"].names
        rows = [row | {"image": row["image"] and [row["image"].format, *row["image"].size]} for row in loaded]
        text = json.dumps({"kinds": kinds, "names": names, "rows": rows})
        (target / "features.json").write_text(text, encoding="utf-8")
        return
    rows = pyarrow.ipc.open_file(source).read_all()
    if verb == "parquet":
        datasets.Dataset(rows).to_parquet(target / "rows.parquet")
    elif verb == "saved":
        datasets.Dataset(rows).save_to_disk(target / "saved", num_shards=3)
    else:
        features = datasets.Features({
            "image": datasets.Image(),
            "sound": datasets.Audio(decode=False),
            "kind": datasets.ClassLabel(names=["zebra", "ant"]),
        })  # fmt: skip
        whole = datasets.Dataset(rows).cast(features)
        parts = {"train": whole.select(range(FIRST)), "test": whole.select(range(FIRST, len(whole)))}
        flat = {split: part.flatten_indices() for split, part in parts.items()}
        datasets.DatasetDict(flat).save_to_disk(target / "saved")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
