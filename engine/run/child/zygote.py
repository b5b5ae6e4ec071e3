"""The process that every other one is forked from: it imports numpy once, and runs nobody's code.

Sent as text: standard library, numpy when it is there.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time

from engine.run.child import sandbox, wire
from engine.run.child.server import serve

PATIENCE = 0.5  # seconds for the servers to end when the engine has gone


def zygote(fd, load, more=()):
    """Serve fork requests on the control socket `fd` until it closes.

    load: executes modules of the engine's own that are sent later: see bootstrap.LOADER. more: what else
    the greeting says.
    """
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    control = socket.socket(fileno=fd)
    control.sendall(wire.encode({**greeting(), **dict(more)}))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # servers are reaped by the kernel
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            wait_for_children()
            os._exit(0)  # there is nothing to put away
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            sandbox.die_with_parent()
            sandbox.adopt_orphans()
            serve(fds[0], load)
            os._exit(0)
        os.close(fds[0])


def greeting():
    """What this interpreter and the machine's kernel offer; numpy is imported on the way."""
    try:
        import numpy

        numpy.random.default_rng(0).standard_normal(2)  # the first use costs 11 ms
        version = numpy.__version__
    except ImportError:
        version = None
    return {
        "numpy": version,
        "python": list(sys.version_info[:3]),
        "landlock": sandbox.landlock_version(),
        "seccomp": bool(sandbox.seccomp_program()),
    }


def wait_for_children():
    """Servers end when their socket does; what they leave behind is ended here."""
    deadline = time.monotonic() + PATIENCE
    while sandbox.children():
        if time.monotonic() > deadline:
            for pid in sandbox.children():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return
        time.sleep(0.001)
