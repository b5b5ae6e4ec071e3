"""A recorded run as a graph: values that flow through torch calls."""

import numpy as np

MATMULS = {
    "matmul", "bmm", "einsum", "__matmul__", "__rmatmul__", "baddbmm", "linear", "mm", "addmm",
    "tensordot", "conv1d",
}  # fmt: skip
VIEWS = {
    "view", "reshape", "transpose", "permute", "contiguous", "__getitem__", "unsqueeze", "squeeze",
    "flatten", "unflatten", "chunk", "split", "unbind", "swapaxes", "T", "mT", "t", "movedim",
    "expand", "expand_as", "to", "float", "type_as", "clone", "repeat_interleave", "repeat",
    "detach", "dropout", "type", "tensor_split", "narrow", "swapdims", "view_as", "alias",
    "double", "select", "split_with_sizes", "dropout_", "data", "cpu", "tile", "broadcast_to",
    "squeeze_", "unsqueeze_", "moveaxis", "reshape_as", "hsplit", "feature_dropout", "dropout1d",
}  # fmt: skip
PRODUCTS = {"mul", "__mul__", "__rmul__", "mul_", "multiply", "imul", "__imul__"}
QUOTIENTS = {"div", "__truediv__", "div_", "true_divide", "__itruediv__", "divide", "__div__"}
SUMS = {"add", "__add__", "__radd__", "add_", "__iadd__", "iadd"}
MADE = ("_like", "new_")  # calls whose result holds nothing of their operand


class Value:
    """A tensor at one moment. array: float64 for floats, None where it did not travel."""

    __slots__ = (
        "array",
        "call",
        "dtype",
        "i",
        "leaf",
        "learns",
        "name",
        "shape",
        "storage",
        "uses",
    )

    def __init__(self, i, found, arrays):
        self.i, self.call, self.uses = i, None, []
        self.shape, self.dtype = tuple(found["shape"]), found["dtype"]
        self.storage, self.leaf = found["storage"], found["leaf"]
        self.name, self.learns = found["name"], found["learns"]
        self.array = number(found, arrays)

    @property
    def floats(self):
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))


