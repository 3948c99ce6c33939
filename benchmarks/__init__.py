"""The benchmark programs of the papers, and the runner that puts our figures beside theirs.

Run from the root of a checkout: ``python -m benchmarks --help``.
"""
