"""The catalogue itself: every law derives, every step is proved, nothing is typed in."""

import ast
import inspect

import pytest
from sympy import Integer, Rational

from varlaw.checks.audit import claims, counter_examples
from varlaw.checks.finite.counter_examples import beyond, models_tried
from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove
from varlaw.derivations import catalogue
from varlaw.derivations.catalogue import UnknownLaw, entries, find
from varlaw.symbolic.arrays import Entry, arrays_in
from varlaw.symbolic.sequences import Term

LAWS = list(entries())
CONTRACT = [
    "lecun",
    "backward",
    "he",
    "he-backward",
    "he-leaky",
    "xavier",
    "xavier-uniform",
    "xavier-geometric",
    "xavier-quadratic",
    "means-inequality",
    "attention-qk",
    "attention-qk-fourth",
    "residual-sum",
    "post-norm-decay",
    "pre-norm-growth",
]


INTEGRALS = {"gaussian", "normal-pair", "complete-square", "parity", "parts", "condition"}


def test_the_names_of_the_contract() -> None:
    assert set(CONTRACT) <= set(LAWS)


IRRATIONAL = {"b2t-identity-path"}  # two roots, of 1 + s2 and with it: rational in no small model


@pytest.mark.parametrize("name", LAWS)
def test_every_step_is_proved(name: str) -> None:
    """Or checked to 60 digits: a Gaussian integral that no certificate covers."""
    reports = prove(find(name).derivation)
    assert reports
    for report in reports:
        checked = report.outcome is Proof.CHECKED and report.rule in INTEGRALS
        assert report.outcome is Proof.PROVED or checked, report


@pytest.mark.parametrize("name", LAWS)
def test_the_statement_is_the_end_of_the_chain(name: str) -> None:
    law = find(name)
    assert law.statement == law.derivation.statement
    assert law.statement.rhs == law.derivation.end


@pytest.mark.parametrize("name", LAWS)
def test_no_finite_model_breaks_it(name: str) -> None:
    law = find(name)
    assert counter_examples(law) == []
    arrays = arrays_in(law.derivation.start)
    if arrays and not any(beyond(*claim) for claim in claims(law.derivation)):
        alone = all(not entry.indices for entry in law.derivation.start.atoms(Entry))
        # there is one model of variables that stand alone, and of four arrays at two sizes
        least = 1 if alone or len(arrays) >= 4 else 2
        for start, end in claims(law.derivation):
            trivial = not start.atoms(Entry)  # nothing random is left, such as 0 = 0
            assert trivial or name in IRRATIONAL or models_tried(start, end, arrays) >= least


@pytest.mark.parametrize("name", LAWS)
def test_the_entry_read_from_the_source_is_that_of_the_law(name: str) -> None:
    law = find(name)
    entry = entries()[name]
    assert law.entry == entry
    assert entry.title and entry.regime and entry.sources
    assert all(other in LAWS for other in entry.rests_on)


# What introductions state, at numbers: the laws' right-hand sides evaluated by hand.
VALUES = {
    "lecun": ({"m": 5}, Rational(1, 5)),
    "backward": ({"n": 7}, Rational(1, 7)),
    "he": ({"m": 5}, Rational(2, 5)),
    "he-backward": ({"n": 7}, Rational(2, 7)),
    "he-leaky": ({"m": 5, "a": Rational(1, 2)}, Rational(8, 25)),
    "xavier": ({"m": 3, "n": 5}, Rational(1, 4)),
    "xavier-harmonic": ({"m": 3, "n": 5}, Rational(1, 4)),
    "xavier-uniform": ({"m": 3, "n": 3}, Integer(1)),
    "xavier-geometric": ({"m": 4, "n": 9}, Rational(1, 6)),
    "xavier-geometric-backward": ({"m": 4, "n": 9}, Rational(1, 6)),
    "xavier-quadratic": ({"m": 1, "n": 3}, Rational(2, 5)),
    "attention-qk": ({"d": 64}, Integer(64)),
    "attention-qk-kurtosis": ({"d": 64}, 3 + Rational(6, 64)),
    "pre-norm-growth": ({"l": 24, "s2": 1}, Integer(25)),
}


@pytest.mark.parametrize("name", LAWS)
def test_what_a_law_does_without_is_not_assumed(name: str) -> None:
    law = find(name)
    assert not set(law.usual) & law.derivation.assumptions


SHORT = {  # as the sources write them
    "nngp-relu": "q*(2*rho*asin(rho) + pi*rho + 2*sqrt(1 - rho^2))/(4*pi)",  # cho2009, eq. (6)
    "nngp-relu-slope": "(2*asin(rho) + pi)/(4*pi)",
    "relu-covariance": "q*(2*rho*asin(rho) + pi*rho + 2*sqrt(1 - rho^2) - 2)/(4*pi)",
    "truncated-normal": "-sqrt(2)*c*exp(-c^2/2)/(sqrt(pi)*erf(sqrt(2)*c/2)) + 1",
    "adam-average": "b^(2*t)*u[0] + v*(b - 1)*(b^(2*t) - 1)/(b + 1)",
    "deepnorm-identity-weight": "(1 + sqrt(2)/(16*N^(3/2)))^(-N)",
    "sample-variance": "(-s2^2 + E[w^4])/n",  # johnson1994
}


