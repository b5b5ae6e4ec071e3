"""The order in which gradients go back, and the undoing of broadcasts."""


def order(tensor):
    """Results before operands."""
    found, seen = [], set()

    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            for parent in node.parents:
                visit(parent)
            found.append(node)

    visit(tensor)
    return found[::-1]


def shrink(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    for i, n in enumerate(shape):
        if n < gradient.shape[i]:
            gradient = gradient.sum(i, keepdims=True)
    return gradient
