"""Azure and Google Cloud Storage, against emulators that are not Python packages.

Left out unless asked for with `-m emulators`. They need a running Azurite with a container `data`, or a running
fake-gcs-server with a bucket `data`:

    npm install azurite && node_modules/.bin/azurite-blob --skipApiVersionCheck --loose
    export AZURE_STORAGE_USE_EMULATOR=true

    go install github.com/fsouza/fake-gcs-server@latest && fake-gcs-server -backend memory -scheme http -port 4443
    export STORAGE_EMULATOR_HOST=http://127.0.0.1:4443
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

import stoker
from stoker.errors import CommitRefusedError

pytestmark = pytest.mark.emulators
STORES = {"az": "AZURE_STORAGE_USE_EMULATOR", "gs": "STORAGE_EMULATOR_HOST"}


@pytest.mark.parametrize("scheme", [scheme for scheme, variable in STORES.items() if os.environ.get(variable)])
def test_a_dataset_is_read_as_it_was_written(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_CACHE_DIR", str(tmp_path / "cache"))
    uri = f"{scheme}://data/{uuid.uuid4()}"
    for target in (uri, tmp_path / "near"):
        for n in range(3):
            with stoker.Writer(
                target, schema={"label": "categorical", "image": "binary"}, append=n > 0, chunk_size=4000
            ) as writer:
                for row in range(20):
                    writer.write({"key": f"{n}-{row}", "label": "ab"[row % 2], "image": bytes([row]) * 500})
            assert writer.version == n + 1
    near, far = stoker.open(tmp_path / "near"), stoker.open(uri)
    assert [dict(sample) for sample in far] == [dict(sample) for sample in near]
    with stoker.Feed(uri, batch_size=7, epochs=1, tail="keep") as feed:
        assert sum(len(batch) for batch in feed) == 60
    with pytest.raises(CommitRefusedError, match="already has version 3"):
        stoker.Writer(uri).close()
