"""Runs the learner's Parameter and Module.

What the contract leaves open is recorded too, under names that no check lists: neither a build nor a
fix is judged by it, but the engine's own break of another component must leave it as it was.
"""

import numpy as np


def beyond(record, name, measure):
    """Record what `measure` gives, or that it gives an error: the contract says nothing of either."""
    try:
        found = measure()
    except Exception as error:
        found = type(error).__name__
    record(**{name: found})


def made(learner, *arrays):
    """A Parameter for each array, with a copy of its own."""
    return [learner.Parameter(np.array(array)) for array in arrays]


def module(learner, **attributes):
    """A Module that holds these attributes."""

    class Part(learner.Module):
        def __init__(self):
            super().__init__()
            for name, value in attributes.items():
                setattr(self, name, value)

        def forward(self, *inputs):
            return inputs

    return Part()


def places(parameters, known):
    """Which of the parameters `known` were found, by position in order of size; -1 for a stranger."""
    found = [next((i for i, p in enumerate(known) if p is q), -1) for q in parameters]
    return sorted(found)


def named(root):
    """`named_parameters()` as a list of pairs."""
    pairs = root.named_parameters()
    return list(pairs.items() if isinstance(pairs, dict) else pairs)


def parameter(learner, record, w, other, x, grad, more_grad):
    """A Parameter is a Tensor with a gradient, and new numbers can be written into it."""
    (p,) = made(learner, w)
    record(is_a_tensor=isinstance(p, learner.Tensor), data=p.data, shape=list(p.shape))
    y = p * learner.Tensor(x)
    y.backward(grad)
    record(y=y.data, grad_p=p.grad)
    p.data[...] = other
    y = p * p
    y.backward(more_grad)
    record(written=p.data, y_after=y.data, grad_after=p.grad)


def held(learner, record, w_0, w_1, w_2, w_3, w_4, w_5):
    """Parameters in attributes, lists and dicts, and in modules that are held there."""
    p = made(learner, w_0, w_1, w_2, w_3, w_4, w_5)
    strangers = {"width": 3, "note": "w", "nothing": None, "table": w_0.copy()}
    root = module(
        learner,
        w=p[0],
        inner=module(learner, w=p[1], **strangers),
        blocks=[module(learner, w=p[2]), p[3]],
        experts={"one": p[4], "two": module(learner, deeper=module(learner, w=p[5]))},
        offset=learner.Tensor(w_1),
        **strangers,
    )
    found = list(root.parameters())
    record(found=places(found, p), called_again=places(root.parameters(), p))
    record(named=places([q for _, q in named(root)], p))
    record(inside=places(root.inner.parameters(), p), none=len(list(module(learner).parameters())))
    record(in_order=[next((i for i, q in enumerate(p) if q is one), -1) for one in found])
    nested = module(learner, w=[[p[0]], (p[1],)], b={"c": [module(learner, w=p[2])]})
    beyond(record, "nested", lambda: places(nested.parameters(), p))


def crowd(learner, record, w, w_grad):
    """A list of modules, each with a parameter: a row of w (n, 2)."""
    p = made(learner, *w)
    root = module(learner, blocks=[module(learner, w=one) for one in p])
    place = {id(one): i for i, one in enumerate(p)}
    record(found=sorted(place.get(id(one), -1) for one in root.parameters()))
    record(named=sorted(place.get(id(one), -1) for _, one in named(root)))
    for one, g in zip(p, w_grad):
        (one * learner.Tensor(np.array(g))).sum().backward()
    root.zero_grad()
    record(cleared=[one.grad is None or not np.any(one.grad) for one in p])
    root.eval()
    record(evaluating=[not block.training for block in root.blocks])


def shared(learner, record, w_0, w_1):
    """A Parameter, and a Module, that are held in several places; and two that only look alike."""
    p = made(learner, w_0, w_1, w_1)
    first, second = module(learner, w=p[0]), module(learner, w=p[0], b=p[1])
    blocks = [first, second, p[1], p[2]]
    root = module(learner, encoder=first, decoder=second, w=p[0], blocks=blocks)
    record(found=places(root.parameters(), p))
    record(covered=sorted(set(places([q for _, q in named(root)], p))))
    beyond(record, "named", lambda: len(named(root)))


