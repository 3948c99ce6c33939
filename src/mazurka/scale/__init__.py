"""Long searches: in many processes, with estimates and checkpoints."""
