"""What threads synchronise with: a file for each kind of lock, queue and the like."""
