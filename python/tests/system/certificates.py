"""Certificates as docs/security.md makes them, with the command `openssl`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from stoker_processes import REPOSITORY

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def documented_commands() -> str:
    """The shell block of the page."""
    found = re.search(r"```sh\n(.*?)```", (REPOSITORY / "docs/security.md").read_text(), re.S)
    assert found is not None
    return found[1]


def openssl(*args: object, cwd: Path) -> str:
    done = subprocess.run(["openssl", *map(str, args)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Authority:
    """Signs certificates; its own is `pem`."""

    def __init__(self, directory: Path, name: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.name = directory, name
        self.pem = directory / f"{name}.pem"
        openssl("req", "-x509", *_KEY, "-days", 2, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", self.pem,
                cwd=directory)  # fmt: skip

    def issue(self, name: str, names: str = "", days: int = 2) -> tuple[Path, Path]:
        """(certificate, key); `names` as subjectAltName has them. Negative days: it has expired."""
        pem, key, extra = (self.directory / f"{name}.{ending}" for ending in ("pem", "key", "ext"))
        extra.write_text(f"subjectAltName={names}\n" if names else "")
        openssl("req", "-new", *_KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", f"{name}.csr", cwd=self.directory)
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", self.pem, "-CAkey", f"{self.name}.key", "-CAcreateserial",
                "-days", days, "-extfile", extra, "-out", pem, cwd=self.directory)  # fmt: skip
        return pem, key
