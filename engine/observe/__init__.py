"""Measurements -> diagnostics: shapes, curves, norms, trimmed traceback, scores. Pure."""
