"""A small GPT where every single number is a Value that remembers where it came from."""
