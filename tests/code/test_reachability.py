"""What an edit can touch, told from names: nothing that it touches is missed.

Each text in programs/ is a small program. `HERE` stands in a function that `app.main` comes to run in
the way the program is named after, `THERE` in one that it does not. Every one is run as well, so that
it is about Python and not about what we believe of it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
from pathlib import Path

import pytest

from engine.code.imports import closure
from engine.code.reachability import Reachability, changed_parts
from engine.run.types import Tree

PROGRAMS = Path(__file__).parent / "programs"
MARK = re.compile(r"\b(?:HERE|THERE)\b")


def tree(text: str, broken: str = "") -> Tree:
    """The files of a program, with a `raise` at the mark `broken` and nothing at the others."""
    parts = re.split(r"^--- (.*)\n", text, flags=re.MULTILINE)[1:]
    told = MARK.sub(lambda m: "raise RuntimeError" if m[0] == broken else "pass", "\0".join(parts))
    parts = told.split("\0")
    files = {path: body.encode() for path, body in zip(parts[::2], parts[1::2], strict=True)}
    return Tree("", ("",), files, {})


def affected(before: Tree, after: Tree, modules: list[str], names: list[str]) -> bool:
    """Whether code that starts there may tell the trees apart; what names do not tell, may."""
    reach = Reachability(before.files, before.roots)
    found = changed_parts(reach, after.files, modules, names)
    return found is None or bool(found)


def touched(text: str, mark: str) -> bool:
    """Whether the engine says that a change at the mark can be seen from `app.main`."""
    return affected(tree(text), tree(text, mark), ["app"], ["main"])


def result(code: Tree, folder: Path) -> object:
    """What `app.main` gives, or RuntimeError when it comes by the mark."""
    for path, data in code.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module("app").main()
    except RuntimeError:
        return RuntimeError
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(folder)):
                del sys.modules[name]


def programs(*kinds: str) -> dict[str, str]:
    """The programs of these files, by what they are about."""
    found = {}
    for kind in kinds:
        text = (PROGRAMS / f"{kind}.txt").read_text()
        parts = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)[1:]
        found |= {
            f"{kind}: {name}": body for name, body in zip(parts[::2], parts[1::2], strict=True)
        }
    return found


CASES = programs("called", "held", "on_import")
UNUSED = programs("not_run")


@pytest.mark.parametrize("name", CASES)
def test_what_an_edit_changes_was_foretold(name, tmp_path):
    """The function at HERE decides what `main` gives, and is found."""
    healthy, broken = tree(CASES[name]), tree(CASES[name], "HERE")
    assert result(healthy, tmp_path / "healthy") is not RuntimeError
    assert result(broken, tmp_path / "broken") is RuntimeError
    assert touched(CASES[name], "HERE")


@pytest.mark.parametrize("name", CASES)
def test_the_file_of_an_edit_is_among_those_that_are_imported(name):
    """A fix is judged wherever a file that it changes is imported."""
    healthy, broken = tree(CASES[name]), tree(CASES[name], "HERE")
    changed = {path for path in healthy.files if healthy.files[path] != broken.files[path]}
    for code in (healthy, broken):
        files = closure(code.files, code.roots, ["app"])
        assert files is None or changed <= files


@pytest.mark.parametrize("name", [name for name, text in CASES.items() if "THERE" in text])
def test_what_has_nothing_to_do_with_an_edit_is_left_alone(name, tmp_path):
    """The function at THERE is never run, and is not said to be."""
    healthy, broken = tree(CASES[name]), tree(CASES[name], "THERE")
    assert result(healthy, tmp_path / "healthy") == result(broken, tmp_path / "broken")
    assert not touched(CASES[name], "THERE")


@pytest.mark.parametrize("name", UNUSED)
def test_what_is_only_mentioned_is_left_alone(name, tmp_path):
    """What looks like a use and is none."""
    healthy, broken = tree(UNUSED[name]), tree(UNUSED[name], "THERE")
    assert result(healthy, tmp_path / "healthy") == result(broken, tmp_path / "broken")
    assert not touched(UNUSED[name], "THERE")


UNTOLD = {
    "exec": "exec('x = add()')",
    "eval": "eval('add()')",
    "__import__": "__import__('ops').add()",
    "importlib": "importlib.import_module('ops').add()",
    "import_module": "import_module('ops').add()",
    "sys.modules": "getattr(sys.modules['ops'], 'add')()",
    "modules of sys": "getattr(modules['ops'], 'add')()",
    "sys under another name": "getattr(system.modules['ops'], 'add')()",
    "__subclasses__": "Base.__subclasses__()[0]().run()",
    "inspect": "dict(inspect.getmembers(ops))['add']()",
    "inspect, handed on": "(lambda of: dict(of.getmembers(ops))['add'])(inspect)()",
    "inspect, taken apart": "dict(vars(inspect)['getmembers'](ops))['add']()",
    "frames": "sys._getframe().f_globals['add']()",
    "runpy": "runpy.run_path(ops.__file__)['add']()",
    "gc": "[f for f in gc.get_objects() if getattr(f, '__name__', '') == 'ops_add'][0]()",
    "a compiled text": "exec(compile('x = add()', '', 'exec'))",
    "globals that are written": "globals().update(again=ops.add) or again()",
}
HEAD = """\
--- app.py
import sys
import ops
from ops import Base, add
"""
TAIL = """\
--- ops.py
def add():
    HERE
