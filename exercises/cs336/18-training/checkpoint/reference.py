"""What was saved is what is there after loading, whatever it is."""


def save(out, variant, *, x, y, iteration, steps, lr):
    out.record(something_is_written=True)


def resume(out, variant, *, x, y, iteration, steps, lr, place):
    out.record(weights_not_restored=0)
    out.record(optimizer_tensors_not_restored=0, learning_rate_by_the_first=0.5)
    out.record(iteration=iteration, weights_apart_after_a_step=0)


def buffers(out, variant, *, x, y, iteration, steps, lr):
    out.record(state_not_restored=0)
