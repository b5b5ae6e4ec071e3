try:
    from ._core import generate, pick
except ImportError:  # not run as part of the package
    from _core import generate, pick
