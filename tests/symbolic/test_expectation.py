"""The automatic strategy against brute force: every outcome of small discrete laws."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest
from sympy import Expr, Integer, Rational

from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.arrays import Moment
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.derivation import RuleError
from varlaw.symbolic.sequences import named
from varlaw.symbolic.strategy import normal_form
from varlaw.symbolic.terms import Covariance, Expectation, Sum, Variance

m, n, d = dimensions("m n d")
i, j, k, l = indices("i j k l")  # noqa: E741
q, s2 = positive("q s2")

Outcomes = list[tuple[Fraction, Fraction]]
CENTRED = [
    (Fraction(-1), Fraction(1, 2)),
    (Fraction(0), Fraction(1, 4)),
    (Fraction(2), Fraction(1, 4)),
]
SHIFTED = [
    (Fraction(1), Fraction(1, 2)),
    (Fraction(-1), Fraction(1, 6)),
    (Fraction(3), Fraction(1, 3)),
]
EVEN = [
    (Fraction(1), Fraction(1, 3)),
    (Fraction(-1), Fraction(1, 3)),
    (Fraction(3), Fraction(1, 6)),
    (Fraction(-3), Fraction(1, 6)),
]


def moment(law: Outcomes, order: int) -> Fraction:
    return sum((p * v**order for v, p in law), Fraction(0))


def mean(law_of: dict[tuple, Outcomes], f: Callable[[dict], Fraction]) -> Fraction:
    """E f over all outcomes of independent entries, key by key."""
    keys = list(law_of)
    total = Fraction(0)
    for outcome in product(*law_of.values()):
        chance = Fraction(1)
        for _, p in outcome:
            chance *= p
        total += chance * f({key: v for key, (v, _) in zip(keys, outcome, strict=True)})
    return total


def number(end: Expr, laws: dict[str, Outcomes], sizes: dict) -> Fraction:
    """A normal form with the moments of the laws and the sizes put in."""
    values = {a: Rational(*_pair(moment(laws[a.name], a.order))) for a in end.atoms(Moment)}
    found = end.xreplace(values).xreplace(sizes)
    assert found.is_Rational, f"left over in {found}"
    return Fraction(int(found.p), int(found.q))


def _pair(value: Fraction) -> tuple[int, int]:
    return value.numerator, value.denominator


def raw(name: str, **declared):
    """An array of which nothing is declared but independence (and what is given)."""
    return random_array(name, **declared)


@pytest.mark.parametrize("power", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_one_sum_with_means(power: int, size: int) -> None:
    x, w = raw("x"), raw("w")
    end = normal_form(Expectation(Sum(x[i] * w[i, j], (i, 1, m)) ** power)).end
    laws = {"x": SHIFTED, "w": CENTRED}
    entries = {("x", a): SHIFTED for a in range(size)} | {("w", a): CENTRED for a in range(size)}
    brute = mean(
        entries, lambda v: sum((v["x", a] * v["w", a] for a in range(size)), Fraction(0)) ** power
    )
    assert number(end, laws, {m: Integer(size)}) == brute


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("zero_mean", [True, False])
def test_two_sums_to_order_three(rows: int, columns: int, zero_mean: bool) -> None:
    first = CENTRED if zero_mean else SHIFTED
    x = raw("x")
    u = raw("u", mean=0) if zero_mean else raw("u")
    w = raw("w")
    y = Sum(x[i] * u[i, k] * w[k, j], (i, 1, m), (k, 1, n))
    end = normal_form(Expectation(y**3)).end
    small = [(Fraction(1), Fraction(1, 2)), (Fraction(-2), Fraction(1, 2))]
    laws = {"x": small, "u": first, "w": small}
    entries = {("x", a): small for a in range(rows)} | {("w", b): small for b in range(columns)}
    entries |= {("u", a, b): first for a in range(rows) for b in range(columns)}

    def value(v: dict) -> Fraction:
        return (
            sum(
                (v["x", a] * v["u", a, b] * v["w", b] for a in range(rows) for b in range(columns)),
                Fraction(0),
            )
            ** 3
        )

    assert number(end, laws, {m: Integer(rows), n: Integer(columns)}) == mean(entries, value)


def test_three_sums_odd_moment_and_a_mean() -> None:
    x, a, b, c = raw("x"), raw("a"), raw("b", mean=0), raw("c")
    y = Sum(x[i] * a[i, k] * b[k, l] * c[l, j], (i, 1, m), (k, 1, n), (l, 1, d))
    end = normal_form(Expectation(y**3)).end
    two = [(Fraction(1), Fraction(1, 3)), (Fraction(-2), Fraction(2, 3))]
    flat = [(Fraction(2), Fraction(1, 3)), (Fraction(-1), Fraction(2, 3))]  # mean 0, third moment 2
    laws = {"x": two, "a": two, "b": flat, "c": two}
    sizes = {m: 1, n: 2, d: 2}
    entries = (
        {("x", 0): two} | {("a", p): two for p in range(2)} | {("c", r): two for r in range(2)}
    )
    entries |= {("b", p, r): flat for p in range(2) for r in range(2)}

    def value(v: dict) -> Fraction:
        return (
            sum(
                (
                    v["x", 0] * v["a", p] * v["b", p, r] * v["c", r]
                    for p in range(2)
                    for r in range(2)
                ),
                Fraction(0),
            )
            ** 3
        )

    assert number(end, laws, {s: Integer(v) for s, v in sizes.items()}) == mean(entries, value)


def test_a_shared_index_meets_the_free_one() -> None:
    """Sum_k w[j, k] w[k, j] holds the square w[j, j]^2 once, and products of different entries."""
    w = raw("w")
    end = normal_form(Expectation(Sum(w[j, k] * w[k, j], (k, 1, n)))).end
    entries = {("w", a, b): SHIFTED for a in range(2) for b in range(2)}
    brute = mean(
        entries, lambda v: sum((v["w", 0, b] * v["w", b, 0] for b in range(2)), Fraction(0))
    )
    assert number(end, {"w": SHIFTED}, {n: Integer(2)}) == brute


def test_the_trace_of_a_square() -> None:
    w = raw("w")
    end = normal_form(Expectation(Sum(w[i, k] * w[k, i], (i, 1, n), (k, 1, n)))).end
    entries = {("w", a, b): SHIFTED for a in range(2) for b in range(2)}
    brute = mean(
        entries,
        lambda v: sum(
            (v["w", a, b] * v["w", b, a] for a in range(2) for b in range(2)), Fraction(0)
        ),
    )
    assert number(end, {"w": SHIFTED}, {n: Integer(2)}) == brute


def test_variance_and_covariance_of_sums() -> None:
    x, w = raw("x"), raw("w")
    y = Sum(x[i] * w[i, j], (i, 1, m))
    end = normal_form(Covariance(y, x[1] + y**2)).end
    entries = {("x", a): SHIFTED for a in range(2)} | {("w", a): CENTRED for a in range(2)}

    def parts(v: dict) -> tuple[Fraction, Fraction]:
        s = sum((v["x", a] * v["w", a] for a in range(2)), Fraction(0))
        return s, v["x", 0] + s**2

    apart = mean(entries, lambda v: parts(v)[0]) * mean(entries, lambda v: parts(v)[1])
    brute = mean(entries, lambda v: parts(v)[0] * parts(v)[1]) - apart
    assert number(end, {"x": SHIFTED, "w": CENTRED}, {m: Integer(2)}) == brute


@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize("slope", [Fraction(0), Fraction(1, 3)])
def test_rectified_sums(power: int, slope: Fraction) -> None:
    x, w = raw("x"), raw("w", symmetric=True)
    z = named("z", Sum(x[i] * w[i, j], (i, 1, m)), j)
    h = relu(z) if slope == 0 else leaky_relu(z, Rational(slope.numerator, slope.denominator))
    end = normal_form(Expectation(h**power)).end
    entries = {("x", a): SHIFTED for a in range(2)} | {("w", a): EVEN for a in range(2)}

    def value(v: dict) -> Fraction:
        s = sum((v["x", a] * v["w", a] for a in range(2)), Fraction(0))
        return (s if s > 0 else slope * s) ** power

    assert number(end, {"x": SHIFTED, "w": EVEN}, {m: Integer(2)}) == mean(entries, value)


def test_order_eight_with_symbolic_width() -> None:
    """The normal law: E[(Sum w)^8] = 105 (m s2)^4, whatever the width."""
    w = random_array("w", mean=0, variance="s2", gaussian=True)
    end = normal_form(Expectation(Sum(w[i], (i, 1, m)) ** 8)).end
    assert (end - 105 * (m * s2) ** 4).expand() == 0


def test_fourth_moment_of_two_layers_is_that_of_products_of_normals() -> None:
    """Gaussian x, W1, W2: E y^4 = 9 q^2 t^2 u^2 m n (m + 2)(n + 2) * 3/9 ... by conditioning."""
    x = random_array("x", mean=0, variance=1, gaussian=True)
    u = random_array("u", mean=0, variance=1, gaussian=True)
    w = random_array("w", mean=0, variance=1, gaussian=True)
    y = Sum(x[i] * u[i, k] * w[k, j], (i, 1, m), (k, 1, n))
    end = normal_form(Expectation(y**4)).end
    # given x and w, y is normal with variance |x|^2 |w|^2, so E y^4 = 3 E|x|^4 E|w|^4
    assert (end - 3 * m * (m + 2) * n * (n + 2)).expand() == 0


def refusals() -> Iterator[tuple[Expr, str]]:
    x, w = raw("x"), raw("w")
    yield Expectation(Sum(w[i], (i, 1, m)) * Sum(w[k], (k, 1, n))), "different ranges"
    yield Expectation(Sum(w[i], (i, 1, m)) * w[j] * w[k]), "may coincide"
    yield Expectation(1 / Sum(w[i], (i, 1, m))), "not covered"
    yield Expectation(w[j] * w[k]), "may coincide"
    yield Expectation(relu(w[j]) ** 2), "not covered"
    yield Expectation((x[1] + x[2] + x[3] + x[4] + x[5]) ** 8), "over budget"


@pytest.mark.parametrize(("expression", "reason"), list(refusals()))
def test_what_is_not_covered_is_refused_by_name(expression: Expr, reason: str) -> None:
    with pytest.raises(RuleError, match=reason):
        normal_form(expression)


def test_dependent_entries_stay_a_joint_moment() -> None:
    x = random_array("x", second_moment="q", independent=False)
    end = normal_form(Expectation(Sum(x[i], (i, 1, m)) ** 2)).end
    assert end.has(Expectation) and (end - m * q).has(Expectation)


def test_variance_is_not_the_second_moment() -> None:
    w = random_array("w", mean="mu", variance="s2")
    end = normal_form(Variance(w[i])).end
    assert end == s2
    second = normal_form(Expectation(w[i] ** 2)).end
    assert second != s2


def test_indices_that_the_summand_does_not_hold() -> None:
    """(Sum_i x_1) (Sum_k x_k)^2 = m x_1 (Sum_k x_k)^2: idle copies are counted all the same."""
    x = raw("x")
    end = normal_form(Expectation(Sum(x[1], (i, 1, m)) * Sum(x[k], (k, 1, m)) ** 2)).end
    entries = {("x", a): SHIFTED for a in range(3)}
    brute = mean(entries, lambda v: 3 * v["x", 0] * sum(v.values(), Fraction(0)) ** 2)
    assert number(end, {"x": SHIFTED}, {m: Integer(3)}) == brute
