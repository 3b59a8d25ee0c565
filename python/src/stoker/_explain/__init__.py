"""Explains a stream from its order alone: which samples a batch has, and which batch has a sample.

Reads no payload: only the keys of the chunks that a batch comes from, and the sample index.
"""
