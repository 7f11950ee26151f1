"""Numbers of laws that introductions and libraries state, by quadrature or by hand."""

import mpmath
import pytest
from mpmath import exp, mpf, sqrt, tanh

from varlaw.derivations.catalogue import find
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import IndexSum


def sigmoid(x):
    return 1 / (1 + exp(-x))


def elu(x):
    return x if x > 0 else mpmath.expm1(x)


def moment(f, k):
    """E[f(z)^k], split at the kinks."""
    return mpmath.quad(lambda x: mpmath.npdf(x) * f(x) ** k, [-12, -4, -1, 0, 1, 4, 12])


SECOND = {  # gains that keep E[f(z)^2] at 1
    "gain-tanh": tanh,
    "gain-sigmoid": sigmoid,
    "gain-silu": lambda x: x * sigmoid(x),
    "gain-elu": elu,
    "gain-hardtanh": lambda x: max(min(x, mpf(1)), mpf(-1)),
    "relu-squared": lambda x: max(x, mpf(0)) ** 2,
}
VARIANCE = {  # gains that give f(z) variance 1
    "gain-sigmoid-variance": sigmoid,
    "gain-silu-variance": lambda x: x * sigmoid(x),
    "gain-gelu-variance": lambda x: x * mpmath.ncdf(x),
    "gain-elu-variance": elu,
    "gain-softplus-variance": lambda x: mpmath.log1p(exp(x)),
}


@pytest.mark.parametrize("name", SECOND)
def test_gains_of_the_second_moment(name):
    with mpmath.workdps(25):
        assert float(find(name).derivation.end) == pytest.approx(
            float(1 / sqrt(moment(SECOND[name], 2))), rel=1e-13
        )


@pytest.mark.parametrize("name", VARIANCE)
def test_gains_of_the_variance(name):
    with mpmath.workdps(25):
        f = VARIANCE[name]
        spread = moment(f, 2) - moment(f, 1) ** 2
        assert float(find(name).derivation.end) == pytest.approx(float(1 / sqrt(spread)), rel=1e-13)


def at(name, **values):
    """The right-hand side of a law's statement at numbers."""
    end = find(name).derivation.end
    starts = {term: values[f"{term.args[0]}_{term.args[1]}"] for term in end.atoms(Term)}
    end = end.xreplace(starts)
    return float(end.subs({s: values[s.name] for s in end.free_symbols}))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("relu-mean", {"v": 1}, 0.39894228040143268),
        ("relu-variance", {"v": 1}, 0.34084505690810466),
        ("gelu-mean", {"v": 100}, 10 * 0.39894228040143268 * (100 / 101) ** 0.5),
        ("gain-leaky-relu-variance", {"a": 0.01}, 1.704831627177337),
        ("xavier-two-layers", {"m": 768, "n": 3072, "q": 1}, 0.64),
        ("he-backward-chain", {"k": 5, "d_0": 7, "d_k": 3}, 3 / 7),
        ("he-branch-backward", {"v": 3}, 6),
        ("pre-norm-linear", {"l": 12, "d": 256, "s": 0.02}, 2.2288),
        ("pre-norm-he-scaled", {"l": 48, "L": 48, "v_0": 1}, 2),
        ("deepnorm-decoder", {"M": 6}, 1 / 2.9129506302439405),
        ("deepnorm-memory", {"M": 6}, (6 * 72**-0.5 / 18**0.25) ** 2),
        ("mse-gradient", {"v": 1}, 8),
        ("label-smoothing-margin", {"K": 1000, "epsilon": 0.1}, 9001),
        ("label-smoothing-entropy", {"K": 1000, "epsilon": 0.1, "p": 0.9001}, 1.01484799774868),
        ("admin-identity-path", {"l": 24, "s2": 1}, 0.2),
        ("drop-path-stream", {"L": 24, "s2": 1, "p": 0.5, "v_0": 1}, 49),
        ("attention-mup-scale", {"b": 64}, 8),
        ("deepnorm-identity-weight", {"N": 500}, (1 + 1 / (4000 * 1000**0.5)) ** -500),
        ("t-fixup-encoder", {"N": 6}, 0.67 * 6**-0.25),
        ("head-gpt2", {}, 0.02 * 768**0.5),
        ("loss-gradient", {"K": 256}, 255 / 256),
        ("product-variance", {"mu": 1, "nu": -2, "v": 4, "r": 9}, 61),
        ("dropout-variance", {"mu": 10, "v": 1, "p": 2 / 3}, 51.5),
        ("attention-qk-means", {"d": 64, "mu": 0.5, "v": 1}, 96),
        ("attention-bert", {}, 0.0564981183899),
        ("logits-outside", {"n": 512}, 1 - 0.9973002039367398**512),
        ("largest-weight", {}, 4.291129315896456),  # mpmath: the integral of 1 - Phi(x)^65536
        ("relu-cosine", {"rho": 0}, 1 / 3.141592653589793),
        ("relu-covariance", {"rho": 0.5, "q": 1}, 0.1453439474302193),
        ("edge-of-chaos-relu", {}, 2),
        ("swiglu", {}, 0.5964692111227134885**2),
        ("depth-linear-fourth", {"l": 50, "n": 64, "r_0": 1}, (1 + 2 / 64) ** 50),
    ],
)
def test_the_statement_at_numbers(name, values, expected):
    if name == "he-backward-chain":
        end = find(name).derivation.end
        assert {str(term) for term in end.atoms(Term)} == {"d[0]", "d[k]"}
        ends = {t: values["d_0" if str(t) == "d[0]" else "d_k"] for t in end.atoms(Term)}
        assert float(end.xreplace(ends)) == pytest.approx(expected)
        return
    rel = 2e-3 if name == "t-fixup-encoder" else 1e-10
    assert at(name, **values) == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize(("blocks", "layers"), [(6, 6), (18, 3), (100, 100)])
