"""Laws of gated recurrent cells: what an LSTM's cell keeps, and the biases that set how long."""

from varlaw.derivations.catalogue import law
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.terms import Expectation

c, o, p, r, s, u, v, y, T = positive("c o p r s u v y T")


@law(
    name="lstm-cell",
    family="recurrent",
    title="An LSTM's cell settles at E[i^2]/(1 - E[f^2]) of its candidates' second moment",
    regime="stationary; gates and candidates independent from step to step, candidates of mean 0",
    sources=("hochreiter1997", "gers2000", "jozefowicz2015"),
    usual=("g: Gaussian", "g: symmetric", "c: zero mean"),
    symbols=(
        "c: the cell, of second moment s",
        "f: the forget gate, which multiplies the old cell, of second moment r, below 1",
        "i: the input gate, of second moment p",
        "g: the candidate, of second moment v",
        "o: r/(1 - r)",
    ),
    note="With weights near 0 the gates are sigmoids of their biases: i = 1/2, and f = 1/2 at bias "
    "0 or 0.731 at bias 1. With f = 1, as in the first LSTM, the cell grows without end.",
    pitfalls=(
        (
            "an LSTM's cell keeps the size of what is written into it",
            "both gates are near 1/2: a quarter of the second moment is written, and a quarter of "
            "the cell's is left after a step",
            "1/3 of the candidates' at forget bias 0, 0.537 at forget bias 1",
        ),
        (
            "with forget bias 1 an LSTM starts by remembering",
            "the gate is 0.731 then: more than 1/2, but the cell fades within a few steps",
            "after 20 steps 0.0019 of the cell is left; 0.00000095 at bias 0",
        ),
    ),
)
def lstm_cell() -> Derivation:
    cell = random_variable("c", second_moment=s)
    forget, write = random_variable("f", second_moment=r), random_variable("i", second_moment=p)
    g = random_variable("g", mean=0, second_moment=v)
    return (
        derive(Expectation((forget * cell + write * g) ** 2))
        .by("expand linearity independence identical")
        .by("require", equals=s, because="the cell is stationary")
        .by("substitute", values={r: o / (1 + o)}, because="0 < r < 1: r = o/(1 + o), o > 0")
        .by("solve", unknown=s)
        .by("variable", old=o, value=r / (1 - r), new=r, inverse=o / (1 + o))
    )


@law(
    name="chrono-bias",
    family="recurrent",
    title="A forget gate of bias log(T - 1) remembers for T steps",
    regime="weights near 0, so that the gate is the sigmoid of its bias; T > 1",
    sources=("tallec2018",),
    symbols=(
        "c: where the cell settles when y is written in every step",
        "T: the memory, c/y: the sum 1 + f + f^2 + ... over the steps passed",
        "u: e^b for the bias b, so that the gate is f = u/(1 + u)",
        "o: T - 1",
    ),
    note="Units take T uniform: biases log U(1, T_max - 1), and the input gates' minus that.",
    pitfalls=(
        (
            "a forget bias of 1 lets gradients flow over long times",
            "bias b remembers for 1 + e^b steps",
            "3.72 steps at b = 1, 2 at b = 0; 784 steps, as for MNIST by pixels, take b = 6.66",
        ),
        (
            "chrono initialisation draws biases uniformly",
            "it draws the memories uniformly; the biases are logarithms of what is uniform",
            "half of the units remember for more than T_max/2 steps, with biases within log 2 of "
            "the largest",
        ),
    ),
)
def chrono_bias() -> Derivation:
    forget = u / (1 + u)
    return (
        derive(forget * c + y)
        .by("require", equals=c, because="the cell has settled")
        .by("solve", unknown=c)
        .by("require", equals=T * y, because="it holds what T steps have written")
        .by("substitute", values={T: 1 + o}, because="T > 1: T = 1 + o, o > 0")
        .by("solve", unknown=u)
        .by("variable", old=o, value=T - 1, new=T, inverse=1 + o)
    )


@law(
    name="chrono-cell",
    family="recurrent",
    title="Chrono biases b and -b for memory T: the cell keeps 1/(2 T - 1) of its candidates",
    regime="stationary; weights near 0, candidates of mean 0, independent from step to step; T > 1",
    sources=("tallec2018",),
    rests_on=("lstm-cell", "chrono-bias"),
    symbols=(
        "s: the second moment of the cell",
        "u: e^b = T - 1 for the forget gate's bias b (chrono-bias)",
        "r: the square of the forget gate u/(1 + u) = 1 - 1/T",
        "p: the square of the input gate 1/(1 + u) = 1/T, what the forget gate leaves",
        "v: the second moment of the candidates",
    ),
    pitfalls=(
        (
            "forget and input gate add up to 1, so that the cell is as large as its candidates",
            "so it is for candidates that stay the same; independent ones average out",
            "1/19 of the second moment at T = 10, 1/1567 at T = 784",
        ),
    ),
)
def chrono_cell() -> Derivation:
    forget, write = u / (1 + u), 1 / (1 + u)
    return (
        lstm_cell.derivation.by(
            "substitute",
            values={r: forget**2, p: write**2},
            because="gates at biases b and -b, with u = e^b",
        )
        .by("algebra", form="cancel")
        .by("variable", old=u, value=chrono_bias.derivation.end, new=T, inverse=1 + u)
    )
