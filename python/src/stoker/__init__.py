"""Exact, shuffled batches of training data, from chunk files or from a Stoker feeder."""

from stoker import errors
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
from stoker._version import __version__
from stoker._writer.writer import Writer
from stoker.errors import StokerError

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
