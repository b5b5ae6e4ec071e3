"""Runs the learner's language model, and looks which of the tested functions it runs."""

import os
import sys
import sysconfig

import torch
from pack.attention.call import found_gradients
from pack.block.call import KEYS
from pack.calls import Made

OUTSIDE = {
    "table": "token_embeddings.weight",
    "ln_final": "ln_final.weight",
    "head": "lm_head.weight",
}


def named(own):
    """The course's names: the layers' weights come stacked. A dict of its own for each call."""
    found = {name: own[key].clone() for key, name in OUTSIDE.items()}
    for i in range(len(own["w_q"])):
        found |= {f"layers.{i}.{name}": own[key][i].clone() for key, name in KEYS.items()}
    return found


def run(learner, ids, heads, theta, context_length, own, weights=None):
    return learner.run_transformer_lm(
        vocab_size=len(own["table"]),
        context_length=context_length,
        d_model=own["table"].shape[1],
        num_layers=len(own["w_q"]),
        num_heads=heads,
        d_ff=own["w_1"].shape[1],
        rope_theta=theta,
        weights=named(own) if weights is None else weights,
        in_indices=ids.clone(),
    )


def forward(learner, record, ids, heads, theta, context_length, **own):
    record(logits=run(learner, ids, heads, theta, context_length, own))


def past(learner, record, ids, heads, theta, context_length, other, since, **own):
    """From position `since` on, the ids are others: the logits before must stay as they were."""
    first = run(learner, ids, heads, theta, context_length, own).detach()
    moved = run(learner, other, heads, theta, context_length, own).detach() - first
    record(earlier_logits_moved_by=float(moved[:, :since].abs().max()))


def prefix(learner, record, ids, heads, theta, context_length, length, **own):
    """The first tokens alone, of a sequence that fills the context."""
    whole = run(learner, ids, heads, theta, context_length, own).detach()
    alone = run(learner, ids[:, :length], heads, theta, context_length, own).detach()
    record(shape=list(alone.shape), moved_by=float((alone - whole[:, :length]).abs().max()))


def parameters(learner, record, ids, heads, theta, context_length, grad, **own):
    """How many numbers the model's Parameters hold, and which weights get no gradient."""
    weights = named(own)
    with Made() as made:
        out = run(learner, ids, heads, theta, context_length, own, dict(weights))
    found = found_gradients(out, grad, **weights) if grad.shape == out.shape else {}
    without = [name for name, one in found.items() if isinstance(one, str) or not one.any()]
    record(without_gradient=", ".join(without) or "none")
    if made.modules:
        several = {id(p): p for module in made.modules for p in module.parameters()}
        record(numbers_in_parameters=sum(p.numel() for p in several.values()))


LIBRARIES = tuple(
    {
        os.path.realpath(sysconfig.get_path(name))
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
)


class Ran:
    """Within, the learner's own functions that run, and which of them an adapter's frame calls."""

    def __init__(self, adapter):
        self.adapter, self.all, self.direct = getattr(adapter, "__code__", None), {}, []

    def __enter__(self):
        sys.setprofile(self.noted)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)

    def noted(self, frame, event, arg):
        if event != "call" or not own_code(frame.f_code):
            return
        self.all[place(frame.f_code)] = frame.f_code
        before = frame.f_back
        while before is not None and not own_code(before.f_code):
            before = before.f_back
        if before is not None and before.f_code is self.adapter:
            self.direct.append(frame.f_code)


def own_code(code):
    name = code.co_filename
    if name.startswith(("<", "pack/")) or "site-packages" in name or "/pack/" in name:
        return False
    return not os.path.realpath(name).startswith(LIBRARIES)


def place(code):
    return code.co_filename, code.co_firstlineno


def shown(code):
    return getattr(code, "co_qualname", code.co_name)


def tested(learner, role, **arguments):
    """The function that an adapter tests: the last that it calls, else itself; None where there is none."""
    try:
        adapter = getattr(learner, role)
        with Ran(adapter) as ran:
            adapter(**arguments)
    except Exception:  # it is not there yet, or wrong: its own checks say so
        return None
    called = [one for one in ran.direct if one.co_name not in ("__init__", "<lambda>", "<module>")]
    return called[-1] if called else ran.adapter


def run_by_the_model(learner, record, ids, heads, theta, context_length, **own):
    """For each tested part, whether the model runs the very function that its adapter tests."""
    d = own["table"].shape[1]
    x, w = torch.randn(2, 3, d), own["w_q"][0]
    positions, narrow = torch.arange(3)[None], torch.randn(2, 3, d // heads)
    four = {name + "_proj_weight": w.clone() for name in "qkvo"}
    block = {name: own[key][0].clone() for key, name in KEYS.items()}
    three = {f"w{i}_weight": own[f"w_{i}"][0].clone() for i in (1, 2, 3)}
    size = {"d_model": d, "num_heads": heads, "max_seq_len": 8, "theta": theta}
    d_ff = own["w_1"].shape[1]
    calls = {
        "run_transformer_block": {**size, "d_ff": d_ff, "weights": block, "in_features": x},
        "run_multihead_self_attention_with_rope": {
            **size, **four, "in_features": x, "token_positions": positions,
        },
        "run_scaled_dot_product_attention": {
            "Q": narrow, "K": narrow, "V": narrow, "mask": torch.ones(2, 3, 3, dtype=torch.bool),
        },
        "run_rope": {
            "d_k": d // heads, "theta": theta, "max_seq_len": 8, "in_query_or_key": narrow,
            "token_positions": positions[0],
        },
        "run_softmax": {"in_features": x, "dim": -1},
        "run_swiglu": {"d_model": d, "d_ff": d_ff, **three, "in_features": x},
        "run_rmsnorm": {"d_model": d, "eps": 1e-5, "weights": torch.ones(d), "in_features": x},
        "run_linear": {"d_in": d, "d_out": d, "weights": w.clone(), "in_features": x},
        "run_embedding": {
            "vocab_size": len(own["table"]), "d_model": d, "weights": own["table"].clone(), "token_ids": ids,
        },
    }  # fmt: skip
    found = {role: tested(learner, role, **arguments) for role, arguments in calls.items()}
    with Ran(learner.run_transformer_lm) as ran:
        run(learner, ids, heads, theta, context_length, own)
    apart = [
        f"{role} tests {shown(code)}"
        for role, code in found.items()
        if code is not None and place(code) not in ran.all
    ]
    record(tested_and_not_run="; ".join(apart) or "nothing")
