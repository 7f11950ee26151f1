"""Moments of functions of Gaussian variables: closed forms, and proved enclosures."""
