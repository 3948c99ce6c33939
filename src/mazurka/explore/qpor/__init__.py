"""QPOR: the unfolding of a program, explored with k-partial alternatives."""
