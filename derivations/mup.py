"""Laws of known parametrisations: what the exponents of the width are in each of them."""

from sympy import Integer

from varlaw.derivations.catalogue import law
from varlaw.derivations.exponents import FEATURE, HALF, SLOPE, A, B, a, adam, c, n, sgd, size
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.orders import coherent, order


@law(
    name="sp-sgd-hidden",
    family="exponents",
    title="Standard parametrisation, SGD at a fixed rate: hidden features move like n^(1/2)",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2021",),
    rests_on=("abc-sgd-hidden",),
    note="The readout moves like n: a stable rate is 1/n.",
)
def sp_sgd_hidden() -> Derivation:
    return size(coherent(sgd(SLOPE) * FEATURE, n)).by(
        "substitute",
        values={a: Integer(0), c: Integer(0), A: Integer(0), B: HALF},
        because="standard parametrisation: variances 1/n, rate free of n",
    )


@law(
    name="sp-sgd-lazy",
    family="exponents",
    title="Standard parametrisation, SGD at its largest stable rate: features move like n^(-1/2)",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2021",),
    rests_on=("abc-sgd-readout",),
    pitfalls=(
        (
            "a standard network of any width learns features if the rate is tuned",
            "the readout forces the rate 1/n, at which hidden features stand still in the limit",
            "exponent -1/2",
        ),
    ),
)
def sp_sgd_lazy() -> Derivation:
    return size(coherent(sgd(SLOPE) * FEATURE, n)).by(
        "substitute",
        values={a: Integer(0), c: Integer(1), A: Integer(0), B: HALF},
        because="standard parametrisation at the rate 1/n that the readout allows",
    )


@law(
    name="sp-adam-hidden",
    family="exponents",
    title="Standard parametrisation, Adam at a fixed rate: pre-activations move like n",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2022",),
    rests_on=("abc-adam-hidden",),
)
def sp_adam_hidden() -> Derivation:
    return size(coherent(adam() * FEATURE, n)).by(
        "substitute",
        values={a: Integer(0), c: Integer(0)},
        because="standard parametrisation: no factor, rate free of n",
    )


@law(
    name="ntp-sgd-hidden",
    family="exponents",
    title="NTK parametrisation, SGD: hidden features move like n^(-1/2), the kernel regime",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("jacot2018", "yang2021"),
    rests_on=("abc-sgd-hidden",),
)
def ntp_sgd_hidden() -> Derivation:
    return size(coherent(sgd(SLOPE) * FEATURE, n)).by(
        "substitute",
        values={a: HALF, c: Integer(0), A: HALF, B: Integer(0)},
        because="NTK parametrisation: weights of order 1 behind n^(-1/2)",
    )


@law(
    name="mean-field-sgd-hidden",
    family="exponents",
    title="Mean field, one hidden layer, SGD at rate n: its features move at order 1",
    regime="wide limit, leading exponent; first step from initialisation, input width fixed",
    sources=("yang2021",),
    rests_on=("abc-sgd-input",),
)
def mean_field_sgd_hidden() -> Derivation:
    return size(sgd(SLOPE) * FEATURE).by(
        "substitute",
        values={a: Integer(0), c: Integer(-1), A: Integer(1), B: Integer(0)},
        because="mean field: the output a mean over n units, the rate n",
    )


@law(
    name="mup-sgd-hidden",
    family="exponents",
    title="muP, SGD at a fixed rate: hidden features move at order 1",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2021",),
    rests_on=("abc-sgd-hidden",),
)
def mup_sgd_hidden() -> Derivation:
    return size(coherent(sgd(SLOPE) * FEATURE, n)).by(
        "substitute",
        values={a: Integer(0), c: Integer(0), A: HALF, B: HALF},
        because="muP: A = B = 1/2 at the readout",
    )


@law(
    name="mup-sgd-input",
    family="exponents",
    title="muP, SGD at a fixed rate: the features of the input layer move at order 1",
    regime="wide limit, leading exponent; first step from initialisation, input width fixed",
    sources=("yang2021",),
    rests_on=("abc-sgd-input",),
)
def mup_sgd_input() -> Derivation:
    return size(sgd(SLOPE) * FEATURE).by(
        "substitute",
        values={a: -HALF, c: Integer(0), A: HALF, B: HALF},
        because="muP: a = -1/2 at the input, A = B = 1/2 at the readout",
    )


@law(
    name="mup-adam-hidden",
    family="exponents",
    title="muP, Adam at a rate 1/n: hidden features move at order 1",
    regime="wide limit, leading exponent; first step from initialisation",
    sources=("yang2022",),
    rests_on=("abc-adam-hidden",),
)
def mup_adam_hidden() -> Derivation:
    return size(coherent(adam() * FEATURE, n)).by(
        "substitute",
        values={a: Integer(0), c: Integer(1)},
        because="muP: the rate of a hidden layer is 1/n",
    )


@law(
    name="mup-attention",
    family="exponents",
    title="Once queries and keys are aligned, q.k grows like the width n of a head",
    regime="wide limit, leading exponent, in training; at initialisation it is 1/2",
    sources=("yang2022",),
    rests_on=("adam-coherent",),
    symbols=("n: the width of a head, over which the sum runs",),
    pitfalls=(
        (
            "the variance of q.k is d, hence 1/sqrt(d), in muP as well",
            "that is the incoherent sum of initialisation; trained q and k are aligned, the sum is "
            "coherent, and muP divides by d",
            "exponent 1, not 1/2; 8/d is 1/sqrt(d) at d = 64, so that models of that size agree",
        ),
    ),
)
def mup_attention() -> Derivation:
    return derive(order(coherent(FEATURE * FEATURE, n), n)).by("exponent")
