"""minimodel: a small GPT in NumPy. Forward passes are einsums, backward passes are derived by hand."""
