"""How a program is explored: one module for each algorithm."""
