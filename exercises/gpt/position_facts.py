"""How positions come into a run: rows of a table, or rotated queries and keys."""

import numpy as np
from pack.attention import projected
from pack.attention_facts import no_attention
from pack.graph import SUMS, close, origin, parted, reaches, up
from pack.parts import positions
from pack.results import missing


def position(parts):
    """How positions come in: rows of a table, or rotated queries and keys."""
    if parts.tok is None or not (parts.heads or parts.whole):
        return missing("no embedding or no attention was found")
    table = positions(parts)
    if table is not None:
        return table_fact(parts, table)
    if not parts.heads:
        return no_attention(parts)
    sides = {"q": rotated(parts, 0), "k": rotated(parts, 1)}
    if sides["q"] is None and sides["k"] is None:
        if parts.run["rotations"]:
            return "a table of rotations that is not used", None, ""
        if parts.run["idle_tables"]:
            return "a table of positions that is not used", None, ""
        return missing("no positions were found; a causal mask alone tells some of the order")
    if sides["q"] and sides["k"]:
        if sides["q"][0] == sides["k"][0] == 0:
            return "rotated q and k", sides["q"][1].call, ""
        return missing("queries and keys are rotated in a way that is not known")
    which = "q" if sides["q"] else "k"
    if any(mixed((head.q, head.k)[which == "q"]) for head in parts.heads):
        return missing("queries and keys are rotated in a way that is not known")
    turned = origin((sides["q"] or sides["k"])[1])
    return f"rotated {which} only", parted(turned.call, [parts.heads[0].call]), ""


def table_fact(parts, table):
    _, offset, count, value = table
    flowing = parts.head is not None and reaches([value], parts.linears[parts.head.i][0])
    if not flowing:
        return "looked up and not added", value.call, ""
    if offset == 0:
        return "row t for token t", value.call, ""
    if offset is None:
        return missing("the rows of the table come in an order that is not known")
    if offset + parts.run["context"] > count:
        return f"row t + {offset} for token t", value.call, ""
    return missing(f"rows begin at {offset}, and the table is long enough for that")


def rotated(parts, side):
    """(turn at the first token, value): a query or key whose pairs were turned by its position."""
    found = []
    for head in parts.heads:
        value = (head.q, head.k)[side]
        made = [value, *up(value, 10, projected)]
        found.append(next((r for y in made if (r := turn(y, parts.T))), None))
    if any(one is None for one in found):
        return None if all(one is None for one in found) else ("?", found[0] or found[-1])
    return found[0]


def mixed(value):
    """Whether a query or key is a sum of vectors that were made of the projection, as a rotation is."""
    for one in [value, *up(value, 10, projected)]:
        if one.call is not None and one.call.name in SUMS and not projected(one):
            sides = [v for v in one.call.ins if v.floats and not v.leaf and v.size == one.size]
            if len(sides) > 1:
                return True
    return False


def turn(y, T):
    """Whether y is a value above it with each token's vector turned: same length, other numbers, but for
    token 0, which stays.
    """
    if y.array is None or not y.floats or len(y.shape) < 3 or y.call is None or y.shape[-1] < 4:
        return None
    axes = [n for n in range(y.array.ndim - 1) if y.shape[n] == T]
    if len(axes) != 1:
        return None
    Y = np.moveaxis(y.array, axes[0], -2)
    for x in up(y, 12, projected):
        if x.array is None or x.size != y.size or not x.floats or x.shape[-1] != y.shape[-1]:
            continue
        others = [n for n in range(x.array.ndim - 1) if x.shape[n] == T]
        if len(others) != 1:
            continue
        X = np.moveaxis(x.array, others[0], -2)
        if X.shape != Y.shape or not close(np.linalg.norm(Y, axis=-1), np.linalg.norm(X, axis=-1)):
            continue
        same = np.abs(np.sort(Y, -1) - np.sort(X, -1)).max((*range(Y.ndim - 2), Y.ndim - 1)) < 1e-5
        if same.sum() <= 1:
            return (0 if same[0] else "turned"), y
    return None
