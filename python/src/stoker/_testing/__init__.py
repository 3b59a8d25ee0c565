"""The feeder that `stoker.testing` runs in the test's process: the real protocol with injected faults.

Blocking sockets, two threads a session.
"""
