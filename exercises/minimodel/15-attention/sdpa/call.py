"""Runs the learner's scaled_dot_product_attention, and looks at its weights through the values."""

import numpy as np


def attend(learner, q, k, v, mask):
    """The learner's function on Tensors; the mask is left out when there is none."""
    if mask is None:
        return learner.scaled_dot_product_attention(q, k, v)
    return learner.scaled_dot_product_attention(q, k, v, mask)


def forward(learner, record, q, k, v, mask, grad):
    """q, k, v: (..., T, d). The output, then the gradients of sum(output * grad)."""
    queries, keys, values = (learner.Tensor(a, requires_grad=True) for a in (q, k, v))
    y = attend(learner, queries, keys, values, mask)
    record(y=y.data)
    y.backward(grad)
    record(grad_q=queries.grad, grad_k=keys.grad, grad_v=values.grad)


def viewed(learner, record, q, k, v, mask, grad):
    """A mask that is a view: fewer numbers in memory than it shows."""
    queries, keys, values = (learner.Tensor(a, requires_grad=True) for a in (q, k, v))
    shown = np.broadcast_to(mask, (*q.shape[:-1], k.shape[-2]))
    y = attend(learner, queries, keys, values, shown)
    record(y=y.data)
    y.backward(grad)
    record(grad_q=queries.grad, grad_k=keys.grad, grad_v=values.grad)


def shared(learner, record, x, mask, grad):
    """One tensor is queries, keys and values at once: its gradient is the sum of the three."""
    leaf = learner.Tensor(x, requires_grad=True)
    y = attend(learner, leaf, leaf, leaf, mask)
    record(y=y.data)
    y.backward(grad)
    record(grad_x=leaf.grad)


def twice(learner, record, q_1, k_1, v_1, mask_1, q_2, k_2, v_2, mask_2):
    """Nothing stays behind from one call to the next."""
    first, second = ([learner.Tensor(a) for a in s] for s in ((q_1, k_1, v_1), (q_2, k_2, v_2)))
    record(y_1=learner.scaled_dot_product_attention(*first, mask=mask_1).data)
    record(y_2=learner.scaled_dot_product_attention(*second, mask=mask_2).data)
    record(y_2_no_mask=learner.scaled_dot_product_attention(*second).data)
    record(y_1_again=learner.scaled_dot_product_attention(*first, mask_1).data)


def asked(learner, record, q, k, v, mask, grad):
    """The gradient of each of the three where the other two ask for none."""
    for name, at in (("q", 0), ("k", 1), ("v", 2)):
        three = [learner.Tensor(a, requires_grad=i == at) for i, a in enumerate((q, k, v))]
        attend(learner, *three, mask).backward(grad)
        record(**{f"grad_{name}": three[at].grad})


def abreast(learner, record, q_1, k_1, v_1, mask_1, grad_1, q_2, k_2, v_2, mask_2, grad_2):
    """Two calls of other widths before the first of them is followed back."""
    first, second = (
        [learner.Tensor(a, requires_grad=True) for a in three]
        for three in ((q_1, k_1, v_1), (q_2, k_2, v_2))
    )
    y_1, y_2 = attend(learner, *first, mask_1), attend(learner, *second, mask_2)
    y_1.backward(grad_1)
    y_2.backward(grad_2)
    for i, three in enumerate((first, second), 1):
        record(**{f"grad_{name}_{i}": leaf.grad for name, leaf in zip("qkv", three)})


def blind(learner, record, q, k, v, mask):
    """Queries that may attend to nothing are left out of what is compared."""
    y = attend(learner, *(learner.Tensor(a) for a in (q, k, v)), mask)
    record(shape=list(y.shape), seeing=y.data[np.broadcast_to(mask.any(-1), y.shape[:-1])])


