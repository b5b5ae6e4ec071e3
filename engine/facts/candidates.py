"""Which classes of a tree may be a whole model, and which files may be training scripts; by text alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from engine.facts.experiments import Candidate
from engine.facts.pack import Finding


@lru_cache(maxsize=4096)
def parsed(source: bytes) -> ast.Module | None:
    """The tree of a file, None where it cannot be parsed."""
    try:
        return ast.parse(source.decode("utf-8", "replace").lstrip("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def classes(files: Mapping[str, bytes], find: Finding) -> list[Candidate]:
    """Classes that may be a model, likely ones first."""
    skipped = re.compile(find.skipped, re.I)
    trees = {}
    for path, source in files.items():
        if path.endswith((".py", ".ipynb")) and not skipped.search(path) and b"class " in source:
            tree = parsed(source)
            if tree is not None:
                trees[path] = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    everywhere = {name: node for own in trees.values() for name, node in own.items()}
    found = []
    for path, own in trees.items():
        for points, name in _rated(own, everywhere, find):
            likely = points >= find.least
            points -= 3 * bool(re.search(find.aside, path))
            place = path.endswith(".ipynb"), path.count("/"), path, name
            found.append((not likely, -points, *place))
    return [Candidate(path, name, likely=not last) for last, *_, path, name in sorted(found)]


def unparsed(files: Mapping[str, bytes], find: Finding) -> tuple[str, int, str] | None:
    """(file, line, why) of the first file with a class that is not Python."""
    skipped = re.compile(find.skipped, re.I)
    for path, source in sorted(files.items()):
        if path.endswith(".py") and not skipped.search(path) and b"class " in source:
            try:
                ast.parse(source)
            except SyntaxError as error:
                return path, error.lineno or 1, error.msg
            except (ValueError, RecursionError, MemoryError) as error:
                return path, 1, str(error)
    return None


def library(files: Mapping[str, bytes], find: Finding) -> tuple[str, str] | None:
    """(name, file) of what makes a model that the tree does not define; None where nothing is seen."""
    for path, source in files.items():
        found = path.endswith((".py", ".ipynb")) and re.search(
            find.library, source.decode("utf-8", "replace"), re.M
        )
        if found:
            return next(name for name in found.groups() if name), path
    return None


def _rated(
    own: Mapping[str, ast.ClassDef], everywhere: Mapping[str, ast.ClassDef], find: Finding
) -> Iterator[tuple[int, str]]:
    texts = {name: ast.unparse(node) for name, node in own.items()}
    for name, node in own.items():
        line = _line(node, {**everywhere, **own})
        if not any(re.search("Module|Model", ast.unparse(b)) for one in line for b in one.bases):
            continue
        methods = [{f.name: f for f in one.body if isinstance(f, ast.FunctionDef)} for one in line]
        forward = next((found["forward"] for found in methods if "forward" in found), None)
        if forward is None or not any("__init__" in found for found in methods):
            continue
        init = " ".join(ast.unparse(found["__init__"]) for found in methods if "__init__" in found)
        arguments = " ".join(a.arg for a in forward.args.args[1:])
        points = _points(find.class_name, name) + _points(find.constructor, init)
        points += _points(find.forward, arguments)
        users = sum(
            1 for other, text in texts.items() if other != name and re.search(rf"\b{name}\(", text)
        )
        points -= 3 * users
        if points >= 1:
            yield points, name


def _line(node: ast.ClassDef, known: Mapping[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """A class and those of the tree that it comes from, itself first."""
    found = [node]
    for one in found:
        for base in one.bases:
            named = known.get(base.id if isinstance(base, ast.Name) else getattr(base, "attr", ""))
            if named is not None and named not in found:
                found.append(named)
    return found


def _points(patterns: Mapping[str, int], text: str) -> int:
    return sum(points for pattern, points in patterns.items() if re.search(pattern, text))


def scripts(files: Mapping[str, bytes], finding: Mapping[str, Any]) -> list[str]:
    """Files that train when they are run, likely ones first."""
    skipped = re.compile(finding["skipped"], re.I)
    found = []
    for path, source in files.items():
        if not path.endswith((".py", ".ipynb")) or skipped.search(path):
            continue
        text = source.decode("utf-8", "replace")
        if not all(re.search(pattern, text) for pattern in finding["needs"]):
            continue
        if not re.search(finding["starts"], text, re.M):
            continue  # nothing happens when it is run
        points = _points(finding["points"], f"{path}\n{text}")
        found.append((-points, path.endswith(".ipynb"), path.count("/"), path))
    return [path for *_, path in sorted(found)]


def functions(files: Mapping[str, bytes], finding: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(path, function) of samplers that take a model, likely ones first."""
    skipped = re.compile(finding["skipped"], re.I)
    found = []
    for path, source in files.items():
        if not path.endswith((".py", ".ipynb")) or skipped.search(path):
            continue
        tree = parsed(source) if re.search(rb"def \w*(gener|sampl|decod)", source) else None
        for node in tree.body if tree else ():
            if isinstance(node, ast.FunctionDef) and re.search(finding["functions"], node.name):
                first = [a.arg for a in node.args.args[:2]]
                if any(re.search(finding["model"], name) for name in first):
                    found.append((path.count("/"), path, node.name))
    return [(path, name) for _, path, name in sorted(found)]
