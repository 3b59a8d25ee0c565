"""Reads and writes objects in object stores and on web servers, and caches them on disk.

Starts threads that download, and in a forked process a second process that talks to the store.
"""
