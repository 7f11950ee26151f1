"""Confidence sequences, sampled laws, and verdicts with an error rate for the whole run."""
