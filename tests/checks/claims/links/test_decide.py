"""Links of real documents, typed as formulas: true ones verified, their mutations refuted."""

import pytest
from judging import GAMMA, HE, XAVIER, judged, verdict

from varlaw.checks.claims.declarations.context import read_context

BELOW = r"2^{-L/2} < 10^{-38} \Rightarrow L > "
SELU = (
    "alpha = sqrt(2/pi) / (sqrt(e) erfc(1/sqrt(2)) - 1) * (-1)",
    "lambda = (1/2 + alpha^2 (e^2 erfc(sqrt(2))/2 - sqrt(e) erfc(1/sqrt(2)) + 1/2))^(-1/2)",
)


# A true link, and what may be done to its last part so that it is false.
LINKS = [
    ((r"0.02/1.1368472 \approx 0.0176",), ["0.0178", "0.0174"]),
    ((r"1/\sqrt{768} \approx 0.0361",), ["0.0363", "0.0359"]),
    ((r"\sigma = \sqrt{2/768} \approx 0.051",), ["0.053", "0.049"]),
    ((r"\sigma = \sqrt{2/(768+768)} \approx 0.036",), ["0.038", "0.034"]),
    ((GAMMA + r"=0.7737413\dots",), [r"0.7737415\dots", r"0.7737411\dots"]),
    (
        (GAMMA, r"\frac{\sigma}{\sqrt{\gamma}} = 1.1368472\dots\sigma"),
        [r"1.1368474\dots\sigma", r"1.1368470\dots\sigma", r"1.2924216\dots\sigma"],
    ),
    (
        (
            r"\int_{-\infty}^{\infty} \frac{e^{-x^2/2}}{\sqrt{2\pi}}\text{sigmoid}(x)^2 dx"
            r"= 0.2933790\dots",
        ),
        [r"0.2933792\dots", r"0.2933788\dots", r"0.5416447\dots"],
    ),
    ((r"(m+n)^2/4 \geq mn",), ["m^2", "n^2", "2mn"]),
    ((r"\frac{m^2+n^2}{m+n} \geq \frac{m+n}{2}",), ["m+n"]),
    ((r"\frac{m^2+n^2}{m+n} \geq \frac{m+n}{2}\geq \sqrt{mn}",), [r"\sqrt{m^2}", r"\sqrt{2mn}"]),
    ((r"0.9^{50} \approx 0.005",), ["0.007", "0.003"]),
    ((r"1.1^{50} \approx 117",), ["119", "115"]),
    ((r"2^{-20} \approx 10^{-6}",), ["10^{-8}", "10^{-4}"]),
    (
        (HE, r"a^2/3 = \mathrm{gain}^2/n_{in}"),
        [r"\mathrm{gain}^2/n_{out}", r"\mathrm{gain}/n_{in}"],
    ),
    (
        (XAVIER, r"\mathrm{Var}(U(-a,a)) = a^2/3 = 6/(3(n_{in}+n_{out}))"),
        ["8/(3(n_{in}+n_{out}))", "6/(3(n_{in}+n_{in}))"],
    ),
    ((r"6/(3(n_{in}+n_{out})) = 2/(n_{in}+n_{out})",), ["4/(n_{in}+n_{out})"]),
    (
        (XAVIER, r"a^2/3 = 6/(3(n_{in}+n_{out})) = 2/(n_{in}+n_{out})"),
        ["4/(n_{in}+n_{out})", "2/(2n_{in})", "2/(n_{in}+n_{in})"],
    ),
    ((r"\mathrm{Var}(U(-a,a)) = a^2/3",), ["a^2/5", r"a/\sqrt{3}", "a^2/12"]),
    ((r"2\cdot 38\log_2 10 \approx 252",), ["254", "250"]),
    ((r"\sigma \approx 1.5/\sqrt{512} \approx 0.066",), ["0.068", "0.064"]),
    ((r"\sqrt{2/512} \approx 0.0625",), ["0.0627", "0.0623"]),
    ((r"0.02/\sqrt{12} = 0.005774",), ["0.005776", "0.005772"]),
]


@pytest.mark.parametrize(("texts", "wrong"), LINKS, ids=lambda value: str(value)[-40:])
def test_true_links_are_verified_and_their_mutations_refuted(
    texts: tuple[str, ...], wrong: list[str]
) -> None:
    assert verdict(*texts) == "verified"
    *before, last = texts
    sign = max(last.rfind(mark) + len(mark) for mark in ("=", r"\approx", r"\geq") if mark in last)
    for other in wrong:
        assert verdict(*before, f"{last[:sign]} {other}") == "refuted", other


