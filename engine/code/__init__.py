"""What knows Python text, and trees of it, and nothing else: no model, no exercise, no process.

Functions take bytes, or a mapping of paths to bytes.
"""
