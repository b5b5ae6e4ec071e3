"""A learner's tree behaves as it would in their own Python: imports, encodings, names, tracebacks."""

from __future__ import annotations

import os
import py_compile
from pathlib import Path

import numpy as np
import pytest
from lab import Lab, read, write

from engine.run.jobs import Job
from engine.run.servers import RunOptions, Servers
from engine.run.types import Tree

# ---------------------------------------------------------------- what runs is what was read


def test_two_edits_of_the_same_length_in_the_same_second_are_told_apart(
    lab: Lab, tmp_path: Path
) -> None:
    """Python's own cache goes by size and time; here only the bytes count."""
    base = tmp_path / "learner"
    seen = []
    for digit in "1234":
        file = write(base, f"def main():\n    return {{'x': {digit}}}\n") / "src/mine.py"
        os.utime(file, (1_700_000_000, 1_700_000_000))
        seen.append(lab.runs(read(base), {})[0].values["x"])
    assert seen == [1, 2, 3, 4]


def test_a_traceback_shows_the_lines_of_its_own_tree(lab: Lab) -> None:
    """Not those of the tree before, where a file had the same name."""
    for text in ("1 / 0", "2 / 0", "2 / 0  # again"):
        (outcome,) = lab.runs(lab.tree(f"def main():\n    return {text}\n"), {})
        assert outcome.raised is not None
        assert outcome.raised.frames[-1].text == f"return {text}"


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode), ids=lambda mode: mode.name)
def test_a_stale_compiled_file_is_not_believed(
    lab: Lab, tmp_path: Path, mode: py_compile.PycInvalidationMode
) -> None:
    """A .pyc that Python itself would take for the source is not even looked at."""
    base = write(tmp_path / "learner", "def main():\n    return {'x': 'old'}\n")
    file = base / "src/mine.py"
    os.utime(file, (1_700_000_000, 1_700_000_000))
    py_compile.compile(str(file), invalidation_mode=mode)
    file.write_text("def main():\n    return {'x': 'new'}\n")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    assert lab.runs(read(base), {})[0].values == {"x": "new"}


def test_a_tree_on_disk_is_neither_needed_nor_written(lab: Lab, tmp_path: Path) -> None:
    """What was read runs when the folder is gone, and leaves nothing there."""
    base = write(tmp_path / "learner", "def main():\n    return {'x': 1}\n")
    tree = read(base)
    lab.runs(tree, {})
    assert [path.name for path in base.rglob("*") if path.is_file()] == ["mine.py"]
    (base / "src/mine.py").unlink()
    assert lab.runs(tree, {})[0].values == {"x": 1}


def test_a_file_that_changed_among_others_is_the_only_one_that_changes(lab: Lab) -> None:
    """Compiled code is kept from tree to tree, never past an edit."""
    one = lab.tree({"src/mine.py": "from part import x\ndef main():\n    return {'x': x, 'y': 1}\n", "src/part.py": "x = 1\n"})  # fmt: skip
    two = one.replaced({"src/part.py": b"x = 2\n"})
    three = two.replaced({"src/mine.py": one.files["src/mine.py"].replace(b"1", b"3")})
    seen = [lab.runs(tree, {})[0].values for tree in (one, two, three, one)]
    assert seen == [{"x": 1, "y": 1}, {"x": 2, "y": 1}, {"x": 2, "y": 3}, {"x": 1, "y": 1}]


# ---------------------------------------------------------------- imports

PACKAGE = {
    "src/mine/__init__.py": "from .core.deep import main\n",
    "src/mine/core/__init__.py": "",
    "src/mine/core/deep.py": """
        from __future__ import annotations
        from . import beside
        from .beside import one as first
        from ..side import two
        from .. import side as other
        from .beside import *
        from mine.core.beside import three

        def main():
            return {"found": [first, two, three, four, beside.one, other.two]}
    """,
    "src/mine/core/beside.py": "__all__ = ['four']\none, three, four = 1, 3, 4\n",
    "src/mine/side.py": "two = 2\n",
}


