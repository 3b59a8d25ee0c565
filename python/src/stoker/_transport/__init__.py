"""How a feeder is reached: discovery, name resolution, TCP and Unix-domain sockets, TLS and credentials.

A connection moves frames; it knows nothing of lanes, batches or receipts.
"""
