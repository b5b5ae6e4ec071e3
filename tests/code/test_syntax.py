"""Two threads may parse at the same time."""

from __future__ import annotations

import ast
import gc
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.code import syntax

ENGINE = Path(syntax.__file__).parent
TIMES, THREADS = 25, 3


@pytest.fixture
def turns() -> Iterator[None]:
    """Threads take turns in the middle of everything, wherever Python runs Python."""

    def beside(*_: object) -> None:
        sum(range(2000))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    gc.callbacks.append(beside)
    yield
    gc.callbacks.remove(beside)
    sys.setswitchinterval(before)


def failures(parse: Callable[[str], object]) -> list[BaseException]:
    """What threads get that parse one long text."""
    text = Path(ast.__file__).read_text("utf-8")
    found: list[BaseException] = []

    def work() -> None:
        for _ in range(TIMES):
            try:
                parse(text)
            except SystemError as error:
                found.append(error)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_threads_that_parse_do_not_meet(turns: None) -> None:
    assert failures(syntax.parse) == []


def test_nothing_in_the_engine_parses_past_it() -> None:
    """But in the child, which has one thread, and imports nothing of the engine's."""
    own = [p for p in ENGINE.rglob("*.py") if "child" not in p.parts and p.name != "syntax.py"]
    assert own
    past = [p.name for p in own if re.search(r"\bast\.parse\(|ONLY_AST", p.read_text("utf-8"))]
    assert past == []


def test_a_file_without_warnings_and_an_expression() -> None:
    assert isinstance(syntax.parse("x = 1 is 1\n").body[0], ast.Assign)
    assert isinstance(syntax.parse_expression("1 + 2"), ast.BinOp)
    with pytest.raises(SyntaxError, match="invalid syntax"):
        syntax.parse(b"x = = 1", "model.py")
