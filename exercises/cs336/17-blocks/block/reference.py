"""y = x W^T."""


def forward(out, variant, *, weight, x, grad):
    out.record(out=x @ weight.T, grad_x=grad @ weight)
    d_in, d_out = x.shape[-1], grad.shape[-1]
    out.record(grad_weight=grad.reshape(-1, d_out).T @ x.reshape(-1, d_in))
