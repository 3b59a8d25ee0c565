"""Compares feeds into and out of a Kafka topic with Kafka's own performance tools, in one run.

    python/.venv/bin/python benchmarks/kafka.py [--bytes 110000 4096] [--megabytes 1500] [--written 24000] [--rounds 2]

One broker in a separate process, 24 lanes, one partition for each lane. Writing: `stoker feed --to kafka`, at least
once and exactly once, against `kafka-producer-perf-test` with records of the same size, acks=all, idempotence, no
compression, the feed's settings for batching, and transactions of the same length where the feed has them; its payloads
come from a file, since making random ones would be what it is measured for. Reading: 1, 3 and 8 Python trainers
together, each a process that obtains every sample of the payload as a view, and `stoker ingest kafka://…` if this build
has it, against one `kafka-consumer-perf-test` of the same topic.

Rows alternate within a round; the best round of each counts. Every system is measured from the moment it has done a
third of its work to 99 hundredths of it: writing by the growth of the broker's log, reading by what has arrived. A
third of what is written (`--written`) takes half a minute, in which the compilers of a feed's JVM come to rest; what
has been written is deleted meanwhile, all but the last epochs. CPU is user and system time of all processes of the
system in that time, and of the broker.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python" / "tests" / "system" / part) for part in (".", "with_kafka")]

from feed import cpu_of  # noqa: E402
from make_tree import make_tree  # noqa: E402
from rates import LOOK_S, Moment, Speed, bytes_below, sizes_below, speed, watch  # noqa: E402

TOOLS = ROOT / "benchmarks" / "target" / "kafka.classpath"
LANES = 24
WORLD_SIZES = (1, 3, 8)
BATCH = 64
CHECKPOINT_MS = 1000
BROKER_JVM = ("-Xmx1g", "-Xms1g")
# As connectors/…/KafkaSinks.java has them.
PRODUCER = {
    "acks": "all",
    "enable.idempotence": "true",
    "compression.type": "none",
    "buffer.memory": 64 << 20,
    "batch.size": 1 << 20,
    "linger.ms": 5,
    "max.request.size": 1 << 20,
    "send.buffer.bytes": 1 << 20,
}


# --- a trainer: a separate process that prints one JSON object --------------------------------------------------------


def train(target: str, rank: int, world_size: int, epochs: int) -> dict:
    from stoker import Feed

    moments, total = [], 0
    with Feed(target, rank=rank, world_size=world_size, tail="keep", epochs=epochs) as feed:
        payload = [field.name for field in feed.info.fields if field.payload]
        for batch in feed.batches():
            for name in payload:
                for sample in batch[name]:
                    total += sample.nbytes
            moments.append((time.monotonic(), total, time.process_time()))
        return {"moments": moments, "received": feed.stats()["bytes"], "samples": total}


# --- the measuring process --------------------------------------------------------------------------------------------


class Bench:
    """A broker, a dataset, and a topic to read."""

    def __init__(self, unit: int, megabytes: int, written: int, work: Path) -> None:
        import confluent_kafka.admin
        from kafka_broker import Broker

        self.unit, self.work = unit, work
        self.epochs = 3
        samples = max(LANES, megabytes * 1_000_000 // (self.epochs * unit))
        self.payload_bytes = samples * unit * self.epochs
        self.epochs_written = max(self.epochs, round(written * 1_000_000 / (samples * unit)))
        make_tree(str(work / "tree"), samples, unit)
        self.dataset = work / "data"
        # Every lane has a chunk, or it would be none.
        chunk = min(8 << 20, samples * unit // (2 * LANES))
        command = [ROOT / "stoker", "ingest", work / "tree", self.dataset, "--label-from", "parent-dir"]
        subprocess.run([*command, "--chunk-size", f"{chunk >> 10}kb"], check=True, capture_output=True)
        shutil.rmtree(work / "tree")
        (work / "broker").mkdir()
        settings = {"log.segment.delete.delay.ms": 100, "log.retention.check.interval.ms": 500, "num.io.threads": 4}
        self.broker = Broker(work / "broker", settings, BROKER_JVM)
        self.admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": self.broker.address, "log_level": 0})
        self.number = 0
        self.segments: dict[Path, int] = {}
        self.topic("read")
        self.feed("read", "at-least-once", self.epochs)
        self.log_bytes = self.log_size("read")
        whole = self.child("read", 0, 1)
        records = sum(self.end_offsets("read"))
        self.record_bytes = round(whole["received"] / (records - 2 * LANES * self.epochs))
        self.records = records
        self.value_bytes = whole["received"]
        draw = random.Random(unit)
        letters = string.ascii_letters + string.digits
        self.payloads = work / "payloads"
        self.payloads.write_text("\n".join("".join(draw.choices(letters, k=self.record_bytes)) for _ in range(8)))

    def close(self) -> None:
        self.broker.kill()

    # ---- topics

    def topic(self, name: str, partition_bytes: int = -1) -> None:
        """`partition_bytes`: older records are deleted, rather than more than these kept."""
        from confluent_kafka.admin import NewTopic

        settings = {"max.message.bytes": str(4 << 20), "retention.bytes": str(partition_bytes)}
        if partition_bytes > 0:
            settings["segment.bytes"] = str(max(4 << 20, partition_bytes // 4))
        self.admin.create_topics([NewTopic(name, LANES, 1, config=settings)])[name].result(30)

    def log_size(self, topic: str) -> int:
        """Of all that was ever seen there: segments go meanwhile."""
        self.segments.update(sizes_below(self.work / "broker" / "log", f"{topic}-*/*.log"))
        return sum(size for file, size in self.segments.items() if file.parent.name.startswith(f"{topic}-"))

    def end_offsets(self, topic: str) -> list[int]:
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec

        asked = {TopicPartition(topic, p): OffsetSpec.latest() for p in range(LANES)}
        return [f.result(30).offset for f in self.admin.list_offsets(asked).values()]

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """A topic that is deleted afterwards, bytes and all: memory is what they lie in."""
        self.number += 1
        name = f"write{self.number}"
        self.topic(name, 2 * self.log_bytes // (self.epochs * LANES))
        yield name
        self.admin.delete_topics([name])[name].result(30)
        deadline = time.monotonic() + 30
        while bytes_below(self.work / "broker" / "log", f"{name}-*/*.log") and time.monotonic() < deadline:
            time.sleep(0.05)

    # ---- writers

    def feed(self, topic: str, delivery: str, epochs: int) -> list[Moment]:
        command = [ROOT / "stoker", "feed", self.dataset, "--to", "kafka", "--bootstrap", self.broker.address]
        command += ["--topic", topic, "--name", f"bench-{os.getpid()}-{topic}", "--world-size", LANES, "--lanes", LANES]
        command += ["--batch-size", BATCH, "--epochs", epochs, "--delivery", delivery]
        command += ["--checkpoint-interval", f"{CHECKPOINT_MS} ms", "--transaction-timeout", "60s"]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=sys.stderr)
        return watch(process, self.broker.process.pid, lambda: self.log_size(topic))

    def producer(self, topic: str, *options: str) -> list[Moment]:
        settings = [f"{name}={value}" for name, value in PRODUCER.items()]
        records = self.records * self.epochs_written // self.epochs
        process = self.tool(
            "ProducerPerformance",
            *("--topic", topic, "--num-records", str(records), "--throughput", "-1"),
            *("--payload-file", str(self.payloads), *options),
            *("--producer-props", f"bootstrap.servers={self.broker.address}", *settings),
        )
        return watch(process, self.broker.process.pid, lambda: self.log_size(topic))

    def tool(self, name: str, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
        java = Path(os.environ["JAVA_HOME"]) / "bin/java" if "JAVA_HOME" in os.environ else "java"
        # The heap of Kafka's own scripts.
        line = [java, "-Xmx512m", "-cp", TOOLS.read_text(), f"org.apache.kafka.tools.{name}", *arguments]
        return subprocess.Popen(line, **({"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | options))

    # ---- readers

    def consumer(self, topic: str, records: int) -> list[Moment]:
        process = self.tool(
            "ConsumerPerformance",
            *("--bootstrap-server", self.broker.address, "--topic", topic, "--num-records", str(records)),
            *("--show-detailed-stats", "--reporting-interval", "100", "--hide-header", "--timeout", "60000"),
            stdout=subprocess.PIPE,
            text=True,
        )
        moments = []
        for line in process.stdout or ():
            words = line.split(", ")
            if len(words) < 6:
                continue
            when = datetime.strptime(words[0], "%Y-%m-%d %H:%M:%S:%f").timestamp()
            cpu = cpu_of(process.pid), cpu_of(self.broker.process.pid)
            moments.append(Moment(when, float(words[2]) * (1 << 20), *cpu))
        if process.wait(60) != 0:
            raise RuntimeError("the consumer failed")
        return moments

    def child(self, topic: str, rank: int, world_size: int) -> dict:
        return self.ended(*self.start_child(topic, rank, world_size))

    def start_child(self, topic: str, rank: int, world_size: int) -> tuple[subprocess.Popen[str], IO[str]]:
        target = f"kafka://{self.broker.address}/{topic}"
        command = [sys.executable, __file__, "--child", target, str(rank), str(world_size), str(self.epochs)]
        said = tempfile.TemporaryFile("w+")  # noqa: SIM115  # a pipe may be too small for it
        return subprocess.Popen(command, stdout=said, text=True), said

    @staticmethod
    def ended(process: subprocess.Popen[str], said: IO[str]) -> dict:
        if process.wait(600) != 0:
            raise RuntimeError("a trainer failed")
        with said:
            said.seek(0)
            return json.loads(said.read().splitlines()[-1])

    def trainers(self, world_size: int) -> Speed:
        """Of all together."""
        children = [self.start_child("read", rank, world_size) for rank in range(world_size)]
        broker = [(time.monotonic(), cpu_of(self.broker.process.pid))]
        while any(process.poll() is None for process, _ in children):
            time.sleep(LOOK_S)
            broker.append((time.monotonic(), cpu_of(self.broker.process.pid)))
        ranks = [[Moment(*m) for m in self.ended(*child)["moments"]] for child in children]

        def at(moments: list[Moment], when: float) -> Moment:
            return next((m for m in reversed(moments) if m.time <= when), moments[0]._replace(done=0))

        together = []
        for when, used in broker:
            of_ranks = [at(moments, when) for moments in ranks]
            together.append(Moment(when, sum(m.done for m in of_ranks), sum(m.cpu for m in of_ranks), used))
        return speed(together)

    # ---- ingest

    def raw_topic(self) -> int:
        """Raw samples with keys, for an ingest; how many."""
        from confluent_kafka import Producer

        self.topic("raw")
        producer = Producer(
            {"bootstrap.servers": self.broker.address, "linger.ms": 5, "queue.buffering.max.kbytes": 65536}
        )
        draw = random.Random(self.unit)
        bodies = [draw.randbytes(self.unit) for _ in range(64)]
        count = self.payload_bytes // self.unit
        for i in range(count):
            while True:
                try:
                    producer.produce("raw", bodies[i % 64], key=f"s{i:08}", partition=i % LANES)
                    break
                except BufferError:
                    producer.poll(0.05)
        producer.flush(60)
        return count

    def can_ingest(self) -> bool:
        said = subprocess.run([ROOT / "stoker", "ingest", "--help"], capture_output=True, text=True, check=False)
        return "--until" in said.stdout + said.stderr

    def ingest(self) -> list[Moment]:
        self.number += 1
        target = self.work / f"ingested{self.number}"
        source = f"kafka://{self.broker.address}/raw"
        command = [ROOT / "stoker", "ingest", source, target, "--value", "raw", "--until", "latest"]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=sys.stderr)
        try:
            return watch(process, self.broker.process.pid, lambda: bytes_below(target, "chunks/*/*"))
        finally:
            shutil.rmtree(target, ignore_errors=True)


def rows_of(bench: Bench) -> dict[str, tuple[str, Callable[[], Speed]]]:
    """By name: what each is held against, and how it is measured."""

    def written(write: Callable[[str], list[Moment]]) -> Callable[[], Speed]:
        def measure() -> Speed:
            with bench.fresh() as topic:
                return speed(write(topic))

        return measure

    length = ("--transaction-duration-ms", str(CHECKPOINT_MS))
    rows: dict[str, tuple[str, Callable[[], Speed]]] = {
        "producer-perf": ("", written(lambda t: bench.producer(t))),
        "feed, at least once": (
            "producer-perf",
            written(lambda t: bench.feed(t, "at-least-once", bench.epochs_written)),
        ),
        "producer-perf, transactions": ("", written(lambda t: bench.producer(t, *length))),
        "feed, exactly once": (
            "producer-perf, transactions",
            written(lambda t: bench.feed(t, "exactly-once", bench.epochs_written)),
        ),
        "consumer-perf": ("", lambda: speed(bench.consumer("read", bench.records))),
    }
    for world_size in WORLD_SIZES:
        rows[f"Python trainers, W = {world_size}"] = ("consumer-perf", lambda w=world_size: bench.trainers(w))
    if bench.can_ingest():
        count = bench.raw_topic()
        rows["consumer-perf, samples"] = ("", lambda: speed(bench.consumer("raw", count)))
        rows["ingest"] = ("consumer-perf, samples", lambda: speed(bench.ingest()))
    return rows


def measure_unit(unit: int, options: argparse.Namespace, folder: Path) -> None:
    began = time.monotonic()
    bench = Bench(unit, options.megabytes, options.written, folder)
    try:
        print(
            f"\nsamples of {unit:,} bytes, batches of {BATCH}: records of {bench.record_bytes:,} bytes; the broker's "
            f"log has {bench.log_bytes / bench.payload_bytes:.4f} bytes for a byte of samples",
            flush=True,
        )
        rows = {name: row for name, row in rows_of(bench).items() if re.search(options.only, name)}
        best: dict[str, Speed] = {}
        for _ in range(options.rounds):
            for name, (_, measure) in rows.items():
                found = measure()
                print(f"  {name}: {found.bytes_per_s / 1e6:.0f} MB/s", file=sys.stderr, flush=True)
                best[name] = max(best.get(name, found), found)
        print("| | MB/s | of Kafka's tool | CPU s/GB | broker CPU s/GB |\n| --- | --- | --- | --- | --- |")
        for name, (against, _) in rows.items():
            ratio = f"{best[name].bytes_per_s / best[against].bytes_per_s:.2f}" if against in best else ""
            s = best[name]
            print(f"| {name} | {s.bytes_per_s / 1e6:,.0f} | {ratio} | {s.cpu_per_gb:.2f} | {s.broker_per_gb:.2f} |")
    finally:
        bench.close()
    print(f"took {time.monotonic() - began:.0f} s", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, nargs="+", default=[110_000, 4096], help="sizes of a sample")
    parser.add_argument("--megabytes", type=int, default=1500, help="read by each system")
    parser.add_argument("--written", type=int, default=24_000, help="megabytes, by each system")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="", help="rows whose names have this regular expression")
    parser.add_argument("--work", type=Path, help="memory, if there is enough of it: the disk is not what is measured")
    options = parser.parse_args()
    if not TOOLS.exists():
        sys.exit(f"{TOOLS} is missing: build with ./mvnw -Dfast -DskipTests -Pbenchmarks package")
    work = options.work
    memory = Path("/dev/shm")
    if work is None and memory.is_dir() and shutil.disk_usage(memory).free > 8 * options.megabytes * 1_000_000:
        work = memory
    for unit in options.bytes:
        with tempfile.TemporaryDirectory(dir=work) as folder:
            os.environ["STOKER_HOME"] = f"{folder}/home"
            measure_unit(unit, options, Path(folder))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        target, rank, world_size, epochs = sys.argv[2:]
        print(json.dumps(train(target, int(rank), int(world_size), int(epochs))))
        sys.exit(0)
    sys.exit(main())
