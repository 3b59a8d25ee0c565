"""Single samples from the feeders of a running feed: `stoker.open(feed=…)`.

Each request uses one connection alone. Uses the wire, transport and dataset subpackages; nothing uses it.
"""
