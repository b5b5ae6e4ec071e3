"""A guarded YAML reader: plain data and the place of everything, or a SpecError that points.

Refused: anchors and aliases, tags, duplicate keys, keys that are not strings, tabs as indentation,
more than one document, more than 1 MB, nesting deeper than 24. The events are read one by one, so
neither nesting nor aliases can exhaust the stack or the memory (libyaml before 0.2.6 crashes on the one,
PyYAML's pure loader hangs on the other).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml

from engine.errors import SpecError

MAX_BYTES = 1 << 20
MAX_DEPTH = 24
TOO_DEEP = f"Nested deeper than {MAX_DEPTH} levels."

Path = tuple[str | int, ...]


class Mark(NamedTuple):
    """A place in a file, counted from 1."""

    line: int
    column: int


class Document(NamedTuple):
    """A YAML document: its plain data, and where each key and item stands."""

    data: Any
    marks: dict[Path, Mark]
    file: str

    def where(self, path: Path) -> str:
        """file:line:column of the nearest place that is known."""
        while path and path not in self.marks:
            path = path[:-1]
        mark = self.marks.get(path, Mark(1, 1))
        return f"{self.file}:{mark.line}:{mark.column}"


def read(source: bytes, file: str) -> Document:
    """The document in `source`; `file` is what errors name. Raises SpecError."""
    if len(source) > MAX_BYTES:
        raise SpecError(f"The file is larger than {MAX_BYTES:,} bytes.", where=f"{file}:1:1")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise SpecError("The file is not UTF-8.", where=f"{file}:{line}:1") from None
    if not text.strip():
        raise SpecError("The file is empty.", where=f"{file}:1:1")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(file).build(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else f"{file}:1:1"
        problem = error.problem or "this is not YAML"
        if "nesting depth" in problem:  # libyaml's own limit, from 0.2.6 on; it reads ahead of us
            raise SpecError(TOO_DEEP, where=where) from None
        if "\\t" in problem or _tab_at(text, mark):
            problem = "a tab is used as indentation; YAML takes spaces only"
        raise SpecError(f"Not valid YAML: {problem}.", where=where) from None
    except yaml.YAMLError as error:
        # a character that YAML does not allow: the reader gives its position only
        before = text[: getattr(error, "position", 0) or 0]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        problem = str(error).splitlines()[0]
        raise SpecError(f"Not valid YAML: {problem}.", where=f"{file}:{line}:{column}") from None


def _tab_at(text: str, mark: Any) -> bool:
    if mark is None:
        return False
    lines = text.splitlines()
    near = lines[max(0, mark.line - 1) : mark.line + 1]
    return any("\t" in line[: len(line) - len(line.lstrip())] for line in near)


class _Builder:
    """Turns the event stream into data, with a stack of our own."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.marks: dict[Path, Mark] = {}

    def fail(self, what: str, event: Any) -> SpecError:
        mark = event.start_mark
        return SpecError(what, where=f"{self.file}:{mark.line + 1}:{mark.column + 1}")

    def build(self, events: Any) -> Document:
        stack: list[tuple[Any, Path]] = []  # open collections
        keys: list[str | None] = []  # the key that waits for its value, for each mapping
        root: list[Any] = []
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.fail("Only one document a file.", event)
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise self.fail("Anchors and aliases are not allowed here.", event)
            if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                stack.pop()
                keys.pop()
                continue
            if not isinstance(
                event, (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent)
            ):
                continue
            if event.tag is not None and event.tag != "!":
                raise self.fail(f"Tags ({event.tag}) are not allowed here.", event)
            holder, path = stack[-1] if stack else (root, ())
            if isinstance(holder, dict) and keys[-1] is None:
                if not isinstance(event, yaml.ScalarEvent):
                    raise self.fail("A key must be a word.", event)
                if event.value in holder:
                    raise self.fail(f"The key {event.value!r} stands here twice.", event)
                keys[-1] = event.value
                holder[event.value] = None
                self._mark((*path, event.value), event)
                continue
            value = self._value(event)
            if isinstance(holder, dict):
                key = keys[-1]
                assert key is not None
                holder[key] = value
                here: Path = (*path, key)
                keys[-1] = None
            else:
                holder.append(value)
                here = (*path, len(holder) - 1) if stack else ()
                self._mark(here, event)
            if isinstance(value, (dict, list)):
                if len(stack) >= MAX_DEPTH:
                    raise self.fail(TOO_DEEP, event)
                stack.append((value, here))
                keys.append(None)
        if not root or root[0] is None:
            raise SpecError("The file is empty.", where=f"{self.file}:1:1")
        return Document(root[0], self.marks, self.file)

    def _mark(self, path: Path, event: Any) -> None:
        self.marks[path] = Mark(event.start_mark.line + 1, event.start_mark.column + 1)

    def _value(self, event: Any) -> Any:
        if isinstance(event, yaml.MappingStartEvent):
            return {}
        if isinstance(event, yaml.SequenceStartEvent):
            return []
        if not event.implicit[0]:  # quoted, or a block
            return event.value
        return plain(event.value)


def plain(text: str) -> Any:
    """An unquoted scalar -> None, bool, int, float or the text itself (YAML 1.2 core, no octal)."""
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if "_" not in text else text
    except ValueError:
        pass
    try:
        return float(text) if text[0] in "+-.0123456789" and "_" not in text else text
    except ValueError:
        return text
