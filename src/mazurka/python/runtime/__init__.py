"""Runs the threads of a Python program as greenlets, one step at a time."""
