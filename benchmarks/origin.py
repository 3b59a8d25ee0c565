"""An S3 server that is far away, for the benchmarks of far stores."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path

from feed import LIB, ROOT, cpu_of

BUCKET = "bench"
KEYS = {"AWS_ACCESS_KEY_ID": "local-identity", "AWS_SECRET_ACCESS_KEY": "local-credential", "AWS_REGION": "us-east-1"}


class Origin:
    """An S3 server and, in front of it, a proxy that delays and counts."""

    def __init__(self, folder: Path, latency_ms: int, link_mbit: int) -> None:
        jars = Path.home().glob(".m2/repository/org/gaul/s3proxy/*/s3proxy-*-jar-with-dependencies.jar")
        store = folder / "bucket"
        self.bucket = store / BUCKET
        self.bucket.mkdir(parents=True)
        port = free_port()
        settings = folder / "s3proxy.conf"
        settings.write_text(
            f"s3proxy.authorization=none\ns3proxy.endpoint=http://127.0.0.1:{port}\n"
            f"jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={store}\n"
            "jclouds.identity=local-identity\njclouds.credential=local-credential\n"
        )
        self.near = f"http://127.0.0.1:{port}"
        self.server = subprocess.Popen(
            ["java", "-Xmx512m", "-jar", str(max(jars)), "--properties", str(settings)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while subprocess.run(["curl", "-sf", "-o", "/dev/null", self.near + "/"]).returncode:
            time.sleep(0.1)
        path = f"{LIB}/*:{ROOT}/metadata-store/storage/target/test-classes"
        self.proxy = subprocess.Popen(
            [
                *["java", "-Xmx512m", "-cp", path, "dev.stoker.storage.hadoop.FaultProxyCommand"],
                *["--to", f"127.0.0.1:{port}", "--latency-ms", str(latency_ms)],
                *["--bytes-per-second", str(link_mbit * 125_000)],
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.proxy.stdout is not None
        self.far = self.proxy.stdout.readline().strip().rstrip("/")
        self.environment = os.environ | KEYS | {"AWS_DEFAULT_REGION": "us-east-1", "S3_ENDPOINT_URL": self.far}

    def hadoop(self, endpoint: str, folder: Path) -> dict[str, str]:
        """Returns an environment in which s3a: leads to this server."""
        folder.mkdir(exist_ok=True)
        values = {
            "fs.s3a.endpoint": endpoint,
            "fs.s3a.access.key": KEYS["AWS_ACCESS_KEY_ID"],
            "fs.s3a.secret.key": KEYS["AWS_SECRET_ACCESS_KEY"],
        }
        rows = "".join(f"<property><name>{n}</name><value>{v}</value></property>" for n, v in values.items())
        (folder / "core-site.xml").write_text(f"<configuration>{rows}</configuration>")
        return os.environ | {"HADOOP_CONF_DIR": str(folder)}

    def counts(self) -> dict[str, int]:
        """Returns requests and bytes since the last call."""
        assert self.proxy.stdin is not None
        assert self.proxy.stdout is not None
        self.proxy.stdin.write("reset\n")
        self.proxy.stdin.flush()
        return json.loads(self.proxy.stdout.readline())

    def put(self, folder: Path, prefix: str, files: list[Path]) -> None:
        """Makes files objects: they are the server's own."""
        for file in files:
            place = self.bucket / prefix / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.link(file, place)

    def cpu(self) -> float:
        return cpu_of(self.server.pid) + cpu_of(self.proxy.pid)

    def close(self) -> None:
        for process in (self.proxy, self.server):
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
