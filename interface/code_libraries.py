"""The libraries that code of weights is written for, and the frame of such code."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """How a library draws a normal array, and what comes before."""

    imports: str
    array: str
    transposed: bool
    prelude: str


LIBRARIES = {
    "numpy": Library(
        "import math\n\nimport numpy as np",
        "np.ndarray",
        False,
        """    generator = np.random.default_rng(seed)

    def normal(std: float, *shape: int) -> np.ndarray:
        return std * generator.standard_normal(shape)
""",
    ),
    "torch": Library(
        "import math\n\nimport torch",
        "torch.Tensor",
        True,
        """    generator = torch.Generator().manual_seed(seed)

    def normal(std: float, *shape: int) -> torch.Tensor:
        return std * torch.randn(shape, generator=generator)
""",
    ),
    "jax": Library(
        "import math\n\nimport jax",
        "jax.Array",
        False,
        """    key = jax.random.key(seed)

    def normal(std: float, *shape: int) -> jax.Array:
        nonlocal key
        key, own = jax.random.split(key)
        return std * jax.random.normal(own, shape)
""",
    ),
}
TEMPLATE = '''"""Weights at initialisation, derived by varlaw.

{layout}
"""

{imports}


def initialise(
{arguments}
) -> tuple[dict[str, {array}], dict[str, float]]:
    """Arrays by name, and scales: a x + b F(x) of residual blocks, scale W x."""
{prelude}
    weights: dict[str, {array}] = {{}}
    scales: dict[str, float] = {{}}
{body}
    return weights, scales
'''
