"""Use cases: values in, values out."""
