"""An S3 server (s3proxy) in a separate process, from the jar that the Java tests use."""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from stoker_processes import REPOSITORY, until

from ports import free_port

_JAR = REPOSITORY / "metadata-store/storage/target/s3proxy.jar"
_BUCKET = "stoker-test"
_KEYS = {"fs.s3a.access.key": "local-identity", "fs.s3a.secret.key": "local-credential"}
IMPATIENT = {
    "fs.stoker.retry.time": "2s",
    "fs.s3a.retry.limit": "1",
    "fs.s3a.connection.timeout": "15s",  # no less is possible
    "fs.s3a.connection.request.timeout": "15s",
}
"""Settings that shorten the limits of calls; by default the longest is two minutes."""


class S3Server:
    """Started at once, with its objects in files. `kill` and `start` as often as wanted: the objects stay. `upload`
    waits until it answers."""

    def __init__(self, directory: Path, host: str) -> None:
        self.endpoint = f"http://{host}:{free_port(host)}"
        settings = {
            "s3proxy.authorization": "none",
            "s3proxy.endpoint": self.endpoint,
            "jclouds.provider": "filesystem-nio2",
            "jclouds.filesystem.basedir": directory / "objects",
            "jclouds.identity": "local-identity",
            "jclouds.credential": "local-credential",
        }
        (directory / "objects").mkdir()
        self._directory, self._log = directory, directory / "s3proxy.log"
        self._config = directory / "s3proxy.conf"
        self._config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self.start()

    def start(self) -> None:
        """Does not wait until it answers."""
        java = Path(os.environ["JAVA_HOME"]) / "bin/java" if "JAVA_HOME" in os.environ else "java"
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Djava.io.tmpdir={self._directory}"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [java, *options, "-jar", _JAR, "--properties", self._config],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def __enter__(self) -> S3Server:
        return self

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._log.read_text(errors="replace")[-4000:]
        try:
            self._put("")
        except urllib.error.HTTPError as error:
            return error.code == HTTPStatus.CONFLICT  # the bucket is there
        except OSError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def _put(self, name: str, content: bytes = b"") -> None:
        url = f"{self.endpoint}/{_BUCKET}/{urllib.parse.quote(name)}".rstrip("/")
        request = urllib.request.Request(url, content, {"Content-Type": "application/octet-stream"}, method="PUT")
        with urllib.request.urlopen(request, timeout=30):
            pass

    def configure(self, hadoop: Path, more: Mapping[str, str] | None = None) -> None:
        """Makes Hadoop's configuration in a directory lead here. `more`: further settings."""
        settings = {"fs.s3a.endpoint": self.endpoint, **_KEYS, **(more or {})}
        rows = "".join(f"<property><name>{n}</name><value>{v}</value></property>" for n, v in settings.items())
        (hadoop / "core-site.xml").write_text(f"<configuration>{rows}</configuration>")

    def upload(self, directory: Path) -> str:
        """Puts the files of a directory into the bucket; returns the location."""
        location, _ = self.place(directory.name)
        for file in directory.rglob("*"):
            if file.is_file():
                self._put(f"{directory.name}/{file.relative_to(directory)}", file.read_bytes())
        return location

    def place(self, name: str) -> tuple[str, Path]:
        """Where objects below a name are: the location, and the directory of the server's files."""
        until(self._answers, "the S3 server answers")
        return f"s3a://{_BUCKET}/{name}", self._directory / "objects" / _BUCKET / name
