"""The learner's folder: practice copy, history, notes, event store. The only writer to disk."""