def test_relative_imports_work(lab: Lab) -> None:
    """From the same package, from the one above, with names, modules and stars."""
    outcome = lab.runs(lab.tree(PACKAGE, {"main": "mine:main"}), {})[0]
    assert outcome.values == {"found": {"list": [1, 2, 3, 4, 1, 2]}}


def test_namespace_packages_work(lab: Lab) -> None:
    """Folders without an __init__.py are packages too, one inside the other."""
    files = {
        "src/space/inner/part.py": "from ..other import x\ndef main():\n    return {'x': x}\n",
        "src/space/other.py": "x = 5\n",
    }
    outcome = lab.runs(lab.tree(files, {"main": "space.inner.part:main"}), {})[0]
    assert outcome.values == {"x": 5}


def test_a_namespace_package_is_searched_in_every_root(lab: Lab) -> None:
    """As Python does: its parts may lie below src/ and beside it."""
    tree = Tree(
        str(lab.folder), ("src", ""),
        {"src/space/one.py": b"x = 1\n", "space/two.py": b"x = 2\n",
         "src/mine.py": b"from space import one, two\ndef main():\n    return {'x': one.x + two.x}\n"},
        {"main": "mine:main"},
    )  # fmt: skip
    assert lab.runs(tree, {})[0].values == {"x": 3}


def test_a_folder_without_init_does_not_hide_a_module_of_the_standard_library(lab: Lab) -> None:
    """A folder called `logging` that holds scripts is no package where `logging` is one already."""
    tree = lab.tree({
        "src/mine.py": "import logging, statistics\ndef main():\n    return {'x': statistics.mean([1, 3]), 'y': logging.INFO}\n",
        "src/logging/plot.py": "",
        "src/statistics/plot.py": "",
    })  # fmt: skip
    outcome = lab.runs(tree, {})[0]
    assert outcome.raised is None and outcome.values == {"x": 2, "y": 20}


def test_src_comes_before_the_folder_itself(lab: Lab) -> None:
    """The first root that has a module gives it."""
    files = {"src/mine.py": "def main():\n    return {'x': 'src'}\n", "mine.py": "main = None\n"}
    assert lab.runs(lab.tree(files), {})[0].values == {"x": "src"}


def test_a_flat_layout_without_src_works(lab: Lab) -> None:
    """Files that lie in the folder itself are found."""
    files = {
        "mine.py": "import part\ndef main():\n    return {'x': part.x}\n",
        "part.py": "x = 1\n",
    }
    assert lab.runs(lab.tree(files), {})[0].values == {"x": 1}


@pytest.mark.parametrize("name", ["engine", "pack", "wire", "jobs", "tests", "numpy_extra"])
def test_a_learners_package_may_have_any_name(lab: Lab, name: str) -> None:
    """Also the names that the engine and its packs use for themselves."""
    files = {
        f"src/{name}/__init__.py": "from .run import x\n",
        f"src/{name}/run.py": "x = 'mine'\n",
        "src/mine.py": f"import {name}\nimport {name}.run\ndef main():\n    return {{'x': {name}.x}}\n",
    }
    outcome = lab.runs(lab.tree(files), {})[0]
    assert outcome.raised is None and outcome.values == {"x": "mine"}


def test_a_learners_module_may_be_called_pack_something(lab: Lab) -> None:
    """Only the whole name counts."""
    files = {
        "src/mine.py": "from pack_x import main\n",
        "src/pack_x.py": "def main():\n    return {'x': 1}\n",
    }
    assert lab.runs(lab.tree(files), {})[0].values == {"x": 1}


def test_modules_that_import_each_other_work(lab: Lab) -> None:
    """A circle that Python bears is borne here."""
    files = {
        "src/mine.py": "import other\nbase = 1\ndef main():\n    return {'x': other.double()}\n",
        "src/other.py": "import mine\ndef double():\n    return mine.base * 2\n",
    }
    assert lab.runs(lab.tree(files), {})[0].values == {"x": 2}


