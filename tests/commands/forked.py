"""`engine` in a process that has imported it already: what a test waits for is the command, not Python's imports.

A server imports the engine once and forks for each command, so that every one has a process, a folder, variables and
streams of its own. What depends on how Python starts (test_start_up.py, variables, a terminal) runs `python -m engine`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """What `python -m engine WORDS` does, without a terminal. Raises TimeoutExpired."""
    server = _server(tuple(sorted(env.items())))
    assert server.stdin and server.stdout
    with tempfile.TemporaryDirectory() as folder:
        streams = [os.path.join(folder, name) for name in ("out", "err")]
        asked = {"words": words, "cwd": str(cwd), "streams": streams}
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        if not select.select([server.stdout], [], [], timeout)[0]:
            server.kill()
            _server.cache_clear()
            raise subprocess.TimeoutExpired(words, timeout)
        code = int(server.stdout.readline())
        out, err = (Path(file).read_text("utf-8") for file in streams)
    return subprocess.CompletedProcess(words, code, out, err)


@cache
def _server(env: tuple[tuple[str, str], ...]) -> subprocess.Popen[bytes]:
    """The server of commands with these variables."""
    made = subprocess.Popen(
        [sys.executable, __file__], env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(made.kill)
    return made


def _serve() -> None:
    """Fork for each line on standard input, and answer with the exit code."""
    asking, answering = os.fdopen(os.dup(0), "rb"), os.dup(1)
    _import_all()
    gc.freeze()
    for line in asking:
        child = os.fork()
        if not child:
            os.close(answering)
            _become(**json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(answering, f"{code}\n".encode())


def _import_all() -> None:
    """The engine's own modules; those that travel to a child are no part of its process."""
    sys.path[0] = str(ROOT)
    import engine

    for module in pkgutil.walk_packages(engine.__path__, "engine."):
        if not module.name.startswith(("engine.run.child", "engine.__main__")):
            importlib.import_module(module.name)


def _become(words: Sequence[str], cwd: str, streams: Sequence[str]) -> None:
    """This process is the command now."""
    os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, file in enumerate(streams, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.path[0] = cwd
    sys.argv = [str(ROOT / "engine" / "__main__.py"), *words]
    from engine.__main__ import main

    main()


if __name__ == "__main__":
    _serve()
