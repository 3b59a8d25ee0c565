"""Ports for servers that tests start in other processes."""

import random
import socket

_FIRST, _LAST = 10_000, 32_000
"""Below the ports that Linux gives to connections (net.ipv4.ip_local_port_range begins at 32,768): a connection cannot
take the port before the server listens, or while a killed server is down."""


def free_port(address: str = "127.0.0.1") -> int:
    """Returns a port that nothing listens at now."""
    for port in random.SystemRandom().sample(range(_FIRST, _LAST), 100):
        with socket.socket() as s:
            try:
                s.bind((address, port))
            except OSError:
                continue
            return port
    raise OSError(f"100 ports of {address} between {_FIRST} and {_LAST} are in use")
