"""Runs the learner's TransformerBlock, alone and in a stack."""

import numpy as np


def parameters(block):
    """The twelve parameters by the names used here."""
    norm_1, attn, norm_2, ffn = block.ln_1, block.attn, block.ln_2, block.ffn
    return {
        "gain_1": norm_1.gain, "bias_1": norm_1.bias,
        "w_q": attn.w_q, "w_k": attn.w_k, "w_v": attn.w_v, "w_o": attn.w_o,
        "gain_2": norm_2.gain, "bias_2": norm_2.bias,
        "w_1": ffn.w_1, "b_1": ffn.b_1, "w_2": ffn.w_2, "b_2": ffn.b_2,
    }  # fmt: skip


def filled(block, weights):
    """Copies weights into a block, in place."""
    for name, parameter in parameters(block).items():
        parameter.data[...] = weights[name]
    return block


def made(learner, n_heads, weights, training=False):
    """A block of the learner's with these weights, after eval(). w_1: (d_model, d_ff)"""
    d_model, d_ff = weights["w_1"].shape
    block = filled(learner.TransformerBlock(d_model, n_heads, d_ff), weights)
    if not training:
        block.eval()
    return block


def alike_in_training(measured):
    """Whether measured(training=True) gives the arrays that measured(training=False) gives after eval(),
    or is random, as dropout is: two equal calls then differ sooner or later.
    """

    def near(some, others):
        return all(np.allclose(a, b, 1e-5, 1e-5 * np.abs(b).max()) for a, b in zip(some, others))

    first = measured(training=True)
    if near(first, measured(training=False)):
        return True
    return any(not near(measured(training=True), first) for _ in range(60))


def modes(learner, record, x, grad, n_heads, **weights):
    """The output and the gradient of x in training mode beside those after eval()."""

    def measured(training):
        leaf = learner.Tensor(x, requires_grad=True)
        out = made(learner, n_heads, weights, training)(leaf)
        out.backward(grad)
        return [out.data, leaf.grad]

    record(training_is_like_eval=alike_in_training(measured))


def attributes(learner, record, d_model, n_heads, d_ff):
    block = learner.TransformerBlock(d_model, n_heads, d_ff)
    record(**{name: list(p.data.shape) for name, p in parameters(block).items()})
    found = list(block.parameters())
    record(parameters=len(found), numbers=sum(int(p.data.size) for p in found))
    first, again = (
        parameters(learner.TransformerBlock(d_model, n_heads, d_ff, rng=np.random.default_rng(7)))
        for _ in range(2)
    )
    record(seeds_repeat=all(np.array_equal(first[n].data, again[n].data) for n in first))


def forward(learner, record, x, grad, n_heads, **weights):
    """x, grad: (..., T, d_model). Values, then the gradients of sum(values * grad)."""
    block = made(learner, n_heads, weights)
    leaf = learner.Tensor(x, requires_grad=True)
    out = block(leaf)
    record(out=out.data)
    out.backward(grad)
    record(grad_x=leaf.grad)
    record(**{f"grad_{name}": p.grad for name, p in parameters(block).items()})


def twice(learner, record, x, grad, n_heads, **weights):
    """A block behind itself, as where the weights are shared over the depth."""
    block = made(learner, n_heads, weights)
    leaf = learner.Tensor(x, requires_grad=True)
    out = block(block(leaf))
    record(out=out.data)
    out.backward(grad)
    record(grad_x=leaf.grad)
    record(**{f"grad_{name}": p.grad for name, p in parameters(block).items()})


def future(learner, record, x, later, n_heads, **weights):
    """Two inputs that differ in their last row: what comes out before it?"""
    block = made(learner, n_heads, weights)
    record(before=block(learner.Tensor(x)).data[..., :-1, :])
    record(before_again=block(learner.Tensor(later)).data[..., :-1, :])


def again(learner, record, x, longer, grad, more_grad, n_heads, **weights):
    """Another length in between, gradients that add up, then new weights in the same block."""
    block = made(learner, n_heads, weights)
    first, second = block(learner.Tensor(x)), block(learner.Tensor(longer))
    record(first=first.data, longer=second.data, first_again=block(learner.Tensor(x)).data)
    first.backward(grad)
    second.backward(more_grad)
    record(**{f"grad_{name}": p.grad for name, p in parameters(block).items()})
    filled(block, {name: weights[f"other_{name}"] for name in parameters(block)})
    block.attn.eval()  # as of a part that is frozen: it changes nothing here
    record(other_weights=block(learner.Tensor(x)).data)
    record(of_a_parameter=block(learner.Parameter(x.copy())).data)


