"""The shared vocabulary: operations, events, dependence, happens-before, results."""