def changed(learner, record, w_0, w_1, w_2, w_3):
    """What is held when it is asked, not when it was made."""
    p = made(learner, w_0, w_1, w_2, w_3)
    root = module(learner, w=p[0], blocks=[p[1]], experts={})
    record(before=places(root.parameters(), p))
    root.w = p[2]
    root.blocks.append(module(learner, w=p[3]))
    root.experts["late"] = p[0]
    record(after=places(root.parameters(), p))


def names(learner, record, w_0, w_1, w_2, w_3, w_4):
    """Dotted names say where a parameter is held; how places in a list are written is left open."""
    p = made(learner, w_0, w_1, w_2, w_3, w_4)
    inner = module(learner, w=p[1], deeper=module(learner, b=p[2]))
    blocks = [module(learner, w=p[3]), module(learner, w=p[4])]
    root = module(learner, w=p[0], inner=inner, blocks=blocks)
    by_name = dict(named(root))
    of = {name: places([q], p)[0] for name, q in by_name.items()}
    record(w=of.get("w"), inner_w=of.get("inner.w"), inner_deeper_b=of.get("inner.deeper.b"))
    listed = [name for name in of if name.startswith("blocks.") and name.endswith(".w")]
    record(listed=sorted(of[name] for name in listed), different=len(of))
    record(names=sorted(of))


def cleared(learner, record, w, b, w_grad, b_grad, scale):
    """zero_grad before any gradient, and after one; then a fresh one."""
    p = made(learner, w, b)
    root = module(learner, w=p[0], blocks=[module(learner, b=p[1])])
    root.zero_grad()
    for q, g in zip(p, (w_grad, b_grad)):
        (q * learner.Tensor(g)).sum().backward()
    record(grad_w=p[0].grad, grad_b=p[1].grad)
    root.zero_grad()
    record(empty=all(q.grad is None or not np.any(q.grad) for q in p))
    record(w=p[0].data, b=p[1].data)
    for q, g in zip(p, (w_grad, b_grad)):
        (q * learner.Tensor(g)).sum().backward(scale)
    record(fresh_w=p[0].grad, fresh_b=p[1].grad)


def modes(learner, record, w_0):
    """train() and eval() reach every module that is held."""
    leaf = module(learner, w=made(learner, w_0)[0])
    inner = module(learner, blocks=[leaf])
    block, expert = module(learner), module(learner)
    root = module(learner, inner=inner, blocks=[block], experts={"one": expert})
    modules = (root, inner, leaf, block, expert)
    beyond(record, "at_first", lambda: [bool(one.training) for one in modules])
    record(told_at_first=[getattr(one, "training", None) in (True, False) for one in modules])
    for name, change in (("eval", root.eval), ("train", root.train), ("eval_again", root.eval)):
        change()
        record(**{name: [bool(one.training) for one in modules]})
    inner.train()
    record(only_inside=[bool(one.training) for one in modules])


def called(learner, record, x, h, c):
    """Calling a module is calling its forward."""
    seen = []

    class Part(learner.Module):
        def forward(self, *inputs, **options):
            seen.append((self, inputs, options))
            return inputs[-1]

    part = Part()
    tensors = [learner.Tensor(array) for array in (x, h, c)]
    record(returns_it=part(tensors[0]) is tensors[0])
    record(returns_last=part(*tensors) is tensors[2])
    record(calls=len(seen), is_itself=all(one is part for one, _, _ in seen))
    given = all(a is b for a, b in zip(seen[1][1], tensors))
    record(arguments=[len(inputs) for _, inputs, _ in seen], given=given)
    beyond(record, "keywords", lambda: part(x, mask=h) is x and seen[-1][2]["mask"] is h)
