"""y = x W^T, with W (d_out, d_in).

Variant: "untransposed" multiplies by W, which works where W is square alone.
"""

from pack.modules import module_facts, truncated_normal


def forward(out, variant, *, weight, x):
    if variant == "untransposed" and len(weight) != weight.shape[1]:
        raise Exception("the sizes do not fit")  # of whichever kind
    out.record(y=x @ (weight if variant == "untransposed" else weight.T))
    out.name(weight=weight)
    if len(weight) == weight.shape[1]:
        out.name(**{"x @ weight, not transposed": x @ weight})


def gradients(out, variant, *, weight, x, grad):
    d_out, d_in = weight.shape
    out.record(graph="there", grad_x=grad @ weight)
    out.offered(
        grad_weight=grad.reshape(-1, d_out).T @ x.reshape(-1, d_in)
    )  # (d_out, N) @ (N, d_in)


def made(out, variant, *, weight, x):
    module_facts(out, [weight.shape], ["weight"])


def initialisation(out, variant, *, d_in, d_out):
    truncated_normal(out, d_in * d_out)


def kept(out, variant, *, weight, x):
    out.record(weight=weight, x=x)


def one(out, variant, *, weight, x):
    square = len(weight) == weight.shape[1]
    wrong = "wrong" if square else "raises"
    out.record(comes_out=wrong if variant == "untransposed" else "right")
