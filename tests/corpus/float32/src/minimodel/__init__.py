"""A small GPT in NumPy, in single precision from end to end.

The names live in the submodules.  Nothing is re-exported here, because
``minimodel.train`` and ``minimodel.generate`` are modules *and* functions.
"""
