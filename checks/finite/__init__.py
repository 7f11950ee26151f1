"""Finite models: discrete laws, expressions evaluated in them, counter-examples."""
