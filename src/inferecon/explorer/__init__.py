"""Every executed combination in one page: choose, compare, rank, name.

The page reads the published dataset and computes nothing but fronts and ranks.
"""
