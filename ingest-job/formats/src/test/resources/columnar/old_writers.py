# ruff: noqa: ANN, D212, E501, I001
"""Writes files as old writers did, with their defects: pip install pyarrow fastavro, then run this here."""

import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
from avro import put as put_avro
from values import write

HERE = Path(__file__).parent
PLAIN = {"use_dictionary": False, "write_statistics": False, "store_schema": False}


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def zigzag(number):
    return varint(number << 1)


def writer(data, name):
    """Replaces the name of the writer in a file by one of the same length."""
    old = f"parquet-cpp-arrow version {pa.__version__}".encode()
    return data.replace(old, name.encode()[: len(old)].ljust(len(old)))


def pages():
    """Pages of version 2 whose header says that they are not compressed, as pyarrow wrote before 3.0 (ARROW-17100)."""
    values = [1, 2, 3, 4, 5]
    path = HERE / "parquet" / "old-pages.parquet"
    table = pa.table({"x": pa.array(values, pa.int32())})
    pq.write_table(table, path, compression="snappy", data_page_version="2.0", **PLAIN)
    data = path.read_bytes()
    # 2 bytes of levels and 20 of values. They did not shrink, so pyarrow left them uncompressed and said so.
    end = data.index(b"\x12") + 5
    raw = data[end : end + 22]
    page = data[4:9] + b"\x30" + data[10:end] + raw[:2] + pa.compress(raw[2:], "snappy", asbytes=True)
    rest = data[end + 22 :]
    size = zigzag(end + 22 - 4)
    rest = rest.replace(b"\x16" + size + b"\x16" + size, b"\x16" + size + b"\x16" + zigzag(end + 22 - 4 + 2), 1)
    path.write_bytes(writer(b"PAR1" + page + rest, "parquet-cpp version 1.5.1-SNAPSHOT"))
    write(path, [("x", "int32", True, values)])
    path.with_name("wrong-pages.parquet").write_bytes(writer(b"PAR1" + page + rest, "impala version 4.0"))


def dictionaries():
    """A column chunk whose size lacks the header of its dictionary, as parquet-mr wrote before 1.2.9 (PARQUET-816)."""
    path = HERE / "parquet" / "old-dictionary.parquet"
    values = ["ab", "cd", "ef"] * 400
    pq.write_table(pa.table({"s": values}), path, compression="none", write_statistics=False, store_schema=False)
    data = path.read_bytes()
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    # The page has the 3 texts, each behind its length. Its header ends before them.
    header = data.index(b"\x02\0\0\0ab") - chunk.dictionary_page_offset
    old, new = zigzag(chunk.total_compressed_size), zigzag(chunk.total_compressed_size - header)
    at = data.rindex(b"\x16" + old + b"\x16" + old)
    assert len(old) == len(new)
    data = data[:at] + b"\x16" + new + b"\x16" + new + data[at + 2 * len(old) + 2 :]
    path.write_bytes(writer(data, "parquet-mr version 1.2.8 (build x)"))
    write(path, [("s", "utf8", True, values)])


def lists():
    """A list of lists in two levels, the default of AvroParquetWriter."""
    path = HERE / "parquet" / "old-lists.parquet"
    inner = pa.list_(pa.field("element", pa.int32(), False))
    values = [[[1, 2], [3, 4]]]
    table = pa.table({"a": pa.array(values, pa.list_(pa.field("element", inner, False)))})
    pq.write_table(table, path, compression="none", **PLAIN)
    data = path.read_bytes()
    (length,) = struct.unpack("<I", data[-8:-4])
    footer = data[-8 - length : -8]

    def name(text):
        return b"\x18" + bytes([len(text)]) + text

    begin, end = footer.index(b"\x19"), footer.index(b"\x16\x02\x19\x1c")
    schema = (
        b"\x19\x4c\x48\x06schema\x15\x02\x00\x35\x02" + name(b"a") + b"\x15\x02\x15\x06\x00\x35\x04" + name(b"array")
        + b"\x15\x02\x15\x06\x00\x15\x02\x25\x04" + name(b"array") + b"\x00"
    )  # fmt: skip
    rest = footer[end:].replace(b"\x58\x01a\x04list\x07element\x04list\x07element", b"\x38\x01a\x05array\x05array")
    size = struct.pack("<I", len(schema + rest) + begin)
    path.write_bytes(data[: -8 - length] + footer[:begin] + schema + rest + size + b"PAR1")
    write(path, [("a", "int32[][]", True, values)])


def maps():
    """Maps whose entries have other names than key and value."""
    kind = pa.map_(pa.field("some_key", pa.string(), False), pa.field("some_value", pa.int32()))
    table = pa.table({"m": pa.array([[("a", 1)], []], kind)})
    columns = [("m.key", "utf8[]", True, [["a"], []]), ("m.value", "int32[]", True, [[1], []])]
    path = HERE / "arrow" / "map-names.arrow"
    with ipc.new_file(str(path), table.schema) as out:
        out.write_table(table)
    write(path, columns)


def messages():
    """Messages without a continuation, as Arrow wrote before 0.15."""
    options = ipc.IpcWriteOptions(use_legacy_format=True, metadata_version=ipc.MetadataVersion.V4)
    table = pa.table({"x": [1, None, 3], "t": pa.array(["a", "b", None]).dictionary_encode()})
    for name, new in (("old.arrow", ipc.new_file), ("old.arrows", ipc.new_stream)):
        path = HERE / "arrow" / name
        with new(str(path), table.schema, options=options) as out:
            out.write_table(table)
        write(path, [("x", "int64", True, [1, None, 3]), ("t", "categorical", True, ["a", "b", None])])


def unions():
    """Unions of one type, which generators of schemas write."""
    record = {"type": "record", "name": "Q", "fields": [{"name": "x", "type": ["long"]}]}
    fields = [
        {"name": "text", "type": ["string"]},
        {"name": "number", "type": ["long"]},
        {"name": "items", "type": {"type": "array", "items": ["double"]}},
        {"name": "list", "type": [{"type": "array", "items": "int"}]},
        {"name": "record", "type": [record]},
        {"name": "records", "type": {"type": "array", "items": ["Q"]}},
        {"name": "optional", "type": ["null", "string"]},
        {"name": "nothing", "type": ["null"]},
    ]
    rows = [
        {"text": "a", "number": 7, "items": [1.5, 2.5], "list": [1, 2], "record": {"x": 8},
         "records": [{"x": 1}, {"x": 2}], "optional": None, "nothing": None},
        {"text": "", "number": -1, "items": [], "list": [], "record": {"x": 9}, "records": [],
         "optional": "b", "nothing": None},
    ]  # fmt: skip
    columns = [
        ("text", "utf8", False, ["a", ""]), ("number", "int64", False, [7, -1]),
        ("items", "float64[]", False, [[1.5, 2.5], []]),
        ("list", "int32[]", False, [[1, 2], []]), ("record.x", "int64", False, [8, 9]),
        ("records.x", "int64[]", False, [[1, 2], []]), ("optional", "utf8", True, [None, "b"]),
    ]  # fmt: skip
    put_avro("unions.avro", fields, rows, columns, ["nothing"])


if __name__ == "__main__":
    for step in (pages, dictionaries, lists, maps, messages, unions):
        step()
