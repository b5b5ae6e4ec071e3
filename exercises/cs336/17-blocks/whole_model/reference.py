"""Nothing is judged by it: it shows one model beside the other."""


def run(out, variant, **_):
    """Healthy code stands beside it."""
