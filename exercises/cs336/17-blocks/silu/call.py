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
    """x: numbers from left to right, the middle one 0."""
    y = learner.run_silu(in_features=x.clone()).detach().double()
    record(values=y.tolist(), at_zero=float(y[len(x) // 2]), at_the_end=float(y[-1]))
