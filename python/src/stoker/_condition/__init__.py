"""Conditions that select rows: their words, syntax, canonical text and values (docs/formats/where.md)."""
