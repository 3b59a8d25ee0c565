"""Turns chunks into a version: the local store, leases, the check for duplicate keys, log entries and chunk tables.

docs/formats/dataset.md is normative.
"""
