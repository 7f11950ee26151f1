"""Gains: what the output of an activation is multiplied by to keep a moment, and what is published."""
