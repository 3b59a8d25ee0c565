"""Exact, shuffled batches of training data, from chunk files or from a Stoker feeder."""

__version__ = "0.1.0.dev0"

from stoker import errors
from stoker._batch import Batch
from stoker._feed import Feed
from stoker._open import Samples, open  # noqa: A004 - stoker.open is the name
from stoker._publish import commit
from stoker._ragged import Ragged
from stoker._report import prometheus, serve_metrics
from stoker._writer import Writer
from stoker.errors import StokerError

__all__ = [
    "Batch",
    "Feed",
    "Ragged",
    "Samples",
    "StokerError",
    "Writer",
    "__version__",
    "commit",
    "errors",
    "open",
    "prometheus",
    "serve_metrics",
]
