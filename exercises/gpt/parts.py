"""The parts of a decoder, found by what flows through them: embedding, attention, FFN, norms, head."""

import numpy as np
from pack import attention, norms
from pack.graph import (
    MATMULS,
    SUMS,
    VIEWS,
    close,
    factor_of,
    is_weight,
    origin,
    reaches,
    scalar,
    up,
    weight_of,
)  # fmt: skip

LOOKUPS = {"embedding", "__getitem__", "index_select", "gather", "take", "matmul", "__matmul__"}
LOOKUPS |= {"linear", "mm"}


class FFN:
    """ups: products with the first matrices; down: with the last; hidden: what the last one reads."""

    def __init__(self, ups, down, hidden):
        self.ups, self.down, self.hidden = ups, down, hidden


class Parts:
    """What was found of a decoder in one run. Anything may be missing."""

    def __init__(self, graph, run):
        self.graph, self.run = graph, run
        self.tokens = graph.tokens
        self.B, self.T = self.tokens.shape[:2]
        self.logits = self._placed(run, "logits")
        self.table, self.tok = self._embedding()
        self.width = self.tok.shape[-1] if self.tok is not None else 0
        self.heads = attention.heads(graph, self.T)
        self.layers = attention.layers(self.heads)
        self.whole = [c for c in graph.calls if c.name in attention.WHOLE]
        self.linears = {c.i: weight_of(c) for c in graph.calls if weight_of(c) is not None}
        self.head = self._head()
        self.norms = norms.norms(graph, self.T, self.width) if self.width else []
        self.ffns = self._ffns()
        self.units = self._units()

    def _placed(self, run, name):
        place = run["place"].get(name, -1)
        return self.graph.values[place] if 0 <= place < len(self.graph.values) else None

    def _embedding(self):
        """(table, vectors) of the tokens."""
        ids = self.tokens.array.reshape(-1)
        for call in self.graph.calls:
            if call.name not in LOOKUPS or not call.outs:
                continue
            tables = [v for v in call.ins if v.floats and len(v.shape) == 2 and is_weight(v)]
            read = [v for v in call.ins if v.array is not None and v not in tables]
            if len(tables) != 1 or len(read) != 1:
                continue
            same = read[0].dtype.startswith("int") and np.array_equal(
                read[0].array.reshape(-1), ids
            )
            hot = read[0].shape[-1:] == tables[0].shape[:1] and np.array_equal(
                read[0].array.argmax(-1).reshape(-1), ids
            )
            if (same and call.outs[0].shape[-1] == tables[0].shape[1]) or hot:
                return origin(tables[0]), call.outs[0]
        return None, None

    def _head(self):
        """The call that makes the logits from vectors of the model's width."""
        if self.logits is None:
            return None
        for value in [self.logits, *up(self.logits, 14)]:
            pair = self.linears.get(value.call.i) if value.call is not None else None
            if pair is not None and self.run["vocabulary"] <= max(pair[1].shape):
                return value.call
        return None

    def _ffns(self):
        """Chains of two products with parameters that belong neither to attention nor to the head. What
        lies between them goes to the last matrix alone: a stream flows on around it.
        """
        used = {self.head.i} if self.head is not None else set()
        for head in self.heads:
            for value in (head.q, head.k, head.v):
                made = attention.projection_of(value)
                if made is not None:
                    used.add(made.call.i)
        for layer in self.layers:
            if layer[0][1] is not None and layer[0][2]:
                used.add(layer[0][1].i)
        rest = {i: pair for i, pair in self.linears.items() if i not in used}
        read = [origin(value).i for value, _ in rest.values()]
        found = []
        for i in sorted(rest):
            if read.count(origin(rest[i][0]).i) > 1:
                continue
            sources = self._products(rest[i][0])
            if not sources or self._flows_on(rest[i][0], self.graph.calls[i]):
                continue
            if all(call.i in rest for call in sources):
                found.append(FFN(sources, self.graph.calls[i], rest[i][0]))
        return self._in_layers(found)

    def _flows_on(self, value, call):
        """Whether a value also comes to the head around one of the calls that read it."""
        if self.head is None:
            return False
        whole = origin(value)
        starts = [value, whole] if whole.size == value.size else [value]
        return reaches(starts, self.linears[self.head.i][0], call.outs)

    def _in_layers(self, found):
        """Without what follows the last layer: a head may have products of its own."""
        starts = [layer[0][0].call.i for layer in self.layers]
        if len(starts) < 2:
            return found
        first = [f for f in found if starts[0] < f.down.i < starts[1]]
        last = [f for f in found if f.down.i > starts[-1]]
        before = [f for f in found if f.down.i <= starts[-1]]
        return before + last[: max(1, len(first))]

    def _products(self, value):
        """The products that a value was made of, without passing through another one."""
        stop = lambda v: v.call is not None and v.call.name in MATMULS
        made = [value, *up(value, 14, stop)]
        return list({v.call.i: v.call for v in made if stop(v)}.values())

    def _units(self):
        """[(kind, values that its result must pass through)] in order: attention and FFNs by layer."""
        found = [
            (layer[0][0].call.i, "attention", [head.O for head, *_ in layer])
            for layer in self.layers
        ]
        starts = [first for first, _, _ in found]
        by_layer = {}
        for ffn in self.ffns:
            layer = sum(1 for start in starts if start < ffn.down.i)
            by_layer.setdefault(layer, []).append(ffn)
        for ffns in by_layer.values():
            cut = {f.hidden.i: f.hidden for f in ffns}
            found.append((ffns[0].down.i, "FFN", list(cut.values())))
        return [(kind, values) for _, kind, values in sorted(found, key=lambda unit: unit[0])]

    def loss_call(self):
        """The call that gives the loss, as far as it can be named."""
        calls = [c for c in self.graph.calls if c.name in ("cross_entropy", "nll_loss")]
        value = self._placed(self.run, "loss")
        return calls[-1] if calls else value.call if value is not None else None

    def norm_of(self, value):
        """The norm whose result this value is, or None."""
        return next((norm for norm in self.norms if value.i in norm.values), None)

    def reads(self, value):
        """What a product reads: ("norm", norm), ("raw", value) or ("other", value)."""
        for _ in range(30):
            norm = self.norm_of(value)
            if norm is not None:
                return "norm", norm
            call = value.call
            if call is None:
                return "other", value
            found = factor_of(call)
            if found is not None:
                value = found[0]
            elif call.name in VIEWS and call.ins and value is not self.tok:
                value = call.ins[0]
            elif call.name in SUMS and value is not self.tok:
                return ("raw", value) if self._is_stream(call) else ("other", value)
            elif value is self.tok:
                return "raw", value
            else:
                return "other", value
        return "other", value

    def _is_stream(self, call):
        """A sum of two vectors of the model, neither of them a parameter."""
        sides = [v for v in call.ins if v.floats]
        if len(sides) != 2 or call.outs[0].shape[-1:] != (self.width,):
            return False
        return not any(v.leaf and len(v.shape) < 2 for v in sides)

    def bypassed(self):
        """Whether something flows from the embedding to the last unit around every norm: a stream with
        norms inside the branches.
        """
        if self.tok is None or not self.units or self.head is None:
            return False
        goal = self.linears[self.head.i][0]
        final = self.reads(goal)
        norms = [n for n in self.norms if n is not final[1]]
        values = self.graph.values
        if reaches([self.tok], goal, [values[i] for n in norms for i in n.values]):
            return True
        if not norms:
            return False
        first, rest = norms[0], norms[1:]  # the embedding may be normalised first
        return reaches([first.Y], goal, [values[i] for n in rest for i in n.values])

    def count(self):
        """How many parts were found: decides between candidates."""
        return sum(
            [
                self.tok is not None,
                bool(self.heads or self.whole),
                bool(self.heads),
                bool(self.layers) and len(self.layers) >= 2,
                bool(self.ffns),
                bool(self.norms),
                self.head is not None,
                bool(positions(self)),
            ]
        )


