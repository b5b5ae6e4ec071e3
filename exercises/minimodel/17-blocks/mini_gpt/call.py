"""Runs the learner's MiniGPT."""

import numpy as np


def in_a_block(block):
    """The twelve parameters of a block by the names used here."""
    norm_1, attn, norm_2, ffn = block.ln_1, block.attn, block.ln_2, block.ffn
    return {
        "gain_1": norm_1.gain, "bias_1": norm_1.bias,
        "w_q": attn.w_q, "w_k": attn.w_k, "w_v": attn.w_v, "w_o": attn.w_o,
        "gain_2": norm_2.gain, "bias_2": norm_2.bias,
        "w_1": ffn.w_1, "b_1": ffn.b_1, "w_2": ffn.w_2, "b_2": ffn.b_2,
    }  # fmt: skip


def outside_blocks(model):
    norm = model.ln_final
    return {"table": model.token_emb.weight, "gain_final": norm.gain, "bias_final": norm.bias}


def filled(model, weights):
    """Copies weights into a model, in place. An array of blocks has them along its first axis."""
    for name, parameter in outside_blocks(model).items():
        parameter.data[...] = weights[name]
    for i, block in enumerate(model.blocks):
        for name, parameter in in_a_block(block).items():
            parameter.data[...] = weights[name][i]
    return model


def made(learner, sizes, weights, training=False):
    """A model of the learner's with these weights, after eval()."""
    model = filled(learner.MiniGPT(learner.MiniGPTConfig(**sizes)), weights)
    if not training:
        model.eval()
    return model


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


def modes(learner, record, sizes, ids, grad, **weights):
    """The logits and all gradients in training mode beside those after eval()."""

    def measured(training):
        model = made(learner, sizes, weights, training)
        logits = model(ids)
        logits.backward(grad)
        return [logits.data, *gradients(model).values()]

    record(training_is_like_eval=alike_in_training(measured))


def gradient(parameter):
    """No gradient and a gradient of zeros are the same here."""
    return np.zeros_like(parameter.data) if parameter.grad is None else parameter.grad


def gradients(model):
    """One array for each kind of parameter, the blocks along the first axis."""
    found = {name: gradient(p) for name, p in outside_blocks(model).items()}
    blocks = [in_a_block(block) for block in model.blocks]
    for name in blocks[0]:
        found[name] = np.stack([gradient(block[name]) for block in blocks])
    return {f"grad_{name}": array for name, array in found.items()}


def settings(learner, record, sizes):
    """What a configuration holds; what it holds by default; and nobody can change it."""
    config, default = learner.MiniGPTConfig(**sizes), learner.MiniGPTConfig()
    record(**{name: int(getattr(config, name)) for name in sizes})
    record(**{f"default_{name}": int(getattr(default, name)) for name in sizes})
    for name, size in sizes.items():
        try:
            setattr(config, name, 2 * size)
        except Exception:  # a frozen dataclass raises an AttributeError; which error is left open
            pass
        record(**{f"{name}_is_frozen": bool(getattr(config, name) == size)})


def refused(learner, record, wrong):
    """What does the configuration say to sizes of which no model can be made?"""
    for sizes in wrong:
        said = "nothing"
        try:
            learner.MiniGPTConfig(**sizes)
        except ValueError:
            said = "ValueError"
        except Exception as error:
            said = type(error).__name__
        record(**{", ".join(f"{name}={size}" for name, size in sizes.items()): said})


def held(model):
    """How many parameters the model has, and how many numbers they hold."""
    found = list(model.parameters())
    return {"parameters": len(found), "numbers": sum(int(p.data.size) for p in found)}


def everything(model):
    blocks = [p for block in model.blocks for p in in_a_block(block).values()]
    return [*outside_blocks(model).values(), *blocks]


def attributes(learner, record, sizes):
    """The four parts, and all that they hold."""
    config = learner.MiniGPTConfig(**sizes)
    model = learner.MiniGPT(config)
    record(**{f"config_{name}": int(getattr(model.config, name)) for name in sizes})
    record(blocks=len(model.blocks))
    record(**{name: list(p.data.shape) for name, p in outside_blocks(model).items()})
    for name in in_a_block(model.blocks[0]):
        record(**{name: [list(in_a_block(block)[name].data.shape) for block in model.blocks]})
    record(**held(model))
    mine, found = everything(model), list(model.parameters())
    record(all_are_different=len({id(p) for p in mine}) == len(mine))
    record(all_are_found=all(any(p is one for one in found) for p in mine))
    first, again = (
        everything(learner.MiniGPT(config, rng=np.random.default_rng(7))) for _ in range(2)
    )
    record(seeds_repeat=all(np.array_equal(p.data, q.data) for p, q in zip(first, again)))


def default(learner, record, seed):
    """The model of the default configuration, as it is at the start."""
    model = learner.MiniGPT(learner.MiniGPTConfig(), rng=np.random.default_rng(seed))
    record(**held(model))
    start = model.token_emb.weight.data.astype(np.float64)
    record(**{"standard deviation of the table": float(start.std())})
    record(**{"mean of the table": float(start.mean())})
    record(gain_final=model.ln_final.gain.data, bias_final=model.ln_final.bias.data)


def forward(learner, record, sizes, ids, grad, **weights):
    """ids: (..., T), grad: (..., T, V). Logits, then the gradients of sum(logits * grad)."""
    model = made(learner, sizes, weights)
    logits = model(ids)
    record(logits=logits.data)
    logits.backward(grad)
    record(**gradients(model))


