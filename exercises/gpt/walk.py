"""What is seen of sentences on their way through a model, and of the table that they are looked up in."""

import numpy as np
from pack import position_facts
from pack.facts import Case
from pack.parts import positions


def sentences(recorded):
    """Of "first" (random weights), "start" and "end" of a training, on the same sentences: name -> numbers.

    The parts are found where all weights are random, and looked at where they are the model's own.
    """
    case = Case(recorded)
    parts = case.parts("first")
    graphs = [done["graph"] if (done := case.done.get(n)) else None for n in ("start", "end")]
    if parts is None or parts.table is None:
        return {}
    if any(one is None or len(one.calls) != len(parts.graph.calls) for one in graphs):
        return {}
    start, end = (graph.values for graph in graphs)
    found = {
        "table_before": start[parts.table.i].array,
        "table_after": end[parts.table.i].array,
        "rows": by_token(parts, start, parts.tok),
        "logits_before": by_token(parts, start, parts.logits),
        "logits_after": by_token(parts, end, parts.logits),
    }
    if parts.head is not None:
        read, weight = parts.linears[parts.head.i]
        found["hidden_after"] = by_token(parts, end, read)
        found["tied" if weight.storage == parts.table.storage else "untied"] = True
    found.update(placed(parts, start))
    return {name: plain(value) for name, value in found.items() if value is not None}


def by_token(parts, values, value):
    """(B, T, n) of what one value holds for each token, None where it holds something else."""
    array = None if value is None else values[value.i].array
    if array is None or array.size % (parts.B * parts.T) or array.ndim < 2:
        return None
    if array.shape[:-1] not in ((parts.B, parts.T), (parts.B * parts.T,)):
        return None
    return array.reshape(parts.B, parts.T, -1)


def placed(parts, values):
    """How positions come in: rows that are added, or a query of the first head, turned."""
    told, _, _ = position_facts.position(parts)
    table = positions(parts)
    if told == "row t for token t" and table is not None:
        array = values[table[3].i].array
        return {"position_rows": array.reshape(-1, parts.T, array.shape[-1])[0]}
    if told == "rotated q and k":
        _, query = position_facts.rotated(parts, 0)
        array = values[query.i].array
        axes = [n for n in range(array.ndim - 1) if array.shape[n] == parts.T]
        turned = np.moveaxis(array, axes[0], -2).reshape(-1, parts.T, array.shape[-1])
        return {"turned_query": turned[0]}
    return {}


def plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value
