"""Runs the learner's spread_of."""


def forward(learner, record, x):
    record(spread=learner.spread_of(x))