def test_an_implication_whose_bound_is_right_too_low_and_too_high() -> None:
    def second(bound: str) -> str:
        return str(judged(BELOW + bound)[1].verdict)

    assert second(r"2\cdot 38\log_2 10") == "verified"
    assert second(r"2\cdot 36\log_2 10") == "loose"
    assert second(r"2\cdot 40\log_2 10") == "refuted"
    assert second(r"252.47") == "refuted"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\lambda=1.0507\dots", "verified"),
        (r"\lambda=1.0509\dots", "refuted"),
        (r"\alpha=1.6732\dots", "verified"),
        (r"\alpha=1.6732", "loose"),
        (r"\alpha=1.6734\dots", "refuted"),
    ],
)
def test_names_are_claims_where_the_context_gives_their_values(text: str, expected: str) -> None:
    context = read_context(SELU)
    assert not context.problems
    assert verdict(text, context=context) == expected
    assert verdict(text) == "None"


NO_CLAIMS = [
    r"\sigma = 0.02", r"c \approx 1", r"m \neq n", r"m < n", r"x > 0", r"d \to 4d", r"W^{(1)} = 0",
    r"\sigma_f^2 \propto 1/(2L)", r"x \sim \mathcal{N}(0, 1)", r"W \in X",
    r"n_{in}\sigma^2 = 1", r"x_{t+1} = x_t + F_t(x_t)", r"f(x) = x^2", r"\ell \ll n",
    r"n\sigma^2 = m\tau^2",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_definitions_conditions_and_arrows_are_no_claims(text: str) -> None:
    assert verdict(text) == "None"


def test_a_bare_name_among_estimates_is_undecided_where_they_fail() -> None:
    between = judged(r"\frac{m^2+n^2}{m+n} \geq \frac{m+n}{2} \geq m")
    assert [str(one.verdict) for one in between] == ["verified", "undecided"]
    assert verdict(r"m + n \geq m \geq \frac{mn}{m+n}") == "verified"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\sqrt{xy} = \sqrt{x}\sqrt{y}", "undecided"),  # both negative: 2 = -2
        (r"\sqrt{x/y} = \sqrt{x}/\sqrt{y}", "undecided"),
        (r"(x^3)^{1/3} = x + 0x", "undecided"),
        (r"\sqrt{mn} = \sqrt{m}\sqrt{n}", "verified"),
        (r"\sqrt{x}\sqrt{x} = x + 0x", "verified"),
    ],
)
def test_roots_of_products_of_negative_numbers(text: str, expected: str) -> None:
    assert verdict(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\lg 1000 = 3", "verified"),
        (r"\lg 2 \approx 0.693", "refuted"),  # that is \ln 2
        (r"\operatorname{arctg} 1 = \pi/4", "verified"),
        (r"\tg 2x = \frac{2\tg x}{1 - \tg^2 x}", "verified"),
        (r"\tan x \cot x = 1 + 0x", "verified"),
        (r"\sec^2 x = 1 - \tan^2 x", "refuted"),
        (r"\operatorname{arcosh} 2 \approx 1.31696", "verified"),
        (r"\operatorname{artanh} 0.5 \approx 0.5495", "refuted"),
        (r"\int_0^1 \operatorname{artanh}(x/2)\,dx \approx 0.261624", "verified"),
        (r"16:9 \approx 1.78", "verified"),
        (r"16:9 \approx 1.6", "refuted"),
        (r"\lfloor 768/100 \rfloor = 7", "verified"),
        (r"1.\overline{6} = 5/3", "verified"),
        (r"\binom{5}{2} = 11", "refuted"),
    ],
)
def test_functions_by_their_names_in_many_countries(text: str, expected: str) -> None:
    assert verdict(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        r"(AB)^2 = A^2 B^2",
        r"(WX)^3 + 1 = W^3 X^3 + 1",
        r"(\mathbf{A}\mathbf{B})^{-1} = \mathbf{A}^{-1}\mathbf{B}^{-1}",
        r"(A + B)^2 = A^2 + 2AB + B^2",
    ],
)
def test_what_may_be_matrices_does_not_commute(text: str) -> None:
    assert verdict(text) == "undecided"


def test_small_numbers_are_shown_with_an_exponent() -> None:
    (found,) = judged(r"e^{-1000} = 0.5")
    assert found.value == "5.0759589e-435"


