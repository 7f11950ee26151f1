"""The verdict on one link: what it claims, and which part of the package decides it."""