CONDITIONAL = """
from typing import TYPE_CHECKING
import sys
if TYPE_CHECKING:
    from nowhere import Thing
try:
    import torch_that_nobody_has as backend
except ImportError:
    import numpy as backend
try:
    from mine_fast import speed
except ModuleNotFoundError:
    speed = "slow"
if sys.version_info < (3, 0):
    import urllib2

def main(x: "Thing" = None):
    import json as lazily
    return {"backend": backend.__name__, "speed": speed, "lazy": lazily.dumps([1])}
"""


def test_conditional_imports_work(lab: Lab) -> None:
    """What is missing falls back, what is not reached is not looked for."""
    assert lab.run(CONDITIONAL).values == {"backend": "numpy", "speed": "slow", "lazy": "[1]"}


def test_a_learner_may_ask_for_a_module_that_is_not_there(lab: Lab) -> None:
    """`find_spec` says None, a name that a package lacks is an ImportError: as ever."""
    files = {
        "src/mine/__init__.py": "x = 1\n",
        "src/mine/part.py": """
            import importlib.util
            def main():
                found = {"fast": importlib.util.find_spec("mine.fast"),
                         "part": importlib.util.find_spec("mine.part").name,
                         "top": importlib.util.find_spec("nowhere_at_all")}
                try:
                    from mine import fast
                except ModuleNotFoundError:
                    found["from"] = "wrong"
                except ImportError as error:
                    found["from"] = str(error)[:36]
                try:
                    import mine.fast
                except ModuleNotFoundError as error:
                    found["import"] = str(error)
                return found
        """,
    }
    outcome = lab.runs(lab.tree(files, {"main": "mine.part:main"}), {})[0]
    assert outcome.raised is None, outcome.raised
    assert outcome.values == {
        "fast": None, "part": "mine.part", "top": None,
        "from": "cannot import name 'fast' from 'mine",
        "import": "No module named 'mine.fast'",
    }  # fmt: skip


def test_a_module_knows_its_name_and_file(lab: Lab, tmp_path: Path) -> None:
    """`__file__`, `__name__`, `__package__` and `__path__` are those of the learner's folder."""
    files = {
        "src/mine/__init__.py": "from .part import main\n",
        "src/mine/part.py": """
            from pathlib import Path
            import mine
            def main():
                return {"file": __file__, "name": __name__, "package": __package__,
                        "beside": str(Path(__file__).with_name("data.txt")),
                        "init": mine.__file__, "path": list(mine.__path__)}
        """,
    }
    base = tmp_path / "learner/src/mine"
    assert lab.runs(lab.tree(files, {"main": "mine:main"}), {})[0].values == {
        "file": str(base / "part.py"), "name": "mine.part", "package": "mine",
        "beside": str(base / "data.txt"),
        "init": str(base / "__init__.py"), "path": {"list": [str(base)]},
    }  # fmt: skip


def test_code_for_the_command_line_is_not_run(lab: Lab) -> None:
    """`if __name__ == "__main__"` is false."""
    assert lab.run(
        "x = 1\nif __name__ == '__main__':\n    x = 2\ndef main():\n    return {'x': x}\n"
    ).values == {"x": 1}


def test_a_learners_code_can_look_at_its_own_source(lab: Lab) -> None:
    """`inspect.getsource` finds the lines, though no file is read."""
    outcome = lab.run("import inspect\ndef main():\n    return {'x': inspect.getsource(main)}\n")
    assert outcome.values == {"x": "def main():\n    return {'x': inspect.getsource(main)}\n"}


def test_dataclasses_enumerations_and_pickles_of_a_learners_types_work(lab: Lab) -> None:
    """What looks a class up by the name of its module finds it."""
    outcome = lab.run("""
        from __future__ import annotations
        import copy, enum, pickle
        from dataclasses import dataclass, field
        from typing import NamedTuple, get_type_hints

        class Kind(enum.Enum):
            A = enum.auto()

        class Pair(NamedTuple):
            left: int
            right: int = 2

        @dataclass(frozen=True)
        class Config:
            width: int = 3
            kinds: list[Kind] = field(default_factory=lambda: [Kind.A])

        def main():
            back = pickle.loads(pickle.dumps(Config()))
            return {"same": copy.deepcopy(back) == Config(), "hints": sorted(get_type_hints(Config)),
                    "pair": tuple(Pair(1))}
    """)
    assert outcome.raised is None
    assert outcome.values == {
        "same": True,
        "hints": {"list": ["kinds", "width"]},
        "pair": {"list": [1, 2]},
    }


