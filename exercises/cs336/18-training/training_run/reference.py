"""Nothing is judged by a whole run: it draws by lot."""


def run(out, variant, **_):
    """Healthy code stands beside it."""
