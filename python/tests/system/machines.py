"""Machines: network namespaces with links that can be cut where that is possible, else loopback addresses."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence

from stoker_processes import LIMIT_S

BRIDGE = f"stk{os.getpid()}"
NET = f"10.{200 + os.getpid() // 250 % 50}.{os.getpid() % 250}"


def _ip(*words: object) -> None:
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True, stdin=subprocess.DEVNULL)


@functools.cache
def can_have_links() -> bool:
    """Whether this process may make network namespaces."""
    name = f"{BRIDGE}-try"
    if os.geteuid() or not shutil.which("ip"):
        return False
    try:
        _ip("netns", "add", name)
        _ip("netns", "del", name)
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("link", "del", BRIDGE)
    except subprocess.CalledProcessError:
        return False
    return True


class Machine:
    """An address, and what runs there."""

    def __init__(self, name: str, address: str, namespace: str = "", cable: str = "") -> None:
        self.name = name
        self.address = address
        self.namespace = namespace
        self.cable = cable
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def command(self, *words: object) -> list[str]:
        """A command that runs on this machine."""
        inside = ["ip", "netns", "exec", self.namespace] if self.namespace else []
        return [*inside, *map(str, words)]

    def kill(self) -> None:
        """kill -9 of what runs here."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(LIMIT_S)

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def freeze(self) -> None:
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def cut(self) -> None:
        """Pulls the cable out."""
        _ip("-n", self.namespace, "link", "set", "eth0", "down")

    def mend(self) -> None:
        _ip("-n", self.namespace, "link", "set", "eth0", "up")

    def lose_way(self) -> None:
        """What this machine sends goes nowhere; it still hears."""
        _ip("-n", self.namespace, "route", "add", "blackhole", f"{NET}.1/32")

    def find_way(self) -> None:
        _ip("-n", self.namespace, "route", "del", "blackhole", f"{NET}.1/32")


class Network:
    """Some machines and what connects them."""

    def __init__(self, names: Sequence[str], *, links: bool = True) -> None:
        """`links`: whether to have cables where that is possible; else what listens on loopback is within reach."""
        self.linked = links and can_have_links()
        self.here = f"{NET}.1" if self.linked else "127.0.0.1"
        self.machines: list[Machine] = []
        if self.linked:
            _ip("link", "add", BRIDGE, "type", "bridge")
            _ip("addr", "add", f"{NET}.1/24", "dev", BRIDGE)
            _ip("link", "set", BRIDGE, "up")
        for number, name in enumerate(names):
            if self.linked:
                self.machines.append(self._linked(name, number + 2))
            else:
                self.machines.append(Machine(name, f"127.0.0.{number + 20}"))

    def _linked(self, name: str, number: int) -> Machine:
        namespace, link = f"{BRIDGE}-{number}", f"{BRIDGE}v{number}"
        machine = Machine(name, f"{NET}.{number}", namespace, link)
        _ip("netns", "add", namespace)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        _ip("link", "set", link, "master", BRIDGE, "up")
        _ip("-n", namespace, "link", "set", "lo", "up")
        _ip("-n", namespace, "addr", "add", f"{machine.address}/24", "dev", "eth0")
        _ip("-n", namespace, "link", "set", "eth0", "up")
        return machine

    def close(self) -> None:
        for machine in self.machines:
            if machine.alive:
                machine.kill()
            if machine.namespace:
                # A namespace lives on while a socket of it is closing, and its end of the cable with it.
                _ip("link", "del", machine.cable)
                _ip("netns", "del", machine.namespace)
        if self.linked:
            _ip("link", "del", BRIDGE)