# ---------------------------------------------------------------- encodings

ENCODED = {
    "a byte order mark": b"\xef\xbb\xbfdef main():\n    return {'x': '\xc3\xa9'}\n",
    "Windows line ends": b"def main():\r\n    text = '''a\r\nb'''\r\n    assert text == 'a\\nb'\r\n    return {'x': '\xc3\xa9'}\r\n",
    "old Mac line ends": b"def main():\r    return {'x': '\xc3\xa9'}\r",
    "a latin-1 cookie": b"# -*- coding: latin-1 -*-\ndef main():\n    return {'x': '\xe9'}\n",
    "a mark and a cookie": b"\xef\xbb\xbf# coding: utf-8\ndef main():\n    return {'x': '\xc3\xa9'}\n",
    "names in another script": "def main():\n    größe = 'é'\n    return {'x': größe}\n".encode(),
    "no newline at the end": b"def main():\n    return {'x': '\xc3\xa9'}",
    "a form feed": b"\x0cdef main():\n    return {'x': '\xc3\xa9'}\n",
    "tabs": b"def main():\n\tif True:\n\t\treturn {'x': '\xc3\xa9'}\n",
}


@pytest.mark.parametrize("source", ENCODED.values(), ids=ENCODED.keys())
@pytest.mark.parametrize("traced", [False, True], ids=["plain", "traced"])
def test_a_file_in_any_encoding_runs(lab: Lab, source: bytes, traced: bool) -> None:
    """What Python reads is read, with and without instruments."""
    trace = {"sizes": [1], "cap": 1 << 20} if traced else None
    (outcome,) = lab.runs(lab.tree({"src/mine.py": source}), {}, options=RunOptions(trace=trace))
    assert (outcome.raised, outcome.stopped) == (None, None)
    assert outcome.values == {"x": "é"}


def test_a_traceback_shows_the_lines_of_a_latin_1_file(lab: Lab) -> None:
    """The text of a frame is decoded as the file says."""
    source = (
        b"# -*- coding: latin-1 -*-\ndef main():\n    raise ValueError('caf\xe9')  # \xe9t\xe9\n"
    )
    raised = lab.run({"src/mine.py": source}).raised
    assert raised is not None and raised.message == "café"
    assert raised.frames[-1].text == "raise ValueError('café')  # été"


# ---------------------------------------------------------------- what goes wrong is told


def test_printing_at_import_is_harmless(lab: Lab) -> None:
    """Text on both streams, bytes on the descriptors, and warnings: the answer is the same."""
    outcome = lab.run("""
        import os, sys, warnings
        print("hello", "é \\udcff")
        sys.stderr.write("noise\\n")
        os.write(1, b"EWF1" + bytes(40))
        os.write(2, bytes(range(256)))
        sys.__stdout__.write("more")
        warnings.warn("look out")
        def main():
            print("x" * 10_000)
            return {"x": 1}
    """)
    assert (outcome.stopped, outcome.raised, outcome.values) == (None, None, {"x": 1})


def test_reading_standard_input_meets_its_end(lab: Lab) -> None:
    """`input()` does not wait for anybody."""
    outcome = lab.run("def main():\n    return {'x': input()}\n")
    assert outcome.raised is not None and outcome.raised.type == "EOFError"


def test_an_exception_has_the_learners_frames_only(lab: Lab) -> None:
    """File, line, function and text of each, outermost first; none of numpy's or the engine's own."""
    tree = lab.tree(
        {
            "src/mine/__init__.py": "",
            "src/mine/model.py": "from .layer import project\n\ndef main(x):\n    return {'x': project(x)}\n",
            "src/mine/layer.py": "import numpy as np\n\n\ndef project(x):\n    # a comment\n    return np.matmul(x,\n                     np.zeros((7, 7)))\n",
        },
        {"main": "mine.model:main"},
    )
    raised = lab.runs(tree, {"x": np.zeros((2, 3))})[0].raised
    assert raised is not None and raised.type == "ValueError"
    own = [frame for frame in raised.frames if frame.path.startswith("src/")]
    assert [(f.path, f.line, f.function, f.text) for f in own] == [
        ("src/mine/model.py", 4, "main", "return {'x': project(x)}"),
        ("src/mine/layer.py", 6, "project", "return np.matmul(x,"),
    ]
    assert all(f.path.startswith(("src/", "pack/")) for f in raised.frames)


