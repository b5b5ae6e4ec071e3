"""Instrumented code does what it did, and the values of its expressions are recorded with their places."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from lab import Lab

from engine.run.servers import RunOptions
from engine.run.types import Outcome

X = np.arange(1.0, 7.0)
TRACE = {"sizes": [6], "cap": 1 << 24}
HEAD = "import numpy as np\nBASE = np.arange(10.0, 16.0)\n"

# Code with `main(x)`, and what some of its expressions hold: one array, or one for each time.
SNIPPETS: dict[str, tuple[str, dict[str, Any]]] = {
    "a helper": (
        """
        def double(a):
            return a * 2
        def main(x):
            return {"y": double(x) + 1}
        """,
        {"a * 2": 2 * X, "double(x)": 2 * X, "double(x) + 1": 2 * X + 1, "x": X},
    ),
    "a closure": (
        """
        def make(k):
            def inner(a):
                return a * k
            return inner
        def main(x):
            triple = make(3)
            return {"y": triple(x)}
        """,
        {"a * k": 3 * X, "triple(x)": 3 * X},
    ),
    "a list comprehension": (
        """
        def main(x):
            return {"y": sum([x * k for k in (1, 2, 3)])}
        """,
        {"x * k": [X, 2 * X, 3 * X]},
    ),
    "set and dict comprehensions": (
        """
        def main(x):
            found = {k: x + k for k in (1, 2)}
            sizes = {(x - k).size for k in (3,)}
            return {"y": found[1] + found[2], "n": sorted(sizes)}
        """,
        {"x + k": [X + 1, X + 2], "x - k": X - 3},
    ),
    "a generator expression": (
        """
        def main(x):
            return {"y": sum(x * k for k in range(3))}
        """,
        {"x * k": [0 * X, X, 2 * X]},
    ),
    "a generator": (
        """
        def parts(x):
            got = yield x * 2
            yield from (x * k for k in (got, 5))
        def main(x):
            it = parts(x)
            return {"y": next(it) + it.send(3) + next(it)}
        """,
        {"x * 2": 2 * X, "x * k": [3 * X, 5 * X]},
    ),
    "a lambda": (
        """
        def main(x):
            scale = lambda a, b=x * 7: a * 4 + b
            return {"y": scale(x)}
        """,
        {"x * 7": 7 * X, "a * 4": 4 * X, "a * 4 + b": 11 * X},
    ),
    "a loop": (
        """
        def main(x):
            y = x
            for k in range(3):
                y = y * 2
            while y[0] < 20:
                y = y + 5
            else:
                y = y - 1
            return {"y": y}
        """,
        {"y * 2": [2 * X, 4 * X, 8 * X], "y - 1": 8 * X + 14},
    ),
    "the operand of an augmented assignment": (
        """
        def main(x):
            y = x.copy()
            y += x * 3
            held = {"a": [y]}
            held["a"][0] *= x + 1
            return {"y": held["a"][0]}
        """,
        {"x * 3": 3 * X, "x + 1": X + 1},
    ),
    "a walrus": (
        """
        def main(x):
            if (y := x * 3)[0] > 0:
                return {"y": y + 1, "z": [n for k in (1, 2) if (n := k) > 1]}
        """,
        {"x * 3": 3 * X, "y := x * 3": 3 * X, "y + 1": 3 * X + 1},
    ),
    "a conditional expression": (
        """
        def main(x):
            y = x * 2 if x[0] > 0 else x * 5
            return {"y": y and None if y is None else y - 1}
        """,
        {"x * 2": 2 * X, "x * 2 if x[0] > 0 else x * 5": 2 * X, "y - 1": 2 * X - 1, "x * 5": []},
    ),
    "default arguments": (
        """
        def f(a, b=BASE * 2, *, c=BASE * 3):
            return a + b + c
        def main(x):
            return {"y": f(x)}
        """,
        {"a + b + c": X + 5 * np.arange(10.0, 16.0)},
    ),
    "the inside of a decorator": (
        """
        import functools
        def scaled(k):
            def outer(f):
                @functools.wraps(f)
                def inner(*args, **names):
                    return f(*args, **names) * k
                return inner
            return outer
        @scaled(10)
        @scaled(2)
        def g(a, *, b):
            '''The sum.'''
            return a + b
        def main(x):
            return {"y": g(x, b=x), "name": g.__name__, "text": g.__doc__}
        """,
        {"a + b": 2 * X, "f(*args, **names) * k": [4 * X, 40 * X]},
    ),
    "properties": (
        """
        class Box:
            def __init__(self, x):
                self.x = x
            @property
            def twice(self):
                return self.x * 2
            @twice.setter
            def twice(self, value):
                self.x = value / 2
        def main(x):
            box = Box(x)
            box.twice = x * 8
            return {"y": box.twice}
        """,
        {"self.x * 2": 8 * X, "value / 2": 4 * X, "box.twice": 8 * X},
    ),
    "static and class methods": (
        """
        class Box:
            scale = 3
            @staticmethod
            def f(a):
                return a * 2
            @classmethod
            def g(cls, a):
                return a * cls.scale
        def main(x):
            return {"y": Box.f(x) + Box().g(x)}
        """,
        {"a * 2": 2 * X, "a * cls.scale": 3 * X},
    ),
    "keyword arguments": (
        """
        def f(*, a, b):
            return a - b
        def main(x):
            return {"y": f(a=x * 2, b=x * 5)}
        """,
        {"x * 2": 2 * X, "x * 5": 5 * X, "a - b": -3 * X},
    ),
    "star arguments": (
        """
        def f(a, b, **more):
            return a - b + more["c"]
        def main(x):
            first, *rest = [x * 2, x * 3]
            return {"y": f(*[first, *rest], **{"c": x * 4, **{}})}
        """,
        {"x * 2": 2 * X, "x * 3": 3 * X, "x * 4": 4 * X},
    ),
    "a line with an f-string": (
        """
        def main(x):
            text, y, more = f"é {x.sum():>{8}.1f} {'ü'!r}", x * 7, f"{x[0]=}"; z = y + 1
            return {"y": z, "text": text, "more": more}
        """,
        {"x * 7": 7 * X, "y + 1": 7 * X + 1},
    ),
    "a line after other letters": (
        """
        def main(x):
            größe = "日本"; y = x * 7
            return {"y": y + len(größe)}
        """,
        {"x * 7": 7 * X, "y + len(größe)": 7 * X + 2},
    ),
    "a match statement": (
        """
        def main(x):
            match x.shape:
                case (n,) if (x * 3).sum() > 0 and n == 6:
                    y = x * 2
                case [_, *_]:
                    y = x * 5
                case _:
                    y = x * 9
            match {"kind": "add", "by": x + 1}:
                case {"kind": "sub"}:
                    y = y - 1
                case {"kind": str() as kind, "by": by}:
                    y = y + by
            return {"y": y, "kind": kind}
        """,
        {"x * 3": 3 * X, "x * 2": 2 * X, "x + 1": X + 1, "y + by": 3 * X + 1, "x * 5": []},
    ),
    "an async def": (
        """
        class Ready:
            def __init__(self, value):
                self.value = value
            def __await__(self):
                return self.value
                yield
        class Both:
            async def __aenter__(self):
                return 1
            async def __aexit__(self, *_):
                return False
        async def many(x):
            for k in (1, 2):
                yield x * k
        async def f(a):
            b = await Ready(a * 2)
            async with Both() as one:
                b = b + one
            async for part in many(a):
                b = b + part
            return b + sum([c async for c in many(a)])
        def main(x):
            try:
                f(x).send(None)
            except StopIteration as end:
                return {"y": end.value}
        """,
        {"a * 2": 2 * X, "x * k": [X, 2 * X, X, 2 * X]},
    ),
    "super": (
        """
        class A:
            def __init__(self, x):
                self.x = x * 2
            def f(self):
                return self.x + 1
        class B(A):
            def __init__(self, x):
                super().__init__(x * 3)
            def f(self):
                return super().f() * super(B, self).f()
            def name(self):
                return __class__.__name__
        def main(x):
            b = B(x)
            return {"y": b.f(), "name": b.name()}
        """,
        {"x * 3": 3 * X, "x * 2": 6 * X, "self.x + 1": [6 * X + 1] * 2, "super().f()": 6 * X + 1},
    ),
    "private names": (
        """
        class Box:
            __slots__ = ("__x", "__dict__")
            __scale = 2
            def __init__(self, x):
                self.__x = x
                self.__later = lambda a: a * self.__scale
            def __double(self):
                return self.__x * self.__scale
            def f(self):
                __local = self.__double()
                return __local + self.__later(self.__x)
        def main(x):
            box = Box(x)
            return {"y": box.f(), "names": sorted(n for n in dir(box) if "__x" in n)}
        """,
        {
            "self.__x * self.__scale": 2 * X,
            "a * self.__scale": 2 * X,
            "__local": 2 * X,
            "self.__x": [X, X],
        },
    ),
    "del": (
        """
        def main(x):
            held = {"a": x * 2, "b": x * 3}
            kept = held["b"]
            del held["a"], x
            box = type("Box", (), {})()
            box.y = kept
            del box.y
            return {"y": kept, "left": sorted(held)}
        """,
        {"x * 2": 2 * X, 'held["b"]': 3 * X},
    ),
    "global and nonlocal": (
        """
        count = 0
        def main(x):
            global count
            count = count + 1
            y = x * 2
            def more():
                nonlocal y
                y = y + x
            more()
            return {"y": y, "count": count}
        """,
        {"x * 2": 2 * X, "y + x": 3 * X},
    ),
    "with, try and raise": (
        """
        import contextlib
        @contextlib.contextmanager
        def scale(a):
            yield a * 2
        def main(x):
            y = x
            with scale(x) as twice, contextlib.suppress(KeyError):
                y = twice * 3
                raise KeyError(str(y.shape))
            try:
                {}["a"]
            except (KeyError, ValueError) as error:
                y = y + len(error.args)
            else:
                y = y * 0
            finally:
                y = y - 2
            assert y.size == 6, x * 100
            return {"y": y}
        """,
        {
            "a * 2": 2 * X,
            "twice * 3": 6 * X,
            "y + len(error.args)": 6 * X + 1,
            "y - 2": 6 * X - 1,
            "x * 100": [],
        },
    ),
    "slices and indices": (
        """
        def main(x):
            table = x.reshape(2, 3)
            part = np.concatenate([table[:, 1:], table[..., :1]], axis=1)
            rows = table[(1, 0), :]
            index = (0, slice(None))
            return {"y": part.reshape(-1) + rows[*index].sum(), "z": x[::-1][None, :]}
        """,
        {
            "x[::-1]": X[::-1],
            "table[(1, 0), :]": X.reshape(2, 3)[[1, 0]],
            "x[::-1][None, :]": X[::-1][None],
        },
    ),
    "chained comparisons and boolean operators": (
        """
        def main(x):
            calls = []
            def f(v):
                calls.append(v)
                return v
            ok = f(1) < f(2) < f(2) < f(9)
            either = None or x * 2
            return {"y": either, "calls": calls, "ok": ok, "both": 0 and f(7)}
        """,
        {"None or x * 2": 2 * X, "x * 2": 2 * X},
    ),
    "types and annotations": (
        """
        from __future__ import annotations
        import enum
        from dataclasses import dataclass, field
        from typing import NamedTuple, Generic, TypeVar
        T = TypeVar("T")
        class Kind(enum.Enum):
            A = enum.auto()
        class Pair(NamedTuple):
            left: NotDefinedAnywhere
            right: int = 2
        @dataclass(order=True)
        class Config(Generic[T]):
            width: AlsoNotDefined = 3
            more: list = field(default_factory=list)
        class Meta(type):
            def __new__(mcls, name, bases, space, *, k=1):
                return super().__new__(mcls, name, bases, {**space, "k": k})
        class Made(Config, metaclass=Meta, k=5):
            pass
        def main(x: Nobody) -> Nothing:
            y: np.ndarray = x * 2
            z: int
            return {"y": y * Config().width, "k": Made.k, "pair": tuple(Pair(1)), "a": Kind.A.value}
        """,
        {"x * 2": 2 * X, "y * Config().width": 6 * X},
    ),
    "a look around": (
        """
        def main(x):
            '''A text.'''
            y = x * 2
            names = sorted(locals())
            here = sorted(vars())
            code = main.__code__
            return {"y": y, "names": names, "here": here, "arguments": code.co_varnames[:1], "doc": main.__doc__,
                    "dir": "y" in dir(), "eval": eval("1 + len(names)"), "global": "main" in globals()}
        """,
        {"x * 2": 2 * X},
    ),
    "recursion": (
        """
        def fold(x, n):
            return x if n == 0 else fold(x + 1, n - 1)
        def main(x):
            return {"y": fold(x, 3)}
        """,
        {"x + 1": [X + 1, X + 2, X + 3]},
    ),
    "operators of a type of one's own": (
        """
        class T:
            def __init__(self, data, back=()):
                self.data = np.asarray(data)
                self.back = back
            def __add__(self, other):
                return T(self.data + other.data, (self, other))
            def __matmul__(self, other):
                return T(self.data * other.data)
            def __getitem__(self, i):
                return T(self.data[i])
            __radd__ = __add__
        def main(x):
            a = T(x)
            return {"y": ((a + a) @ a)[::-1].data}
        """,
        {"a + a": 2 * X, "(a + a) @ a": 2 * X * X, "self.data + other.data": 2 * X},
    ),
    "data that is computed by instrumented code": (
        """
        class T:
            def __init__(self, parts):
                self.parts = parts
            @property
            def data(self):
                return np.array([p * 1.0 for p in self.parts])
        def main(x):
            t = T(list(x))
            u = T(list(t.data * 2))
            return {"y": u.data}
        """,
        {
            "t": [X],
            "t.data * 2": 2 * X,
            "np.array([p * 1.0 for p in self.parts])": [X, 2 * X],
        },
    ),
    "an exception in between": (
        """
        def main(x):
            y = x * 2
            raise ValueError(f"the shape is {y.shape}")
        """,
        {"x * 2": 2 * X},
    ),
}


def texts(outcome: Outcome, files: dict[str, bytes]) -> dict[str, list[np.ndarray]]:
    """The source text of each recorded expression -> its values, in the order they were had."""
    found: dict[str, list[np.ndarray]] = {}
    for row in outcome.trace:
        path, line, column, end_line, end_column, _ = row["site"]
        lines = files[path].splitlines(keepends=True)[line - 1 : end_line]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        assert len(row["values"]) == len(row["frames"]) > 0
        found.setdefault(b"".join(lines).decode(), []).extend(row["values"])
    return found


def both(lab: Lab, code: str, **trace: Any) -> tuple[Outcome, Outcome, dict[str, list[np.ndarray]]]:
    """The plain outcome, the traced one, and what was recorded by source text."""
    text = dedent(code)
    future = "from __future__ import annotations\n"
    text = future * (future in text) + HEAD + text.replace(future, "")
    tree = lab.tree(text)
    (plain,) = lab.runs(tree, {"x": X})
    (traced,) = lab.runs(tree, {"x": X}, options=RunOptions(trace={**TRACE, **trace}))
    return plain, traced, texts(traced, dict(tree.files))


def same_outcome(a: Outcome, b: Outcome) -> bool:
    """Alike in all that is judged: values to the last bit, exception, inputs, end."""
    if (a.stopped, a.changed, list(a.values)) != (b.stopped, b.changed, list(b.values)):
        return False
    if (a.raised is None) != (b.raised is None):
        return False
    if a.raised and b.raised:
        if (a.raised.type, a.raised.message) != (b.raised.type, b.raised.message):
            return False
        if [(f.path, f.line, f.function) for f in a.raised.frames] != [
            (f.path, f.line, f.function) for f in b.raised.frames
        ]:
            return False
    for name, value in a.values.items():
        other = b.values[name]
        if isinstance(value, np.ndarray):
            if (value.dtype, value.shape, value.tobytes()) != (
                other.dtype,
                other.shape,
                other.tobytes(),
            ):
                return False
        elif repr(value) != repr(other):
            return False
    return True


@pytest.mark.parametrize(("code", "expected"), SNIPPETS.values(), ids=SNIPPETS.keys())
def test_traced_code_does_the_same_and_its_expressions_are_recorded(
    lab: Lab, code: str, expected: dict[str, Any]
) -> None:
    """Results are those of the plain code, and the named expressions held the named values."""
    plain, traced, recorded = both(lab, code)
    assert plain.stopped is None
    assert plain.raised is None or "raise ValueError" in code, plain.raised
    assert same_outcome(plain, traced), (plain, traced)
    for text, value in expected.items():
        held = recorded.get(text, [])
        if isinstance(value, list):  # so often, and no more
            assert len(held) == len(value), (text, sorted(recorded))
        assert held or value == [], (text, sorted(recorded))
        for wanted, got in zip(value if isinstance(value, list) else [value], held, strict=False):
            assert got.size == wanted.size and np.array_equal(got.reshape(wanted.shape), wanted), (
                text
            )


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("def f(a, b=BASE * 2):\n    return a + b\n", "BASE * 2"),
        ("def f(a, *, b=BASE * 2):\n    return a + b\n", "BASE * 2"),
        ("class Box:\n    table = BASE * 2\ndef f(a):\n    return a + Box.table\n", "BASE * 2"),
        ("class Box:\n    table = [BASE * k for k in (2,)][0]\ndef f(a):\n    return a + Box.table\n", "BASE * k"),
        ("TABLE = BASE * 2\ndef f(a):\n    return a + TABLE\n", "BASE * 2"),
        ("def scaled(k):\n    return lambda f: lambda a: f(a) + k\n@scaled(BASE * 2)\ndef f(a):\n    return a\n", "BASE * 2"),
        ("def scaled(k):\n    return lambda f: lambda a: f(a) + k\nclass Box:\n    @staticmethod\n    @scaled(BASE * 2)\n    def g(a):\n        return a\ndef f(a):\n    return Box.g(a)\n", "BASE * 2"),
    ],
    ids=["default", "keyword default", "class body", "comprehension in a class", "module", "decorator", "method decorator"],
)  # fmt: skip
def test_what_is_computed_when_a_module_is_imported_is_recorded(
    lab: Lab, code: str, text: str
) -> None:
    """Default arguments, class bodies, module constants and the arguments of decorators."""
    plain, traced, recorded = both(lab, code + "def main(x):\n    return {'y': f(x)}\n")
    assert same_outcome(plain, traced)
    assert text in recorded, sorted(recorded)
    assert np.array_equal(recorded[text][0], 2 * np.arange(10.0, 16.0))


def test_only_the_sizes_that_were_asked_for_are_kept(lab: Lab) -> None:
    """Other arrays pass by unrecorded."""
    code = "def main(x):\n    a = x[:3] * 2\n    b = x * 2\n    return {'y': a, 'n': a.size + 1}\n"
    _, _, recorded = both(lab, code, sizes=[3])
    assert "x[:3] * 2" in recorded and "x * 2" not in recorded
    _, _, numbers = both(lab, code, sizes=[1])
    assert [int(v) for v in numbers["a.size + 1"]] == [4]


def test_the_iterations_of_a_loop_belong_to_one_frame_and_calls_to_several(lab: Lab) -> None:
    """Values that a loop had one after the other can be stacked; those of two calls are kept apart."""
    code = """
        def f(x):
            return x * 5
        def main(x):
            for k in range(3):
                y = x * k
            return {"y": y + f(x) + f(x)}
    """
    tree = lab.tree(HEAD + dedent(code))
    (outcome,) = lab.runs(tree, {"x": X}, options=RunOptions(trace=TRACE))
    lines = tree.files["src/mine.py"].decode().splitlines()
    frames = {}
    for row in outcome.trace:
        _, line, column, _, end, node = row["site"]
        frames[lines[line - 1][column:end], node] = row["frames"]
    assert len(set(frames["x * k", "BinOp"])) == 1 and len(frames["x * k", "BinOp"]) == 3
    assert len(set(frames["x * 5", "BinOp"])) == 2


def test_a_value_is_recorded_as_it_was_and_not_as_it_became(lab: Lab) -> None:
    """Later changes in place do not reach back."""
    _, _, recorded = both(lab, "def main(x):\n    y = x * 2\n    y += 1\n    return {'y': y}\n")
    assert np.array_equal(recorded["x * 2"][0], 2 * X)


def test_each_job_has_its_own_recordings(lab: Lab) -> None:
    """What one probe did is not in the trace of the next."""
    tree = lab.tree("def main(x):\n    return {'y': x * 2}\n")
    outcomes = lab.runs(tree, {"x": X}, {"x": X + 1}, options=RunOptions(trace=TRACE))
    seen = [texts(outcome, dict(tree.files))["x * 2"] for outcome in outcomes]
    assert [len(values) for values in seen] == [1, 1]
    assert np.array_equal(seen[1][0], 2 * (X + 1))


def test_a_trace_has_a_most_it_keeps(lab: Lab) -> None:
    """Ten million recordings do not fill the memory: a cap in bytes, and one for each place."""
    code = "def main(x):\n    for _ in range(20_000):\n        y = x * 2\n    return {'y': y}\n"
    plain, traced, recorded = both(lab, code, cap=1 << 12)
    assert same_outcome(plain, traced)
    assert sum(v.nbytes for values in recorded.values() for v in values) < 1 << 14
    _, _, recorded = both(lab, code)
    assert 0 < len(recorded["x * 2"]) <= 1000


def test_no_trace_is_made_where_none_was_asked_for(lab: Lab) -> None:
    """The plain run is plain, also on a server that traced before."""
    tree = lab.tree(
        "import builtins\ndef main(x):\n    x = x * 1\n    return {'y': sorted(n for n in dir(builtins) if 'engine' in n)}\n"
    )
    (traced,) = lab.runs(tree, {"x": X}, options=RunOptions(trace=TRACE))
    (plain,) = lab.runs(tree, {"x": X})
    assert traced.trace and not plain.trace
    assert plain.values == {"y": {"list": []}}


@pytest.mark.parametrize(
    "code",
    [
        "def main(x):\n    y = x.astype(np.longdouble) * 2\n    return {'y': (y * 1).astype(float)}\n",
        "def main(x):\n    y = x * 1j\n    return {'y': y.imag + 1}\n",
        "def main(x):\n    y = np.array([object()] * 6)\n    return {'y': x + len(y)}\n",
        "def main(x):\n    y = x.astype('f2').astype('>f8')\n    return {'y': y * 2}\n",
        "def main(x):\n    y = np.ma.masked_array(x, x > 2)\n    return {'y': y.filled(0) * 2}\n",
        "def main(x):\n    y = np.array(['a'] * 6)\n    return {'y': x * 2, 'n': y.size}\n",
        "def main(x):\n    class Odd:\n        def __getattr__(self, name): raise SystemError(name)\n    odd = Odd()\n    return {'y': x * (odd is not None)}\n",
        "def main(x):\n    class Odd:\n        data = property(lambda self: 1 / 0)\n    odd = Odd()\n    return {'y': x * (odd is not None)}\n",
        "def main(x):\n    return {'y': x * (10 ** 400 > 1) + float('nan') * 0}\n",
    ],
    ids=["long double", "complex", "objects", "byte order", "masked", "texts", "no attributes", "failing data", "numbers"],
)  # fmt: skip
def test_values_that_cannot_be_recorded_do_not_stand_in_the_way(lab: Lab, code: str) -> None:
    """Odd values pass through; the others are recorded as ever."""
    plain, traced, recorded = both(lab, code)
    assert plain.raised is None
    assert same_outcome(plain, traced), (plain, traced)
    assert "x" in recorded


def test_input_changes_and_exceptions_are_reported_from_traced_code_too(lab: Lab) -> None:
    """With the frames and lines of the plain file."""
    plain, traced, _ = both(lab, "def main(x):\n    x += 1\n    y = x[9]\n    return {'y': y}\n")
    assert plain.raised is not None and plain.raised.type == "IndexError"
    assert plain.changed == ("x",)
    assert same_outcome(plain, traced)


def test_a_file_that_python_cannot_read_says_so_when_traced(lab: Lab) -> None:
    """The same SyntaxError, at the same place."""
    tree = lab.tree("x = 1\ndef main(:\n")
    (plain,) = lab.runs(tree, {"x": X})
    (traced,) = lab.runs(tree, {"x": X}, options=RunOptions(trace=TRACE))
    assert plain.raised is not None and plain.raised.type == "SyntaxError"
    assert same_outcome(plain, traced)


def test_infinite_recursion_in_traced_code_ends(lab: Lab) -> None:
    """As an exception or a death, and the server goes on."""
    tree = lab.tree("def main(x):\n    return max([x + 1], key=main)\n")
    (outcome,) = lab.runs(tree, {"x": X}, options=RunOptions(trace=TRACE))
    assert outcome.stopped in ("died", "timeout") or (
        outcome.raised and outcome.raised.type == "RecursionError"
    )
    (outcome,) = lab.runs(
        lab.tree("def main(x):\n    return {'y': x * 2}\n"),
        {"x": X},
        options=RunOptions(trace=TRACE),
    )
    assert np.array_equal(outcome.values["y"], 2 * X)


def test_a_long_sum_is_instrumented_in_reasonable_time(lab: Lab) -> None:
    """Six hundred terms nest six hundred deep, and are traced all the same."""
    code = "def main(x):\n    return {'y': " + " + ".join(["x"] * 600) + "}\n"
    plain, traced, found = both(lab, code)
    assert plain.raised is None
    assert same_outcome(plain, traced), (traced.stopped, traced.raised)
    assert np.array_equal(found["x + x"][0], 2 * X)
    assert any(text.count("x") == 600 for text in found)


def test_finalisers_that_run_between_two_jobs_are_no_hindrance(lab: Lab) -> None:
    """Frames that the recorder kept go when the next job begins, and objects go with them."""
    tree = lab.tree(
        """
        FREED = []

        class Handle:
            def __init__(self, x):
                self.x = x
            def __del__(self):
                FREED.append(self.x + 1)

        def main(x):
            handle = Handle(x)
            return {"y": handle.x * 2, "freed": len(FREED)}
        """
    )
    first, second, third = lab.runs(
        tree, *({"x": X} for _ in range(3)), options=RunOptions(trace=TRACE)
    )
    assert [one.stopped for one in (first, second, third)] == [None] * 3
    assert second.values["freed"] >= 1
    assert all(row["times"] >= len(row["values"]) for row in (*second.trace, *third.trace))
