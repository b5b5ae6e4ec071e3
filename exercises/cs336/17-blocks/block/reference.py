"""y = x + attention(rmsnorm(x)), y + swiglu(rmsnorm(y)), with eps 1e-5."""

import numpy as np
from pack.attending import (
    IN_ATTENTION_WRONG,
    IN_BLOCK,
    IN_BLOCK_WRONG,
    IN_ROPE_WRONG,
    block,
    exact,
    rmsnorm,
)
from pack.attending import slopes as along

WRONGS = (*IN_BLOCK_WRONG, *IN_ROPE_WRONG, *IN_ATTENTION_WRONG)


def exactly(own):
    return {name: np.asarray(own[name], np.float64) for name in IN_BLOCK}


def forward(out, variant, *, x, heads, theta, max_seq_len, **own):
    (x,), own = exact(x), exactly(own)
    found, known = block(x, heads, theta, own)
    out.record(out=found, inputs="as they were")
    for wrong in WRONGS:
        out.name(**{wrong: block(x, heads, theta, own, wrong=wrong)[0]})
    out.name(x=x, normed_x=rmsnorm(x, own["ln_1"]), **known)


def residuals(out, variant, **inputs):
    out.record(residual_around_attention="there", residual_around_ffn="there")


def past(out, variant, **inputs):
    out.within(earlier_rows_moved_by=(0.0, 1e-5))


def slopes(out, variant, *, x, heads, theta, max_seq_len, grad, d_x, **rest):
    (x, grad, d_x), own = exact(x, grad, d_x), exactly(rest)

    def total(x=x, **changed):
        return float((block(x, heads, theta, own | changed)[0] * grad).sum())

    out.record(slopes_x=along(lambda a: total(a), x, d_x))
    for name in IN_BLOCK:
        some = np.asarray(rest["d_" + name], np.float64)
        found = along(lambda w, name=name: total(**{name: w}), own[name], some)
        out.record(**{"slopes_" + name: found})
