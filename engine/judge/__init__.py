"""Measurements -> verdict, and the words that explain it. Pure: no process, no disk, no terminal."""
