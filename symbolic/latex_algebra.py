"""Products, signs, powers and numbers, built as they were written and within limits."""

from sympy import Add, Expr, Mul, Pow, Rational

from varlaw.symbolic.language import MAX_DIGITS, ReadingError


def product(factors: list[Expr]) -> Expr:
    """The product; a number times a sum stays as it was written."""
    numbers = [f for f in factors if f.is_Rational and f != 1]
    rest = [f for f in factors if not f.is_Rational]
    if len(numbers) == 1 and len(rest) == 1 and isinstance(rest[0], Add):
        return Mul(numbers[0], rest[0], evaluate=False)
    return Mul(*factors)


def negative(value: Expr) -> Expr:
    """Minus a value; a number times a sum stays one."""
    pair = list(value.args) if isinstance(value, Mul) else []
    if len(pair) == 2 and pair[0].is_number and isinstance(pair[1], Add):
        return Mul(-value.args[0], value.args[1], evaluate=value.args[0] == -1)
    return -value


def number(text: str) -> Expr:
    """A decimal as an exact rational. Raises ReadingError for one with too many digits."""
    whole, _, fraction = text.partition(".")
    if len(text) > MAX_DIGITS:
        raise ReadingError(f"number with more than {MAX_DIGITS} digits")
    return Rational(int(whole + fraction), 10 ** len(fraction))


def power(base: Expr, exponent: Expr) -> Expr:
    """A power. Raises ReadingError for 0 to a negative power and for numbers that are too large."""
    if exponent.is_number and base.is_number:
        size = len(str(base)) * abs(exponent) if exponent.is_Rational else MAX_DIGITS + 1
        if size > MAX_DIGITS:
            raise ReadingError(f"the power {exponent} of {base} is too large a number")
    if base == 0 and exponent.is_negative:
        raise ReadingError("division by zero")
    return Pow(base, exponent)
