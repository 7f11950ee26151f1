"""Gains: what keeps a moment of an activation at 1, and what libraries publish of it."""
