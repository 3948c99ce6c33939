"""TruSt and what is built on it: reads-from equivalence, preemption bounding (Buster),
conditions on symbolic values (ConDPOR)."""
