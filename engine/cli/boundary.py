"""The one boundary where errors become words and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from engine.errors import INTERRUPTED, EngineError, Message

# typer brings its own click since 0.26; this is the base of its usage errors in either case
ClickException: type[Exception] = typer.BadParameter.__mro__[2]


def run(app: Callable[..., object]) -> None:
    """Run a typer app; every error leaves as words and an exit code."""
    words = sys.argv[1:]
    if not words or words == ["dev"]:  # a question, and the answer is the list of commands
        sys.argv.append("--help")
    as_json = "--json" in (words[: words.index("--")] if "--" in words else words)
    _safe_streams()
    try:
        code = app(standalone_mode=False, prog_name="engine")
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except ClickException as error:
        _usage(error, as_json)
    except (KeyboardInterrupt, typer.Abort):
        _interrupted()
    except SystemExit as left:
        if left.code == INTERRUPTED:  # typer leaves this way on Ctrl-C
            _interrupted()
        raise
    except BrokenPipeError:
        _close_quietly()
        sys.exit(0)
    except Exception as error:
        _boundary(error, as_json)


def _safe_streams() -> None:
    """Streams that take any text, also where they are closed or know little of Unicode."""
    import os

    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or stream.closed:
            setattr(sys, name, open(os.devnull, "w"))
        else:
            stream.reconfigure(errors="backslashreplace")


def _usage(error: Any, as_json: bool) -> None:
    from engine.errors import UsageError
    from engine.report.out import emit_error

    context = getattr(error, "ctx", None)
    path = context.command_path if context else "engine"
    emit_error(
        UsageError(error.format_message(), next=Message("{path} --help", path=path)),
        as_json=as_json,
    )
    sys.exit(2)


def _boundary(error: Exception, as_json: bool) -> None:
    from engine.errors import BUG
    from engine.report.out import emit_error

    if isinstance(error, EngineError):
        emit_error(error, as_json=as_json)
        sys.exit(error.exit_code)
    if isinstance(error, ImportError) and "git" in str(error):
        error = _no_git(error)
        emit_error(error, as_json=as_json)
        sys.exit(error.exit_code)
    if isinstance(error, OSError):
        from engine.learner.files import refused

        told = refused(error)
        if told is not None:
            emit_error(told, as_json=as_json)
            sys.exit(told.exit_code)
    from engine.cli.log import write_log

    log = write_log(error)
    bug = EngineError(
        Message(
            "This is a bug in the engine ({name}: {error}).", name=type(error).__name__, error=error
        ),
        where=Message("log: {file}", file=log),
        next=Message("Please report it with the log; your own code was not touched."),
    )
    bug.exit_code = BUG
    emit_error(bug, as_json=as_json)
    sys.exit(BUG)


def _no_git(error: ImportError) -> EngineError:
    """git is asked for its version when it is first needed, and may not even answer that."""
    from engine.errors import StorageError

    lines = [line.strip() for line in str(error).splitlines()]
    told = next((line for line in lines if "fatal:" in line), lines[0])
    return StorageError(
        Message("git does not start: {told}.", told=told.removeprefix("stderr: ").strip("'")),
        next=Message("`git version` says the same; fix what it names."),
    )


def _interrupted() -> NoReturn:
    from engine.report.out import tell
    from engine.report.words import words

    sys.stderr.write("\n")
    tell("engine: " + words("interrupted; nothing half done was left behind."), sys.stderr)
    sys.exit(INTERRUPTED)


def _close_quietly() -> None:
    """Whoever read our output has gone: stop without a traceback."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
