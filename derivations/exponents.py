"""Laws of abc-parametrisations: which exponents of the width keep a network stable and learning.

A layer has effective weights n^(-a) w with w of size n^(-b), and the learning rate n^(-c). The
readout has the exponents A and B. Sizes are powers of the width n (`symbolic/orders.py`).
"""

from sympy import Expr, Integer, Rational, Symbol

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import dimensions
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.orders import coherent, incoherent, order

n = dimensions("n")
a, b, c, A, B = (Symbol(name, real=True) for name in ("a", "b", "c", "A", "B"))
HALF = Rational(1, 2)
FEATURE = Integer(1)  # activations and inputs are of order 1
SLOPE = n**-A * n**-B  # the gradient at a hidden unit: one effective weight of the readout


def size(of: Expr) -> Derivation:
    """The exponent of the width in a size."""
    return derive(order(of, n)).by("exponent")


def sgd(gradient: Expr, shape: Expr = a) -> Expr:
    """A step of SGD on a raw weight, in its effect: rate, step, and twice the factor n^-shape."""
    return n**-shape * n**-c * (n**-shape * gradient * FEATURE)


def adam(shape: Expr = a) -> Expr:
    """A step of Adam on a raw weight, in its effect: the rate, whatever the gradient."""
    return n**-shape * n**-c


@law(
    name="abc-forward",
    family="exponents",
    title="Pre-activations do not grow with the width where b >= 1/2 - a",
    regime="wide limit, leading exponent; hidden layer at initialisation",
    sources=("yang2021",),
    symbols=("b: the exponent of the weights' own size n^(-b)",),
    note="At equality they neither grow nor vanish: a + b = 1/2, a variance 1/n of the effective "
    "weights. For the readout the inequality will do: at A + B > 1/2 it starts near 0.",
)
def abc_forward() -> Derivation:
    return size(incoherent(n**-a * n**-b * FEATURE, n)).by("stable", unknown=b)


@law(
    name="abc-sgd-hidden",
    family="exponents",
    title="SGD: a hidden layer is stable where c >= 1 - 2 a - A - B, and learns at equality",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2021",),
    rests_on=("abc-forward",),
    note="Strict inequality: its features do not move in the limit, and the kernel is fixed.",
    pitfalls=(
        (
            "a wider network needs a smaller learning rate",
            "under SGD that depends on the parametrisation: c = 1/2 in the standard one for the "
            "hidden layers, 0 in muP",
            "1 - 2 a - A - B = 1/2 at a = 0, A = 0, B = 1/2",
        ),
    ),
)
def abc_sgd_hidden() -> Derivation:
    return size(coherent(sgd(SLOPE) * FEATURE, n)).by("stable", unknown=c)


@law(
    name="abc-sgd-input",
    family="exponents",
    title="SGD: the input layer is stable where c >= -2 a - A - B, and learns at equality",
    regime="wide limit, leading exponent; first step from initialisation, input width fixed",
    sources=("yang2021",),
    rests_on=("abc-sgd-hidden",),
    note="The sum over the inputs has a fixed number of terms and adds no exponent.",
)
def abc_sgd_input() -> Derivation:
    return size(sgd(SLOPE) * FEATURE).by("stable", unknown=c)


@law(
    name="abc-sgd-readout",
    family="exponents",
    title="SGD: the output is stable under its own step where c >= 1 - 2 A",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2021",),
    rests_on=("abc-sgd-hidden",),
)
def abc_sgd_readout() -> Derivation:
    return size(coherent(sgd(FEATURE, A) * FEATURE, n)).by("stable", unknown=c)


@law(
    name="abc-adam-hidden",
    family="exponents",
    title="Adam: a hidden layer is stable where c >= 1 - a, and learns at equality",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2022",),
    rests_on=("adam-coherent",),
    note="At a = 0 the learning rate of a hidden layer falls like 1/n.",
)
def abc_adam_hidden() -> Derivation:
    return size(coherent(adam() * FEATURE, n)).by("stable", unknown=c)


@law(
    name="abc-adam-input",
    family="exponents",
    title="Adam: the input layer is stable where c >= -a, and learns at equality",
    regime="wide limit, leading exponent; first step from initialisation, input width fixed",
    sources=("yang2022",),
    rests_on=("abc-adam-hidden",),
)
def abc_adam_input() -> Derivation:
    return size(adam() * FEATURE).by("stable", unknown=c)


@law(
    name="abc-adam-readout",
    family="exponents",
    title="Adam: the output is stable under its own step where c >= 1 - A",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2022",),
    rests_on=("abc-adam-hidden",),
)
def abc_adam_readout() -> Derivation:
    return size(coherent(adam(A) * FEATURE, n)).by("stable", unknown=c)
