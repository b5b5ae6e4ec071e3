"""Learner source + spec -> verified edit. Pure, but for asking to have a candidate tried.

A recipe is a list of steps. A step proposes edits as byte spans (`proposers/`), cheaply and in the order
of how natural they are; `search.py` tries them in that order; `oracle.py` alone decides.
"""
