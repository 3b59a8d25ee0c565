"""Pooled buffers, mapped files, checked copies between them, and the threads that make the copies.

Knows nothing of samples or batches.
"""
