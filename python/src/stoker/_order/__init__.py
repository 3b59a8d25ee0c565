"""The order of a stream: its specification, the order function, and which pieces make up a batch.

Pure functions of the specification and the lengths of lanes; docs/formats/order.md is normative.
"""
