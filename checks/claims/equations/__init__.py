"""Equations and inequalities between formulas: of numbers by enclosures, of names by proofs."""
