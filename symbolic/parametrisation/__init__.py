"""Parametrisations: how multipliers, initialisation and rates go with width and depth."""
