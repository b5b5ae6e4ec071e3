"""engine: break your own model code on purpose, and find out why."""

__version__ = "0.1.0"
