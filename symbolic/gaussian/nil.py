"""Whether a number in closed form is zero, by algebra: a ball around zero proves nothing."""

from sympy import Add, Expr

PRECISION = 128


def is_nil(number: Expr) -> bool:
    """Whether it is known to be 0, as a fraction whose numerator is 0 when multiplied out.

    >>> from sympy import sqrt
    >>> is_nil((1 + sqrt(2)) ** 2 / (3 + 2 * sqrt(2)) - 1)
    True
    """
    if not isinstance(number, Add) or number.free_symbols:
        return False
    from flint import ctx

    from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
    from varlaw.symbolic.gaussian.quotients import NoQuotient, Quotients

    try:
        with ctx.workprec(PRECISION):
            if not ball(number).contains(0):
                return False
        quotients = Quotients(number)
        return quotients.is_nil(quotients.of(number))
    except (NoEnclosure, NoQuotient):
        return False
