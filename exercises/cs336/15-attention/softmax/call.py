"""Runs the learner's softmax."""

from pack.calls import copied, module_facts, traced


def forward(learner, record, x, dim):
    """x: any shape."""
    record(p=learner.run_softmax(in_features=x.clone(), dim=dim))


def gradients(learner, record, x, dim, grad):
    """Of sum(p * grad)."""
    traced(record, lambda x: learner.run_softmax(in_features=x, dim=dim), grad, {"x": x})


def made(learner, record, x, dim):
    module_facts(record, lambda: learner.run_softmax(in_features=x.clone(), dim=dim))


def kept(learner, record, x, dim):
    """Whether what is handed in stays as it was."""
    (inner,) = copied(x)
    learner.run_softmax(in_features=inner, dim=dim)
    record(x=inner)
