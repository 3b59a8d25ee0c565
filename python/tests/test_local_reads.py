"""Batches put together from files that the feeder names: the same bytes, and what is wrong is never taken for right."""

import json
import os
from pathlib import Path

import google_crc32c
import numpy as np
import pytest

from stoker._memory import leases
from stoker._memory.buffers import BufferPool
from stoker._memory.mapping import Mapping
from stoker._transport import local_reads
from stoker._transport.local_reads import LARGE, LocalReadError, LocalReads
from stoker._wire import decoding, encoding
from stoker._wire import protocol as p
from stoker.errors import ProtocolError

VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors" / "protocol.json"


def header_of(message, **over):
    values = {"feed_tag": 1, "fingerprint_tag": 2, "epoch": 3, "lane": 4, "number": 5, "piece": 0, "pieces": 1}
    values |= {"rows": 6, "skipped": 0, "subscription": 7, "flags": 0, "length": 76 + len(message), "crc": 0}
    values |= {"source_rows": 6, "view_tag": 8, "source_crc": 9} | over
    head = encoding.batch_header(p.BatchHeader(**values))
    values["crc"] = google_crc32c.extend(google_crc32c.value(head[p.CRC_START : p.CRC_END]), bytes(message))
    return p.BatchHeader(**values)


@pytest.fixture
def unleased(monkeypatch):
    """With a lease, the mapping of a file that others change keeps its content."""
    monkeypatch.setattr(leases, "MOST", 0)


class Files:
    """Some files of random bytes, announced."""

    def __init__(self, folder, sizes, limit=8):
        self.reads = LocalReads(limit)
        self.paths, self.contents = [], []
        for number, size in enumerate(sizes):
            path = folder / f"{number}.bin"
            content = np.random.default_rng(number).bytes(size)
            path.write_bytes(content)
            self.paths.append(path)
            self.contents.append(content)
            self.announce(number)

    def announce(self, number, **over):
        found = os.stat(self.paths[number])
        values = {"device": found.st_dev, "inode": found.st_ino, "length": found.st_size}
        values |= {"file": number, "path": str(self.paths[number])} | over
        self.reads.announce(encoding.file_announcement(p.FileAnnouncement(**values))[8:-4])

    def message(self, inline, slices):
        parts = [bytes(n) if f == p.ZEROS else self.contents[f][at : at + n] for f, n, at in slices]
        return inline + b"".join(parts)

    def receive(self, inline, slices, **over):
        message = self.message(inline, slices)
        frame = encoding.batch_ref(header_of(message, **over), len(message), inline, slices)
        got = self.reads.receive(frame, BufferPool(), p.MAX_BATCH)
        assert got.length == len(message) or got.crc != got.header[-1]
        self.apart = got.apart
        buffer = got.message if got.apart is None else got.apart.whole(got.message)
        self.reads._apart = True
        return got.header, bytes(buffer), got.crc, message


def test_a_fifo_that_a_feeder_names_is_not_waited_for(tmp_path):
    files = Files(tmp_path, [100])
    files.paths[0].unlink()
    os.mkfifo(files.paths[0])
    with pytest.raises(LocalReadError, match="is not the same file here as on the feeder"):
        files.announce(0)


@pytest.mark.parametrize("size", [1, 100, 4096, 60_000, 300_000])
@pytest.mark.parametrize("rows", [0, 1, 7, 3000])
@pytest.mark.parametrize("flags", [0, 1])
def test_puts_any_message_together(size, rows, flags, tmp_path):
    if size * rows > 40 << 20:
        rows = 70
    files = Files(tmp_path, [400_000, 350_000, 500_000])
    random = np.random.default_rng(size + rows)
    slices = [(int(f), size, int(random.integers(350_000 - size))) for f in random.integers(0, 3, rows)]
    inline = bytes(range(64)) * 3
    padding = -(len(inline) + size * rows) % 64
    if padding:
        slices.append((p.ZEROS, padding, 0))
    header, buffer, crc, message = files.receive(inline, slices, flags=flags)
    assert buffer == message
    assert crc == header[-1]


@pytest.mark.usefixtures("unleased")
def test_a_flipped_bit_makes_the_checksum_wrong(tmp_path):
    files = Files(tmp_path, [1 << 20, 1 << 20])
    for size in (640, 64 << 10):
        with open(files.paths[1], "r+b") as f:
            f.seek(1000)
            f.write(bytes([files.contents[1][1000] ^ 4]))
        header, buffer, crc, message = files.receive(b"", [(0, size, 0), (1, size, 900)])
        assert crc != header[-1]
        assert buffer != message
        files.paths[1].write_bytes(files.contents[1])


