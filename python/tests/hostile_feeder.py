"""A feeder that knows the protocol and abuses it: stands between a client and an honest feeder, and meddles with
frames."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

from stoker._wire import encoding
from stoker._wire import protocol as p

EXTREMES = (0, 1, -1, 2, 255, 65_535, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**63))
JSON_VALUES = (None, True, -1, 0, 1, 2**31, 2**63 - 1, 1e300, "", "x" * 300, [], [0], [[]], [[7]], {}, {"x": {}})
JSON_FRAMES = (p.WELCOME, p.ERROR, p.LANE_MAP)


class HostileFeeder:
    """A proxy to the feeder at `address`; alters a few frames of each of the first `connections` connections."""

    def __init__(self, address, random, connections):
        self._target = address.rsplit(":", 1)
        self._random = random
        self._left = connections
        self._open = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, name="hostile", daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._close(self._listener, *self._open)

    @staticmethod
    def _close(*sockets):
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                feeder = socket.create_connection((self._target[0], int(self._target[1])))
                self._open += [client, feeder]
                self._left -= 1
                script = Script(self._random.random() if self._left >= 0 else None)
                for work in ((self._forward, client, feeder), (self._meddle, feeder, client, script)):
                    threading.Thread(target=work[0], args=work[1:], name="hostile", daemon=True).start()

    def _forward(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        self._close(source, sink)

    def _meddle(self, source, sink, script):
        with contextlib.suppress(OSError), source.makefile("rb") as stream:
            while len(prefix := stream.read(p.PREFIX_BYTES)) == p.PREFIX_BYTES:
                body = stream.read(int.from_bytes(prefix[:4], "little") - 4)
                sink.sendall(script.frames(bytearray(prefix + body)))
        self._close(source, sink)


class Script:
    """What happens to the frames of one connection; follows from its seed alone."""

    def __init__(self, seed):
        from random import Random

        self._random = Random(seed)
        self._seen = []
        self._at = set() if seed is None else {self._random.randrange(12) for _ in range(1 + self._random.randrange(3))}
        self._count = 0

    def frames(self, frame):
        """What is sent instead of a frame."""
        self._seen.append(bytes(frame))
        self._count += 1
        return self._changed(frame) if self._count - 1 in self._at else frame

    def _changed(self, frame):
        random, kind = self._random, frame[4]
        what = random.randrange(9)
        if what == 0:
            return b""
        if what == 1:
            return frame * (2 ** random.randrange(6))
        if what == 2:
            return frame + random.choice(self._seen)
        if what == 3:
            return self._any() + frame
        if what == 4:
            return frame[: random.randrange(len(frame))] + random.choice(self._seen)
        if what == 5:
            return random.randbytes(random.randrange(200)) + frame
        if what == 6:
            frame[random.randrange(p.PREFIX_BYTES)] ^= 1 << random.randrange(8)
            return frame
        return self._values(frame) if kind in JSON_FRAMES else self._field(frame)

    def _field(self, frame):
        """An extreme value where a field may be."""
        size = 1 << self._random.randrange(4)
        places = (min(len(frame), 160) - p.PREFIX_BYTES) // size
        if places > 0:
            at = p.PREFIX_BYTES + size * self._random.randrange(places)
            value = self._random.choice(EXTREMES) % 2 ** (8 * size)
            frame[at : at + size] = value.to_bytes(size, "little")
        # With the right checksum, so that the change reaches the client's other checks.
        return frame if frame[4] in (p.BATCH, p.BATCH_REF) else encoding.seal(bytes(frame[:-4]))

    def _values(self, frame):
        """Another value for a key of a JSON object, or of one within it."""
        values = json.loads(frame[p.PREFIX_BYTES : -4])
        within = values
        while True:
            key = self._random.choice(sorted(within))
            if not (isinstance(within[key], dict) and within[key] and self._random.random() < 0.7):
                break
            within = within[key]
        if self._random.randrange(5) == 0:
            del within[key]
        else:
            within[key] = self._random.choice(JSON_VALUES)
        return encoding.frame(frame[4], json.dumps(values).encode())

    def _any(self):
        """A frame of any type that a feeder sends, with any values."""
        random = self._random
        n = [random.choice(EXTREMES) % 2**31 for _ in range(8)]
        return random.choice(
            (
                lambda: encoding.durable(n[0] * n[1]),
                lambda: encoding.pong(n[0]),
                lambda: encoding.ping(n[0]),
                encoding.bye,
                lambda: encoding.error(
                    random.choice(("internal", "fenced", "corrupt", "no_such_code")), "of a hostile feeder"
                ),
                lambda: encoding.epoch_end(p.EpochEnd(n[0] % 4, n[1], n[2], n[3])),
                lambda: encoding.delay(p.Delay(n[0] % 4, n[1] % 2, n[2], n[3] % 3, n[4], n[5], n[6])),
                lambda: encoding.file_announcement(p.FileAnnouncement(n[0], n[1], n[2], n[3], "/etc/passwd")),
                lambda: encoding.lane_map(
                    {"generation": n[0], "epoch": n[1], "addresses": ["127.0.0.1:1"], "lanes": [[0]] * 2}
                ),
                lambda: encoding.frame(p.BATCH_REF, random.randbytes(random.randrange(300))),
                lambda: encoding.frame(p.BATCH, random.randbytes(random.randrange(300))),
                lambda: encoding.frame(random.randrange(256), random.randbytes(random.randrange(100))),
            )
        )()
