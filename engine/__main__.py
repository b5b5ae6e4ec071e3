"""The way in: the interpreter that runs learner code starts before anything else is imported."""

import atexit
import os
import signal
import sys

RUN_CODE = ("break", "observe", "submit", "submit-build", "submit-fix")


def main() -> None:
    """Run the command, and leave: taking this interpreter apart would take another 40 ms."""
    words = sys.argv[1:]
    code: object = 0
    try:
        if words and words[0] in RUN_CODE and not {"--help", "-h"} & set(words):
            _ahead()
        from engine.cli.learner import main as run

        run()
    except SystemExit as left:
        code = left.code
    except KeyboardInterrupt:  # while importing, or once more while the boundary tells of the first
        sys.stderr.write("\nengine: interrupted.\n")
        code = 130
    if code is None or isinstance(code, int):
        _leave(int(code or 0))
    sys.exit(str(code))


def _ahead() -> None:
    from engine.run.zygote import ahead

    try:
        ahead()
    except Exception:  # whoever needs the interpreter will find out, and can say it
        pass


def _leave(code: int) -> None:
    """End now, after whatever was to be done at the end; an interruption would only leave it undone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads any more
            code = code or 1
    os._exit(code)


if __name__ == "__main__":
    main()
