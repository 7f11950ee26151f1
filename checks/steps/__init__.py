"""Proofs of steps, by kind of step: each without the rule that made it."""
