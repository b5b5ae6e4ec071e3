"""Layers, written number by number."""
