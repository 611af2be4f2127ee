"""Measure a model's shapes on the reader's own card, and write rows that the fit can read.

PyTorch is imported by ``layers``, ``model`` and ``clock`` alone, and those only once a run begins.
"""
