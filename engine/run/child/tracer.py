"""Records the value of every executed expression of a tree, in memory, in the child.

Every expression `e` of the learner's files becomes `__engine_rec__(site, e)`: the same value, copied
when its element count is one that was asked for. Constructors, closures, comprehensions and backward
functions are traced like the rest. Nothing on disk changes; the parent compares.

Sent to the child as text: standard library, numpy where arrays come along, tensors where torch is at work.
"""

from __future__ import annotations

import ast
import builtins
import struct
import sys

from engine.run.child import wire

NAME = "__engine_rec__"  # dunder on both sides, so that class bodies do not mangle it
PER_SITE = 512  # recordings a site
DEEP = 20_000  # frames, for code with instruments: they nest where expressions do
DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES += ("float16", "float32", "float64", "bool")  # what can cross the wire
NOTHING = (None, None)


class Recorder:
    """Called by instrumented code. `sizes`: element counts to keep; `cap`: bytes kept in all.

    sites: (path, line, column, end line, end column, node type), as `instrumented` made them.
    """

    def __init__(self, wanted, sites):
        self.sizes = set(wanted["sizes"])
        self.cap = wanted["cap"]
        self.sites = sites
        self.clear()

    def clear(self):
        self._busy = (
            True  # frames that go may take objects along, whose finalisers are instrumented
        )
        self._values = {}
        self._frames = {}
        self._times = {}  # how often each site was reached, whatever it held
        self._bytes = 0
        self._busy = False

    def __call__(self, site, value):
        if self._busy or self._bytes > self.cap:
            return value
        self._busy = True  # a learner's `.data` may be instrumented code itself
        self._times[site] = self._times.get(site, 0) + 1
        try:
            size, copy = self._array(value)
            if size in self.sizes:
                kept = self._values.setdefault(site, [])
                if len(kept) < PER_SITE:
                    frame = sys._getframe(1)
                    serial = self._frames.setdefault(id(frame), (len(self._frames), frame))[0]
                    kept.append((serial, copy()))
                    self._bytes += kept[-1][1].nbytes
        except Exception:  # a value that cannot be read is a value that is not recorded
            pass
        finally:
            self._busy = False
        return value

    def _array(self, value):
        """How many numbers a value has, and what copies them for the wire; (None, None) of other things."""
        kind = type(value)
        if kind in (int, float):
            fits = kind is float or abs(value) < 1 << 62  # -inf and 1e30 are numbers to look for
            return (1, lambda: number(value)) if fits else NOTHING
        if kind in (bool, str, bytes, tuple, list, dict, type, type(None), type(sys)):
            return NOTHING
        if wire.ARRAYS is not None:
            size = wire.ARRAYS.size(value)
            if size is not None:
                return size, lambda: wire.ARRAYS.sent(value)
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return NOTHING
        if not isinstance(value, (numpy.ndarray, numpy.generic)):
            value = getattr(value, "data", None)
            if not isinstance(value, (numpy.ndarray, numpy.generic)):
                return NOTHING
        array = numpy.asarray(value)
        return (array.size, array.copy) if array.dtype.name in DTYPES else NOTHING

    def found(self):
        """What was recorded, a row a site: where, what kind of expression, how often it was executed,
        values, frames.
        """
        rows = []
        for site, kept in self._values.items():
            rows.append(
                {
                    "site": list(self.sites[site]),
                    "times": self._times[site],
                    "frames": [serial for serial, _ in kept],
                    "values": [array for _, array in kept],
                }
            )
        return rows


def number(value):
    """A number of Python's as it crosses, with numpy or without."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        return numpy.asarray(value)
    if type(value) is int:
        return wire.Raw("int64", [], struct.pack("<q", value))
    return wire.Raw("float64", [], struct.pack("<d", value))


class Instrument(ast.NodeTransformer):
    """Wraps every expression that is read, but for those whose meaning would change."""

    def __init__(self, path, sites):
        self.path = path
        self.sites = sites

    def generic_visit(self, node):
        if isinstance(node, ast.expr) and self._wraps(node):
            place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            super().generic_visit(node)
            self.sites.append((self.path,) + place + (type(node).__name__,))
            site = ast.Constant(len(self.sites) - 1)
            call = ast.Call(ast.Name(NAME, ast.Load()), [site, node], [])
            for made in (call, call.func, site):
                ast.copy_location(made, node)
            return call
        return super().generic_visit(node)

    def _wraps(self, node):
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return False
        skipped = (ast.Constant, ast.Starred, ast.Slice, ast.JoinedStr, ast.FormattedValue)
        return not isinstance(node, skipped + (ast.Lambda, ast.Yield, ast.YieldFrom, ast.Await))

    def visit_Constant(self, node):
        return node

    def visit_JoinedStr(self, node):  # positions inside are not the file's before 3.12
        return node

    def visit_Tuple(self, node):  # in a subscript a tuple may hold slices
        return super().generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name):
            if node.func.id in ("super", "locals", "vars", "dir"):
                return node
            func = node.func
        elif isinstance(node.func, ast.Attribute):  # `x.f(...)`: x is a value, x.f is not
            func = node.func
            func.value = self.visit(func.value)
        else:
            func = self.visit(node.func)
        node.func = ast.Constant(None)  # visited above; keep generic_visit away from it
        wrapped = self.generic_visit(node)
        node.func = func
        return wrapped

    def visit_AnnAssign(self, node):
        if node.value is not None:
            node.value = self.visit(node.value)
        node.target = self.visit(node.target)
        return node

    def visit_arg(self, node):
        return node

    def _function(self, node):
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        node.body = [self.visit(statement) for statement in node.body]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_Match(self, node):
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = case.guard and self.visit(case.guard)
            case.body = [self.visit(statement) for statement in case.body]
        return node


def instrumented(tree):
    """The same tree, whose files are compiled in their instrumented form, and its sites."""
    sites = []

    def transform(path, source):
        try:
            return Instrument(path, sites).visit(ast.parse(source))
        except (SyntaxError, ValueError, RecursionError):
            return source  # it is compiled as it stands, or says its own error

    return tree.transformed(transform), sites


def record(recorder):
    """From now on instrumented code tells `recorder`."""
    setattr(builtins, NAME, recorder)
