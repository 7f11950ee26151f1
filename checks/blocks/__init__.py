"""Blocks of networks run for real, one file for each family, and their moments measured."""

from varlaw.checks.blocks import attention, layers
from varlaw.checks.blocks.measuring import Measured, measure

__all__ = ["Measured", "attention", "layers", "measure"]
