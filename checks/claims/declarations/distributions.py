"""Distributions as documents name them: means, variances, raw moments, means of functions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import acb, arb, ctx
from sympy import Add, Dummy, Expr, Integer, Rational, Symbol, erf, erfc, oo

from varlaw.checks.claims.declarations import raw_moments
from varlaw.checks.claims.declarations.chances import chance
from varlaw.checks.claims.values.antiderivatives import integral_over
from varlaw.checks.claims.values.functions import NoValue
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.formulas.tree import Head, Node
from varlaw.symbolic.gaussian.balls import Located, NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent, closed_form
from varlaw.symbolic.gaussian.enclosure import enclose
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.quadrature import integral
from varlaw.symbolic.language_functions import at_number
from varlaw.symbolic.language_limits import ReadingError
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.terms import Indicator, indicator

MOST_MOMENTS = 8
NAMES = {
    **dict.fromkeys(("N", "Normal", "normal", "Gaussian"), "normal"),
    **dict.fromkeys(("U", "Uniform", "uniform", "Unif"), "uniform"),
    **dict.fromkeys(("TN", "TruncN", "truncnorm", "truncated_normal", "truncated"), "truncated"),
    **dict.fromkeys(("Bernoulli", "Ber", "Bern"), "bernoulli"),
    **dict.fromkeys(("Rademacher", "rademacher"), "rademacher"),
    **dict.fromkeys(("iid", "IID"), "iid"),
    **raw_moments.NAMES,
}
FUNCTIONS_TOO = ("Gamma", "gamma", "Beta", "beta", "t")
FAR = 3  # where erf is taken by its tail
DENSITIES = ("normal", "uniform", "truncated")
POSITIONS = {
    "normal": ("mean", "var"),
    "uniform": ("low", "high"),
    "truncated": ("mean", "var", "low", "high"),
    "bernoulli": ("p",),
    "rademacher": (),
    "iid": ("mean", "var"),
    **{kind: law.keys for kind, law in raw_moments.LAWS.items()},
}
INVERSE = {"rate": "scale", "scale": "rate"}
ALSO = {"variance": "var", "sd": "std", "sigma": "std", "mu": "mean", "m2": "second_moment"}
KEYS = {"mean", "var", "std", "low", "high", "p", "second_moment", "m3", "m4", "m5", "m6"}


@dataclass(frozen=True)
class Distribution:
    """A law with its parameters; `kind` is normal, uniform, truncated, two-point, iid or another
    of which the raw moments are known.
    """

    kind: str
    given: Mapping[str, Expr]

    def __getitem__(self, key: str) -> Expr:
        return self.given[key]

    @property
    def positive(self) -> list[Expr]:
        """What must be positive for such a law to exist, and to be no constant."""
        found = [self.given[key] for key in ("var", "std", "second_moment") if key in self.given]
        if "low" in self.given:
            found.append(self["high"] - self["low"])
        if "p" in self.given:
            found += [self["p"], 1 - self["p"]]
        if self.kind in raw_moments.LAWS:
            found += [self[key] for key in raw_moments.LAWS[self.kind].positive]
        if "second_moment" in self.given and "mean" in self.given:
            found.append(self["second_moment"] - self["mean"] ** 2)
        return found

    @property
    def points(self) -> list[tuple[Expr, Expr]]:
        """(value, probability) of a law on two points."""
        if self.kind == "bernoulli":
            return [(Integer(1), self["p"]), (Integer(0), 1 - self["p"])]
        if self.kind == "rademacher":
            return [(Integer(1), Rational(1, 2)), (Integer(-1), Rational(1, 2))]
        return []

    def moment(self, order: int) -> Expr:
        """E[x^order], of a law that has all of them. Raises NoValue."""
        x = Dummy("x", real=True)
        return self.mean_of(x**order, x)

    def mean_of(self, f: Expr, x: Symbol) -> Expr:
        """E[f(x)], in closed form or as a number that knows an enclosure. Raises NoValue."""
        if not f.has(x):
            return f
        if self.points:
            return Add(*(chance * _at(f, x, value) for value, chance in self.points))
        if self.kind in DENSITIES:
            f = f.replace(lambda node: _almost_never(node, x), lambda node: Integer(0))
        try:
            if self.kind == "normal":
                return _gaussian(f, x, self["mean"], self["var"])
            if self.kind == "truncated":
                inside = indicator(x - self["low"], ">") * indicator(self["high"] - x, ">")
                means = [_gaussian(g, x, self["mean"], self["var"]) for g in (f * inside, inside)]
                whole, chance = map(_tails, means)
                return whole / chance
            if self.kind == "uniform":
                return _uniform(f, x, self["low"], self["high"])
            if self.kind in raw_moments.LAWS:
                return Add(*(self._of_term(term, x) for term in Add.make_args(f.expand())))
        except (NotClosed, NoEnclosure, ValueError) as error:
            raise NoValue(f"no mean of {typed(f)} was found: {error}") from None
        raise NoValue("the mean of a function of a variable of which only moments are declared")

    def _of_term(self, f: Expr, x: Symbol) -> Expr:
        """The mean of a polynomial, or the probability of an event times something fixed."""
        factor, inner = f.as_independent(x, as_Add=False)
        if isinstance(inner, Indicator):
            return factor * chance(self.kind, self.given, inner, x)
        return self._of_polynomial(f, x) if f.has(x) else f

    def _of_polynomial(self, f: Expr, x: Symbol) -> Expr:
        if not f.is_polynomial(x):
            raise NoValue(f"of the {self.kind} law only the means of polynomials are known")
        moment = raw_moments.LAWS[self.kind].moment
        terms = f.as_poly(x).terms()
        return Add(*(factor * moment(self.given, order) for (order,), factor in terms))

    def _raw_moments(self) -> Iterator[tuple[int, Expr]]:
        """The order and the moment, from the second on, while they exist."""
        for order in range(2, MOST_MOMENTS + 1):
            try:
                yield order, self.moment(order)
            except NoValue:
                if order == 2:
                    raise
                return

    def declared(self) -> dict[str, Any]:
        """The options for a random array of this law."""
        if self.kind == "iid":
            known = dict(self.given)
            higher = {int(key[1:]): known.pop(key) for key in list(known) if key[1:].isdigit()}
            if "std" in known:
                known["var"] = known.pop("std") ** 2
            options: dict[str, Any] = {"moments": higher}
            options |= {"variance": known["var"]} if "var" in known else {}
            if "second_moment" in known:
                options["second_moment"] = known["second_moment"]
            return options | ({"mean": known["mean"]} if "mean" in known else {})
        mean = self.moment(1)
        if self.kind == "normal":
            return {"mean": mean, "variance": self["var"], "gaussian": True}
        raw = dict(self._raw_moments())
        symmetric = mean.equals(0) and self.kind in ("uniform", "rademacher", "truncated")
        options = {"mean": mean, "variance": (raw.pop(2) - mean**2).expand(), "moments": raw}
        return {**options, "symmetric": True} if symmetric else options


def distribution(name: str, given: Sequence[tuple[str, Expr]]) -> Distribution:
    """The distribution called `name`, with parameters in order or by key ("" for none).

    N(mean, v): v is the variance, always; N(mean, std=s) says otherwise. Raises NoValue.
    """
    kind = NAMES.get(name)
    if kind is None:
        raise NoValue(f"{name} is not a distribution that is known")
    found: dict[str, Expr] = {}
    for place, (key, value) in enumerate(given):
        if not key and place >= len(POSITIONS[kind]):
            raise NoValue(f"{name} has too many parameters")
        known = ALSO.get(key, key) if key else POSITIONS[kind][place]
        if INVERSE.get(known) in POSITIONS[kind]:
            known, value = INVERSE[known], 1 / value
        if known not in (*KEYS, *POSITIONS[kind]) or known in found:
            raise NoValue(f"{name} has no parameter {key}, or has it twice")
        if not key and value != 1 and _to_be_named(kind, known):
            raise NoValue(f"{name} by its rate or its scale? say which, as in rate = {value}")
        found[known] = value
    if kind in ("normal", "truncated"):
        if "std" in found and "var" not in found:
            found["var"] = found.pop("std") ** 2
        found.setdefault("mean", Integer(0))
    needed = set() if kind == "iid" else set(POSITIONS[kind])
    allowed = KEYS - {"low", "high", "p"} if kind == "iid" else needed
    if not needed <= set(found) <= allowed:
        raise NoValue(f"{name} needs the parameters {', '.join(POSITIONS[kind]) or 'none'}")
    _sensible(kind, found)
    return Distribution(kind, found)


def is_law(node: Node) -> bool:
    """Whether a call names a distribution, and no function."""
    return node.head is Head.CALL and node.text in NAMES and node.text not in FUNCTIONS_TOO


def _almost_never(node: Expr, x: Symbol) -> bool:
    """Whether a node is 1[a x + b = 0] for numbers a, which a law with a density meets never."""
    if not isinstance(node, Indicator) or node.relation != "=":
        return False
    slope = node.args[0].diff(x)
    return bool(slope.is_number and slope.is_nonzero)


def _to_be_named(kind: str, key: str) -> bool:
    law = raw_moments.LAWS.get(kind)
    return law is not None and law.named and key == law.keys[-1]


def _sensible(kind: str, found: Mapping[str, Expr]) -> None:
    if any(found[key].is_negative for key in ("var", "std", "second_moment") if key in found):
        raise NoValue("a negative variance")
    if "low" in found and (found["high"] - found["low"]).is_nonpositive:
        raise NoValue("a range that runs backwards")
    if kind in raw_moments.LAWS and any(
        found[key].is_nonpositive for key in raw_moments.LAWS[kind].positive
    ):
        raise NoValue(f"a parameter of the {kind} law that is not positive")
    if kind == "binomial" and found["n"].is_integer is False:
        raise NoValue("a binomial law of a number that is not whole")
    if "p" in found and (found["p"].is_negative or (1 - found["p"]).is_negative):
        raise NoValue("a probability outside of 0 to 1")


def _at(f: Expr, x: Symbol, value: Expr) -> Expr:
    """f at a number. Raises NoValue at a jump."""
    try:
        return f.subs(x, value).replace(lambda node: isinstance(node, Activation), at_number)
    except ReadingError as error:
        raise NoValue(str(error)) from None


def _tails(mean: Expr) -> Expr:
    """erf of large numbers by erfc, so that nothing cancels far out."""

    def by_tail(value: Expr) -> Expr:
        return 1 - erfc(value) if value > 0 else erfc(-value) - 1

    far = {e: by_tail(e.args[0]) for e in mean.atoms(erf) if e.args[0].is_number}
    far = {e: tail for e, tail in far.items() if abs(e.args[0]) > FAR}
    return mean.xreplace(far).expand() if far else mean


class Enclosure(Located):
    """A mean without a closed form; it is enclosed when it is needed."""

    is_real = True
    is_commutative = True
    compute: Callable[[], arb]

    def __new__(cls, compute: Callable[[], arb]) -> "Enclosure":
        made: Enclosure = Expr.__new__(cls, Dummy("mean"))
        made.compute = compute
        return made

    @property
    def free_symbols(self) -> set[Any]:
        return set()

    def enclosure(self) -> arb:
        return self.compute()


def _gaussian(f: Expr, x: Symbol, mean: Expr, variance: Expr) -> Expr:
    try:
        return closed_form(f, x, mean, variance)
    except Divergent as error:
        raise NoValue(f"it does not converge: {error}") from None
    except NotClosed:
        if (f.free_symbols - {x}) | mean.free_symbols | variance.free_symbols:
            raise
    pieces = pieces_of(f, x)

    def compute() -> arb:
        return enclose(pieces, x, mean, variance, int(ctx.prec * 0.301) + 1).value

    compute()
    return Enclosure(compute)


def _over(piece: Piece, x: Symbol, low: Expr, high: Expr) -> Expr:
    """The integral of a polynomial over the part of a piece that is in a range."""
    start, end = max(piece.lower, low), min(piece.upper, high)
    if not end > start:
        return Integer(0)
    whole = piece.expression.as_poly(x).integrate(x).as_expr()
    return whole.subs(x, end) - whole.subs(x, start)


def _uniform(f: Expr, x: Symbol, low: Expr, high: Expr) -> Expr:
    """The mean over a range: of polynomials exactly, of other functions by quadrature."""
    if f.is_polynomial(x):
        whole = f.as_poly(x).integrate(x).as_expr()
        return ((whole.subs(x, high) - whole.subs(x, low)) / (high - low)).cancel()
    if (whole := integral_over(f, x, low, high)) is not None:
        return whole / (high - low)
    if (f.free_symbols - {x}) | low.free_symbols | high.free_symbols:
        raise NoValue("a mean with parameters over a range")
    pieces = pieces_of(f, x)
    if all(piece.expression.is_polynomial(x) for piece in pieces):
        parts = [_over(piece, x, low, high) for piece in pieces]
        return (Add(*parts) / (high - low)).cancel()

    def compute() -> arb:
        first, last, total = ball(low), ball(high), acb(0)
        for piece in pieces:
            start = first if piece.lower == -oo else first.max(ball(piece.lower))
            end = last if piece.upper == oo else last.min(ball(piece.upper))
            if not start >= end:
                code = program(piece.expression, x).on_complexes()
                total += integral(code, start, end, arb(2) ** -ctx.prec, 20_000)
        if not total.is_finite() or not total.imag.contains(0):
            raise NoEnclosure("no enclosure was found")
        return total.real / (last - first)

    compute()
    return Enclosure(compute)
