"""Runs the learner's Scaler."""


def width(learner, record, d):
    record(width=learner.Scaler(d).width)


def forward(learner, record, x):
    record(y=learner.Scaler(x.shape[-1])(x))