class Call:
    """One torch call. ins, outs: values; args, kwargs: as given, values in their places."""

    __slots__ = ("args", "at", "i", "ins", "inside", "kwargs", "module", "name", "outs", "product")

    def argument(self, place, name, default=None):
        """An argument by position or by name."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[place] if len(self.args) > place else default


def number(found, arrays):
    """The numbers of what was recorded, floats in float64; None where they did not travel."""
    if found is None or found["array"] < 0:
        return None
    array = arrays[found["array"]]
    if found.get("dtype", "").startswith("complex"):
        return array[..., 0].astype(np.float64) + 1j * array[..., 1]
    return array.astype(np.float64) if array.dtype.kind == "f" else array


class Graph:
    """All values and calls of one run, in order."""

    def __init__(self, trace, arrays):
        self.values = [Value(i, v, arrays) for i, v in enumerate(trace["values"])]
        self.frames = trace["frames"]
        self.calls = [self._call(i, c) for i, c in enumerate(trace["calls"])]
        self.tokens = self.values[trace["tokens"]] if trace["tokens"] >= 0 else None

    def _call(self, i, found):
        call = Call()
        call.i, call.name, call.module = i, found["name"], found["module"]
        call.inside = found["inside"]
        call.args = [self._argument(one) for one in found["args"]]
        call.kwargs = {name: self._argument(one) for name, one in found["kwargs"].items()}
        call.ins = list(flat([*call.args, *call.kwargs.values()]))
        call.outs = [self.values[n] for n in found["outs"]]
        call.at = [self.frames[n] for n in found["frames"]]
        for value in call.outs:
            if value not in call.ins:
                value.call = call
        for value in {v.i: v for v in call.ins}.values():
            value.uses.append(call)
        return call

    def _argument(self, found):
        if isinstance(found, dict):
            return self.values[found["v"]] if "v" in found else found
        return [self._argument(one) for one in found] if isinstance(found, list) else found


def flat(arguments):
    """The values among arguments, in order."""
    for one in arguments:
        if isinstance(one, Value):
            yield one
        elif isinstance(one, list):
            yield from flat(one)


def up(value, depth=12, stop=lambda value: False):
    """Values that this one was made of, nearest first; not beyond those where `stop`."""
    seen, found, waiting = {value.i}, [], [(value, 0)]
    for one, far in waiting:
        if one.call is None or far >= depth or stop(one):
            continue
        for source in one.call.ins:
            if source.i not in seen:
                seen.add(source.i)
                found.append(source)
                waiting.append((source, far + 1))
    return found


def reaches(sources, goal, avoid=()):
    """Whether anything flows from one of `sources` to `goal` without passing through `avoid`."""
    closed = {value.i for value in avoid}
    waiting = [value for value in sources if value.i not in closed]
    seen = {value.i for value in waiting}
    while waiting:
        value = waiting.pop()
        if value is goal:
            return True
        for call in value.uses:
            if call.name.endswith(MADE[0]) or call.name.startswith(MADE[1]):
                continue
            for out in call.outs:
                if out.i not in seen and out.i not in closed:
                    seen.add(out.i)
                    waiting.append(out)
    return False


def origin(value, depth=24):
    """The value that this one is a view, a copy or a part of."""
    for _ in range(depth):
        if value.call is None or value.call.name not in VIEWS or not value.call.ins:
            break
        if value.call.name == "__getitem__" and len(value.call.ins) > 1:
            break  # rows looked up by numbers: an embedding
        value = value.call.ins[0]
    return value


def is_weight(value):
    """A parameter, or a view of one."""
    source = origin(value)
    return source.leaf and source.floats and (source.learns or bool(source.name))


def weight_of(call):
    """(activations, weight) of a product with a parameter; None for other calls."""
    if not hasattr(call, "product"):
        call.product = _product(call)
    return call.product


def _product(call):
    if call.name not in MATMULS:
        return None
    floats = [v for v in call.ins if v.floats]
    weights = [v for v in floats if is_weight(v) and len(v.shape) >= 2]
    others = [v for v in floats if not is_weight(v)]
    if len(weights) != 1 or not others or not call.outs:
        return None
    return others[0], origin(weights[0])


def scalar(one):
    """A plain number, or a tensor of one entry that was not computed from the tokens."""
    if isinstance(one, bool):
        return None
    if isinstance(one, (int, float)):
        return float(one)
    if isinstance(one, Value) and one.size == 1 and one.array is not None:
        return float(one.array.reshape(-1)[0])
    return None


def factor_of(call):
    """(value, factor) of a call that multiplies a value by a number; None for other calls."""
    if call is None or not call.outs or len(call.args) < 2:
        return None
    left, right = call.args[0], call.args[1]
    if call.name in PRODUCTS:
        for value, other in ((left, right), (right, left)):
            if isinstance(value, Value) and value.size > 1 and scalar(other) is not None:
                return value, scalar(other)
    if call.name in QUOTIENTS and isinstance(left, Value) and left.size > 1 and scalar(right):
        return left, 1.0 / scalar(right)
    return None


def close(a, b, tolerance=1e-4):
    """Whether two arrays are equal up to rounding, relative to the largest number of b."""
    if a is None or b is None or a.shape != b.shape or a.size == 0:
        return False
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    largest = max(1e-6, float(np.abs(b).max()))
    return float(np.abs(a - b).max()) <= tolerance * largest


class Place:
    """Where a fact is seen, if not at a torch call itself. at: as of a call."""

    def __init__(self, frame):
        self.at = [frame]


def parted(call, others):
    """Where the way to a call parts from the way to others: the line that joins a branch to the stream, and
    none inside it. Lines that lead to all of them (a loop over layers) are passed over.
    """
    shared = [one for one in others if one is not None and one.at]
    if call is None or not shared:
        return call
    for depth in range(len(call.at)):
        frame = call.at[-1 - depth]
        shared = [one for one in shared if len(one.at) > depth and one.at[-1 - depth] == frame]
        if not shared:
            return Place(frame)
    return call


def at(call):
    """The span of a call: [file, first line, last line, first column, last column]; None without one."""
    if call is None or not call.at:
        return None
    path, _, first, last, left, right = call.at[0]
    return [path, first, last, left, right]
