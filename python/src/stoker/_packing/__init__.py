"""Makes chunk files from values and Arrow columns: conversion, shuffling and the canonical bytes.

Writes to memory only; no files and no threads.
"""
