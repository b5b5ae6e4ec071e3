"""One number that knows its history. Everything else in the package is made of these.

A Value keeps its kids (the Values it was computed from) and one slope per kid,
d(self)/d(kid), which is known the moment the number is computed. Going backward is
then only:  kid.grad += slope * self.grad,  parents before kids.
"""
import math
from operator import mul

INF = math.inf
NAN = math.nan
HALF_ROOT = math.sqrt(0.5)
BELL = 1.0 / math.sqrt(2.0 * math.pi)


# Python's floats raise where I would rather have inf and nan, so: patient versions.

def _div(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0.0 or a != a:
            return NAN
        return math.copysign(INF, a) * math.copysign(1.0, b)


def _exp(x):
    try:
        return math.exp(x)
    except OverflowError:
        return INF


def _log(x):
    if x > 0.0:
        return math.log(x)
    return -INF if x == 0.0 else NAN


def _sqrt(x):
    return NAN if x < 0.0 else math.sqrt(x)


def _pow(x, p):
    try:
        return math.pow(x, p)
    except OverflowError:
        return -INF if x < 0.0 and p % 2.0 == 1.0 else INF
    except ValueError:                       # 0 ** negative, or negative ** fraction
        return INF if x == 0.0 else NAN


class Value:
    __slots__ = ("data", "grad", "waiting", "kids", "slopes")

    def __init__(self, data, kids=(), slopes=()):
        self.data = data
        self.grad = 0.0
        self.waiting = 0         # parents that still have to speak, only used by unwind()
        self.kids = kids
        self.slopes = slopes

    def __repr__(self):
        return f"{type(self).__name__}({self.data!r}, grad={self.grad!r})"

    def clear(self):
        self.grad = 0.0

    def push(self):
        """Hand my gradient down to my kids."""
        g = self.grad
        if g:
            for kid, slope in zip(self.kids, self.slopes):
                kid.grad += slope * g

    # -- two numbers -------------------------------------------------------------

    def __add__(self, other):
        if isinstance(other, Value):
            return Value(self.data + other.data, (self, other), (1.0, 1.0))
        return Value(self.data + float(other), (self,), (1.0,))

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, Value):
            return Value(self.data - other.data, (self, other), (1.0, -1.0))
        return Value(self.data - float(other), (self,), (1.0,))

    def __rsub__(self, other):
        return Value(float(other) - self.data, (self,), (-1.0,))

    def __neg__(self):
        return Value(-self.data, (self,), (-1.0,))

    def __mul__(self, other):
        if isinstance(other, Value):
            return Value(self.data * other.data, (self, other), (other.data, self.data))
        c = float(other)
        return Value(self.data * c, (self,), (c,))

    __rmul__ = __mul__

    def __truediv__(self, other):
        a = self.data
        if isinstance(other, Value):
            b = other.data
            q = _div(a, b)
            return Value(q, (self, other), (_div(1.0, b), -_div(q, b)))
        c = float(other)
        return Value(_div(a, c), (self,), (_div(1.0, c),))

    def __rtruediv__(self, other):
        q = _div(float(other), self.data)
        return Value(q, (self,), (-_div(q, self.data),))

    def __pow__(self, other):
        x = self.data
        if isinstance(other, Value):
            p = other.data
            y = _pow(x, p)
            slope_p = 0.0 if y == 0.0 else y * _log(x)
            return Value(y, (self, other), (p * _pow(x, p - 1.0) if p else 0.0, slope_p))
        p = float(other)
        return Value(_pow(x, p), (self,), (p * _pow(x, p - 1.0) if p else 0.0,))

    def __rpow__(self, other):
        c = float(other)
        y = _pow(c, self.data)
        return Value(y, (self,), (0.0 if y == 0.0 else y * _log(c),))

    # -- one number ----------------------------------------------------------------

    def exp(self):
        y = _exp(self.data)
        return Value(y, (self,), (y,))

    def log(self):
        return Value(_log(self.data), (self,), (_div(1.0, self.data),))

    def sqrt(self):
        y = _sqrt(self.data)
        return Value(y, (self,), (_div(0.5, y),))

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, (self,), (1.0 - y * y,))

    def sigmoid(self):
        x = self.data
        if x >= 0.0:
            y = 1.0 / (1.0 + math.exp(-x))
        else:                                # exp(-x) would blow up over here
            e = math.exp(x)
            y = e / (1.0 + e)
        return Value(y, (self,), (y * (1.0 - y),))

    def relu(self):
        x = self.data
        if x <= 0.0:
            return Value(0.0, (self,), (0.0,))
        return Value(x, (self,), (1.0,))

    def gelu(self):
        x = self.data
        phi = 0.5 * (1.0 + math.erf(x * HALF_ROOT))
        return Value(x * phi, (self,), (phi + x * BELL * math.exp(-0.5 * x * x),))


