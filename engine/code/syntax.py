"""Python text -> `ast`, one text at a time.

Python before 3.11.8 (and 3.12 before 3.12.2) counts the depth of all threads' trees in one place, so
that two threads that parse at the same time may get `SystemError: AST constructor recursion depth
mismatch` (https://github.com/python/cpython/issues/106905). Filters of warnings are shared as well.
"""

from __future__ import annotations

import ast
import threading
import warnings

_one_at_a_time = threading.Lock()


def parse(text: str | bytes, path: str = "<unknown>") -> ast.Module:
    """The tree of a file's text, without the warnings of it. Raises SyntaxError, ValueError,
    RecursionError, MemoryError.
    """
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, path)


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. Raises SyntaxError, ValueError, RecursionError, MemoryError."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body
