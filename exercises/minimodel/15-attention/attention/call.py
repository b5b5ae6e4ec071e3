"""Runs the learner's MultiHeadAttention with given weights."""

import numpy as np


def made(learner, w_q, w_k, w_v, w_o, n_heads, causal=True, use_rope=False, training=False):
    """The module with these matrices (d_model, d_model), copied in place, after eval()."""
    switches = {} if causal and not use_rope else {"causal": causal, "use_rope": use_rope}
    attention = learner.MultiHeadAttention(len(w_q), n_heads, **switches)
    for name, weight in {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}.items():
        getattr(attention, name).data[...] = weight
    if not training:
        attention.eval()
    return attention


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


def modes(learner, record, x, grad, **rest):
    """The output and the gradient of x in training mode beside those after eval()."""

    def measured(training):
        leaf = learner.Tensor(x, requires_grad=True)
        y = made(learner, **rest, training=training)(leaf)
        y.backward(grad)
        return [y.data, leaf.grad]

    record(training_is_like_eval=alike_in_training(measured))


def forward(learner, record, x, w_q, w_k, w_v, w_o, n_heads, causal, use_rope, grad):
    """x: (..., T, d_model). The output, then the gradients of sum(output * grad)."""
    attention = made(learner, w_q, w_k, w_v, w_o, n_heads, causal, use_rope)
    leaf = learner.Tensor(x, requires_grad=True)
    y = attention(leaf)
    record(y=y.data)
    y.backward(grad)
    record(grad_x=leaf.grad)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        record(**{f"grad_{name}": getattr(attention, name).grad})


def parts(learner, record, d_model, n_heads, causal, use_rope):
    """Four square matrices and nothing else that is learned."""
    rng = np.random.default_rng(0)
    attention = learner.MultiHeadAttention(
        d_model, n_heads, causal=causal, use_rope=use_rope, rng=rng
    )
    four = [attention.w_q, attention.w_k, attention.w_v, attention.w_o]
    record(shapes=[list(w.shape) for w in four])
    record(are_parameters=all(isinstance(w, learner.Parameter) for w in four))
    found = list(attention.parameters())
    record(parameters=len(found), are_found=all(any(p is w for p in found) for w in four))
    record(are_different=len({id(w) for w in four}) == 4)
    again = learner.MultiHeadAttention(d_model, n_heads, rng=np.random.default_rng(0))
    others = [again.w_q, again.w_k, again.w_v, again.w_o]
    record(seeds_repeat=all(np.array_equal(a.data, b.data) for a, b in zip(four, others)))


def heads(learner, record, d_model, n_heads):
    """A number of heads that does not fit is refused at construction."""
    learner.MultiHeadAttention(d_model, n_heads)


def past(learner, record, x, other, since, **rest):
    """What comes later changes nothing before it."""
    attention = made(learner, **rest)
    for name, one in (("before", x), ("after", other)):
        record(**{name: attention(learner.Tensor(one)).data[..., :since, :]})


def replaced(learner, record, x, w_q_2, w_k_2, w_v_2, w_o_2, **first):
    """The next forward uses what was copied into the parameters."""
    attention = made(learner, **first)
    record(y=attention(learner.Tensor(x)).data)
    for name, weight in {"w_q": w_q_2, "w_k": w_k_2, "w_v": w_v_2, "w_o": w_o_2}.items():
        getattr(attention, name).data[...] = weight
        record(**{f"y_after_{name}": attention(learner.Tensor(x)).data})


def lengths(learner, record, long, short, longer, turned, growing, firsts, **rest):
    """One module, sequences of different lengths, `firsts` of `growing` among them."""
    attention = made(learner, **rest)
    inputs = {"long": long, "turned": turned, "short": short, "longer": longer, "again": long}
    inputs.update({f"{i}_first_{T}": growing[:T] for i, T in enumerate(firsts)})
    for name, x in inputs.items():
        record(**{name: attention(learner.Tensor(x)).data})


def reach(learner, record, x, **rest):
    """For each output row, the last input row that changes it when it is changed."""
    attention = made(learner, **rest)
    y = attention(learner.Tensor(x)).data
    record(y=y)
    last = [0] * len(x)
    for s in range(len(x)):
        changed = x.copy()
        changed[s] = -changed[s]
        moved = np.abs(attention(learner.Tensor(changed)).data - y).max(-1) > 1e-4
        for t in np.flatnonzero(moved):
            last[t] = s
    record(last_row_seen=[float(s) for s in last], row_0_sees_up_to=last[0])
    record(rows_that_see_the_future=sum(s > t for t, s in enumerate(last)))


