"""Expectations, variances and probabilities of what is declared, and the links between them."""
