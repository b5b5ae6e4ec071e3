"""Learner source + spec -> verified edit. Pure, but for asking run/ to try a candidate."""
