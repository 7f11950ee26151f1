"""Blocks of networks as algebra: what each does to second moments, forward and backward."""
