"""From rates to polynomials that bound them, and back, for all t >= start."""

from flint import arb

from varlaw.symbolic.gaussian.rates import ONE, ZERO, Polynomial, Rate


def size_of(start: arb, p: Polynomial) -> Rate:
    """A bound on the sizes of a polynomial."""
    degree = len(p) - 1
    while degree and p[degree].is_zero():
        degree -= 1
    total = sum((abs(c) * start ** (n - degree) for n, c in enumerate(p)), ZERO)
    upper = arb(total.upper())
    return Rate(upper.log() if upper > 0 else arb(-(10**9)), arb(degree))


def of_one_sign(start: arb, p: Polynomial) -> tuple[int, Polynomial]:
    """(sign, q): sign p >= q for a q without negative coefficients; (0, ()) if none is found.

    A term of the other sign is made up for by higher ones: c t^n >= c start^(n - k) t^k.
    """
    for sign in (1, -1):
        parts = [c * sign for c in p]
        if all(_covered(start, parts, k) for k in range(len(parts))):
            return sign, tuple(parts)
    return 0, ()


def _covered(start: arb, parts: list[arb], k: int) -> bool:
    """Whether the term k is not negative, or made up for by higher ones, which shrink."""
    if parts[k] >= ZERO:
        return True
    lacking, parts[k] = arb(-parts[k].lower()), ZERO
    for n in range(k + 1, len(parts)):
        share, whole = arb((lacking / start ** (n - k)).upper()), arb(parts[n].lower())
        if whole >= share:
            parts[n] = arb((whole - share).lower())
            return True
        if whole > 0:
            lacking = arb((lacking - whole * start ** (n - k)).upper())
            parts[n] = ZERO
    return False


def exponential(start: arb, p: Polynomial | None, upwards: bool) -> Rate | None:
    """exp of a polynomial bound, brought to degree two from the safe side."""
    if p is None:
        return None
    terms = list(p)
    while len(terms) > 3:
        lead = terms.pop()
        if lead.is_zero():
            continue
        if not (lead < 0 if upwards else lead > 0):
            return None
        terms[-1] += lead * start  # c t^n <= c start t^(n-1) for c < 0
    terms += [ZERO] * (3 - len(terms))
    return Rate(terms[0], ZERO, terms[1], terms[2])


def envelope(start: arb, p: Rate | None, q: Rate | None) -> Rate | None:
    """A bound on the sum of two bounds."""
    if p is None or q is None:
        return None
    for big, small in ((p, q), (q, p)):
        ratio = small * big**-ONE
        if ratio.falls_from(start):
            return big._replace(c=big.c + (1 + ratio.log_at(start).exp()).log())
    k, b, a = p.k.max(q.k), p.b.max(q.b), p.a.max(q.a)
    shares = [r._replace(k=r.k - k, b=r.b - b, a=r.a - a).log_at(start) for r in (p, q)]
    return Rate((shares[0].exp() + shares[1].exp()).log(), k, b, a)


def larger(start: arb, p: Rate, q: Rate) -> Rate:
    """The one that is larger at the start."""
    return q if q.log_at(start) > p.log_at(start) else p


def exponent_of(start: arb, rate: Rate, upwards: bool) -> Polynomial:
    """The exponent of a rate, with log t replaced by what bounds it from above or below."""
    log_start = start.log()
    rising = rate.k > 0
    if rising == upwards and not rate.k.is_zero():  # log t <= log s + t/s - 1
        return (rate.c + rate.k * (log_start - 1), rate.b + rate.k / start, rate.a)
    return (rate.c + rate.k * log_start, rate.b, rate.a)


def curve_over(start: arb, most: Rate) -> Polynomial | None:
    """A constant for what does not rise, c t^k for k <= 3 where no exponential rises."""
    power = 0
    if not most.falls_from(start):
        power = max(0, int(float(most.k.upper().ceil())))
        if not (most.a <= 0 and most.b <= 0 and power <= 3):
            return None
    share = most._replace(k=most.k - power)
    return (*([ZERO] * power), share.log_at(start).exp())