def ops_add():
    HERE
class Base:
    pass
class Sub(Base):
    def run(self):
        HERE
"""
IMPORTS = {
    "importlib": "import importlib",
    "import_module": "from importlib import import_module",
    "modules of sys": "from sys import modules",
    "sys under another name": "import sys as system",
    "inspect": "import inspect",
    "inspect, handed on": "import inspect",
    "inspect, taken apart": "import inspect",
    "runpy": "import runpy",
    "gc": "import gc",
}


@pytest.mark.parametrize("name", UNTOLD)
def test_where_names_do_not_tell_everything_may_be_touched(name, tmp_path):
    """Code that looks names up in a way of its own: then every edit in what it imports counts."""
    text = f"{HEAD}{IMPORTS.get(name, '')}\ndef main(): {UNTOLD[name]}\n{TAIL}"
    broken = tree(text, "HERE")
    assert result(broken, tmp_path / "broken") is RuntimeError
    assert affected(tree(text), broken, ["app"], ["main"])
    one = tree(text.replace("HERE", "THERE", 1), "THERE")  # in `add` alone, whatever is asked for
    assert affected(tree(text), one, ["app"], ["nothing"])


BEFORE = b"def add(): return 1\ndef mul(): return 2\ndef main(): return add()\n"


@pytest.mark.parametrize(
    "after",
    [
        BEFORE + b"def more(): return eval('add')\n",
        BEFORE.replace(b"def main(): return add()\n", b""),
        BEFORE.replace(b"mul()", b"add()"),
        BEFORE.replace(b"mul()", b"mul(x=add())"),
        BEFORE.replace(b"def mul", b"@staticmethod\ndef mul") + b"staticmethod = add\n",
        BEFORE.replace(b"def mul", b"async def mul"),
        BEFORE.replace(b"def mul(): return 2", b"mul = 2"),
        BEFORE.replace(b"return 2", b"return eval('add')"),
    ],
)
def test_a_change_of_more_than_a_body_touches_everything(after):
    """Statements that get another head are not followed, nor those that others need and that go."""
    before = Tree("", ("",), {"app.py": BEFORE}, {})
    assert affected(before, before.replaced({"app.py": after}), ["app"], ["main"])


METHODS = """\
from __future__ import annotations
def used(): return 1
class Other:
    def run(self): return 2
def main(): return used()
"""


@pytest.mark.parametrize(
    ("find", "put", "seen"),
    [
        ("def run(self)", "def run(self, x=used, y=2)", False),
        ("def run(self)", "def run(self) -> tuple[int, used()]", False),
        ("    def run", "    @staticmethod\n    def more(x): return x\n    def run", False),
        ("class Other", "def more(x: list[int]): return x\nclass Other", False),
        ("from __future__ import annotations\n", "", True),
        ("    def run", "    @used\n    def more(x): return x\n    def run", True),
        ("    def run", "    more = 3\n    def run", True),
        ("def used()", "def used(x=2)", True),
    ],
)
def test_a_head_that_only_looks_names_up_is_followed(find, put, seen):
    """Defaults that are names, annotations that nobody computes, wrappers of Python's own."""
    assert find in METHODS
    before = Tree("", ("",), {"app.py": METHODS.encode()}, {})
    after = before.replaced({"app.py": METHODS.replace(find, put).encode()})
    assert affected(before, after, ["app"], ["main"]) is seen
    assert affected(after, before, ["app"], ["main"]) is seen


def test_a_wrapper_of_its_own_is_none_of_pythons():
    """Where a file gives `staticmethod` another meaning it may do anything."""
    own = "def staticmethod(f): return used() or f\n"
    text = METHODS.replace("class Other", f"{own}class Other")
    before = Tree("", ("",), {"app.py": text.encode()}, {})
    more = "    @staticmethod\n    def more(x): return x\n    def run"
    after = before.replaced({"app.py": text.replace("    def run", more).encode()})
    assert affected(before, after, ["app"], ["main"])


def test_a_file_that_comes_or_goes_touches_everything():
    """Another file of the same name may stand in its way."""
    before = Tree("", ("",), {"app.py": BEFORE}, {})
    more = before.replaced({"app.py": BEFORE.replace(b"2", b"3"), "new.py": b""})
    assert affected(before, more, ["app"], ["main"])


