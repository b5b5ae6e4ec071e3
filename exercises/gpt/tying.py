"""Which tensor stands for which where the tie of embedding and head is made, or undone."""

from pack.facts import Case


def exchange(recorded):
    """{"version": "tied" or "untied", "read", "but", "by"}, or {"why"}: what the model is, and what its calls
    read for it to be the other one.
    """
    parts = Case(recorded).parts("first")
    if parts is None or parts.head is None or parts.table is None:
        return {"why": "no embedding or no head was found"}
    weight = parts.linears[parts.head.i][1]
    looked_up = parts.tok.call.name
    table, head = named(parts, parts.table), named(parts, weight)
    if not table or not head:
        return {"why": "embedding or head is no parameter of its own"}
    if weight.storage == parts.table.storage:
        if looked_up == parts.head.name:
            return {"why": "the head reads the table by the same call as the embedding"}
        return {"version": "tied", "read": table, "but": looked_up, "by": ""}
    return {"version": "untied", "read": head, "but": "", "by": table}


def named(parts, value):
    """The name of the parameter that a value is, or is a view of."""
    held = [v for v in parts.graph.values if v.leaf and v.name and v.storage == value.storage]
    return held[0].name if held else ""
