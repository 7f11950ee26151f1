"""Whether a number in closed form is a whole one, by algebra: a ball around it proves nothing."""

from sympy import Add, Expr, Integer

PRECISION = 128


def whole_number(number: Expr) -> Expr:
    """The whole number that it is known to be, as the quotient of two polynomials; else itself.

    >>> from sympy import sqrt
    >>> whole_number((1 + sqrt(2)) ** 2 / (3 + 2 * sqrt(2)) + 3)
    4
    """
    if not isinstance(number, Add) or number.free_symbols:
        return number
    from flint import ctx

    from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
    from varlaw.symbolic.gaussian.quotients import NoQuotient, Quotients

    try:
        with ctx.workprec(PRECISION):
            near = ball(number).unique_fmpz()
        if near is None:
            return number
        quotients = Quotients(number)
        gap = quotients.of(number) + quotients.of(Integer(-int(near)))
        return Integer(int(near)) if quotients.is_nil(gap) else number
    except (NoEnclosure, NoQuotient):
        return number
