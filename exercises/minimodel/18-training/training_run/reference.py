"""Nothing is judged by a whole run: how it goes depends on how the learner's code draws its weights."""


def run(out, variant, **_):
    """Healthy code stands beside it."""
