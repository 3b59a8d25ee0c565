"""Exact, shuffled batches of training data, from chunk files or from a Stoker feeder."""

__version__ = "0.1.0.dev0"
