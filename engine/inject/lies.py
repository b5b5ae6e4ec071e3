"""Comments and docstrings that state the healthy fact beside the bug. They go with the edit: `# divided by
sqrt(d)` above scores that are divided by nothing tells where the bug is.

A break names the words that such a comment uses (`lies:`, beginnings of words). Looked at is the class or the
function that was changed, what stands right above it, and the docstring of the module. Of a docstring the
sentences go that lie. Every other byte stays.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from engine.code.source import Edit, Source
from engine.code.syntax import walked

TOOLS = re.compile(
    r"#\s*(type:|noqa|fmt:|ruff:|pylint:|pragma:|!|-\*-)"
)  # these are not for people
STRING = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')(.*)\1", re.S)
HEADING = re.compile(r"[^\n]+\n\s*[-=]{3,}\s*\n")  # of a section, as numpydoc has it
GAP = re.compile(r"(\n[^\S\n]*\n\s*)")  # between paragraphs
ITEM = r"(?:[-*•]|\d+[.)]) "  # of a list
SENTENCE = re.compile(rf"(?:\d+\.)?\s*\S.*?(?:[.!?](?=\s|$)\s*|\n\s*(?={ITEM})|$)", re.S)
FAR = 8  # columns to the right of any block below
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
Lies = Callable[[str], bool]


class Comment(NamedTuple):
    """A comment, or several lines of them, up to line `last`: the bytes to take away, and what they say."""

    last: int
    start: int
    end: int
    text: str


def without_lies(path: str, healthy: bytes, broken: bytes, words: Sequence[str]) -> bytes:
    """The broken file without what lies in it, and without the gap where something has gone. words:
    beginnings of words.
    """
    source = Source(path, broken)
    below = _touched(healthy, broken)
    changed = [
        node
        for node in source.module.body
        if isinstance(node, DEFINITIONS) and below & {*_lines(node)}
    ]
    lies = _telling(words)
    beside = {line for node in changed for line in (*_lines(node), _lines(node).start - 1)}
    beside |= {line - 1 for line in below} | below
    edits = [
        Edit(path, one.start, one.end, "")
        for one in _comments(source)
        if one.last in beside and lies(one.text)
    ]
    quiet = _closed(healthy, source.apply([*edits, *_docstrings(source, changed, lies)]))
    try:
        ast.parse(quiet)
    except (SyntaxError, ValueError):  # a body that was its docstring
        return broken
    return quiet


def _closed(healthy: bytes, broken: bytes) -> bytes:
    """Without the blank lines that met when what stood between them went."""
    old, new = healthy.splitlines(), broken.splitlines(keepends=True)
    gone: set[int] = set()
    for tag, _, _, at, _ in difflib.SequenceMatcher(
        None, old, [line.rstrip(b"\r\n") for line in new], autojunk=False
    ).get_opcodes():
        above = next((n for n in range(at - 1, -1, -1) if n not in gone), at)
        if tag == "delete" and at < len(new) and not new[above].strip() and not new[at].strip():
            gone.add(at)
    return b"".join(line for n, line in enumerate(new) if n not in gone)


def _telling(words: Sequence[str]) -> Lies:
    """Whether a text has a word that begins so."""
    if not words:
        return lambda text: False
    begins = "|".join(re.escape(word.lower()) for word in words)
    found = re.compile(rf"(?<![^\W_])(?:{begins})")
    return lambda text: found.search(text.lower()) is not None


def _touched(healthy: bytes, broken: bytes) -> set[int]:
    """The lines of the broken file that are new, and those before which something is new or gone."""
    old, new = healthy.splitlines(), broken.splitlines()
    found: set[int] = set()
    for tag, _, _, a, b in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found |= {*range(a + 1, b + 2)}
    return found


def _lines(node: ast.stmt) -> range:
    decorators = getattr(node, "decorator_list", ())
    return range(min(n.lineno for n in (*decorators, node)), (node.end_lineno or node.lineno) + 1)


def _comments(source: Source) -> Iterator[Comment]:
    """Comments behind code one by one, with the lines below that go on far to the right; those on lines of
    their own in blocks.
    """
    alone: list[Comment] = []
    behind: list[Comment] = []
    below, indent = (
        0,
        0,
    )  # the line on which the last one behind code would go on, and its code's indentation
    for token in tokenize.tokenize(io.BytesIO(source.data).readline):
        if token.type != tokenize.COMMENT or TOOLS.match(token.string):
            continue
        line, column = token.start
        before = token.line[:column]
        start = source.offset(line, len(before.encode()))
        end = start + len(token.string.encode(source.encoding))
        if before.strip():
            start -= len(before) - len(before.rstrip())
            behind.append(Comment(line, start, end, token.string))
            below, indent = line + 1, len(before) - len(before.lstrip())
        elif line == below and column > indent + FAR:
            last = behind.pop()
            behind.append(Comment(last.last, last.start, end, f"{last.text} {token.string}"))
            below = line + 1
        else:
            line_end = re.compile(rb"\r\n|\r|\n|$").match(source.data, end)
            end = line_end.end() if line_end else end
            alone.append(Comment(line, source.offset(line, 0), end, token.string))
    yield from behind
    for _, group in groupby(enumerate(alone), key=lambda one: one[1].last - one[0]):
        block = [comment for _, comment in group]
        text = " ".join(comment.text for comment in block)
        yield Comment(block[-1].last, block[0].start, block[-1].end, text)


def _docstrings(source: Source, changed: Sequence[ast.stmt], lies: Lies) -> Iterator[Edit]:
    """The sentences of docstrings that lie; all of one of which nothing is left."""
    inside = [n for top in changed for n in walked(top) if isinstance(n, DEFINITIONS)]
    for node in (source.module, *inside):
        if ast.get_docstring(node, clean=False) is None:
            continue
        start, end = source.span(node.body[0])
        text = source.text(start, end)
        string = STRING.fullmatch(text)
        if string is None:
            continue
        told = _without_sentences(string[2], lies)
        if told == string[2]:
            continue
        if told.strip():
            quotes = text.index(string[1]) + len(string[1])
            yield Edit(source.path, start, end, text[:quotes] + told + string[1])
        elif len(node.body) > 1 or isinstance(node, ast.Module):
            line = source.offset(node.body[0].lineno, 0)
            below = source.data.find(b"\n", end) + 1 or len(source.data)
            own_lines = not source.data[line:start].strip() and not source.data[end:below].strip()
            yield Edit(source.path, *((line, below) if own_lines else (start, end)), "")


def _without_sentences(text: str, lies: Lies) -> str:
    """A docstring's text without its sentences that lie, and without paragraphs of which none is left."""
    parts = GAP.split(text)
    paragraphs, gaps = parts[::2], [*parts[1::2], ""]
    true = [_true(paragraph, lies) for paragraph in paragraphs]
    if true == paragraphs:
        return text
    kept = "".join(told + gap for told, gap in zip(true, gaps, strict=True) if told.strip())
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if not true[0].strip() and HEADING.match(kept.strip()):
        head = tail  # no sentence of its own: the list of parameters begins on a line of its own
    return head + kept.strip() + tail if kept.strip() else ""


def _true(paragraph: str, lies: Lies) -> str:
    """A paragraph without its sentences that lie."""
    start = len(paragraph) - len(paragraph.lstrip())
    sentences = SENTENCE.findall(paragraph[start:])
    true = [sentence for sentence in sentences if not lies(sentence)]
    if len(true) == len(sentences):
        return paragraph
    return paragraph[:start] + "".join(true).rstrip() + paragraph[len(paragraph.rstrip()) :]
