"""The parent's end of the socket of one forked server."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Mapping
from typing import Any

from engine.run.child import wire

STOPPED = 0.5  # seconds more than were to be waited: this process stood still meanwhile


class Server:
    """One forked server: messages to it and from it."""

    def __init__(self, channel: socket.socket) -> None:
        self._socket = channel
        self._buffer = wire.Buffer()

    def send(self, message: Mapping[str, Any]) -> None:
        self._socket.sendall(wire.encode(message))

    def receive(self, patience: float) -> dict[str, Any] | None:
        """The next message, or None when nothing comes for so many seconds, or the server has ended.

        Time in which this process was stopped, as by Ctrl-Z, is not the server's.
        """
        while True:
            frame = self._buffer.frame()
            if frame is not None:
                message: dict[str, Any] = wire.decode(*frame)
                return message
            started = time.monotonic()
            if not select.select([self._socket], [], [], patience)[0]:
                if time.monotonic() - started > patience + STOPPED:
                    continue
                return None
            data = self._socket.recv(1 << 18)
            if not data:
                return None
            self._buffer.feed(data)

    def close(self) -> None:
        self._socket.close()
