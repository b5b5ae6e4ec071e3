"""Runs the learner's SiLU."""

from pack.calls import copied, module_facts, traced


def forward(learner, record, x):
    """x: any shape."""
    record(y=learner.run_silu(in_features=x.clone()))


def gradients(learner, record, x, grad):
    """Of sum(y * grad)."""
    traced(record, lambda x: learner.run_silu(in_features=x), grad, {"x": x})


def made(learner, record, x):
    module_facts(record, lambda: learner.run_silu(in_features=x.clone()))


def kept(learner, record, x):
    """Whether what is handed in stays as it was."""
    (inner,) = copied(x)
    learner.run_silu(in_features=inner)
    record(x=inner)


def curve(learner, record, x):
    """From the left to the right. x: (n,), an odd number of places around 0."""
    y = learner.run_silu(in_features=x.clone()).detach()
    record(y=y.tolist(), at_0=float(y[len(y) // 2]), at_the_left=float(y[0]))
    record(at_the_right=float(y[-1]), lowest=float(y.min()))
