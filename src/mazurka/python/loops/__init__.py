"""Loops that wait."""