def test_the_published_constants_of_deepnorm_before_a_decoder(blocks, layers):
    """alpha = 0.81 (N^4 M)^(1/16), beta = 0.87 (N^4 M)^(-1/16): arXiv 2203.00555, figure 2."""
    size = (blocks**4 * layers) ** (1 / 16)
    alpha, beta = (at(f"deepnorm-encoder-{name}", N=blocks, M=layers) for name in ("alpha", "beta"))
    assert round(alpha / size, 2) == 0.81
    assert round(beta * size, 2) == 0.87


def test_sub_ln_in_numbers():
    """sqrt(log 2 N), arXiv 2210.06423, figure 2; exactly the root of a harmonic sum."""
    assert at("sub-ln", N=12) == pytest.approx(1.782709687623856)
    with mpmath.workdps(20):
        harmonic = mpmath.harmonic(25) - 1
    (symbol,) = find("sub-ln").derivation.after("solve").free_symbols
    exact = find("sub-ln").derivation.after("solve").subs(symbol, 12)
    (total,) = exact.atoms(IndexSum)
    terms = [total.summand.subs(total.bound[0], k) for k in range(24)]
    assert float(exact.xreplace({total: sum(terms)})) == pytest.approx(float(sqrt(harmonic)))


@pytest.mark.parametrize(
    ("name", "symbol", "meaning"),
    [
        ("bert-attention", "w", "the weights of the output"),  # of attention-branch
        ("residual-he-branch", "n", "the number of hidden units"),  # of relu-branch
        ("t-fixup-encoder", "v, w", "the value and output weights (or the two layers) of a branch"),
        ("zero-last-layer", "w", "the weights of its last layer"),  # of the family
    ],
)
def test_symbols_mean_what_the_law_or_the_one_it_goes_on_with_says(name, symbol, meaning):
    glossary = find(name).account().glossary
    assert (symbol, meaning) in glossary
    told = [part for key, _ in glossary for part in key.split(", ")]
    assert len(told) == len(set(told))


def test_the_error_function_nearest_to_a_sigmoid():
    """The squared error is larger a little to both sides, and where it is said to be least."""

    def error(c):
        return mpmath.quad(
            lambda x: ((1 + mpmath.erf(x / c)) / 2 - sigmoid(x)) ** 2, [-5, -2, 0, 2, 5]
        )

    with mpmath.workdps(40):
        c = mpf(str(find("sigmoid-erf").derivation.end).rstrip("."))
        least = error(c)
        assert least < error(c + mpf("1e-9")) and least < error(c - mpf("1e-9"))
        assert least < error(mpf("2.4020563531719796"))
        assert abs(error(c * mpf("1.05")) / least - 1) > 0.1


def test_the_edge_of_chaos_of_tanh_with_biases():
    """Schoenholz et al. (2017), section 3: w E[tanh'^2] = 1 and v = w E[tanh^2] + 0.04."""

    def mean(f, v):
        return mpmath.quad(lambda z: f(sqrt(v) * z) * mpmath.npdf(z), [-12, -4, 0, 4, 12])

    with mpmath.workdps(20):
        v = mpf(str(find("edge-of-chaos-tanh-point").derivation.end).rstrip("."))
        w = mpf(str(find("edge-of-chaos-tanh").derivation.end).rstrip("."))
        assert abs(w * mean(lambda x: (1 - tanh(x) ** 2) ** 2, v) - 1) < 1e-12
        assert abs(w * mean(lambda x: tanh(x) ** 2, v) + mpf("0.04") - v) < 1e-12
        assert mpf("1.722") * mean(lambda x: (1 - tanh(x) ** 2) ** 2, v) > 1.01  # as published
