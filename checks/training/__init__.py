"""Small networks trained for a few steps, and the coordinate check."""
