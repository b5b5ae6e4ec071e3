"""minimodel: a tiny language model, written out step by step in NumPy."""