class Leaf(Value):
    """A number that stands in cell `where` of the data of the Tensor `owner`."""

    __slots__ = ("owner", "where")

    def __init__(self, data, owner, where):
        Value.__init__(self, data)
        self.owner = owner
        self.where = where


class Strip(Value):
    """A few Values side by side, to be used by many dots.

    data and grad are lists here. The first version of the dot product listed all 2n of its
    numbers as kids, and one forward pass took gigabytes. Now a dot has two kids, and
    the strip passes on what it has been given once, at the end.
    """

    __slots__ = ()

    def __init__(self, values):
        self.data = [v.data for v in values]
        self.grad = None
        self.waiting = 0
        self.kids = values
        self.slopes = ()

    def clear(self):
        self.grad = [0.0] * len(self.kids)

    def push(self):
        for kid, g in zip(self.kids, self.grad):
            kid.grad += g


class Dot(Value):
    """left[0] * right[0] + left[1] * right[1] + ... of two Strips, as one number."""

    __slots__ = ()

    def __init__(self, left, right):
        self.data = sum(map(mul, left.data, right.data), 0.0)
        self.grad = 0.0
        self.waiting = 0
        self.kids = (left, right)
        self.slopes = ()

    def push(self):
        g = self.grad
        if g:
            left, right = self.kids
            left.grad = [have + g * x for have, x in zip(left.grad, right.data)]
            right.grad = [have + g * x for have, x in zip(right.grad, left.data)]


# -- many numbers ------------------------------------------------------------------

def total(values):
    """The sum of a list of Values in one go (a chain of + would be very long)."""
    return Value(sum([v.data for v in values], 0.0), values, (1.0,) * len(values))


def mean(values):
    return total(values) / len(values)


def biggest(values):
    """The largest one; of equals the first gets the gradient."""
    best = values[0]
    for v in values:
        if v.data > best.data or v.data != v.data:
            best = v
    return Value(best.data, (best,), (1.0,))


def softmax(values):
    # the top is subtracted as a bare float: softmax does not care about shifts, so no
    # gradient is lost
    top = max([v.data for v in values])
    lifted = []
    for v in values:
        e = math.exp(v.data - top)
        lifted.append(Value(e, (v,), (e,)))
    whole = total(lifted)
    return [e / whole for e in lifted]


def surprise(values, k):
    """-log softmax(values)[k] as one node; the slopes are the famous p - onehot."""
    top = max([v.data for v in values])
    lifted = [math.exp(v.data - top) for v in values]
    whole = sum(lifted)
    slopes = [e / whole for e in lifted]
    slopes[k] -= 1.0
    return Value(math.log(whole) - (values[k].data - top), values, slopes)


def unwind(top):
    """Backward from `top` (gradient 1) through everything it was made of; returns the tips,
    i.e. the Values without kids, with their gradients filled in.

    No recursion (a long text made Python give up). First walk: count for every node how many
    times it is a kid. Second walk: a node may speak once all its parents have.
    After that all the counts are back at 0.
    """
    todo = [top]
    while todo:
        for kid in todo.pop().kids:
            if not kid.waiting:
                kid.clear()
                if kid.kids:
                    todo.append(kid)
            kid.waiting += 1

    top.grad = 1.0
    tips = []
    ready = [top]
    while ready:
        node = ready.pop()
        if not node.kids:
            tips.append(node)
            continue
        node.push()
        for kid in node.kids:
            kid.waiting -= 1
            if not kid.waiting:
                ready.append(kid)
    return tips
