"""Customs of authors that make no mistake, and the mistakes next to them."""

import pytest

from varlaw.checks.claims.checking import check
from varlaw.checks.documents.reading import read_document

V, R, L, U = "verified", "refuted", "loose", "undecided"
ROWS: list[tuple[str, list[str]]] = [
    # decimals that are roundings themselves: Phi(1.2) = 0.884930.., Phi(-1.2) = 0.115069..
    (r"$0.88493 - 0.11507 = 0.76987$", [L]),
    (r"$0.88493 - 0.11507 = 0.76990$", [R]),
    (r"$1 - \Phi(1.2) = 1 - 0.8849$ and $1 - \Phi(1.2) = 1 - 0.8840$", [L, R]),
    (r"$\frac{\pi}{4}\ln 2 \approx 0.785398 \times 0.693147$", [V]),
    (r"$\frac{\pi}{4}\ln 2 \approx 0.785398 \times 0.693547$", [U]),
    (r"$0.5 \times 768 = 390$, $1 - 0.9992 = 0.0007$", [R, R]),
    # names that only one side has: v = w r, m = 5, m u = p
    (r"$a = v^2/r = \omega^2 r$", [U]),
    (r"With $q = h \nu$ it is $s = N q = N h c/\lambda$", [U]),
    (r"By $a = \sqrt{6/(m + n)}$ or $a = g\sqrt{3/m}$ we get $a^2/3 = g^2/n$", [R]),
    (r"$F = m a = 5 a$", [U]),
    (r"$p = m v + M w = (m + M) u$", [U]),
    (r"$s = n \sigma^2 = m \sigma^2$", [R]),
    (r"$s = (a + b)^2 = a^2 + b^2$", [R]),
    (r"$AB = \sqrt{OA^2 - OB^2} = \sqrt{10^2 - 6^2} = 9$", [R]),
    # values of another example, another unit, or of what comes later
    (r"$s = 15$, $n = 10$. Now $s\sqrt{2/n} = 0.3\sqrt{2/7}$", [U]),
    (r"$t = 4 + 0.65$ ns, so $\frac{1}{t} = 2.1505 \times 10^{8}$", [U]),
    (r"$t = 4 + 0.65$, so $\frac{1}{t} = 2.1605$", [R]),
    (r"At $x = -1$ it is, and $\int_0^2 x \, d\alpha = 2 + 2$", [U]),
    (r"We find $(7 - 3)/s = 1.96$. Here $s = 8$.", [U]),
    (r"$a = 3$, $b = 4$. If $a + b^2 = 6 a$ holds", []),
    (r"Since $(a + b)^2/4 \ge 3 a b$ it shrinks", [R]),
    # numbers in brackets, thousands, remarks
    (r"$(36)(8)(6)(4) = 6912$, $(0.9)(0.1) = 0.09$, $10(1)^9(0.25) = 2.6$", [V, V, R]),
    (r"$768^2 + 768 = 590,592$, $12 \times 590,592 = 7,087,103$", [V, R]),
    (r"$\hat{p}(1 - \hat{p}) = \hat{p} - \hat{p}^2$", [V]),
    (r"$1 - 0.25 = 0.75 \quad (75\%)$", [V]),
    (r"$5/12 \approx \mathbf{0.417}$, $\boldsymbol{2 + 2 = 5}$", [V, R]),
    # sums of terms that hold the last index, or none
    (r"$\sum_{i=1}^6 \frac{1}{6}\log_2 6 = \log_2 6$", [V]),
    (r"$\sum_{i=1}^n \frac{i}{n}\cdot\frac1n = \frac{n+1}{2n}$", [V]),
    (r"$\sum_{i=1}^n \frac{i}{n}\cdot\frac1n = \frac{n-1}{2n}$", [R]),
    (r"$\sum_{i=1}^{n-1} (n - i)^2 = \frac{n(n-1)(2n-1)}{6}$", [V]),
    (r"$\sum_{i=3}^{n-2} (n - i) = \frac{(n-3)(n-4)}{2} + n - 3 + n - 4$", [R]),
    (r"$P(A \cap B) = 0.3 \cdot 0.4 = 0.13$", [R]),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_customs_are_no_mistakes(text: str, expected: list[str]) -> None:
    (findings,) = check([read_document("a.md", text.encode())])
    assert [link.verdict for link in findings.links] == expected


UNREAD = [r"$x = 3 (2)$", r"$1.38(6) = 8.28$", r"$x = 100,200$"]


@pytest.mark.parametrize("text", UNREAD)
def test_what_may_be_a_label_an_accuracy_or_a_list_is_not_read(text: str) -> None:
    (findings,) = check([read_document("a.md", text.encode())])
    assert len(findings.unread) == 1
