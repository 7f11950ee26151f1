"""What closed formulas stand for, as fractions, balls and expressions; closed forms of sums."""