def distance(got, wanted):
    """The largest difference in units of the largest number wanted, rounded to what rounding leaves."""
    if not isinstance(got, np.ndarray) or got.shape != np.shape(wanted):
        return f"{type(got).__name__} of shape {list(np.shape(got))}, not {list(np.shape(wanted))}"
    apart = np.abs(np.asarray(got, np.float64) - wanted).max() / max(np.abs(wanted).max(), 1e-300)
    return round(float(apart), 3 if got.dtype == np.float32 else 8)


def composed(learner, record, x, grad, n_heads, **weights):
    """The block beside another one whose four parts are put together here, step by step."""
    block, parts = (made(learner, n_heads, weights) for _ in range(2))
    leaf, other = (learner.Tensor(x, requires_grad=True) for _ in range(2))
    out = block(leaf)
    middle = other + parts.attn(parts.ln_1(other))
    wanted = middle + parts.ffn(parts.ln_2(middle))
    out.backward(grad)
    wanted.backward(grad)
    record(distance_out=distance(out.data, wanted.data))
    later, mine = (
        learner.Tensor(grad),
        learner.Tensor(grad),
    )  # any rows: each part by itself, afterwards
    for name in ("ln_1", "attn", "ln_2", "ffn"):
        got, own = getattr(block, name)(later), getattr(parts, name)(mine)
        record(**{f"distance_{name}_afterwards": distance(got.data, own.data)})
    record(distance_grad_x=distance(leaf.grad, other.grad))
    mine = parameters(parts)
    for name, parameter in parameters(block).items():
        record(**{f"distance_grad_{name}": distance(parameter.grad, mine[name].grad)})


def stacked(learner, n_heads, weights):
    """One block for each row of the weights."""
    depth = len(weights["w_1"])
    return [made(learner, n_heads, {n: a[i] for n, a in weights.items()}) for i in range(depth)]


def alike(a, b):
    """The mean cosine between rows of a and b: 1 the same direction, 0 unrelated. (T, d) each"""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    lengths = np.sqrt((a**2).sum(-1) * (b**2).sum(-1))
    return float(((a * b).sum(-1) / lengths).mean())


def stack(learner, record, x, n_heads, **weights):
    """x (T, d_model) through block after block. Is the input still in it? Do positions differ?"""
    h = learner.Tensor(x)
    earlier, later = np.triu_indices(len(x), 1)  # every pair of positions
    like_the_input, positions_alike, size = [1.0], [alike(x[earlier], x[later])], [float(x.std())]
    for block in stacked(learner, n_heads, weights):
        h = block(h)
        like_the_input.append(alike(h.data, x))
        positions_alike.append(alike(h.data[earlier], h.data[later]))
        size.append(float(h.data.std()))
    record(out=h.data, size_at_the_end=size[-1])
    record(like_the_input=like_the_input, positions_alike=positions_alike, size=size)
    record(like_the_input_at_the_end=like_the_input[-1])
    record(positions_alike_at_the_end=positions_alike[-1])


def other_sum(learner, record, x, n_heads, **weights):
    """x (S, T, d_model). S stacks put together here, the FFN's sum lost instead: do positions differ?"""
    earlier, later = np.triu_indices(x.shape[1], 1)
    positions_alike = []  # (S, depth)
    for s in range(len(x)):
        h = learner.Tensor(x[s])
        positions_alike.append([])
        for block in stacked(learner, n_heads, {name: a[s] for name, a in weights.items()}):
            h = h + block.attn(block.ln_1(h))
            h = block.ffn(block.ln_2(h))
            positions_alike[-1].append(alike(h.data[earlier], h.data[later]))
    record(positions_alike=np.array(positions_alike))


def silent(learner, record, x, n_heads, **weights):
    """x (T, d_model) through a block whose attention and FFN answer 0. How large is what leaves?"""
    block = made(learner, n_heads, weights)
    out = block(learner.Tensor(x)).data
    record(out=out, size=float(np.sqrt((np.asarray(out, np.float64) ** 2).mean())))


def gradients(learner, record, x, grad, n_heads, **weights):
    """A gradient (T, d_model) at the output of the stack, on its way back to the input."""
    blocks = stacked(learner, n_heads, weights)
    entering = [x]
    for block in blocks[:-1]:
        entering.append(block(learner.Tensor(entering[-1])).data)
    norms = [float(np.sqrt((grad**2).sum()))]
    for block, h in zip(reversed(blocks), reversed(entering)):
        leaf = learner.Tensor(h, requires_grad=True)
        block(leaf).backward(grad)
        grad = leaf.grad
        norms.append(float(np.sqrt((grad**2).sum())))
    share = norms[-1] / norms[0]
    record(grad_x=grad, norms=norms, at_the_output=norms[0], at_the_input=norms[-1])
    bounds = {"little": 0.1, "some": 0.5, "all": 2.0, "more": np.inf}
    record(arrives=next((word for word, bound in bounds.items() if share < bound), "nothing"))
