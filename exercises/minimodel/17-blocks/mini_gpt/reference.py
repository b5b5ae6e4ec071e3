"""MiniGPT from first principles, with its gradients by hand, and what a lost ln_final does.

Variant "no_final_norm": the head reads the stream as the last block leaves it.
"""

import numpy as np
from pack.block.reference import layer_norm, transformer_block

OUTSIDE = ("table", "gain_final", "bias_final")
DEFAULTS = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 256, "vocab_size": 64}
DEFAULTS |= {"context_len": 32}


def in_blocks(weights):
    """One dict of weights a block."""
    own = {name: array for name, array in weights.items() if name not in OUTSIDE}
    return [dict(zip(own, parts)) for parts in zip(*own.values())]


def mini_gpt(variant, ids, n_heads, weights):
    """The values on the way, and the function from the gradient of the logits to all gradients."""
    table = weights["table"].astype(np.float64)
    stream, backs = table[ids], []
    values = {"embedded": stream}
    for own in in_blocks(weights):
        found, back = transformer_block(variant, stream, n_heads, own)
        stream = found["out"]
        backs.append(back)
    normed, back_norm = layer_norm(stream, weights["gain_final"], weights["bias_final"])
    hidden = stream if variant == "no_final_norm" else normed
    values |= {"stream": stream, "normed": normed, "logits": hidden @ table.T}

    def back(grad):
        d_hidden = grad @ table
        V, d = table.shape
        grads = {"table": grad.reshape(-1, V).T @ hidden.reshape(-1, d)}  # through the head
        grads["gain_final"], grads["bias_final"] = np.zeros(d), np.zeros(d)
        if variant != "no_final_norm":
            d_hidden, grads["gain_final"], grads["bias_final"] = back_norm(d_hidden)
        in_each = []
        for back_block in reversed(backs):
            found = back_block(d_hidden)
            d_hidden = found.pop("x")
            in_each.insert(0, found)
        grads |= {name: np.stack([found[name] for found in in_each]) for name in in_each[0]}
        np.add.at(grads["table"], ids.reshape(-1), d_hidden.reshape(-1, d))  # through the lookup
        return {f"grad_{name}": array for name, array in grads.items()}

    return values, back


def settings(out, variant, *, sizes):
    out.record(**sizes, **{f"default_{name}": size for name, size in DEFAULTS.items()})
    out.record(**{f"{name}_is_frozen": True for name in sizes})


def refused(out, variant, *, wrong):
    for sizes in wrong:
        said = ", ".join(f"{name}={size}" for name, size in sizes.items())
        out.record(**{said: "ValueError"})


def shapes(d_model, d_ff):
    d, square = [d_model], [d_model, d_model]
    found = {"gain_1": d, "bias_1": d, "w_q": square, "w_k": square, "w_v": square, "w_o": square}
    return found | {
        "gain_2": d, "bias_2": d, "w_1": [d_model, d_ff], "b_1": [d_ff], "w_2": [d_ff, d_model],
        "b_2": d,
    }  # fmt: skip


def held(d_model, n_layers, d_ff, vocab_size):
    """How many parameters there are, and how many numbers they hold."""
    block = 4 * d_model + 4 * d_model**2 + 2 * d_model * d_ff + d_ff + d_model
    numbers = vocab_size * d_model + n_layers * block + 2 * d_model
    return {"parameters": 1 + 12 * n_layers + 2, "numbers": numbers}


def attributes(out, variant, *, sizes):
    d, L, f, V = (sizes[name] for name in ("d_model", "n_layers", "d_ff", "vocab_size"))
    out.record(**{f"config_{name}": size for name, size in sizes.items()})
    out.record(blocks=L, table=[V, d], gain_final=[d], bias_final=[d])
    out.record(**{name: [shape] * L for name, shape in shapes(d, f).items()})
    out.record(**held(d, L, f, V), all_are_different=True, all_are_found=True, seeds_repeat=True)


def default(out, variant, *, seed):
    out.record(parameters=27, numbers=103_680)
    out.within(**{"standard deviation of the table": (0.0185, 0.0215)})  # 4096 draws
    out.within(**{"mean of the table": (-0.002, 0.002)})
    out.record(gain_final=np.ones(64), bias_final=np.zeros(64))


def forward(out, variant, *, sizes, ids, grad, **weights):
    values, back = mini_gpt(variant, ids, sizes["n_heads"], weights)
    out.record(logits=values["logits"], **back(grad))
    out.name(**values)