def labels(learner, record, x, n_heads):
    """Columns that name their head go through attention that changes nothing, and out again."""
    d_model = x.shape[-1]
    same, nothing = np.eye(d_model, dtype=x.dtype), np.zeros((d_model, d_model), dtype=x.dtype)
    attention = made(learner, nothing, nothing, same, same, n_heads)
    record(x=x)
    y = attention(learner.Tensor(x)).data  # equal scores: every head averages equal rows
    record(y=y, change=float(np.abs(y - x).max()))
    first, last = ([round(float(a)) for a in y[t, :: d_model // n_heads]] for t in (0, -1))
    record(heads_in_row_0="-".join(map(str, first)), heads_in_last_row="-".join(map(str, last)))


def shares(learner, x, w_q, w_k, n_heads):
    """The weights (T, n_heads, T) of attention without a mask: row, head, key.

    With w_v = x^-1 E the values x w_v are E, and E says of each column which key it stands for: the
    first column of a head for one key, the next for the next. Where a head has fewer columns than
    there are keys, it takes several calls.
    """
    T, d_model = x.shape
    d_head = d_model // n_heads
    nothing, same = np.zeros((d_model, d_model), dtype=x.dtype), np.eye(d_model, dtype=x.dtype)
    attention = made(learner, w_q, w_k, nothing, same, n_heads, causal=False)
    inverse, found = np.linalg.pinv(x), []
    for start in range(0, T, d_head):
        named = np.tile(np.eye(T)[:, start : start + d_head], (n_heads, 1, 1))  # (H, T, <= d_head)
        values = np.zeros((T, n_heads, d_head))
        values[..., : named.shape[-1]] = named.transpose(1, 0, 2)
        attention.w_v.data[...] = inverse @ values.reshape(T, d_model)
        y = attention(learner.Tensor(x)).data.astype(np.float64)
        found.append(y.reshape(T, n_heads, d_head)[..., : named.shape[-1]])
    return np.concatenate(found, axis=-1)


def widths(learner, record, x, w_q, w_k, heads):
    """How sharp the weights are when the same columns are dealt out to more and more heads."""
    spreads, largest = [], []
    for n_heads in heads:
        p = shares(learner, x, w_q, w_k, int(n_heads))
        spreads.append(float(np.log(np.maximum(p, 1e-12)).std(-1).mean()))
        largest.append(float(p.max(-1).mean()))
        record(**{f"spread_{n_heads}_heads": spreads[-1], f"largest_{n_heads}_heads": largest[-1]})
    record(spreads=spreads, largest=largest)
    change = spreads[-1] / spreads[0]
    record(trend="flatter" if change < 0.7 else "sharper" if change > 1.4 else "same")


def peek(learner, record, tokens, w_q, w_k, w_v, w_o, lr):
    """Training on random tokens: what comes next is drawn by lot, and nobody can know it.

    tokens: (steps, B, T) below V; one causal head with RoPE, the vocabulary is the width of the model,
    so the output (B, T, V) is taken for logits of the next token. Plain gradient descent.
    """
    attention = made(learner, w_q, w_k, w_v, w_o, 1, use_rope=True)
    weights = [attention.w_q, attention.w_k, attention.w_v, attention.w_o]
    losses = []
    for ids in tokens:
        x = np.eye(len(w_q), dtype=w_q.dtype)[ids]
        y = attention(learner.Tensor(x))
        logits = y.data[:, :-1].astype(np.float64)
        rise = np.exp(logits - logits.max(-1, keepdims=True))
        p = rise / rise.sum(-1, keepdims=True)
        wanted = x[:, 1:]  # the token after each position but the last
        losses.append(float(-np.log((p * wanted).sum(-1)).mean()))
        grad = np.zeros(x.shape)
        grad[:, :-1] = (p - wanted) / wanted[..., 0].size
        for w in weights:
            w.grad = None
        y.backward(grad.astype(x.dtype))
        for w in weights:
            w.data[...] = w.data - lr * w.grad
    record(losses=losses, first_loss=losses[0], mean_of_last_20=float(np.mean(losses[-20:])))
    x, alone = np.eye(len(w_q), dtype=w_q.dtype)[tokens[-4:].reshape(-1, tokens.shape[-1])], []
    for t in range(1, x.shape[1]):  # each start of a sequence by itself, as when writing
        last = attention(learner.Tensor(x[:, :t].copy())).data[:, -1].astype(np.float64)
        p = np.exp(last - last.max(-1, keepdims=True))
        alone.append(float(-np.log((p * x[:, t]).sum(-1) / p.sum(-1)).mean()))
    floor, writing = np.log(len(w_q)), float(np.mean(alone))
    kinds = {"below": writing < 0.5 * floor, "above": writing > 2.0 * floor}
    record(loss_when_writing=writing)
    record(when_writing=next((name for name, is_so in kinds.items() if is_so), "about"))


def residual(learner, record, x, grad, **rest):
    """x + attention(x): x is used twice, and both gradients reach it."""
    leaf = learner.Tensor(x, requires_grad=True)
    total = leaf + made(learner, **rest)(leaf)
    record(total=total.data)
    total.backward(grad)
    record(grad_x=leaf.grad)
    for side in ("left", "right", "both"):  # the gradient is one array for both terms at first
        mine, other = (learner.Tensor(x, requires_grad=True) for _ in range(2))
        y = made(learner, **rest)(mine)
        z = made(learner, **rest)(other) if side == "both" else other
        total = z + y if side == "right" else y + z
        (total * learner.Tensor(grad)).sum().backward()
        record(**{f"grad_{side}": mine.grad, f"grad_beside_{side}": other.grad})
    fresh = made(learner, **rest)
    fresh(learner.Tensor(x)).backward(grad)  # x asked for no gradient, the weights did
    record(**{f"grad_{name}": getattr(fresh, name).grad for name in ("w_q", "w_k", "w_v", "w_o")})
