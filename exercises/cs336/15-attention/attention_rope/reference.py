"""Causal multi-head attention whose queries and keys are turned by their positions, head by head."""

import numpy as np
from pack.attending import IN_ATTENTION_WRONG, IN_ROPE_WRONG, attention, exact
from pack.attention import reference as plain

WRONGS = (*IN_ROPE_WRONG, *IN_ATTENTION_WRONG)


def own_columns(out, variant, **inputs):
    plain.own_columns(out, variant, **inputs)


def projections(out, variant, **inputs):
    plain.projections(out, variant, **inputs)


def head_columns(out, variant, **inputs):
    plain.head_columns(out, variant, **inputs)


def past(out, variant, **inputs):
    plain.past(out, variant, **inputs)


def placed(inputs, T):
    """The inputs with positions, where none were given."""
    positions = inputs["positions"]
    return inputs | {"positions": np.arange(T) if positions is None else positions}


def weights(out, variant, **inputs):
    plain.weights(out, variant, **placed(inputs, inputs["x"].shape[-2]), wrongs=WRONGS)


def forward(out, variant, **inputs):
    T = inputs["x"].shape[-2]
    found = placed(inputs, T)
    plain.forward(out, variant, **found, wrongs=WRONGS)
    x, *four = exact(inputs["x"], *(inputs[name] for name in ("w_q", "w_k", "w_v", "w_o")))
    heads = inputs["heads"]
    in_order = attention(x, *four, heads, np.arange(T), inputs["theta"])[0]
    usual = attention(x, *four, heads, found["positions"], 10000.0)[0]
    out.name(turned_by_0_1_2_and_so_on=in_order, turned_with_theta_10000=usual)


def slopes(out, variant, **inputs):
    plain.slopes(out, variant, **placed(inputs, inputs["x"].shape[-2]))


def shifted(out, variant, **inputs):
    out.within(moved_by=(0.0, 1e-3))
