"""Derivations: chains of steps, each produced by a rewrite rule from the step before it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sympy import Basic, Eq, Expr, Ge, Le, Lt
from sympy.core.symbol import Str

from varlaw.symbolic.assumptions import Assumption
from varlaw.symbolic.documented import Documented
from varlaw.symbolic.names import suggestion

if TYPE_CHECKING:
    from varlaw.symbolic.printers.account import Account

Used = set[Assumption]
Function = Callable[..., Any]


UNFORESEEN = ArithmeticError, AttributeError, NotImplementedError, TypeError  # where rules stop


class RuleError(ValueError):
    """A rule does not apply, or does not cover what it was applied to.

    `so_far` is the derivation up to there, when a chain of rules was being followed, and `rule` the
    name of the rule that refused.
    """

    so_far: "Derivation | None" = None
    rule: str = ""


class WrongLimit(RuleError):
    """A limit, an order or a root is known, and is not the one that a chain needs."""


@dataclass(frozen=True)
class Outcome:
    """What a rule gives when the new expression alone does not say it all."""

    after: Basic
    relation: str = "="
    certificate: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Rule:
    """A rewrite rule: its name, the justification it gives, and which checker proves its steps.

    `apply(state, used, **options)` returns the new state or an Outcome, and adds to `used` the
    assumptions it rests on. A rule for `equations` turns the relation reached so far into another
    one; the others rewrite its right-hand side.
    """

    name: str
    reason: str
    checker: str
    apply: Function
    equations: bool = False


RULES: dict[str, Rule] = {}


def rule(
    name: str, reason: str, checker: str = "moments", equations: bool = False
) -> Callable[[Function], Function]:
    """Register a function as the rewrite rule called `name`."""

    def register(function: Function) -> Function:
        if name in RULES:
            raise RuleError(f"two rules are called {name!r}")
        RULES[name] = Rule(name, reason, checker, function, equations)
        return function

    return register


class Arrow(Basic):
    """A limit `lhs -> rhs` or an asymptotic equivalence `lhs ~ rhs`."""

    @property
    def lhs(self) -> Expr:
        return self.args[0]

    @property
    def rhs(self) -> Expr:
        return self.args[1]

    @property
    def sign(self) -> str:
        return str(self.args[2])

    def _sympystr(self, printer: Any) -> str:
        return f"{printer.doprint(self.lhs)} {self.sign} {printer.doprint(self.rhs)}"

    def _latex(self, printer: Any) -> str:
        arrow = {"->": r"\to", "~": r"\sim"}[self.sign]
        return f"{printer.doprint(self.lhs)} {arrow} {printer.doprint(self.rhs)}"


def relation(left: Expr, right: Expr, kind: str) -> Any:
    """The relation `left kind right` as a SymPy object, not evaluated."""
    match kind:
        case "=":
            return Eq(left, right, evaluate=False)
        case ">=":
            return Ge(left, right, evaluate=False)
        case "<=":
            return Le(left, right, evaluate=False)
        case "<":
            return Lt(left, right, evaluate=False)
        case _:
            return Arrow(left, right, Str(kind))


def named_rule(name: str) -> Rule:
    """The rule called `name`. Raises RuleError, with the nearest name."""
    import_module("varlaw.symbolic.rules")
    if name not in RULES:
        raise RuleError(f"unknown rule {name!r}{suggestion(name, RULES)}")
    return RULES[name]


def sign_of(statement: Any) -> str:
    """The sign of a relation: = >= <= -> or ~."""
    return (
        statement.sign
        if isinstance(statement, Arrow)
        else {"==": "="}.get(statement.rel_op, statement.rel_op)
    )


def relation_text(statement: Any) -> str:
    """A relation as text with explicit products and `^` for powers."""
    text = f"{statement.lhs} {sign_of(statement)} {statement.rhs}"
    return text.replace("**", "^")


@dataclass(frozen=True)
class Step:
    """One relation `before relation after`, with the rule that produced it.

    `before` and `after` are expressions, or both relations when the rule works on equations.
    """

    before: Basic
    after: Basic
    relation: str
    rule: str
    reason: str
    assumptions: frozenset[Assumption]
    checker: str
    certificate: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def on_equations(self) -> bool:
        return named_rule(self.rule).equations


@dataclass(frozen=True)
class Derivation(Documented):
    """A chain of steps from a starting expression to a result.

    It checks itself when built: every step begins where the one before it ended.
    """

    start: Expr
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if not self.steps:
            return
        so_far, last = Derivation(self.start, self.steps[:-1]), self.steps[-1]
        if last.before != (so_far.statement if last.on_equations else so_far.end):
            raise RuleError(f"the step {last.rule!r} does not begin where the one before it ended")

    @property
    def end(self) -> Expr:
        """The expression reached: the right-hand side of the statement."""
        if not self.steps:
            return self.start
        last = self.steps[-1]
        return last.after.rhs if last.on_equations else last.after

    @property
    def head(self) -> Expr:
        """The left-hand side of the statement."""
        for step in reversed(self.steps):
            if step.on_equations:
                return step.after.lhs
        return self.start

    @property
    def statement(self) -> Any:
        """What the chain shows: `head` related to `end`."""
        kinds: set[str] = set()
        for step in reversed(self.steps):
            kinds.add(step.relation)
            if step.on_equations:
                break
        strict = kinds - {"="}
        if len(strict) > 1:
            raise RuleError(f"a chain cannot mix the relations {sorted(strict)}")
        return relation(self.head, self.end, strict.pop() if strict else "=")

    def account(self) -> "Account":
        from varlaw.symbolic.printers.account import Account

        return Account(self)

    def after(self, rule: str) -> Expr:
        """The expression that the first step by `rule` gave. Raises RuleError if there is none."""
        for step in self.steps:
            if step.rule == rule:
                return step.after.rhs if step.on_equations else step.after
        raise RuleError(f"no step by the rule {rule!r}")

    @property
    def assumptions(self) -> frozenset[Assumption]:
        """Every assumption that some step rests on."""
        return frozenset().union(*(step.assumptions for step in self.steps))

    def by(self, names: str, /, **options: Any) -> "Derivation":
        """The derivation continued by rules, named in their order with spaces between.

        Options go to each of them. Raises RuleError if a rule is unknown, changes nothing, or
        does not cover the expression.
        """
        result = self
        for name in names.split():
            try:
                following = result.by_if(name, **options)
                if following is result:
                    raise RuleError(f"rule {name!r} changes nothing in {result.end}")
            except RuleError as error:
                error.so_far, error.rule = error.so_far or result, error.rule or name
                raise
            except UNFORESEEN as error:
                stop = RuleError(f"rule {name!r} fails at {result.end}: {error}")
                stop.so_far, stop.rule = result, name
                raise stop from error
            result = following
        return result

    def by_if(self, name: str, /, **options: Any) -> "Derivation":
        """Like `by` for one rule, but a rule that changes nothing leaves no step."""
        found = named_rule(name)
        before = self.statement if found.equations else self.end
        used: Used = set()
        outcome = found.apply(before, used, **options)
        if not isinstance(outcome, Outcome):
            outcome = Outcome(outcome)
        if outcome.after == before:
            return self
        step = Step(
            before,
            outcome.after,
            outcome.relation,
            name,
            outcome.reason or found.reason,
            frozenset(used),
            found.checker,
            outcome.certificate,
        )
        return Derivation(self.start, (*self.steps, step))


def derive(start: Expr) -> Derivation:
    """A derivation that starts from `start` and has no step yet."""
    return Derivation(start)
