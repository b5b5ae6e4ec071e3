"""Getting into a stranger's model, what is run there, and what comes back. Nothing of transformers."""
