"""Laws of networks whose layers differ in width."""

from varlaw.derivations.catalogue import law
from varlaw.derivations.depth import R, a, b, l, n, next_square, relu_fourth, relu_square, t
from varlaw.symbolic.derivation import Derivation
from varlaw.symbolic.sequences import Term


@law(
    name="depth-he-widths",
    family="depth",
    title="He's variance at widths n_1, n_2, ...: E[q_l^2] is r_0 times the product of 1 + 5/n_t",
    regime="at initialisation, exactly at finite width; Gaussian weights of variance 2/fan-in",
    sources=("hanin2018",),
    rests_on=("relu-square", "relu-fourth", "depth-he-fourth"),
    symbols=(
        "q: the mean of the squared inputs of a layer, q_t",
        "u_j: ReLU(g_j)^2, where sqrt(2 q) g_j are the pre-activations, independent and N(0, 2 q) "
        "given the input",
        "a, b: E[u_j] and E[u_j^2]",
        "p: the mean of the n squared outputs, q_(t+1)",
        "r_t: E[q_t^2]",
        "n_t: the number of units of layer t, from 1 on; the inputs' number does not count",
    ),
    note="Its logarithm is near 5 Sum_t 1/n_t, the sum of the reciprocal widths.",
    pitfalls=(
        (
            "a network scatters as its depth over its mean width says",
            "the reciprocal widths add up: the narrowest layer has most of the scatter",
            "widths 512, 16, 512 give 1.338 = (1 + 5/16)(1 + 5/512)^2, three layers of the mean "
            "width 1.044",
        ),
    ),
)
def depth_he_widths() -> Derivation:
    moments = {a: relu_square.derivation.end, b: relu_fourth.derivation.end}
    return (
        next_square(2, moments, "a = E[ReLU(g)^2] and b = E[ReLU(g)^4]")
        .by("substitute", values={n: Term("n", t + 1)}, because="layer t + 1 has n_(t+1) units")
        .by("iterate", previous=R(t), index=t, steps=l, initial=R(0))
    )