def tied(learner, record, sizes, ids, table, bias, other, grad):
    """One table looks ids up and scores them. The blocks add 0 here: w_o, w_2 and b_2 are 0."""
    model = learner.MiniGPT(learner.MiniGPTConfig(**sizes))
    model.eval()
    for block in model.blocks:
        for name in ("w_o", "w_2", "b_2"):
            in_a_block(block)[name].data[...] = 0.0
    model.ln_final.bias.data[...] = bias
    record(head_reads_the_embedding=model.lm_head.embedding is model.token_emb)
    found = list(model.parameters())
    record(times_it_is_found=sum(p is model.token_emb.weight for p in found))
    for name, values in {"logits": table, "changed": other}.items():
        model.token_emb.weight.data[...] = values
        logits = model(ids)
        record(**{name: logits.data})
    logits.backward(grad)
    record(grad_table=gradient(model.token_emb.weight))


def future(learner, record, sizes, ids, later, since, **weights):
    """Ids from position `since` on are exchanged, then taken away: what comes out before them?"""
    model = made(learner, sizes, weights)
    record(before=model(ids).data[..., :since, :], exchanged=model(later).data[..., :since, :])
    record(alone=model(ids[..., :since]).data)


def again(learner, record, sizes, ids, longer, grad, more_grad, **weights):
    """Another shape in between, gradients that add up, then new weights in the same model."""
    model = made(learner, sizes, weights)
    first, second = model(ids), model(longer)
    record(first=first.data, longer=second.data, first_again=model(ids).data)
    second.backward(more_grad)
    first.backward(grad)
    record(**gradients(model))
    other = {name[6:]: array for name, array in weights.items() if name.startswith("other_")}
    filled(model, other)
    model.blocks[-1].eval()  # as of a part that is frozen: it changes nothing here
    record(other_weights=model(ids).data)
    model.zero_grad()
    model(ids).backward(grad)
    record(**{f"then_{name}": array for name, array in gradients(model).items()})


def too_long(learner, record, sizes, ids):
    """First as many positions as fit, then too many."""
    model = learner.MiniGPT(learner.MiniGPTConfig(**sizes))
    record(shape=list(model(ids[..., : sizes["context_len"]]).data.shape))
    model(ids)


def outside(learner, record, sizes, ids):
    """An id that the table does not have."""
    learner.MiniGPT(learner.MiniGPTConfig(**sizes))(ids)


def distance(got, wanted):
    """The largest difference in units of the largest number wanted, rounded to what rounding leaves."""
    if not isinstance(got, np.ndarray) or got.shape != np.shape(wanted):
        return f"{type(got).__name__} of shape {list(np.shape(got))}, not {list(np.shape(wanted))}"
    apart = np.abs(np.asarray(got, np.float64) - wanted).max() / max(np.abs(wanted).max(), 1e-300)
    return round(float(apart), 3 if got.dtype == np.float32 else 8)


def composed(learner, record, sizes, ids, grad, **weights):
    """The model beside another one whose parts are put together here, one after the other."""
    model, parts = (made(learner, sizes, weights) for _ in range(2))
    logits = model(ids)
    h = parts.token_emb(ids)
    for block in parts.blocks:
        h = block(h)
    wanted = parts.lm_head(parts.ln_final(h))
    record(distance_logits=distance(logits.data, wanted.data))
    logits.backward(grad)
    wanted.backward(grad)
    mine = gradients(parts)
    for name, array in gradients(model).items():
        record(**{f"distance_{name}": distance(array, mine[name])})


def loss_of(learner, logits, targets):
    loss = learner.cross_entropy(logits, targets)
    return loss, float(np.asarray(loss.data).reshape(()))


def depths(learner, record, sizes, kept, ids, targets, **weights):
    """Models with few blocks and with many, one after the other. ids, targets: (B, T)"""
    stds, losses = [], []
    for count in kept:
        model = made(learner, {**sizes, "n_layers": count}, weights)
        logits = model(ids)
        stds.append(float(logits.data.std()))
        losses.append(loss_of(learner, logits, targets)[1])
    record(logits=logits.data, stds=stds, losses=losses)
    record(last_std=stds[-1], loss_at_the_end=losses[-1], loss_of_one_block=losses[0])


def training(learner, record, sizes, ids, targets, lr, steps, **weights):
    """Plain gradient descent on one batch: the loss before each step."""
    model = made(learner, sizes, weights)
    losses = []
    for _ in range(steps):
        for parameter in everything(model):
            parameter.grad = None
        loss, nats = loss_of(learner, model(ids), targets)
        loss.backward()
        if not losses:
            grads = gradients(model)
            record(grad_gain_final=grads["grad_gain_final"], grad_table=grads["grad_table"])
            record(without_gradient=sum(not gradient(p).any() for p in everything(model)))
            size = np.sqrt(sum(float((g.astype(np.float64) ** 2).sum()) for g in grads.values()))
            record(grad_norm=float(size))
        losses.append(nats)
        for parameter in everything(model):
            parameter.data[...] = parameter.data - lr * gradient(parameter)
    record(losses=losses, first_loss=losses[0], last_loss=losses[-1])
    fell = losses[0] - losses[-1]
    record(trend="falls" if fell > 0.05 else "grows" if fell < -0.05 else "stays")
