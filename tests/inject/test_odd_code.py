"""Odd but correct ways to write the same model: the bug goes in all the same.

The package `oddities` of the corpus has tabs, slots, decorators and prints of its own; here whole
packages are rewritten, one way at a time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

import pytest
from trees import BREAKS, corpus_tree

from engine.flows import break_ as planning
from engine.run.types import Tree

PACKAGE = "src/minimodel"
Modules = dict[str, ast.Module]  # by path
WATCH = """\
import functools
KNOWN = {}
def watched(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner
def registered(cls):
    KNOWN[cls.__name__] = cls
    return cls
"""


def dotted(path: str) -> list[str]:
    """src/minimodel/nn/loss.py -> minimodel, nn, loss."""
    parts = PurePosixPath(path).relative_to("src").with_suffix("").parts
    return list(parts[:-1] if parts[-1] == "__init__" else parts)


def after_the_head(module: ast.Module, text: str) -> None:
    """Put statements after the docstring and the imports from the future."""
    at = 0
    for i, node in enumerate(module.body):
        text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if (isinstance(node, ast.ImportFrom) and node.module == "__future__") or text_alone:
            at = i + 1
        else:
            break
    module.body[at:at] = ast.parse(text).body


def folder_of(path: str) -> list[str]:
    """The package that a file's relative imports start from."""
    return dotted(path) if path.endswith("__init__.py") else dotted(path)[:-1]


def own_imports(modules: Modules) -> Iterable[tuple[str, ast.ImportFrom, list[str]]]:
    """The `from ... import ...` of the package's own modules: file, statement, module."""
    for path, module in modules.items():
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom):
                here = folder_of(path)
                base = here[: len(here) - node.level + 1] if node.level else []
                target = base + (node.module.split(".") if node.module else [])
                if target[0] == "minimodel":
                    yield path, node, target


def layers(modules: Modules) -> Iterable[tuple[ast.Module, ast.ClassDef]]:
    """The classes of the layers with a forward of their own, and their modules."""
    for path, module in modules.items():
        if path.startswith(f"{PACKAGE}/nn/"):
            for node in list(module.body):
                if isinstance(node, ast.ClassDef) and forward_of(node):
                    yield module, node


def forward_of(layer: ast.ClassDef) -> ast.FunctionDef | None:
    """The method that does the work."""
    names = ("forward", "__call__")
    return next((n for n in layer.body if getattr(n, "name", None) in names), None)


def relative_imports(modules: Modules) -> None:
    """from ..tensor import Tensor"""
    for path, node, target in own_imports(modules):
        here = folder_of(path)
        common = 0
        while common < min(len(here), len(target)) and here[common] == target[common]:
            common += 1
        node.level = len(here) - common + 1
        node.module = ".".join(target[common:]) or None


def absolute_imports(modules: Modules) -> None:
    """from minimodel.tensor import Tensor"""
    for _, node, target in own_imports(modules):
        node.level, node.module = 0, ".".join(target)


def star_imports(modules: Modules) -> None:
    """from minimodel.tensor import *"""
    hidden = {name for module in modules.values() for name in exported(module)}
    for path, node, target in own_imports(modules):
        a_module = f"src/{'/'.join(target)}.py" in modules and node in modules[path].body
        plain = not any(a.asname or a.name.startswith("_") for a in node.names)
        if a_module and plain and not hidden & {a.name for a in node.names}:
            node.names = [ast.alias("*")]


def exported(module: ast.Module) -> set[str]:
    """The names in __all__."""
    return {
        constant.value
        for node in module.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for constant in ast.walk(node.value)
        if isinstance(constant, ast.Constant)
    }


def conditional_imports(modules: Modules) -> None:
    """try: import cupy as np"""
    text = "try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np"
    for module in modules.values():
        for i, node in enumerate(module.body):
            if isinstance(node, ast.Import) and ast.unparse(node) == "import numpy as np":
                module.body[i] = ast.parse(text).body[0]


def decorators(modules: Modules) -> None:
    """@registered on classes, @watched on what they do"""
    for module, layer in layers(modules):
        layer.decorator_list.insert(0, ast.Name("registered"))
        forward_of(layer).decorator_list.insert(0, ast.Name("watched"))
        after_the_head(module, "from minimodel._watch import registered, watched")
    modules[f"{PACKAGE}/_watch.py"] = ast.parse(WATCH)


def partials(modules: Modules) -> None:
    """rope = functools.partial(_rope)"""
    wanted = ("cross_entropy", "scaled_dot_product_attention", "rope", "gelu", "sinusoidal")
    for module in modules.values():
        for node in list(module.body):
            if isinstance(node, ast.FunctionDef) and node.name in wanted:
                name = node.name
                node.name = f"_{name}"
                text = f"import functools\n{name} = functools.partial(_{name})"
                at = module.body.index(node) + 1
                module.body[at:at] = ast.parse(text).body