def test_a_file_that_does_not_parse_touches_everything_that_imports_it():
    """Nothing can be told of it."""
    files = {
        "app.py": b"import ops\ndef main(): pass\n",
        "ops.py": b"def f(:\n",
        "a.py": b"x = 1\n",
    }
    before = Tree("", ("",), files, {})
    after = before.replaced({"app.py": files["app.py"].replace(b"pass", b"1")})
    assert affected(before, after, ["app"], ["nothing"])
    assert not affected(before, after, ["a"], ["x"])


def test_comments_and_blank_lines_touch_nothing():
    """Only what Python reads counts."""
    before = Tree("", ("",), {"app.py": BEFORE}, {})
    after = before.replaced({"app.py": BEFORE.replace(b"\n", b"  # so\n\n")})
    assert not affected(before, after, ["app"], ["main"])


BOUND = b"\nimport math as left_over\n\n\ndef also(x, n=2):\n    return left_over.sqrt(x) * n\n\n\nLEFT = 3\n"


def with_more(text: str, mark: str) -> tuple[Tree, Tree]:
    """A program, and the same with a change at the mark and new names at the end of that file."""
    healthy, broken = tree(text), tree(text, mark)
    (path,) = (path for path in healthy.files if healthy.files[path] != broken.files[path])
    return healthy, broken.replaced({path: broken.files[path] + BOUND})


@pytest.mark.parametrize("name", CASES)
def test_new_names_hide_no_change(name):
    """Nor do names that go."""
    healthy, more = with_more(CASES[name], "HERE")
    assert affected(healthy, more, ["app"], ["main"])
    assert affected(more, healthy, ["app"], ["main"])


@pytest.mark.parametrize("name", UNUSED)
def test_new_names_are_no_change_of_anything_else(name):
    """A helper, an import or a constant more, beside code that nothing runs."""
    if not touched(UNUSED[name], "THERE"):
        healthy, more = with_more(UNUSED[name], "THERE")
        assert not affected(healthy, more, ["app"], ["main"])
        assert not affected(more, healthy, ["app"], ["main"])


APP = "from tools import *\n\n\ndef main():\n    return len([limit(), 2])\n"
TOOLS = "import math\n\n\ndef limit():\n    return 3\n\n\ndef apart():\n    return 4\n"


@pytest.mark.parametrize(
    ("came", "seen"),
    [
        ("def other():\n    return 1\n", False),
        ("import json, os.path as p\nfrom math import pi\n", False),
        ("TEXT = 'x'\n", False),
        ("def other(x: math.nan = 2, y=limit):\n    return 1\n", False),
        ("def len(x):\n    return 1\n", True),
        ("def __getattr__(name):\n    return 1\n", True),
        ("__all__ = 'apart'\n", True),
        ("TEXT = math.pi = 3\n", True),
        ("def other(x: limit()):\n    return 1\n", True),
        ("def other(x: limit[3]):\n    return 1\n", True),
        ("from statistics import mean as len\n", True),
        ("len = 3\n", True),
        ("from here import other\n", True),
        ("import tools\n", True),
        ("from math import *\n", True),
        ("from . import math\n", True),
        ("from .math import pi\n", True),
        ("print('loaded')\n", True),
        ("@str\ndef other():\n    return 1\n", True),
        ("def other(x=limit()):\n    return 1\n", True),
        ("LIST = [limit]\n", True),
        ("math.pi = 3\n", True),
    ],
)
def test_what_comes_and_goes(came, seen):
    """It is seen where it takes a name that somebody means, or does more than bind one."""
    plain = Tree("", ("",), {"app.py": APP.encode(), "tools.py": TOOLS.encode()}, {})
    more = plain.replaced({"tools.py": (TOOLS + came).encode()})
    assert affected(plain, more, ["app"], ["main"]) is seen
    assert affected(more, plain, ["app"], ["main"]) is seen


def test_how_annotations_are_read_is_no_mere_name():
    """`from __future__ import annotations` changes every definition of a file."""
    plain = Tree("", ("",), {"app.py": APP.encode(), "tools.py": TOOLS.encode()}, {})
    future = plain.replaced(
        {"tools.py": b"from __future__ import annotations\n" + plain.files["tools.py"]}
    )
    assert affected(plain, future, ["app"], ["main"])
    assert affected(future, plain, ["app"], ["main"])


def test_an_import_that_others_use_is_missed():
    """And one that nobody uses is not."""
    used = TOOLS.replace("return 3", "return math.floor(3.5)")
    for text, seen in ((used, True), (TOOLS, False)):
        plain = Tree("", ("",), {"app.py": APP.encode(), "tools.py": text.encode()}, {})
        fewer = plain.replaced({"tools.py": text.replace("import math\n", "").encode()})
        assert affected(plain, fewer, ["app"], ["main"]) is seen
