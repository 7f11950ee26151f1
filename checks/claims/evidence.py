"""All the evidence on a claim: its verdict, derivations, proofs, audit and measurements."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sympy import Expr, Rational

from varlaw.checks.claims.caching import STOPPED
from varlaw.checks.claims.declarations.context import Context, Network
from varlaw.checks.claims.declarations.language import Statements
from varlaw.checks.claims.derived import derivation_of, is_expected, written, written_with_laws
from varlaw.checks.claims.expectations.matrix_moments import has_matrices
from varlaw.checks.claims.expectations.probability import with_numbers
from varlaw.checks.claims.guarded import Call, Stopped, results
from varlaw.checks.claims.links.decide import ARROWS
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.claims.measured import OfNetwork, Quantity, Settings, measure
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.claims.workers import Task, judge
from varlaw.checks.report import AssumptionReport, Measurement, Proof, StepReport
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.derivation import Derivation
from varlaw.symbolic.formulas.tree import Node

EXAMINING = 60.0  # seconds of the processor's time to derive a link and audit it
MEGABYTES = 2000
ARROW = "; say what grows, such as: as n -> oo"


@dataclass(frozen=True)
class Derived:
    """A derivation with what the checkers say of its steps, and the audit of its assumptions."""

    derivation: Derivation
    proofs: tuple[StepReport, ...]
    audit: tuple[AssumptionReport, ...]


@dataclass(frozen=True)
class Evidence:
    """One link of a claim: its judgement, and what else is known of it.

    `text` is the link as it was typed; `underived` says why an expectation in it has no derivation,
    `unmeasured` why nothing was measured where that was asked for.
    """

    text: str
    judgement: Judgement
    derived: tuple[Derived, ...] = ()
    underived: str = ""
    measured: tuple[Measurement, ...] = ()
    unmeasured: str = ""

    @property
    def refutation(self) -> Measurement | None:
        """A measurement that refutes the claim by an interval that is proved."""
        return next((m for m in self.measured if _refutes(m)), None)

    @property
    def verdict(self) -> Verdict:
        """That of the judgement, unless other evidence speaks against it."""
        if self.refutation is not None:
            return Verdict.REFUTED
        found = self.judgement.verdict or Verdict.UNDECIDED
        if found is Verdict.VERIFIED and self.broken:
            return Verdict.UNDECIDED
        return found

    @property
    def broken(self) -> StepReport | None:
        """A step of a derivation that its checker refutes."""
        reports = (report for derived in self.derived for report in derived.proofs)
        return next((report for report in reports if report.outcome is Proof.REFUTED), None)

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, in one line; empty where the value says it."""
        if (found := self.refutation) is not None:
            at = f"measured {found.estimate:.6g} where it claims {found.claimed:.6g}"
            return "; ".join(filter(None, (at, self.judgement.reason)))
        if (step := self.broken) is not None:
            return f"the step {step.rule!r} of its derivation is refuted: {step.why}"
        if self.judgement.verdict is None:
            more = ARROW if self.judgement.sign in ARROWS else ""
            return f"not decided: {self.judgement.reason}{more}"
        return self.judgement.reason


def _refutes(measured: Measurement) -> bool:
    return measured.verdict is Verdict.REFUTED and measured.interval == "proved"


def gather(
    statements: Statements,
    text: str,
    settings: Settings | None = None,
    jobs: int = 1,
) -> list[Evidence]:
    """The evidence on every link of the claims in a text; measured where there are settings.

    Raises ValueError for a value among the settings that is none.
    """
    chains = [(claim, chain) for claim in statements.claims for chain in claim.chains]
    task = Task(tuple(c for _, c in chains), tuple(claim.context for claim, _ in chains))
    (judged,) = judge([task], jobs)
    asked = [
        (one, claim)
        for (claim, _), judgements in zip(chains, judged, strict=True)
        for one in judgements
    ]
    calls = [Call(_examined, (one, claim.context), EXAMINING, MEGABYTES) for one, claim in asked]
    found: list[Evidence] = []
    quantities: list[Quantity | OfNetwork | str] = []
    for (one, claim), answer in zip(asked, results(calls, jobs), strict=True):
        start, end = one.left.start + claim.start, one.right.end + claim.start
        shown = " ".join(text[start:end].split())
        if isinstance(answer, Stopped):
            answer = (), answer.reason, answer.reason
        derived, why, quantity = answer
        found.append(Evidence(shown, one, derived, why))
        quantities.append(quantity)
    return found if settings is None else _measured(found, quantities, settings)


