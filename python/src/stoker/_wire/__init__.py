"""The frames of the feed protocol: their layouts and message types, an encoder and a decoder.

Pure: no sockets, no clocks, no state. docs/formats/feed-protocol.md is normative.
"""
