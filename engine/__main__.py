"""The way in: the interpreter that runs learner code starts before anything else is imported."""

import sys

RUN_CODE = ("break", "observe", "submit", "submit-build", "submit-fix")


def main() -> None:
    """Run the command."""
    words = sys.argv[1:]
    if words and words[0] in RUN_CODE and not {"--help", "-h"} & set(words):
        _ahead()
    from engine.cli import main as run

    run()


def _ahead() -> None:
    from engine.run.zygote import ahead

    try:
        ahead()
    except Exception:  # whoever needs the interpreter will find out, and can say it
        pass


if __name__ == "__main__":
    main()
