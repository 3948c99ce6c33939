"""The front end for Python programs."""
