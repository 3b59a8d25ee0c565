"""`Feed`: options, iteration over epochs, resume, reports, and the adapters to torch and TensorFlow datasets.

Everything above the sources, written once for all of them. One thread uses a feed.
"""
