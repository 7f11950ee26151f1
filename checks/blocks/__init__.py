"""Blocks of networks run for real, one file for each family, and their moments measured."""

from varlaw.checks.blocks import attention, images, layers
from varlaw.checks.blocks.measuring import Measured, measure
from varlaw.checks.blocks.nudged import measure_gradients, measure_weights

__all__ = [
    "Measured",
    "attention",
    "images",
    "layers",
    "measure",
    "measure_gradients",
    "measure_weights",
]
