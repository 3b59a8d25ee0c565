"""Writes the golden files beside it with the libraries that users have, and the expected values as JSON.

    python generate.py pandas tensorflow webdataset streaming

Each name needs the library of that name. streaming also needs torch; the SDKs of clouds that it imports are replaced
by empty modules. A value in the expected JSON is a number, a text, null, {"hex": …} for bytes, or a list of these.
"""

# ruff: noqa: ANN001, ANN201, ANN202, ANN204, RUF012

import gzip
import io
import json
import pathlib
import shutil
import sys
import types

HERE = pathlib.Path(__file__).parent


def expect(name, columns, rows):
    """columns: (name, type, role) triples."""
    text = {"columns": columns, "rows": rows}
    (HERE / (name + ".expected.json")).write_text(
        json.dumps(text, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def raw(data):
    return {"hex": bytes(data).hex()}


def write_pandas():
    import numpy
    import pandas
    import zstandard

    frame = pandas.DataFrame(
        {
            "id": [1, 2, 3],
            "score": [0.5, None, -1e-7],
            "ok": [True, False, True],
            "Straße": ["grün", "", None],
            "tokens": [[1, 2], [], [3]],
            "words": [["a", "ß"], ["b"], []],
            "box": [[{"x": 1, "l": "cat"}, {"x": 2.5, "l": "dog"}], [], [{"x": 3, "l": "é😀"}]],
            "meta": [{"a": 1, "b": {"c": "x"}}, {"a": None, "b": {"c": "y"}}, {"a": 3, "b": {"c": "z"}}],
            "mask": [[[1, 2], [3]], [], [[4]]],
        }
    )
    frame.to_json(HERE / "frame.jsonl", orient="records", lines=True)
    text = (HERE / "frame.jsonl").read_bytes()
    (HERE / "frame.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    (HERE / "frame.jsonl.zst").write_bytes(zstandard.compress(text))
    columns = [
        ("id", "int64", "NONE"),
        ("score", "float64", "NONE"),
        ("ok", "bool", "NONE"),
        ("Straße", "utf8", "NONE"),
        ("tokens", "int64[]", "NONE"),
        ("words", "utf8[]", "NONE"),
        ("box.x", "float64[]", "NONE"),
        ("box.l", "utf8[]", "NONE"),
        ("meta.a", "int64", "NONE"),
        ("meta.b.c", "utf8", "NONE"),
        ("mask", "int64[][]", "NONE"),
    ]
    rows = [
        [1, 0.5, 1, "grün", [1, 2], ["a", "ß"], [1.0, 2.5], ["cat", "dog"], 1, "x", [[1, 2], [3]]],
        [2, None, 0, "", [], ["b"], [], [], None, "y", []],
        [3, -1e-7, 1, None, [3], [], [3.0], ["é😀"], 3, "z", [[4]]],
    ]
    for name in ("frame.jsonl", "frame.jsonl.gz", "frame.jsonl.zst"):
        expect(name, columns, rows)

    table = pandas.DataFrame(
        {
            "path": ["a,b.jpg", 'quo"te', "two\nlines"],
            "zip": ["00123", "04567", "10115"],
            "n": [1, 2, 9007199254740993],
            "f": [0.5, numpy.nan, numpy.inf],
            "flag": [True, False, True],
            # pandas writes both of the first two as nothing.
            "note": ["", None, "ü"],
            "long": ["12345678901234567890", "1", "2"],
        }
    )
    columns = [
        ("path", "utf8", "NONE"),
        ("zip", "utf8", "NONE"),
        ("n", "int64", "NONE"),
        ("f", "float64", "NONE"),
        ("flag", "bool", "NONE"),
        ("note", "utf8", "NONE"),
        ("long", "utf8", "NONE"),
    ]
    rows = [
        ["a,b.jpg", "00123", 1, 0.5, 1, None, "12345678901234567890"],
        ['quo"te', "04567", 2, None, 0, None, "1"],
        ["two\nlines", "10115", 9007199254740993, "Infinity", 1, "ü", "2"],
    ]
    table.to_csv(HERE / "table.csv", index=False)
    table.to_csv(HERE / "table.tsv", index=False, sep="\t", lineterminator="\r\n", encoding="utf-8-sig")
    table.to_csv(HERE / "table.csv.gz", index=False, sep=";", compression={"method": "gzip", "mtime": 0})
    for name in ("table.csv", "table.tsv", "table.csv.gz"):
        expect(name, columns, rows)


def write_tensorflow():
    import tensorflow as tf

    def feature(values):
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    samples = [
        {"image": [b"\x89PNG\x00"], "label": [7], "score": [0.5], "ids": [1, -2, 2**62], "names": [b"a", "ß".encode()]},
        {"image": [b""], "label": [-1], "ids": [3], "emb": [1.5, -0.0, 1e-20], "names": [b"c"]},
        {"image": [b"x" * 300], "label": [0], "score": [-1.0], "ids": [4, 5], "emb": [2.0], "names": [b"d", b""]},
    ]
    for name, compression in (("plain.tfrecord", ""), ("packed.tfrecord.gz", "GZIP")):
        with tf.io.TFRecordWriter(str(HERE / name), options=compression) as writer:
            for sample in samples:
                features = {key: feature(values) for key, values in sample.items()}
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString(deterministic=True))
        order = ["ids", "image", "label", "names", "score", "emb"]
        kinds = ["int64[]", "binary", "int64", "binary[]", "float32", "float32[]"]
        rows = []
        for sample in samples:
            row = []
            for key, kind in zip(order, kinds, strict=True):
                values = sample.get(key)
                if values is not None:
                    values = [raw(v) if isinstance(v, bytes) else v for v in values]
                    if kind == "float32[]":
                        values = [float(tf.constant(v, tf.float32).numpy()) for v in values]
                row.append(values if values is None or kind.endswith("[]") else values[0])
            rows.append(row)
        expect(name, [(k, t, "NONE") for k, t in zip(order, kinds, strict=True)], rows)
    sequence = tf.train.SequenceExample(
        feature_lists=tf.train.FeatureLists(feature_list={"a": tf.train.FeatureList(feature=[feature([1])])})
    )
    with tf.io.TFRecordWriter(str(HERE / "sequence.tfrecord")) as writer:
        writer.write(sequence.SerializeToString())


def write_webdataset():
    import zstandard
    from webdataset import TarWriter

    long = "very/" * 40 + "long"
    samples = [
        {"__key__": "train/a", "jpg": b"\xff\xd8\x00", "cls": 3, "txt": "grün", "json": {"x": 1}, "seg.png": b"\x89"},
        {"__key__": "train/b", "jpg": b"\xff\xd8" * 600, "cls": -1, "txt": "", "json": {"y": "é"}},
        {"__key__": "../../etc/passwd", "jpg": b"", "cls": 0, "txt": "no path", "json": {}},
        {"__key__": long, "jpg": b"1", "cls": 12, "txt": "x", "json": []},
        {"__key__": "日本/é", "jpg": b"2", "cls": 4, "txt": "y", "json": None},
    ]
    buffer = io.BytesIO()
    with TarWriter(buffer, mtime=0) as writer:
        for sample in samples:
            writer.write(sample)
    data = buffer.getvalue()
    (HERE / "shard.tar").write_bytes(data)
    (HERE / "shard.tar.gz").write_bytes(gzip.compress(data, mtime=0))
    (HERE / "shard.tar.zst").write_bytes(zstandard.compress(data))
    order = ["cls", "jpg", "json", "seg.png", "txt"]
    columns = [("__key__", "utf8", "KEY")] + [
        (name, kind, role)
        for name, kind, role in zip(
            order,
            ["int64", "binary", "utf8", "binary", "utf8"],
            ["LABEL", "PAYLOAD", "NONE", "PAYLOAD", "NONE"],
            strict=True,
        )
    ]
    rows = []
    for sample in samples:
        row = [sample["__key__"]]
        for name in order:
            value = sample.get(name)
            if name == "json":
                value = json.dumps(value)
            row.append(raw(value) if isinstance(value, bytes) else value)
        rows.append(row)
    for name in ("shard.tar", "shard.tar.gz", "shard.tar.zst"):
        expect(name, columns, rows)
    # The same samples by GNU tar's rules for long names.
    import tarfile

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(tarfile.TarInfo("./"), None)
        folder = tarfile.TarInfo("dir")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for sample in samples:
            for name in order:
                if name in sample:
                    value = sample[name]
                    data = json.dumps(value).encode() if name == "json" else value
                    data = data if isinstance(data, bytes) else str(data).encode()
                    member = tarfile.TarInfo(sample["__key__"] + "." + name.upper())
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
    (HERE / "gnu.tar").write_bytes(buffer.getvalue())
    expect("gnu.tar", columns, rows)


class Anything(types.ModuleType):
    """A module in which every name exists."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


class Stubs:
    """Replaces the modules that streaming imports for clouds and trainers."""

    roots = (
        "oci",
        "azure",
        "boto3",
        "botocore",
        "google",
        "transformers",
        "paramiko",
        "databricks",
        "pyspark",
        "huggingface_hub",
        "alipcs_py",
        "torchvision",
        "matplotlib",
        "zstd",
        "snappy_",
        "requests",
    )

    def find_spec(self, name, path, target=None):
        import importlib.machinery

        if name.split(".")[0] in self.roots:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def write_streaming():
    from decimal import Decimal

    import numpy as np

    sys.meta_path.insert(0, Stubs())
    import streaming.base.compression as compression
    from streaming import MDSWriter

    import zstandard

    compression.zstd = types.SimpleNamespace(
        compress=lambda data, level=3: zstandard.compress(data, level), decompress=zstandard.decompress
    )

    encodings = {
        "s": "str", "i": "int", "b": "bytes", "j": "json", "f64": "float64", "f32": "float32", "f16": "float16",
        "u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32", "i32": "int32",
        "u64": "uint64", "i64": "int64", "si": "str_int", "sf": "str_float", "sd": "str_decimal",
        "v": "ndarray:int32", "m": "ndarray:float32", "t": "ndarray:int16:2,2", "d": "ndarray", "p": "pkl",
        "arr": "jpeg_array",
    }  # fmt: skip
    samples = []
    for k in range(3):
        samples.append(
            {
                "s": "é" * k, "i": -k, "b": bytes([k, 255]), "j": {"k": k}, "f64": k / 3, "f32": np.float32(k / 2),
                "f16": np.float16(k / 4), "u8": np.uint8(200 + k), "i8": np.int8(-k), "u16": np.uint16(60000 + k),
                "i16": np.int16(-300 - k), "u32": np.uint32(4000000000 + k), "i32": np.int32(-70000 - k),
                "u64": np.uint64(2**63 + k), "i64": np.int64(-(2**62) - k), "si": 10 * k, "sf": k * 1e-5,
                "sd": Decimal("1.10"), "v": np.arange(k + 1, dtype=np.int32),
                "m": np.ones((k + 1, 2), np.float32) * k, "t": np.arange(4, dtype=np.int16).reshape(2, 2) + k,
                "d": np.array([k, 300], np.uint16), "p": {1, 2}, "arr": [b"\xff\xd8" + bytes([k])] * (k + 1),
            }
        )  # fmt: skip
    order = sorted(encodings)
    kinds = {
        "s": "utf8", "i": "int64", "b": "binary", "j": "utf8", "si": "int64", "sf": "float64", "sd": "utf8",
        "v": "int32[]", "m": "float32[][]", "t": "int16[2,2]", "d": "uint16[]", "arr": "binary[]",
    }  # fmt: skip
    columns = [(n, kinds.get(n, encodings[n]), "NONE") for n in order if n != "p"]

    def value(name, v):
        if name == "j":
            return json.dumps(v)
        if name == "sd":
            return str(v)
        if name == "t":
            return v.flatten().tolist()
        if name == "arr":
            return [raw(x) for x in v]
        if isinstance(v, bytes):
            return raw(v)
        return v.tolist() if hasattr(v, "tolist") else v

    rows = [[value(n, s[n]) for n in order if n != "p"] for s in samples]
    for folder, packed in (
        ("mds", None),
        ("mds-zstd", "zstd:3"),
        ("mds-gz", "gz"),
        ("mds-snappy", "snappy"),
        ("mds-br", "br"),
    ):
        shutil.rmtree(HERE / folder, ignore_errors=True)
        with MDSWriter(
            out=str(HERE / folder), columns=encodings, compression=packed, hashes=["sha1", "xxh64"], size_limit=1 << 20
        ) as writer:
            for sample in samples:
                writer.write(sample)
        if packed != "br":
            extension = {"zstd:3": ".zstd", "gz": ".gz", "snappy": ".snappy"}.get(packed, "")
            expect(folder + "/shard.00000.mds" + extension, columns, rows)


for library in sys.argv[1:]:
    globals()["write_" + library]()