def tied(out, variant, *, sizes, ids, table, bias, other, grad):
    out.record(head_reads_the_embedding=True, times_it_is_found=1)
    d, V = sizes["d_model"], sizes["vocab_size"]
    for name, rows in {"logits": table, "changed": other}.items():
        rows = rows.astype(np.float64)
        stream = rows[ids]
        hidden, back_norm = layer_norm(stream, np.ones(d), bias)
        hidden = stream if variant == "no_final_norm" else hidden
        out.record(**{name: hidden @ rows.T})
    d_hidden = grad @ rows
    d_hidden = d_hidden if variant == "no_final_norm" else back_norm(d_hidden)[0]
    grad_table = grad.reshape(-1, V).T @ hidden.reshape(-1, d)
    np.add.at(grad_table, ids.reshape(-1), d_hidden.reshape(-1, d))
    out.record(grad_table=grad_table)


def future(out, variant, *, sizes, ids, later, since, **weights):
    """The positions before `since` are what they are without the rest."""
    logits = mini_gpt(variant, ids[..., :since], sizes["n_heads"], weights)[0]["logits"]
    out.record(before=logits, exchanged=logits, alone=logits)


def modes(out, variant, **inputs):
    out.record(training_is_like_eval=True)


def again(out, variant, *, sizes, ids, longer, grad, more_grad, **weights):
    n = sizes["n_heads"]
    own = {name: array for name, array in weights.items() if not name.startswith("other_")}
    other = {name: weights[f"other_{name}"] for name in own}
    first, back_first = mini_gpt(variant, ids, n, own)
    second, back_second = mini_gpt(variant, longer, n, own)
    third, back_third = mini_gpt(variant, ids, n, other)
    out.record(first=first["logits"], longer=second["logits"], first_again=first["logits"])
    one, two = back_first(grad), back_second(more_grad)
    out.record(**{name: one[name] + two[name] for name in one})
    out.record(other_weights=third["logits"])
    out.record(**{f"then_{name}": array for name, array in back_third(grad).items()})


def too_long(out, variant, *, sizes, ids):
    out.record(shape=[*ids.shape[:-1], sizes["context_len"], sizes["vocab_size"]])
    raise ValueError("more positions than context_len")


def outside(out, variant, *, sizes, ids):
    raise IndexError("an id outside the table")


def composed(out, variant, *, sizes, ids, grad, **weights):
    out.record(distance_logits=0.0)
    out.record(**{f"distance_grad_{name}": 0.0 for name in weights})


def mean_loss(logits, targets):
    """In nats, and its gradient."""
    V = logits.shape[-1]
    flat, wanted = logits.reshape(-1, V), targets.reshape(-1)
    shifted = flat - flat.max(-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    rows = np.arange(len(wanted))
    grad = np.exp(log_p)
    grad[rows, wanted] -= 1
    return float(-log_p[rows, wanted].mean()), grad.reshape(logits.shape) / len(wanted)


def depths(out, variant, *, sizes, kept, ids, targets, **weights):
    stds, losses = [], []
    for count in kept:
        own = {name: a if name in OUTSIDE else a[:count] for name, a in weights.items()}
        logits = mini_gpt(variant, ids, sizes["n_heads"], own)[0]["logits"]
        stds.append(float(logits.std()))
        losses.append(mean_loss(logits, targets)[0])
    out.record(logits=logits, stds=stds, losses=losses)
    out.record(last_std=stds[-1], loss_at_the_end=losses[-1], loss_of_one_block=losses[0])


def training(out, variant, *, sizes, ids, targets, lr, steps, **weights):
    losses = []
    for _ in range(steps):
        values, back = mini_gpt(variant, ids, sizes["n_heads"], weights)
        loss, grad = mean_loss(values["logits"], targets)
        grads = back(grad)
        if not losses:
            out.record(grad_gain_final=grads["grad_gain_final"], grad_table=grads["grad_table"])
            out.record(without_gradient=2 if variant == "no_final_norm" else 0)
            out.record(grad_norm=float(np.sqrt(sum((g**2).sum() for g in grads.values()))))
        losses.append(loss)
        weights = {n: (a - lr * grads[f"grad_{n}"]).astype(a.dtype) for n, a in weights.items()}
    out.record(losses=losses, first_loss=losses[0], last_loss=losses[-1])
