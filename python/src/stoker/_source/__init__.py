"""The interface between a `Feed` and its data, and the values that cross it: consumer, stream, position and pieces.

The path reader, the client of feeders and the reader of topics implement it. It must not depend on any of them.
"""
