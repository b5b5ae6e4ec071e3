"""A report -> the terminal, or JSON. Nothing else prints."""
