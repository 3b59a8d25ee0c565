"""The frames of the feed protocol as bytes and back.

Pure: no sockets, no clocks, no state. docs/formats/feed-protocol.md is normative.
"""