def test_the_ancestors_of_an_exception_are_named(lab: Lab) -> None:
    """A learner may refuse with a type of their own that is the one that was asked for."""
    outcome = lab.run(
        "class Outside(IndexError): pass\ndef main():\n    raise Outside('id 7 of 5')\n"
    )
    assert outcome.raised is not None
    assert (outcome.raised.type, outcome.raised.message) == ("Outside", "id 7 of 5")
    assert {"IndexError", "LookupError", "Exception"} <= set(outcome.raised.ancestors)


def test_a_long_message_and_a_deep_traceback_are_cut(lab: Lab) -> None:
    """What travels has a size that a person may read."""
    outcome = lab.run(
        "def main(n=900):\n    if n: return main(n - 1)\n    raise ValueError('x' * 100_000)\n"
    )
    assert outcome.raised is not None
    assert 0 < len(outcome.raised.message) <= 10_000
    assert 0 < len(outcome.raised.frames) <= 100
    assert outcome.raised.frames[-1].text.startswith("raise ValueError")


def test_a_syntax_error_names_the_file_and_the_line(lab: Lab) -> None:
    """Also when it is in a file that another one imports."""
    files = {
        "src/mine.py": "import part\nmain = part.main\n",
        "src/part.py": "x = 1\ny = 2\ndef main(:\n    pass\n",
    }
    raised = lab.run(files).raised
    assert raised is not None and raised.type == "SyntaxError"
    frames = [(frame.path, frame.line, frame.text) for frame in raised.frames]
    assert ("src/mine.py", 1, "import part") in frames
    assert frames[-1] == ("src/part.py", 3, "def main(:")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (b"x = 'a\0b'\n", ("SyntaxError", "ValueError")),
        (b"# coding: klingon\nx = 1\n", ("SyntaxError",)),
        (b"x = '\xff'\n", ("SyntaxError",)),
        (b"def main():\n\tx = 1\n        y = 2\n", ("TabError",)),
        (b"def main():\nreturn 1\n", ("IndentationError",)),
        (b"x = " + b"(" * 3000 + b")" * 3000, ("SyntaxError", "MemoryError", "RecursionError")),
        (b"x = " + b"-" * 100_000 + b"1", ("SyntaxError", "MemoryError", "RecursionError")),
        (b"return 1\n", ("SyntaxError",)),
    ],
    ids=[
        "null",
        "unknown cookie",
        "wrong bytes",
        "mixed tabs",
        "indentation",
        "brackets",
        "minus",
        "return",
    ],
)
def test_a_file_that_python_cannot_read_is_an_exception_when_it_is_imported(
    lab: Lab, source: bytes, kind: tuple[str, ...]
) -> None:
    """It does not stop the server, and files beside it run."""
    tree = lab.tree({"src/mine.py": "def main(x):\n    if x: import part\n    return {'x': x}\n"})
    tree = tree.replaced({"src/part.py": source})
    well, ill, again = lab.runs(tree, {"x": 0}, {"x": 1}, {"x": 0})
    assert well.values == again.values == {"x": 0}
    assert ill.raised is not None and ill.raised.type in kind


def test_an_import_error_names_the_file_and_the_line(lab: Lab) -> None:
    """The frame is the learner's import statement, not the import system."""
    raised = lab.run("import json\n\nfrom json import nothing_like_it\n").raised
    assert raised is not None and raised.type == "ImportError"
    assert "nothing_like_it" in raised.message
    assert (raised.frames[-1].path, raised.frames[-1].line) == ("src/mine.py", 3)


