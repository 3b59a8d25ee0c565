"""The adapters, one module for each system."""

from __future__ import annotations

import importlib

from scoreboard.job import System

NAMES = ("stoker", "stoker@lanes=1", "mosaicml", "litdata", "webdataset", "files", "huggingface", "lance", "ray")
"""An @ separates the module from a variant of its system."""

PACKED_BY = {"stoker@lanes=1": "stoker"}
"""Variants that read what another one has packed."""

PACKING = frozenset(NAMES) - PACKED_BY.keys() - {"files"}
"""The systems whose packing is measured."""

WORKERS = {"ray": (0,)}
"""The numbers of loader workers, where the system has its own kind of worker."""


def load(name: str) -> System:
    """Returns the adapter of a system. It imports the system only when it is used."""
    module, _, variant = name.partition("@")
    found = importlib.import_module(f"scoreboard.systems.{module}")
    return found.VARIANTS[variant] if variant else found.SYSTEM