def weights(learner, q, k, mask=None):
    """The (..., T, T) attention weights: with rows of an identity as values, they are the output.

    The values are as wide as the keys, so the identity goes through in blocks of d columns.
    """
    T, d = q.shape[-2:]
    eye = np.eye(T, d * -(-T // d), dtype=q.dtype)
    blocks = []
    for start in range(0, eye.shape[1], d):
        v = np.broadcast_to(eye[:, start : start + d], q.shape).copy()
        blocks.append(attend(learner, *(learner.Tensor(a) for a in (q, k, v)), mask).data)
    return np.concatenate(blocks, axis=-1)[..., :T].astype(np.float64)


def sharpness(learner, record, q, k, widths):
    """How sharp the weights are when queries and keys of unit spread have d_head columns."""
    largest, entropies = [], []
    for d in widths:
        d = int(d)
        p = weights(learner, q[..., :d].copy(), k[..., :d].copy())
        logs = np.log(np.where(p > 0, p, 1.0))
        largest.append(float(p.max(-1).mean()))
        entropies.append(float(-(p * logs).sum(-1).mean()))
        if d in (4, 16, 64):
            record(**{f"largest_at_{d}": largest[-1], f"entropy_at_{d}": entropies[-1]})
            # the diagonal of the softmax's Jacobian, p (1 - p), summed over a row
            record(**{f"slope_at_{d}": float((p * (1 - p)).sum(-1).mean())})
        # a row's logarithms differ by what its scores differ by
        record(score_spread=float(logs.std(-1).mean()))
    record(largest=largest, entropies=entropies)
    change = largest[-1] - largest[-3] if len(largest) > 2 else 0.0
    record(trend="sharper" if change > 0.05 else "flatter" if change < -0.05 else "same")


def row_sums(learner, record, q, k):
    """What the weights of each row of a causal head add up to."""
    p = weights(learner, q, k, np.tri(len(q), dtype=bool))
    sums = p.sum(-1)
    right = np.abs(sums - 1) < 1e-3
    record(row_sums=[float(total) for total in sums])
    record(first_row_sum=float(sums[0]), last_row_sum=float(sums[-1]))
    record(beyond_the_mask=float(np.abs(np.triu(p, 1)).max()))
    kinds = {"all": right.all(), "none": not right.any(), "first": right[0] and not right[1:].any()}
    kinds["last"] = right[-1] and not right[:-1].any()
    record(rows_that_sum_to_1=next((name for name, is_so in kinds.items() if is_so), "others"))


def future(learner, record, q, k, v, other_k, other_v, louder):
    """Whether the first output row of a causal head notices what changes at the last position."""
    mask = np.tri(len(q), dtype=bool)

    def first_row(keys, values):
        return attend(learner, *(learner.Tensor(a) for a in (q, keys, values)), mask).data[0]

    changed_k, changed_v = k.copy(), v.copy()
    changed_k[-1], changed_v[-1] = other_k, other_v
    as_it_was = first_row(k, v)
    by_key = float(np.abs(first_row(changed_k, v) - as_it_was).max())
    by_value = float(np.abs(first_row(k, changed_v) - as_it_was).max())
    record(first_row=as_it_was, change_by_key=by_key, change_by_value=by_value)
    names = {(False, False): "neither", (True, False): "key", (False, True): "value"}
    record(notices=names.get((by_key > 1e-4, by_value > 1e-4), "both"))
    kept = []  # the share of the output that is left to the first row, as the last key grows
    direction = (
        q[0] * np.sqrt(q.shape[-1]) / (q[0] @ q[0])
    )  # a key with score 1 for the first query
    for score in louder:
        changed_k[-1] = score * direction
        row = first_row(changed_k, v)
        kept.append(float(row.astype(np.float64) @ v[0] / (v[0].astype(np.float64) @ v[0])))
    record(first_row_kept=kept)


def floor(learner, record, q, k, visible):
    """The weight that the first row of a causal head gives itself, the only key it may look at.

    The scores of keys it may look at are `visible`, those of the keys it may not are 0.
    """
    mask = np.tri(len(q), dtype=bool)

    def first_row(score):
        return weights(learner, (q * score).astype(q.dtype), k, mask)[0]

    kept = [float(first_row(score)[0]) for score in visible]
    record(kept=kept)
    for score in (0, -5000, -10000, -20000):
        row = first_row(score)
        record(**{f"hidden_share_at_{abs(score)}": float(row[1:].sum())})
    looks = "itself" if row[0] > 0.99 else "hidden" if row[0] < 0.01 else "both"
    record(looks_at=looks, row_sum=float(row.sum()))


def outputs(learner, record, q, k, v, cuts, causal):
    """Root mean square of what comes out: of all rows, or of the first row where attention is causal."""
    found = []
    for T, d in cuts:
        three = (learner.Tensor(a[..., :T, :d].copy()) for a in (q, k, v))
        y = attend(learner, *three, np.tri(T, dtype=bool) if causal else None).data
        rows = (y[..., 0, :] if causal else y).astype(np.float64)
        found.append(float(np.sqrt((rows**2).mean())))
    record(sizes=found, first_size=found[0], last_size=found[-1])


def louder(learner, record, q, k, v, other_v, factors):
    """How far the first output row of a causal head moves when all later positions get other values, while
    queries and keys grow.
    """
    mask = np.tri(len(q), dtype=bool)
    moved = []
    for factor in factors:
        q_and_k = [learner.Tensor((factor * a).astype(a.dtype)) for a in (q, k)]
        row, other = (
            attend(learner, *q_and_k, learner.Tensor(values), mask).data[0].astype(np.float64)
            for values in (v, other_v)
        )
        moved.append(float(np.abs(other - row).max()))
    record(moved=moved, moved_at_the_start=moved[0], moved_at_the_end=moved[-1])
