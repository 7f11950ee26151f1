"""Laws of weight decay in equilibrium: how long weights get, and how far a step turns them."""

from sympy import Integer

from varlaw.derivations.catalogue import law
from varlaw.derivations.scale_invariant import SHRUNK, eta, k, lamda
from varlaw.symbolic.declarations import indices, positive, random_array
from varlaw.symbolic.derivation import Derivation, derive
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Expectation

i = indices("i")
u, R, S = positive("u R S")
SMALL_STEPS = "0 < eta lambda < 1"


def in_k(chain: Derivation) -> Derivation:
    """With eta lambda as k/(1 + k), so that its range needs no condition."""
    return chain.by("substitute", values={lamda: k / (1 + k) / eta}, because=SMALL_STEPS)


def in_lambda(chain: Derivation) -> Derivation:
    """The decay in place of k again."""
    back = SHRUNK / (1 - SHRUNK)
    return chain.by("variable", old=k, value=back, new=lamda, inverse=k / (1 + k) / eta)


@law(
    name="decay-equilibrium",
    family="optimiser",
    title="Decoupled decay: steps of rms u settle at E[w^2] = eta u^2/(lambda (2 - eta lambda))",
    regime="exact equilibrium of steps that are independent of one another; 0 < eta lambda < 1",
    sources=("kosson2024",),
    usual=("p: Gaussian", "p: symmetric"),
    symbols=(
        "w: the weights, of second moment S in equilibrium",
        "p: the optimiser's steps over eta: signs for Lion, of second moment 1 for Adam",
        "u: their root mean square",
        "lambda: the weight decay, taken off as eta lambda w",
        "k: eta lambda/(1 - eta lambda)",
    ),
    note="To first order in eta lambda E[w^2] is eta u^2/(2 lambda). With a momentum b, u counts "
    "all that one gradient moves in the end, (1 - b)(1 + b + b^2 + ...) = 1 times its size: 1 for "
    "Adam on noise, as long as eta lambda << 1 - b.",
    pitfalls=(
        (
            "weight decay pulls weights to 0",
            "noise of the steps pushes them out again; the root mean square they settle at "
            "does not depend on how they start",
            "sqrt(eta/(2 lambda)) = 0.0707 at eta = 0.001 and lambda = 0.1, not 0",
        ),
        (
            "on noise Adam's steps have rms 0.229 eta at b_1 = 0.9, so that u is 0.229",
            "the momentum makes steps alike from one to the next, and they add up as if each "
            "gradient had moved by eta at once",
            "E[w^2] = eta/(2 lambda), 19 times 0.0526 of it",
        ),
    ),
)
def decay_equilibrium() -> Derivation:
    w, p = random_array("w", second_moment="S"), random_array("p", mean=0, second_moment=u**2)
    chain = derive(Expectation(((1 - SHRUNK) * w[i] - eta * p[i]) ** 2)).by(
        "expand linearity constants independence identical"
    )
    chain = in_k(chain.by("require", equals=S, because="one more step leaves E[w^2] = S"))
    return in_lambda(chain.by("solve", unknown=S))


@law(
    name="rotation-equilibrium",
    family="optimiser",
    title="In equilibrium a step's squared length is eta lambda (2 - eta lambda) of the weights'",
    regime="exact where steps are orthogonal to the weights and the length stays, as under a norm; "
    "0 < eta lambda < 1",
    sources=("kosson2024", "vanlaarhoven2017"),
    symbols=(
        "R: the squared length of a step, decay apart, over that of the weights",
        "lambda: the weight decay",
        "k: eta lambda/(1 - eta lambda)",
    ),
    note="A step and the decay multiply the squared length by what the chain starts from. The "
    "weights turn by the angle whose cosine is 1 - eta lambda.",
    pitfalls=(
        (
            "layers with larger gradients turn faster",
            "their weights grow until all layers turn alike, under SGD, Adam and Lion; only eta "
            "lambda is left",
            "1.4 % a step at eta = 0.001 and lambda = 0.1, in every layer under a norm",
        ),
    ),
)
def rotation_equilibrium() -> Derivation:
    chain = derive((1 - SHRUNK) ** 2 + R).by(
        "require", equals=Integer(1), because="equilibrium: one more step leaves the length alone"
    )
    return in_lambda(in_k(chain).by("solve", unknown=R))


@law(
    name="rotation-rate",
    family="optimiser",
    title="In equilibrium weights under a norm turn by sqrt(2 eta lambda) a step",
    regime="first order in eta lambda: the quotient of the two sides tends to 1 as lambda -> 0",
    sources=("kosson2024",),
    rests_on=("rotation-equilibrium",),
    symbols=(
        "R: the squared length of a step, decay apart, over that of the weights",
        "lambda: the weight decay",
    ),
    note="After about 1/(eta lambda) steps nothing is left of how the weights started.",
    pitfalls=(
        (
            "twice the learning rate turns the weights twice as fast",
            "in equilibrium their length has grown as well: the root of 2; half the decay does "
            "to the turning what half the rate does",
            "sqrt(2) = 1.414 times",
        ),
    ),
)
def rotation_rate() -> Derivation:
    settled = named("R", rotation_equilibrium.derivation.end)
    return derive(settled).by("earlier", name="R").by("small", to=2 * SHRUNK, variable=lamda)
