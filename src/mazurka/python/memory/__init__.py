"""Ordinary Python objects as shared memory: attributes, items, globals, closures."""
