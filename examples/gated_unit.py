"""A law of one's own: the second moment of a bilinear gated unit, derived, proved and audited.

h_j = (Sum_i x_i a_ij) (Sum_i x_i b_ij), the gate without its sigmoid. Because both factors see the
same input, the fourth moment of x enters: with unit fans and unit moments the output is not of unit
size, which is why gated layers need an initialisation of their own.
"""

import varlaw as vl
from varlaw.checks.steps.proofs import prove

m = vl.dimensions("m")
i, j = vl.indices("i j")
x = vl.random_array("x", mean=0, second_moment="q")
a = vl.random_array("a", mean=0, variance="s2")
b = vl.random_array("b", mean=0, variance="s2")

gate, value = vl.Sum(x[i] * a[i, j], (i, 1, m)), vl.Sum(x[i] * b[i, j], (i, 1, m))
derivation = vl.E((gate * value) ** 2).derive()

print(derivation.to_text())
print("E[h^2] =", derivation.end.factor())
print("steps:", ", ".join(sorted({str(report.outcome) for report in prove(derivation)})))
