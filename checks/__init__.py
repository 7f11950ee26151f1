"""The judges: proofs of steps, finite models, audits, experiments, and claims in documents."""