def positions(parts):
    """("table", offset, rows, call) where rows of a table are added to the tokens; None otherwise."""
    T, d = parts.T, parts.width
    if parts.tok is None:
        return None
    for value in parts.graph.values:
        if (
            not value.floats
            or value.array is None
            or value.shape[-1:] != (d,)
            or value is parts.tok
        ):
            continue
        if value.size not in (T * d, parts.B * T * d) or value.call is None or value.leaf:
            continue
        if value.call.name not in VIEWS | {"embedding", "index_select"}:
            continue
        tables = [v for v in value.call.ins if v.floats and v.leaf and v.shape[-1:] == (d,)]
        if not tables or tables[0] is parts.table or tables[0].array is None:
            continue
        rows, table = value.array.reshape(-1, T, d)[0], tables[0].array.reshape(-1, d)
        for offset in range(table.shape[0] - T + 1):
            if close(rows, table[offset : offset + T], 1e-6):
                return "table", offset, table.shape[0], value
        return "table", None, table.shape[0], value
    for value in parts.graph.values:  # a whole table, added as it is
        if value.leaf and value.array is not None and value.shape[-2:] == (T, d):
            if value.size == T * d and any(call.name in SUMS for call in value.uses):
                return "table", 0, T, value
    return None


__all__ = ["FFN", "Parts", "positions", "scalar"]
