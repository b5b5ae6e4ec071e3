"""Runs the learner's schedule. Each rate is recorded under the iteration that it belongs to."""


def rates(learner, record, its, **given):
    for it in its.tolist():
        rate = float(learner.run_get_lr_cosine_schedule(it=it, **given))
        small = abs(rate) < 1e-9 * given["max_learning_rate"]  # what rounding left of 0
        record(**{f"rate at it = {it}": 0.0 if small else rate})


def warmup(learner, record, its, **given):
    """Up to the top."""
    rates(learner, record, its, **given)


def top(learner, record, its, **given):
    """At the end of the warm-up."""
    rates(learner, record, its, **given)


def cosine(learner, record, its, **given):
    """On the way down."""
    rates(learner, record, its, **given)


def halfway(learner, record, its, **given):
    """In the middle of the way down."""
    rates(learner, record, its, **given)


def after(learner, record, its, **given):
    """From the end of the cosine on."""
    rates(learner, record, its, **given)


def whole(learner, record, steps, **given):
    """Every rate of a run that goes on for a while after the cosine."""
    found = [float(learner.run_get_lr_cosine_schedule(it=it, **given)) for it in range(steps)]
    warmup, end = given["warmup_iters"], given["cosine_cycle_iters"]
    record(rates=found, last_of_the_cosine=found[end - 1], halfway=found[(warmup + end) // 2])
    record(after_the_end=found[-1])