def test_the_roles_that_are_missing_are_named_with_what_went_wrong(lab: Lab) -> None:
    """A name that is not there, a module that is not there, one that fails, one that cannot be read."""
    roles = {
        "good": "mine:good", "inner": "mine:Outer.inner", "gone": "mine:gone", "nowhere": "nowhere:x",
        "failing": "failing:x", "unreadable": "unreadable:x", "deep": "mine.deep:x",
    }  # fmt: skip
    files = {
        "src/mine.py": "good = None\nclass Outer:\n    inner = 1\n",
        "src/failing.py": "x = 1 / 0\n",
        "src/unreadable.py": "def x(:\n",
    }
    missing = lab.servers.missing_roles(lab.tree(files, roles))
    assert set(missing) == {"gone", "nowhere", "failing", "unreadable", "deep"}
    assert "gone" in missing["gone"] and "mine" in missing["gone"]
    assert missing["nowhere"].startswith("ModuleNotFoundError")
    assert missing["failing"].startswith("ZeroDivisionError")
    assert missing["unreadable"].startswith("SyntaxError")


def test_a_healthy_tree_has_all_its_roles(servers: Servers, plain: Tree) -> None:
    """The pack's own model offers every name of the contract."""
    assert servers.missing_roles(plain) == {}


def test_a_tree_without_one_file_lacks_its_role(servers: Servers, plain: Tree) -> None:
    """Only what stands on the missing file is missing."""
    files = {k: v for k, v in plain.files.items() if not k.endswith("nn/loss.py")}
    tree = Tree(plain.root, plain.roots, files, plain.roles)
    missing = servers.missing_roles(tree)
    assert set(missing) == {"cross_entropy", "train_step", "train"}
    outcome = servers.outcomes(
        tree,
        [Job("cross_entropy", "forward", {"logits": np.zeros((2, 3)), "targets": np.zeros(2, int), "ignore_index": None})],
    )[0]  # fmt: skip
    assert outcome.raised is not None and outcome.raised.type == "ModuleNotFoundError"


def test_a_role_that_is_missing_is_told_when_a_probe_needs_it(lab: Lab) -> None:
    """The message names the module and the name."""
    raised = lab.run("x = 1\n").raised
    assert raised is not None and raised.type == "RoleMissing"
    assert "mine" in raised.message and "main" in raised.message


# ---------------------------------------------------------------- what crosses


def test_inputs_that_a_call_changes_are_named(lab: Lab) -> None:
    """Each array that is not what it was, however little; those that were only read are not."""
    tree = lab.tree("""
        import numpy as np
        def main(a, b, c, d, e):
            a[0] += 1
            b[...] = b          # the same values
            c[0] = -0.0         # equal, and another number
            d.shape = (3, 1)
            np.sort(e)
            return {}
    """)
    (outcome,) = lab.runs(tree, {name: np.zeros(3) for name in "abcde"})
    assert outcome.raised is None
    assert set(outcome.changed) == {"a", "c", "d"}


def test_inputs_changed_before_an_exception_are_named(lab: Lab) -> None:
    """An exception does not hide what was done to the inputs."""
    (outcome,) = lab.runs(
        lab.tree("def main(a):\n    a.sort()\n    raise ValueError\n"), {"a": np.array([2.0, 1.0])}
    )
    assert outcome.raised is not None and outcome.changed == ("a",)


def test_one_jobs_changes_to_its_inputs_are_not_seen_by_the_next(lab: Lab) -> None:
    """Each job has arrays of its own."""
    a = np.zeros(3)
    tree = lab.tree("def main(a):\n    a += 1\n    return {'a': a}\n")
    outcomes = lab.runs(tree, {"a": a}, {"a": a})
    assert [outcome.values["a"].tolist() for outcome in outcomes] == [[1.0] * 3] * 2
    assert a.tolist() == [0.0] * 3


def test_what_is_recorded_is_a_copy_of_that_moment(lab: Lab) -> None:
    """An array that is changed later was recorded as it was."""
    pack = {
        "pack/any/call.py": b"def run(learner, record):\n    a = learner.array()\n    record(a=a)\n    a += 1\n    record(b=a)\n"
    }
    with Servers(pack) as servers:
        tree = lab.tree(
            "import numpy as np\ndef array():\n    return np.zeros(2)\n", {"array": "mine:array"}
        )
        (outcome,) = servers.outcomes(tree, [Job("any", "run", {})])
    assert outcome.values["a"].tolist() == [0.0, 0.0]
    assert outcome.values["b"].tolist() == [1.0, 1.0]


