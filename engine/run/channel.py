"""The parent's end of the socket of one forked server."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Generator, Mapping
from typing import Any

from engine.run.child import wire

PATIENCE = 600.0  # seconds in which a server that watches a limit tells that it was passed
END = -1  # in the place of a job's number
GONE: Mapping[str, Any] = {"end": "gone", "status": 0, "output": ""}  # how a run ended
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

    def run(
        self, message: Mapping[str, Any], limit: float
    ) -> Generator[tuple[int, Any], None, None]:
        """Have it run jobs: their answers as they come, each with its number, at last END with how the run
        ended, GONE where the server has. limit: seconds for each job.
        """
        try:
            self.send(message)
            while (found := self.receive(PATIENCE + limit)) is not None:
                if "end" in found:
                    yield END, found
                    return
                try:  # what follows a child wrote
                    answer = self.receive(PATIENCE)
                except wire.WireError as error:
                    answer = {"wire": f"an answer that cannot be read ({error})"}
                if answer is None:
                    break
                yield found["answer"], answer
        except OSError:
            pass
        yield END, GONE

    def close(self) -> None:
        self._socket.close()