def _examined(
    asked: tuple[Judgement, Context],
) -> tuple[tuple[Derived, ...], str, Quantity | OfNetwork | str]:
    """The derivations of a link, why it has none, and what is to be measured of it, or why not."""
    one, context = asked
    context = with_numbers(context, one.left, one.right)
    return *_derived(one, context), _quantity(one, context)


def _measured(
    found: list[Evidence], quantities: Sequence[Quantity | OfNetwork | str], settings: Settings
) -> list[Evidence]:
    answers = iter(measure([q for q in quantities if not isinstance(q, str)], settings))
    told = []
    for one, quantity in zip(found, quantities, strict=True):
        answer = quantity if isinstance(quantity, str) else next(answers)
        if isinstance(answer, str):
            told.append(replace(one, unmeasured=answer))
        else:
            proved = one.judgement.verdict is Verdict.VERIFIED
            measured = tuple(map(_doubted, answer)) if proved else answer
            told.append(replace(one, measured=measured))
    return told


def _doubted(found: Measurement) -> Measurement:
    """A measurement of what is proved: an asymptotic interval beside it decides nothing."""
    if found.verdict is not Verdict.REFUTED or found.interval == "proved":
        return found
    why = "the claim is proved, and the interval only asymptotic: the tails may be heavy"
    return replace(found, verdict=Verdict.UNDECIDED, why=why)


def _derived(one: Judgement, context: Context) -> tuple[tuple[Derived, ...], str]:
    """The derivations of the sides that hold expectations, and why one of them has none."""
    if _network(one, context) is not None:
        return (), "moments of networks go through the maps of their blocks"
    if has_matrices(context, one.left, one.right):
        return (), "an equation of matrices is decided by its entries"
    sides = [side for side in (one.left, one.right) if is_expected(side)]
    if one.rule == STOPPED or not sides:
        return (), one.reason if sides else ""
    found: list[Derived] = []
    why = ""
    for side in sides:
        try:
            derivation = derivation_of(written(side, context))
        except NoValue as error:
            why = why or str(error)
            continue
        if derivation.steps:
            audited = one.verdict in (Verdict.VERIFIED, Verdict.LOOSE)
            found.append(_proved(derivation, audited))
    return tuple(found), why


def _proved(derivation: Derivation, audited: bool) -> Derived:
    from varlaw.checks.audit import answers
    from varlaw.checks.steps.proofs import prove
    from varlaw.derivations.catalogue import declared

    audit = answers(derivation, sorted(declared(derivation.start))) if audited else ()
    return Derived(derivation, prove(derivation), audit)


def _network(one: Judgement, context: Context) -> Network | None:
    if not context.networks:
        return None
    from varlaw.checks.claims.links.networks import network_in

    return network_in(context, one.left, one.right)


def _quantity(one: Judgement, context: Context) -> Quantity | OfNetwork | str:
    """What is to be measured, or why nothing is."""
    if (network := _network(one, context)) is not None:
        from varlaw.checks.claims.links.networks import second_moment_of

        claimed = second_moment_of((one.left, one.right), network)
        told = f"only E[{network.name}^2] is measured of a network"
        return told if claimed is None else OfNetwork(network, context, claimed)
    if has_matrices(context, one.left, one.right):
        return "it is about matrices"
    left, right = (one.left, one.right) if is_expected(one.left) else (one.right, one.left)
    if not is_expected(left):
        return "there is no expectation in it"
    if one.sign not in ("=", "~="):
        return "it claims no equality"
    try:
        start, laws = written_with_laws(left, context)
        claimed, slack = _claimed(right, context)
    except NoValue as error:
        return str(error)
    if is_expected(right):
        laws |= written_with_laws(right, context)[1]
        return Quantity(start - claimed, claimed * 0, laws=laws)
    return Quantity(start, claimed, slack, laws)


def _claimed(side: Node, context: Context) -> tuple[Expr, Fraction]:
    """The claimed value, and how much its digits leave open, as a part of it."""
    literal = literal_of(side)
    if literal is None or not literal.short:
        return written(side, context), Fraction(0)
    value = literal.value
    slack = literal.unit / abs(value) if value and not literal.whole else Fraction(0)
    return Rational(value.numerator, value.denominator), slack
