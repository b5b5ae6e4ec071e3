"""Your own small language model, in NumPy."""
