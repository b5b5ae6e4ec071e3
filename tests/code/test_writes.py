"""What may write into something that belongs to others, and what fills an array of its own."""

from __future__ import annotations

import pytest

from engine.code.writes import patching

FILLS = """\
import numpy as np

def f(x, ids):
    {made}
    {filled}
    return out
"""


def found(before: str, after: str) -> bool:
    """Whether the change is said to write elsewhere."""
    return patching({"a.py": before.encode()}, {"a.py": after.encode()}) == {"a.py"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Tensor.mean = f", True),
        ("def f(x):\n    x.data[0] += 1", True),
        ("setattr(Tensor, 'mean', f)", True),
        ("vars(Tensor)['mean'] = f", True),
        ("del np.add", True),
        ("class A:\n    def f(self, x):\n        self.x = self.y[0] = x", False),
        ("mean = Tensor.mean", False),
        ("x = = 1", False),
    ],
)
def test_files_that_may_write_elsewhere(text, told):
    """Attributes and items of what is not the method's own, when they are new."""
    after = {"a.py": text.encode(), "b.txt": b"A.b = 1"}
    assert patching({}, after) == ({"a.py"} if told else set())
    assert patching(after, {**after, "a.py": text.encode() + b"\n"}) == set()


@pytest.mark.parametrize(
    "made",
    [
        "out = np.zeros_like(x)",
        "out = other = np.array([1.0, 2.0])",
        "out: np.ndarray = np.full(x.shape, 0.5, dtype=x.dtype)",
        "out = np.copy(x)",
        "out = x.astype(float)",
        "out = x > 0",
        "out = x - x\n    out += 1",
        "out = np.add.outer(x, ids)",
        "n, out = len(ids), np.empty(3)",
        "out = np.zeros(3) if ids else np.ones(3)",
        "out = None\n    if ids:\n        out = np.zeros(3)",
    ],
)
def test_an_array_of_its_own_is_nobody_elses(made):
    """Whatever is put into it, or added to it, in the function or in one inside."""
    for filled in ("out[ids] = 1", "out[0, :] += x", "del out[0]"):
        assert not found("", FILLS.format(made=made, filled=filled))
    inside = "def g(y):\n        out[y] += 1"
    assert not found("", FILLS.format(made=made, filled=inside))


@pytest.mark.parametrize(
    "made",
    [
        "out = x",
        "out = x.data",
        "out = x.copy",
        "out = np.asarray(x)",
        "out = np.zeros(3)\n    out = x",
        "out = np.array(x, copy=False)",
        "out = np.exp(x, out=x)",
        "out = np.exp(x, **ids)",
        "out = np.exp(x, x)",
        "out = np.exp(*x)",
        "out = np.add.outer(x, ids, x)",
        "out = np.array([x], dtype=object)",
        "out = np.array([x], 'O')",
        "out = zeros(x)",
        "np = x\n    out = np.zeros(3)",
        "for out in x: pass",
        "with x as out: pass",
        "out, other = np.zeros(3), x\n    out, other = other, out",
        "out, = x",
        "out = np.zeros(3) if ids else x",
        "import x as out",
        "global out\n    out = np.zeros(3)",
        "out = np.zeros(3)\n    def h():\n        nonlocal out\n        out = x",
        "if (out := x): pass",
        "pass",
    ],
)
def test_what_may_be_anothers_is_told(made):
    """A view, an argument, a name that means another thing some time, numpy that is none."""
    assert found("", FILLS.format(made=made, filled="out[0] = 1"))


@pytest.mark.parametrize(
    "made",
    [
        "out = [x]",
        "out = {0: x}",
        "out = [y for y in x]",
        "out = x.copy()",
        "out = x * 2",
        "out = x + ids",
        "out = x | ids",
    ],
)
def test_a_list_holds_what_is_anothers(made):
    """Its items may be replaced, and not added to in place; and what looks like an array may be a list."""
    assert not found("", FILLS.format(made=made, filled="out[0] = x"))
    assert found("", FILLS.format(made=made, filled="out[0] += x"))


@pytest.mark.parametrize("filled", ["out.flags = 1", "out[0][1] = 1", "out[0].mean = x"])
def test_what_stands_in_an_array_is_not_its_own(filled):
    """Only its items are."""
    assert found("", FILLS.format(made="out = np.array(x)", filled=filled))


STEP = """\
class Adam:
    def step(self):
        for p in self.live:
            p.data -= self.move
"""


def test_the_same_write_once_more_is_none():
    """In the same function, with the same thing under the name; elsewhere, and of another, it is one."""
    twice = STEP + "            p.data -= self.decay\n"
    assert not found(STEP, twice)
    assert found(STEP, twice.replace("for p in self.live", "for p in self.all"))
    assert found(STEP, STEP + "    def more(self, p):\n        p.data = 0\n")
    again = STEP.replace("step", "more").removeprefix("class Adam:\n")
    assert found(STEP, STEP + again)
    moved = STEP.replace("def step", "def moved")
    assert not found(STEP, moved)


def test_numpy_that_a_file_gives_another_meaning_is_none():
    """As where the learner's own module is imported under that name."""
    text = FILLS.format(made="out = np.zeros(3)", filled="out[0] = 1")
    assert not found("", text)
    assert found("", text.replace("import numpy as np", "import mine as np"))
    assert found("", text + "\nnp = 3\n")
    assert found("", text + "\ndef g(np): pass\n")
    assert found("", text.replace("import numpy as np", "import numpy as np\nfrom mine import np"))
