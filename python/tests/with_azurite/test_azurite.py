"""Azure Blob Storage, against its emulator Azurite, which `storage/src/test/emulators azure` installs.

Google's emulator is only read in tests: obstore writes with Google's XML interface, of which fake-gcs-server knows
signed uploads only. It answers others with HTTP 400, "invalid uploadType".
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import socket
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

import stoker
from ports import free_port
from stoker.errors import CommitRefusedError

pytestmark = pytest.mark.full("stores")

ROOT = Path(__file__).resolve().parents[3]
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The published key of every emulator."""


def create_container(url: str, name: str) -> None:
    """Creates a container, for which obstore has no call."""
    date = formatdate(usegmt=True)
    headers = {"x-ms-date": date, "x-ms-version": "2021-08-06"}
    lines = ["PUT", *[""] * 11, *(f"{header}:{value}" for header, value in headers.items())]
    signed = "\n".join([*lines, f"/{ACCOUNT}/{ACCOUNT}/{name}", "restype:container"])
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()).decode()
    request = urllib.request.Request(
        f"{url}/{ACCOUNT}/{name}?restype=container",
        method="PUT",
        headers=headers | {"Authorization": f"SharedKey {ACCOUNT}:{signature}"},
    )
    urllib.request.urlopen(request).close()


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an emulator with a container `data`."""
    emulators = ROOT / "metadata-store/storage/src/test/emulators"
    installed = subprocess.run([emulators, "azure"], capture_output=True, check=True)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("azurite") / "log"
    command = [*installed.stdout.decode().split("\n")[:-1], "--blobPort", str(port), "--inMemoryPersistence"]
    with (
        open(log, "wb") as output,
        subprocess.Popen(
            [*command, "--skipApiVersionCheck", "--disableTelemetry", "--silent"],
            cwd=log.parent,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            until = time.monotonic() + 90
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    assert server.poll() is None, log.read_text()
                    assert time.monotonic() < until, log.read_text()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        server.wait(0.05)
            create_container(url, "data")
            yield url
        finally:
            server.kill()


@pytest.fixture(params=["emulator", "endpoint"])
def location(request: pytest.FixtureRequest, azurite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new location, named in the two ways that Java knows, too."""
    monkeypatch.setenv("STOKER_CACHE_DIR", str(tmp_path / "cache"))
    if request.param == "emulator":
        monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
        monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", azurite)
        return f"az://data/{uuid.uuid4()}"
    monkeypatch.setenv("AZURE_ENDPOINT", f"{azurite}/{ACCOUNT}")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", KEY)
    return f"abfss://data@{ACCOUNT}.dfs.core.windows.net/{uuid.uuid4()}"


def test_a_dataset_is_read_as_it_was_written(location: str, tmp_path: Path) -> None:
    for target in (location, tmp_path / "near"):
        for n in range(3):
            with stoker.Writer(
                target, schema={"label": "categorical", "image": "binary"}, append=n > 0, chunk_size=4000
            ) as writer:
                for row in range(20):
                    writer.write({"key": f"{n}-{row}", "label": "ab"[row % 2], "image": bytes([row]) * 500})
            assert writer.version == n + 1
    near, far = stoker.open(tmp_path / "near"), stoker.open(location)
    assert [dict(sample) for sample in far] == [dict(sample) for sample in near]
    with stoker.Feed(location, batch_size=7, epochs=1, tail="keep") as feed:
        assert sum(len(batch) for batch in feed) == 60
    with pytest.raises(CommitRefusedError, match="already has version 3"):
        stoker.Writer(location).close()
