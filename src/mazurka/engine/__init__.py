"""The vocabulary of every search, and the contract between searches and programs (program.py)."""
