"""A template's modules by the names of a file: `torch.tril` is `t.tril` after `import torch as t`."""

from __future__ import annotations

import ast
import re

from engine.code.source import Source
from engine.code.syntax import walked

MODULES = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "einops": "einops",
    "math": "math",
    "np": "numpy",
}
NAME = re.compile(rf"(?<![\w.$])({'|'.join(MODULES)})(?=\.\w)")
# `nn.` or `$N.` before a layer of torch.
LAYER = re.compile(r"(?:\$[A-Z]\w*|\bnn)\.(?=([A-Z]\w+)\()")


def with_own_names(source: Source, template: str) -> str:
    """A template as this file would write it; names that the file binds itself stay."""
    if not NAME.search(template) and not LAYER.search(template):
        return template
    bound, known = source.names_bound(source.module) or set(), _imported(source)
    template = LAYER.sub(
        lambda found: "" if known.get(f"torch.nn.{found[1]}") == found[1] else found[0], template
    )

    def own(found: re.Match[str]) -> str:
        return found[1] if found[1] in bound else _called(MODULES[found[1]], known) or found[1]

    return NAME.sub(own, template)


def _called(module: str, known: dict[str, str]) -> str:
    """How a file that imports so writes a module; "" where it cannot."""
    if module in known:
        return known[module]
    above, _, last = module.rpartition(".")
    owner = _called(above, known) if above else ""
    return f"{owner}.{last}" if owner else ""


def _imported(source: Source) -> dict[str, str]:
    """Module -> its name in the file."""
    found: dict[str, str] = {}
    for node in walked(source.module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.name if alias.asname else top] = alias.asname or top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[f"{node.module}.{alias.name}"] = alias.asname or alias.name
    return found
