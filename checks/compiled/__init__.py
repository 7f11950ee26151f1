"""Experiments compiled from derivations, on any array library."""
