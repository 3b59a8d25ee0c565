"""A batch and its conversions: NumPy, ragged rows, decoded images, torch and JAX tensors, pinned memory.

Decoding runs in threads; everything else runs in the caller's. No framework is imported before it is asked for.
"""
