"""Formulas as authors write them: read into a tree of our own, so far without any meaning."""
