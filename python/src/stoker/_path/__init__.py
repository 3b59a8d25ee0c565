"""The path reader: makes batches from chunk files without a server.

The trainer's thread plans; a pool of threads opens windows and copies payload.
"""
