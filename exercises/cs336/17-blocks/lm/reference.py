"""Embedding, blocks, final norm, head: logits. Positions 0 to T - 1."""

import numpy as np
from pack.attending import (
    IN_ATTENTION_WRONG,
    IN_BLOCK,
    IN_BLOCK_WRONG,
    IN_LM_WRONG,
    IN_ROPE_WRONG,
    lm,
)

WRONGS = (*IN_LM_WRONG, *IN_BLOCK_WRONG, *IN_ROPE_WRONG, *IN_ATTENTION_WRONG)


def forward(out, variant, *, ids, heads, theta, context_length, **own):
    own = {name: np.asarray(array, np.float64) for name, array in own.items()}
    out.record(logits=lm(ids, heads, theta, own))
    for wrong in WRONGS:
        out.name(**{wrong: lm(ids, heads, theta, own, wrong=wrong)})


def past(out, variant, **inputs):
    out.within(earlier_logits_moved_by=(0.0, 1e-4))


def prefix(out, variant, *, ids, table, length, **inputs):
    out.record(shape=[len(ids), length, len(table)])
    out.within(moved_by=(0.0, 1e-3))


def parameters(out, variant, *, table, head, ln_final, **inputs):
    held = [table, head, ln_final, *(inputs[name] for name in IN_BLOCK)]
    out.record(without_gradient="none", numbers_in_parameters=sum(one.size for one in held))


def run_by_the_model(out, variant, **inputs):
    out.record(tested_and_not_run="nothing")
