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
    found = []
    for path, source in files.items():
        if not path.endswith((".py", ".ipynb")) or skipped.search(path) or b"Module" not in source:
            continue
        tree = parsed(source)
        if tree is None:
            continue
        for points, name in _rated(tree, find):
            points -= 3 * bool(re.search(find.aside, path))
            found.append((-points, path.endswith(".ipynb"), path.count("/"), path, name))
    return [Candidate(path, name) for *_, path, name in sorted(found)]


def _rated(tree: ast.Module, find: Finding) -> Iterator[tuple[int, str]]:
    own = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    texts = {name: ast.unparse(node) for name, node in own.items()}
    for name, node in own.items():
        methods = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef)}
        if "forward" not in methods or not node.bases:
            continue
        if "__init__" not in methods and not any(
            isinstance(base, ast.Name) and base.id in own for base in node.bases
        ):
            continue
        init = ast.unparse(methods["__init__"]) if "__init__" in methods else ""
        arguments = " ".join(a.arg for a in methods["forward"].args.args[1:])
        points = _points(find.class_name, name) + _points(find.constructor, init)
        points += _points(find.forward, arguments)
        users = sum(
            1 for other, text in texts.items() if other != name and re.search(rf"\b{name}\(", text)
        )
        points -= 3 * users
        if points >= find.least:
            yield points, name


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