@pytest.mark.parametrize("name", SHORT)
def test_statements_are_short(name: str) -> None:
    assert find(name).statement_text.partition(" = ")[2] == SHORT[name]


@pytest.mark.parametrize("name", VALUES)
def test_the_statement_at_numbers(name: str) -> None:
    values, expected = VALUES[name]
    end = find(name).derivation.end
    symbols = {s: values[s.name] for s in end.free_symbols}
    assert end.subs(symbols) == expected


def test_the_means_of_the_fans_in_order() -> None:
    m, n = sorted(find("means-inequality").derivation.start.free_symbols, key=str)
    chain = [step.after for step in find("means-inequality").derivation.steps]
    values = [chain[k].subs({m: 1, n: 4}) for k in range(3)]
    assert values == [Rational(17, 5), Rational(5, 2), Integer(2)]
    assert find("means-inequality").derivation.statement.rel_op == ">="


def test_the_gaussian_fourth_moment_of_qk() -> None:
    end = find("attention-qk-fourth").derivation.end
    (d,) = end.free_symbols
    normal = end.replace(lambda e: type(e).__name__ == "Moment", lambda e: Integer(3))
    assert (normal - (3 * d**2 + 6 * d)).expand() == 0
    signs = end.replace(lambda e: type(e).__name__ == "Moment", lambda e: Integer(1))
    assert (signs - (3 * d**2 - 2 * d)).expand() == 0


def test_higher_moments_of_qk_with_random_signs() -> None:
    """For signs q.k is a sum of d signs: E s^6 = 15 d^3 - 30 d^2 + 16 d, by the binomial law."""
    end = find("attention-qk-sixth").derivation.end
    (d,) = end.free_symbols
    signs = end.replace(lambda e: type(e).__name__ == "Moment", lambda e: Integer(e.order % 2 == 0))
    for size in (1, 2, 3, 4):
        from itertools import product

        brute = Rational(sum(sum(s) ** 6 for s in product((1, -1), repeat=size)), 2**size)
        assert signs.subs(d, size) == brute


def test_post_norm_weights_at_unit_branches() -> None:
    from varlaw.derivations.residual import weights

    first, other, total = weights()
    (k,) = total.bound
    at = {
        s: v
        for s in first.free_symbols | other.free_symbols
        for name, v in {"s2": 1, "l": 4, "k": 1}.items()
        if s.name == name
    }
    assert first.subs(at) == Rational(1, 4)
    assert (other.subs(at) - 2 ** Rational(-3, 2)).simplify() == 0
    assert k.name == "k"


def test_the_geometric_chain() -> None:
    """Widths 2, 8, 32 with t_i = 1/sqrt(d_{i-1} d_i): 2 * 1/4 * 8 * 1/16 = 1/4 = sqrt(2/32)."""
    end = find("geometric-chain").derivation.end
    widths = {term: Integer(2 if term.args[1] == 0 else 32) for term in end.atoms(Term)}
    assert end.xreplace(widths) == Rational(1, 4)


def test_gradients_of_pre_norm_grow_by_depth_plus_one() -> None:
    end = find("pre-norm-gradient-unit").derivation.end
    (depth,) = (s for s in end.free_symbols if s.name == "l")
    assert (end.subs(depth, 24) / end.subs(depth, 0)).simplify() == 25


def test_no_right_hand_side_is_typed_in() -> None:
    """A law's function holds definitions and rule names, and returns a chain of rules."""
    for name in LAWS:
        law = find(name)
        tree = ast.parse(inspect.getsource(law.build))
        returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
        assert returned and all(isinstance(value, ast.Call) for value in returned), name
        calls = [
            n.func.attr
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
        ]
        shared = all(isinstance(value.func, ast.Name) for value in returned)  # with other laws
        assert "by" in calls or shared, name
        assert "Step" not in ast.dump(tree) and "Derivation(" not in inspect.getsource(law.build)


def test_no_law_escapes_the_reading_of_the_sources() -> None:
    for name in LAWS:
        find(name)
    assert set(catalogue._LAWS) == set(LAWS)


def test_unknown_laws_are_named_with_the_nearest() -> None:
    with pytest.raises(UnknownLaw, match="did you mean 'lecun'"):
        find("lecunn")


def test_two_laws_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two laws"):
        catalogue.law(name="lecun", family="x", title="x", regime="x", sources=("x",))(lambda: None)
