"""What occurs in expressions, against SymPy's own questions."""

import pytest
from sympy import Abs, Symbol, erf, exp, log, sqrt, tanh

from varlaw.symbolic.activation import KINKED
from varlaw.symbolic.activations import gelu, relu
from varlaw.symbolic.occurrences import contains, depends, free_symbols

x, a = Symbol("x", real=True), Symbol("a", positive=True)
EXPRESSIONS = [
    x,
    a**2,
    relu(x - a) * erf(a * x),
    log(1 + exp(-x)) / (1 + Abs(a)),
    gelu(tanh(x)) ** 2 + sqrt(a),
]


@pytest.mark.parametrize("f", EXPRESSIONS, ids=str)
def test_answers_are_those_of_sympy(f):
    for part in [f, *f.args]:
        assert [depends(part, s) for s in (x, a)] == [part.has(s) for s in (x, a)]
        assert free_symbols(part) == part.free_symbols
        for kinds in ((log,), (erf, tanh), KINKED):
            assert contains(part, kinds) == bool(part.atoms(*kinds))
