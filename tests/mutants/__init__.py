"""Deliberate mistakes: does a test notice each of them?

    python -m tests.mutants            # all of them, one after the other
    python -m tests.mutants pop races  # those in files whose path has one of these words

docs/contributing.md says when to run this.
"""
