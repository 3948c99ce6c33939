"""Ordinary code is given hooks where it accesses shared memory."""
