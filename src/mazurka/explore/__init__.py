"""The searches: one module, or a small package, for each algorithm."""
