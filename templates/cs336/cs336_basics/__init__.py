"""A Transformer language model in PyTorch, from scratch."""