def test_values_recorded_before_an_exception_are_kept(lab: Lab) -> None:
    """How far a probe came is part of what was measured."""
    pack = {
        "pack/any/call.py": b"def run(learner, record):\n    record(first=1)\n    learner.fail()\n    record(second=2)\n"
    }
    with Servers(pack) as servers:
        tree = lab.tree("def fail():\n    raise RuntimeError('here')\n", {"fail": "mine:fail"})
        (outcome,) = servers.outcomes(tree, [Job("any", "run", {})])
    assert outcome.values == {"first": 1}
    assert outcome.raised is not None and outcome.raised.message == "here"


def test_values_that_cannot_cross_are_told_and_do_not_cost_the_others(lab: Lab) -> None:
    """Objects, texts in arrays, complex and very large numbers leave a word about what they were."""
    outcome = lab.run("""
        import numpy as np
        def main():
            return {"object": object(), "text": np.array(["a"]), "complex": np.array([1j]), "long": 1 << 70,
                    "mapping": {"a": 1}, "function": main, "extended": np.zeros(2, np.longdouble),
                    "good": np.arange(3), "scalar": np.float32(2), "list": [1, (2.5, None)], "nan": float("nan")}
    """)
    assert (outcome.stopped, outcome.raised) == (None, None)
    odd = {
        name for name, value in outcome.values.items() if isinstance(value, dict) and "odd" in value
    }
    assert odd >= {"object", "text", "complex", "long", "mapping", "function"}
    assert outcome.values["good"].tolist() == [0, 1, 2]
    assert outcome.values["scalar"].dtype == np.float32
    assert outcome.values["list"] == {"list": [1, {"list": [2.5, None]}]}
    assert outcome.values["nan"] != outcome.values["nan"]


def test_random_numbers_repeat_with_the_seed_of_the_job(lab: Lab) -> None:
    """A learner's unseeded draws are the same on the healthy and on the broken tree."""
    tree = lab.tree(
        "import random\nimport numpy as np\ndef main():\n    return {'x': np.random.rand(), 'y': random.random()}\n"
    )
    jobs = [Job("any", "run", {}, seed) for seed in (5, 6, 5, 2**32 + 5)]
    seen = [o.values for o in lab.servers.outcomes(tree, jobs, server=lab.name)]
    assert seen[0] == seen[2] and seen[0] != seen[1]
    assert seen[0] == lab.servers.outcomes(tree, jobs[:1], server=lab.name + " other")[0].values


def test_jobs_of_one_batch_share_what_the_modules_hold(lab: Lab) -> None:
    """A batch is one process: a learner's cache lives as long, and not longer."""
    tree = lab.tree("count = []\ndef main():\n    count.append(1)\n    return {'x': len(count)}\n")
    assert [o.values["x"] for o in lab.runs(tree, {}, {})] == [1, 2]
    assert [o.values["x"] for o in lab.runs(tree, {})] == [1]


def test_a_file_that_was_not_sent_is_not_found_on_disk(tmp_path: Path) -> None:
    """The tree under test is all there is, also where no kernel closes the folder it came from."""
    import subprocess
    import sys
    from textwrap import dedent

    import engine.run.child.tree as module

    write(tmp_path, {"src/mine/__init__.py": "", "src/mine/deleted.py": "x = 'from disk'\n"})
    program = dedent(f"""
        import importlib.util
        spec = importlib.util.spec_from_file_location("tree", {module.__file__!r})
        tree = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tree)
        tree.Tree({str(tmp_path)!r}, ["src"], {{"src/mine/__init__.py": b""}}).install()
        try:
            import mine.deleted
            print("found:", mine.deleted.x)
        except ModuleNotFoundError as error:
            print("missing:", error.name)
    """)
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "missing: mine.deleted\n"