@pytest.mark.usefixtures("unleased")
@pytest.mark.parametrize("size", [640, 64 << 10])
@pytest.mark.parametrize("kept", [True, False])
def test_a_file_that_is_cut_short_is_no_batch_and_no_end_of_the_process(size, kept, tmp_path, monkeypatch):
    monkeypatch.setattr(local_reads, "_MOST_OPEN", 256 if kept else 0)
    files = Files(tmp_path, [1 << 20, 1 << 20])
    os.truncate(files.paths[1], 4096)
    header, _, crc, _ = files.receive(b"", [(0, size, 0), (1, size, 900_000)])
    assert crc != header[-1]
    header, buffer, crc, message = files.receive(b"", [(0, size, 7)])
    assert (buffer, crc) == (message, header[-1])


@pytest.mark.parametrize("size", [640, 64 << 10])
@pytest.mark.parametrize("harm", ["cut", "flip"])
def test_a_leased_file_that_others_change_keeps_its_content(size, harm, tmp_path):
    files = Files(tmp_path, [1 << 20, 1 << 20])
    held = files.receive(bytes(64), [(1, 64 << 10, 900_000)]) and files.apart
    if harm == "cut":
        os.truncate(files.paths[1], 4096)
    else:
        with open(files.paths[1], "r+b") as f:
            f.seek(900_001)
            f.write(bytes([files.contents[1][900_001] ^ 1]))
    header, buffer, crc, message = files.receive(b"", [(0, size, 0), (1, size, 900_000)])
    assert (files.apart is not None) == (size >= LARGE)
    assert (buffer, crc) == (message, header[-1])
    assert held.rows(np.array([64, 64 + (64 << 10)]))[0].tobytes() == files.contents[1][900_000 : 900_000 + (64 << 10)]


@pytest.mark.parametrize("bad", [3, 50])
@pytest.mark.parametrize("resident", [True, False])
def test_a_wrong_byte_of_a_leased_file_makes_the_checksum_wrong(bad, resident, tmp_path, monkeypatch):
    monkeypatch.setattr(Mapping, "resident", lambda self: resident)
    files = Files(tmp_path, [1 << 20, 1 << 20])
    slices = [(0, 64 << 10, 100 * i) for i in range(64)]
    slices[bad] = (1, 64 << 10, 900_000)
    header, buffer, crc, message = files.receive(bytes(64), slices)
    assert files.apart is not None
    assert (buffer, crc) == (message, header[-1])
    files.reads.close()
    with open(files.paths[1], "r+b") as f:
        f.seek(900_001)
        f.write(bytes([files.contents[1][900_001] ^ 1]))
    for number in range(2):
        files.announce(number)
    header, _, crc, _ = files.receive(bytes(64), slices)
    assert crc != header[-1]


def test_rows_that_were_written_to_are_read_from_the_file_again(tmp_path):
    files = Files(tmp_path, [1 << 20])
    slices = [(0, 64 << 10, 100 * i) for i in range(8)]
    files.receive(bytes(64), slices)
    for row in files.apart.rows(64 + (64 << 10) * np.arange(9)):
        row[:] = 0
    header, buffer, crc, message = files.receive(bytes(64), slices)
    assert files.apart is None
    assert (buffer, crc) == (message, header[-1])
    assert files.paths[0].read_bytes() == files.contents[0]


@pytest.mark.parametrize(
    "wrong",
    [{"path": "/nowhere/at/all"}, {"inode": 1}, {"device": 1}, {"length": 99}, {"path": "/proc/self/mem"}],
    ids=str,
)
def test_refuses_a_file_that_is_not_the_feeders(wrong, tmp_path):
    files = Files(tmp_path, [1000])
    with pytest.raises(LocalReadError):
        files.announce(0, **wrong)


def test_refuses_a_directory(tmp_path):
    files = Files(tmp_path, [1000])
    files.paths[0].unlink()
    files.paths[0].mkdir()
    with pytest.raises(LocalReadError):
        files.announce(0)


