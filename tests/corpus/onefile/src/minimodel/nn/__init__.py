"""Layers. See minimodel._core, sections 4 and 5."""
