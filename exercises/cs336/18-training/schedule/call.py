"""Runs the learner's schedule. Each rate is recorded under the iteration that it belongs to."""


def rates(learner, record, its, **given):
    for it in its.tolist():
        rate = float(learner.run_get_lr_cosine_schedule(it=it, **given))
        small = abs(rate) < 1e-9 * given["max_learning_rate"]  # what rounding left of 0
        record(**{f"rate at it = {it}": 0.0 if small else rate})


warmup = top = cosine = halfway = after = rates