def test_a_number_stands_for_the_newest_file_and_nothing_stays_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    files = Files(tmp_path, [1000, 2000])
    for number in range(2):
        for _ in range(5):
            files.announce(number)
    assert len(os.listdir("/proc/self/fd")) == before + 2
    files.paths[0], files.contents[0] = files.paths[1], files.contents[1]
    files.announce(0)
    header, buffer, crc, message = files.receive(b"", [(0, 64, 1900)])
    assert (buffer, crc) == (message, header[-1])
    files.reads.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize(
    "slices",
    [
        [(1, 64, 0)],
        [(8, 64, 0)],
        [(0, 64, 1000)],
        [(0, 64, 937)],
        [(0, 64, (1 << 63) - 1)],
        [(p.ZEROS, 63, 1), (0, 1, 0)],
        [(p.ZEROS, 65, 0), (0, 63, 0)],
        [(p.ZEROS - 1, 64, 0)],
    ],
    ids=str,
)
def test_refuses_references_to_what_was_not_announced(slices, tmp_path):
    files = Files(tmp_path, [1000])
    total = sum(n for _, n, _ in slices)
    frame = encoding.batch_ref(header_of(bytes(total)), total, b"", slices)
    with pytest.raises(ProtocolError, match="was not announced"):
        files.reads.receive(frame, BufferPool(), p.MAX_BATCH)


def take(handed, frame):
    decoding.check_prefix(*decoding.unpack_prefix(frame), p.MAX_TO_CLIENT)
    if frame[4] == p.FILE:
        handed.announce(decoding.checked_body(p.FILE, frame[8:]))
    else:
        handed.receive(frame, BufferPool(), p.MAX_BATCH)


def test_refuses_what_the_vectors_refuse(tmp_path):
    files = Files(tmp_path, [1 << 20])
    tried = 0
    for vector in json.loads(VECTORS.read_text(encoding="utf-8"))["bad"]:
        frame = bytes.fromhex(vector["hex"])
        kind = frame[4]
        if vector["to"] != "client" or not vector["welcomed"] or kind not in (p.FILE, p.BATCH_REF):
            continue
        tried += 1
        with pytest.raises(ProtocolError):
            take(files.reads, frame)
    assert tried >= 15


@pytest.mark.parametrize("large", [1, 1 << 20], ids=["apart", "copied"])
def test_refuses_every_altered_frame_or_finds_its_checksum_wrong(large, tmp_path, monkeypatch):
    monkeypatch.setattr(local_reads, "LARGE", large)
    files = Files(tmp_path, [3000, 3000])
    message = files.message(bytes(64), slices := [(0, 100, 5), (1, 100, 300), (p.ZEROS, 56, 0)])
    frame = bytearray(encoding.batch_ref(header_of(message), len(message), bytes(64), slices))
    for at in range(8, len(frame)):
        if 52 <= at < 60:
            continue  # subscription and reserved bytes, which the inbox looks at
        for bit in range(8):
            frame[at] ^= 1 << bit
            try:
                got = files.reads.receive(bytes(frame), BufferPool(), p.MAX_BATCH)
                whole = got.message if got.apart is None else got.apart.whole(got.message)
                assert got.crc != got.header[-1] or bytes(whole) == message, f"byte {at}, bit {bit}"
            except ProtocolError:
                pass
            frame[at] ^= 1 << bit


def test_tells_how_many_it_has_read_now_and_then(tmp_path):
    files = Files(tmp_path, [1000])
    due = []
    for _ in range(40):
        files.receive(b"", [(0, 64, 0)])
        due.append(files.reads.due())
    assert [d for d in due if d] == [16, 32]


@pytest.mark.usefixtures("unleased")
@pytest.mark.parametrize("bad", [3, 50])
@pytest.mark.parametrize("harm", ["cut", "flip"])
def test_damage_in_either_half_of_a_large_message_is_noticed(bad, harm, tmp_path):
    files = Files(tmp_path, [1 << 20, 1 << 20])
    slices = [(0, 64 << 10, 100 * i) for i in range(64)]
    header, buffer, crc, message = files.receive(bytes(64), slices)
    assert (buffer, crc) == (message, header[-1])
    slices[bad] = (1, 64 << 10, 900_000)
    files.receive(bytes(64), slices)
    if harm == "cut":
        os.truncate(files.paths[1], 950_000)
    else:
        with open(files.paths[1], "r+b") as f:
            f.seek(900_001)
            f.write(bytes([files.contents[1][900_001] ^ 1]))
    header, _, crc, _ = files.receive(bytes(64), slices)
    assert crc != header[-1]
    files.reads.close()
