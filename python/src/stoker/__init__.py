"""Exact, shuffled batches of training data, from chunk files or from a Stoker feeder."""

import importlib
from typing import TYPE_CHECKING, Any

import stoker._format.crc  # noqa: F401 - warns at once if checksums are slow here
from stoker import errors
from stoker._version import __version__
from stoker.errors import StokerError

if TYPE_CHECKING:
    from stoker._batch.batch import Batch
    from stoker._batch.ragged import Ragged
    from stoker._commit.publish import commit
    from stoker._dataset.sample_index import ListEntry, SampleStat
    from stoker._dataset.samples import Samples
    from stoker._feed.feed import Feed
    from stoker._feed.metrics import prometheus, serve_metrics
    from stoker._feed.why import SampleStep, StepSample
    from stoker._lookup.feed_samples import FeedSamples
    from stoker._lookup.opening import open  # noqa: A004 - stoker.open is the name
    from stoker._writer.writer import Writer

__all__ = [
    "Batch",
    "Feed",
    "FeedSamples",
    "ListEntry",
    "Ragged",
    "SampleStat",
    "SampleStep",
    "Samples",
    "StepSample",
    "StokerError",
    "Writer",
    "__version__",
    "commit",
    "errors",
    "open",
    "prometheus",
    "serve_metrics",
]

if not TYPE_CHECKING:
    _HOMES = {
        "Batch": "stoker._batch.batch",
        "Feed": "stoker._feed.feed",
        "FeedSamples": "stoker._lookup.feed_samples",
        "ListEntry": "stoker._dataset.sample_index",
        "Ragged": "stoker._batch.ragged",
        "SampleStat": "stoker._dataset.sample_index",
        "SampleStep": "stoker._feed.why",
        "Samples": "stoker._dataset.samples",
        "StepSample": "stoker._feed.why",
        "Writer": "stoker._writer.writer",
        "commit": "stoker._commit.publish",
        "open": "stoker._lookup.opening",
        "prometheus": "stoker._feed.metrics",
        "serve_metrics": "stoker._feed.metrics",
    }

    def __getattr__(name: str) -> Any:
        """Imports a name at its first use: a trainer that only makes a `Feed` starts sooner."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