def moved_away(modules: Modules) -> None:
    """Each file a facade of another"""
    for path in [p for p in modules if p.startswith(f"{PACKAGE}/nn/") and "__init__" not in p]:
        body = [n for n in modules[path].body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
        body += [n for n in modules[path].body if isinstance(n, (ast.Assign, ast.AnnAssign))]
        names = [
            getattr(n, "name", None) or ast.unparse(getattr(n, "target", None) or n.targets[0])
            for n in body
        ]
        names = [name for name in names if name.isidentifier()]
        if names:
            other = path.replace(".py", "_body.py")
            modules[other] = modules[path]
            modules[path] = ast.parse(f"from {'.'.join(dotted(other))} import {', '.join(names)}")


def put_on_later(modules: Modules) -> None:
    """LMHead.forward = forward_of_lmhead"""
    for module, layer in layers(modules):
        forward = forward_of(layer)
        if forward.decorator_list or "super" in ast.unparse(forward):
            continue
        layer.body.remove(forward)
        layer.body = layer.body or [ast.Pass()]
        method, forward.name = forward.name, f"forward_of_{layer.name.lower()}"
        at = module.body.index(layer) + 1
        put = ast.parse(f"{layer.name}.{method} = {forward.name}").body
        module.body[at:at] = [forward, *put]


def mixed_in(modules: Modules) -> None:
    """class LMHead(_LMHeadWork, Module)"""
    for module, layer in layers(modules):
        forward = forward_of(layer)
        layer.body.remove(forward)
        layer.body = layer.body or [ast.Pass()]
        work = ast.parse(f"class _{layer.name}Work: pass").body[0]
        work.body = [forward]
        layer.bases.insert(0, ast.Name(work.name))
        module.body.insert(module.body.index(layer), work)


def scripts(modules: Modules) -> None:
    """print on import, and a block that runs alone"""
    for module in modules.values():
        text = "print('loaded', __name__)\nif __name__ == '__main__':\n    print(sorted(globals()))"
        module.body += ast.parse(text).body


def in_branches(modules: Modules) -> None:
    """if sys.version_info >= (3,): class LMHead"""
    for path, module in modules.items():
        if path.startswith(f"{PACKAGE}/nn/"):
            for i, node in enumerate(module.body):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    text = f"if sys.version_info >= (3,): pass\nelse:\n    {node.name} = None"
                    branch = ast.parse(text).body[0]
                    branch.body = [node]
                    module.body[i] = branch
            after_the_head(module, "import sys")


def as_expressions(modules: Modules) -> None:
    """gelu = lambda x: ..., where a function is a single return"""
    for module in modules.values():
        for i, node in enumerate(module.body):
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                body = [
                    n for n in node.body if not isinstance(getattr(n, "value", None), ast.Constant)
                ]
                if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value:
                    for arg in ast.walk(node.args):
                        if isinstance(arg, ast.arg):
                            arg.annotation = None
                    made = ast.Lambda(node.args, body[0].value)
                    module.body[i] = ast.Assign([ast.Name(node.name)], made)


def another_self(modules: Modules) -> None:
    """def forward(me, x): return me.weight * x"""
    for module in modules.values():
        for kind in (n for n in ast.walk(module) if isinstance(n, ast.ClassDef)):
            for method in (n for n in kind.body if isinstance(n, ast.FunctionDef)):
                for node in ast.walk(method):
                    if isinstance(node, ast.arg) and node.arg == "self":
                        node.arg = "me"
                    if isinstance(node, ast.Name) and node.id == "self":
                        node.id = "me"


WAYS: dict[str, Callable[[Modules], None]] = {
    way.__name__.replace("_", " "): way
    for way in (
        relative_imports, absolute_imports, star_imports, conditional_imports, decorators, partials, moved_away,
        put_on_later, mixed_in, scripts, in_branches, as_expressions,
        another_self,
    )
}  # fmt: skip
BASES = ("einsum", "properties", "spanish")
ALREADY = {
    ("einsum", "absolute imports"),
    ("properties", "relative imports"),
    ("spanish", "relative imports"),
}


def rewritten(tree: Tree, way: str) -> Tree:
    """A package written in another way, without its comments."""
    modules = {path: ast.parse(data) for path, data in tree.files.items()}
    WAYS[way](modules)
    files = {
        path: ast.unparse(ast.fix_missing_locations(module)).encode()
        for path, module in modules.items()
    }
    plain = {path: ast.unparse(ast.parse(data)).encode() for path, data in tree.files.items()}
    assert files != plain
    return tree.replaced(files)


def pairs() -> Iterable:
    """Every way in every base with every break; each way once in the normal run."""
    for i, way in enumerate(WAYS):
        for j, name in enumerate(BASES):
            for k, id in enumerate(BREAKS):
                often = (j, k) == (i % len(BASES), i % len(BREAKS))
                if (name, way) not in ALREADY:
                    yield pytest.param(way, name, id, marks=() if often else pytest.mark.slow)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("way", "name", "id"), list(pairs()))
def test_the_bug_goes_into_odd_code(servers, catalogue, way, name, id):
    """It bites, in few lines of code that Python still takes."""
    tree = rewritten(corpus_tree(name), way)
    injection = planning.plan_break(servers, catalogue, id, tree, seed=21).injection
    assert 1 <= injection.changed_lines <= 8
    for path, data in injection.files.items():
        assert ast.dump(ast.parse(data)) != ast.dump(ast.parse(tree.files[path]))
