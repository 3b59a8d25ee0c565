"""The client of feeders: a `BatchSource` over sockets with sessions, failover, flow control and receipts.

The trainer's thread receives while it waits for a batch; a background thread receives while the trainer computes.
"""
