"""Reads datasets: locations, the commit log, snapshots of a version, chunk files, and single samples.

Starts no threads. Nothing here writes.
"""
