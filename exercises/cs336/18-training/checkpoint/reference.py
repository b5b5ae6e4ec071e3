"""What was saved is what is there after loading, whatever it is.

Variant: "no_optimizer" loads the model and leaves the optimizer as it was made.
"""

PARAMETERS = 4  # of the probes' model: two layers with a weight and a bias each
KEPT = 3  # tensors for each: how many steps, and the two averages


def save(out, variant, *, x, y, iteration, steps, lr):
    out.record(something_is_written=True)


def resume(out, variant, *, x, y, iteration, steps, lr, place):
    out.record(weights_not_restored=0)
    lost = variant == "no_optimizer"
    out.record(optimizer_tensors_not_restored=PARAMETERS * KEPT if lost else 0)
    out.record(learning_rate_by_the_first=1.0 if lost else 0.5, iteration=iteration)
    out.record(weights_apart_after_a_step=PARAMETERS if lost else 0)


def buffers(out, variant, *, x, y, iteration, steps, lr):
    out.record(state_not_restored=0)


def goes_on(out, variant, **_):
    """Nothing is judged by it: it trains for a while."""
