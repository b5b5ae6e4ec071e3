"""y = x W^T, with W (d_out, d_in)."""

from pack.modules import module_facts, truncated_normal


def forward(out, variant, *, weight, x):
    out.record(y=x @ weight.T)
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
