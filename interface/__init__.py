"""varlaw: derive the variance laws of neural networks, prove each step, measure each law.

    import varlaw as vl

    vl.laws()                    # the catalogue
    vl.law("he").statement       # Var[w[i, j]] = 2/m, computed by its derivation
    vl.verify("he")              # the evidence: steps proved, assumptions audited, measured
    vl.explore(vl.blocks.linear("m", "n", var="v") >> vl.blocks.relu, solve="v")  # He's 2/m

Names are imported when they are first used, so `import varlaw` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from varlaw import blocks
    from varlaw.derivations.catalogue import find as law
    from varlaw.evidence import verify
    from varlaw.exploration import explore
    from varlaw.listing import laws
    from varlaw.symbolic.activations import leaky_relu, relu
    from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
    from varlaw.symbolic.derivation import derive
    from varlaw.symbolic.gains.gain import gain
    from varlaw.symbolic.gaussian.moment import moment
    from varlaw.symbolic.gaussian.pair import pair_moment as kernel
    from varlaw.symbolic.parametrisation.named import parametrisation
    from varlaw.symbolic.sequences import named
    from varlaw.symbolic.strategy import normal_form
    from varlaw.symbolic.terms import Covariance as Cov
    from varlaw.symbolic.terms import Expectation as E
    from varlaw.symbolic.terms import Sum
    from varlaw.symbolic.terms import Variance as Var

    __version__: str

__all__ = [
    "Cov",
    "E",
    "Sum",
    "Var",
    "__version__",
    "blocks",
    "derive",
    "dimensions",
    "explore",
    "gain",
    "indices",
    "kernel",
    "law",
    "laws",
    "leaky_relu",
    "moment",
    "named",
    "normal_form",
    "parametrisation",
    "positive",
    "random_array",
    "relu",
    "verify",
]

# Where each public name lives: "module:name".
_HOMES = {
    "Cov": "varlaw.symbolic.terms:Covariance",
    "E": "varlaw.symbolic.terms:Expectation",
    "Sum": "varlaw.symbolic.terms:Sum",
    "Var": "varlaw.symbolic.terms:Variance",
    "derive": "varlaw.symbolic.derivation:derive",
    "dimensions": "varlaw.symbolic.declarations:dimensions",
    "explore": "varlaw.exploration:explore",
    "gain": "varlaw.symbolic.gains.gain:gain",
    "indices": "varlaw.symbolic.declarations:indices",
    "kernel": "varlaw.symbolic.gaussian.pair:pair_moment",
    "law": "varlaw.derivations.catalogue:find",
    "laws": "varlaw.listing:laws",
    "leaky_relu": "varlaw.symbolic.activations:leaky_relu",
    "moment": "varlaw.symbolic.gaussian.moment:moment",
    "named": "varlaw.symbolic.sequences:named",
    "normal_form": "varlaw.symbolic.strategy:normal_form",
    "parametrisation": "varlaw.symbolic.parametrisation.named:parametrisation",
    "positive": "varlaw.symbolic.declarations:positive",
    "random_array": "varlaw.symbolic.declarations:random_array",
    "relu": "varlaw.symbolic.activations:relu",
    "verify": "varlaw.evidence:verify",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("varlaw")
    elif name == "blocks":
        value = import_module("varlaw.blocks")
    elif name in _HOMES:
        module, _, inside = _HOMES[name].partition(":")
        value = getattr(import_module(module), inside)
    else:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=import_module(__name__))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
