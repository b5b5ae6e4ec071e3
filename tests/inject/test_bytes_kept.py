"""Outside the lines of the bug every byte is the learner's own, however they write their files."""

from __future__ import annotations

import ast
import difflib
import io
import itertools
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Sequence

import pytest
from trees import BREAKS, NAMES, corpus_tree

from engine.code.source import BOM
from engine.errors import NotApplicable
from engine.flows import break_ as planning

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
ENDS = (tokenize.NEWLINE, tokenize.NL)


def own_text(data: bytes) -> str:
    """A file as text with plain line ends, and no declaration of an encoding."""
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    text = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"\A(#.*\n)?#.*coding[:=].*\n", r"\1#\n", text)


def suffixed(text: str, suffix: str) -> str:
    """Every line with something at its end where a comment may stand."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in ENDS and token.string:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column] + suffix + lines[row - 1][column:]
    return "".join(lines)


def starts(text: str) -> list[tuple[int, int, ast.stmt]]:
    """Line, column in characters, and statement of all that begin a line, the last first."""
    lines = text.splitlines()
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            before = lines[node.lineno - 1].encode()[: node.col_offset].decode()
            if not before.strip():
                found[node.lineno] = (node.lineno, len(before), node)
    return sorted(found.values(), key=lambda place: place[:2], reverse=True)


def prefixed(text: str, prefix: str) -> str:
    """Simple statements with another before them on their line, but not what must come first."""
    lines = text.splitlines(keepends=True)
    for row, column, node in starts(text)[:-1]:
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not hasattr(node, "body") and not isinstance(node, ast.Match) and not future:
            lines[row - 1] = lines[row - 1][:column] + prefix + lines[row - 1][column:]
    return "".join(lines)


def indented(text: str, unit: str) -> str:
    """The same with another indentation, but not inside of texts."""
    text = text.expandtabs(4)
    lines = text.splitlines(keepends=True)
    old = min((column for _, column, _ in starts(text) if column), default=4)
    inside = {
        row
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.STRING
        for row in range(token.start[0] + 1, token.end[0] + 1)
    }
    for i, line in enumerate(lines):
        levels, rest = divmod(len(line) - len(line.lstrip(" ")), old)
        if i + 1 not in inside:
            lines[i] = unit * levels + " " * rest + line.lstrip(" ")
    return "".join(lines)


def ended(text: str, ends: Sequence[str]) -> bytes:
    """The lines with these ends in turn; an empty line does not join the end before it."""
    given = itertools.cycle(ends)
    lines = text.split("\n")
    return (
        "".join(
            line + ("\r\n" if end == "\r" and ends[0] != "\r" and not after else end)
            for line, after, end in zip(lines, lines[1:], given, strict=False)
        ).encode()
        + lines[-1].encode()
    )


def encoded(text: str, encoding: str, mark: str) -> bytes:
    """Something that is not ASCII before, on and after every line, in this encoding."""
    strange = suffixed(prefixed(text, f"'{mark}'; "), f"  # {mark}")
    head = f"# -*- coding: {encoding} -*-\n"
    return (head + strange).encode(encoding, "xmlcharrefreplace")


def fed(text: str) -> str:
    """A form feed at the start of every other statement's line."""
    lines = text.splitlines(keepends=True)
    for row, _, node in starts(text)[::2]:
        if not getattr(node, "decorator_list", None):
            lines[row - 1] = "\f" + lines[row - 1]
    return "".join(lines)


FORMS: dict[str, Callable[[str], bytes]] = {
    "crlf": lambda text: ended(text, ["\r\n"]),
    "old mac": lambda text: ended(text, ["\r"]),
    "mixed ends": lambda text: ended(text, ["\r\n", "\n", "\r"]),
    "bom": lambda text: BOM + text.encode(),
    "utf-8": lambda text: encoded(text, "utf-8", "ñ€𝛼"),
    "latin-1": lambda text: encoded(text, "latin-1", "ñü"),
    "shift_jis": lambda text: encoded(text, "shift_jis", "表"),
    "tabs": lambda text: indented(text, "\t").encode(),
    "another indentation": lambda text: indented(text, "   ").encode(),
    "no final newline": lambda text: text.rstrip("\n").encode(),
    "form feed": lambda text: fed(text).encode(),
    "trailing spaces": lambda text: suffixed(text, "  \t ").encode(),
    "a comment on each line": lambda text: suffixed(text, "  # so").encode(),
}


def changed_lines(old: bytes, new: bytes) -> int:
    """Lines, with their ends, that are not in both: the greater of those that went and came."""
    matcher = difflib.SequenceMatcher(None, LINE.findall(old), LINE.findall(new), autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def ends_of(data: bytes) -> set[bytes]:
    """The kinds of line ends in a file."""
    return set(re.findall(rb"\r\n|\r|\n", data))


def pairs():
    """Every form in every implementation with every break; each form once in the normal run."""
    for i, form in enumerate(FORMS):
        for j, name in enumerate(NAMES):
            for k, id in enumerate(BREAKS):
                often = name != "scalar" and (j, k) == (i % len(NAMES), i % len(BREAKS))
                yield pytest.param(form, name, id, marks=() if often else pytest.mark.slow)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("form", "name", "id"), list(pairs()))
def test_only_the_lines_of_the_bug_change(servers, catalogue, tmp_path, form, name, id):
    """Same bytes around it, the same line ends and encoding, and Python takes the file."""
    own = corpus_tree(name)
    tree = own.replaced({path: FORMS[form](own_text(data)) for path, data in own.files.items()})
    try:
        injection = planning.plan_break(servers, catalogue, id, tree, seed=5).injection
    except NotApplicable:
        with pytest.raises(NotApplicable):  # and the fault is not one of bytes
            planning.plan_break(servers, catalogue, id, own, seed=5)
        pytest.skip(f"{id} does not go into {name} in any form; test_reach.py says so")
    assert injection.files
    for i, (path, new) in enumerate(injection.files.items()):
        old = tree.files[path]
        assert changed_lines(old, new) <= 8
        assert new.startswith(BOM) == old.startswith(BOM)
        assert ends_of(new) <= ends_of(old)
        codec = tokenize.detect_encoding(io.BytesIO(old).readline)[0]
        assert tokenize.detect_encoding(io.BytesIO(new).readline)[0] == codec
        new.decode(codec)
        (tmp_path / f"broken{i}.py").write_bytes(new)
    words = [sys.executable, "-m", "py_compile", *map(str, tmp_path.glob("*.py"))]
    subprocess.run(words, check=True, capture_output=True)
    total = sum(changed_lines(tree.files[path], new) for path, new in injection.files.items())
    assert total == injection.changed_lines