def test_what_may_be_zero_below_is_told() -> None:
    (found,) = judged(r"\frac{x^2-1}{x-1} = x+1")
    assert str(found.verdict) == "verified"
    assert "nothing is divided by zero" in found.reason


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("e = 0.1", "e^2 = 0.01"), "None"),
        ((r"\pi = 0.3", r"1 - \pi = 0.7"), "None"),
        (("e = y - z", "e^2 = 4"), "None"),
        ((r"\pi = 3.14", r"\pi^2 = 9.87"), "verified"),
        ((r"\pi = 3.14", r"\pi^2 = 9.89"), "refuted"),
        ((r"\pi \approx 3.16",), "refuted"),
        ((r"\zeta(x) = x^2", r"\zeta(2) = 4"), "None"),
        ((r"\Gamma(n) = (n-1)!", r"\Gamma(5) = 24"), "verified"),
        ((r"e \approx 2.72", r"e^2 \approx 7.39"), "verified"),
    ],
)
def test_letters_of_constants_that_stand_for_something_else(
    texts: tuple[str, ...], expected: str
) -> None:
    assert verdict(*texts) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"n! \ge 2^{n-1}", "undecided"),
        (r"2^n \ge n + 1", "undecided"),
        (r"2^n \ge n + 3", "undecided"),
        (r"(1+a)^{L} \ge 1 + aL", "undecided"),
        (r"(1-p)^2 \le 1-p", "undecided"),
        (r"(1-p)^2 \ge 1-p", "refuted"),
        (r"\rho^2 \le |\rho|", "undecided"),
        (r"2^t \ge t + 1", "refuted"),
    ],
)
def test_letters_of_counts_and_of_rates(text: str, expected: str) -> None:
    assert verdict(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"0.88 \approx 0.8796", "verified"),
        (r"0.86 \approx 0.8796", "refuted"),
        (r"0.88 = 0.8796", "refuted"),
        (r"\sqrt{1.84} \approx 1,356", "undecided"),
        (r"\sqrt{1.84} \approx 1{,}356", "undecided"),
        (r"\sqrt{1.84} \approx 1,358", "refuted"),
        (r"36.8^2 \approx 1,354", "verified"),
        (r"\log 100 \ne 2", "undecided"),  # to base 10 it is
        (r"\log 100 \ne 3", "verified"),
        ("1.024 = 2^{10}", "undecided"),  # the point may set thousands apart
        ("1.024 = 2^{11}", "refuted"),
    ],
)
def test_coarser_decimals_first_and_commas(text: str, expected: str) -> None:
    assert verdict(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t = (m+n)/(m^2+n^2)", "verified"),
        ("t = (m+n)/(m^2+m^2)", "refuted"),
        ("t = 2/(m+n)", "refuted"),
    ],
)
def test_the_place_of_a_minimum_that_the_context_declares(text: str, expected: str) -> None:
    context = read_context(["t minimises (m t - 1)^2 + (n t - 1)^2"])
    assert not context.problems
    assert verdict(text, context=context) == expected
    assert verdict(text) == "None"


def test_another_value_of_a_name_is_no_false_claim() -> None:
    known = r"\gamma = \sqrt{2}/2"
    assert verdict(known, r"\gamma \approx 0.7071") == "verified"
    assert verdict(known, r"\gamma = 0.9") == "None"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AB = BA", "undecided"),
        ("xW = 1 Wx", "undecided"),
        ("(A+B)^2 = A^2 + 2AB + B^2", "undecided"),
        ("(A+B)^2 = A^2 + AB + BA + B^2", "verified"),
        ("A(B+C) = AB + AC", "verified"),
        (r"\sigma A + n B = A \sigma + B n", "verified"),
        (r"\mathbf{x} \mathbf{y} = \mathbf{y} \mathbf{x}", "undecided"),
        ("A^2 + B^2 \\ge 2AB", "undecided"),
        ("AB = 2BA", "refuted"),
    ],
)
def test_capitals_may_be_matrices(text: str, expected: str) -> None:
    assert verdict(text) == expected


def test_capitals_declared_real_are_numbers() -> None:
    assert verdict("AB = BA", context=read_context(["A, B real"])) == "verified"


@pytest.mark.parametrize(
    "text",
    [
        r"\sum_{i=1}^{n} x_i = n x_i",
        r"\sum_{i=1}^{3} x_i = 3 x_i",
        r"\sum_{i=1}^{n} w_{i,j} = n w_{i,j}",
        r"\int_0^1 x_t dt = 1 x_t",
    ],
)
def test_names_with_a_bound_index_are_not_constant(text: str) -> None:
    assert verdict(text) not in ("verified", "refuted")


def test_what_is_assumed_for_a_moment_defines_nothing() -> None:
    assert verdict("W = 0", "x + 2W = x") != "verified"
