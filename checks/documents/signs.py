"""What commands of LaTeX look like on a page: one sign, a word, or nothing of their own."""


def _words(line: str) -> list[str]:
    return line.split()


_LETTERS = {
    **dict(alpha="α", beta="β", gamma="γ", delta="δ", epsilon="ϵ", varepsilon="ε", zeta="ζ"),
    **dict(eta="η", theta="θ", vartheta="ϑ", iota="ι", kappa="κ", lambda_="λ", mu="μ", nu="ν"),
    **dict(xi="ξ", omicron="ο", pi="π", varpi="ϖ", rho="ρ", varrho="ϱ", sigma="σ", varsigma="ς"),
    **dict(tau="τ", upsilon="υ", phi="ϕ", varphi="φ", chi="χ", psi="ψ", omega="ω"),
    **dict(Gamma="Γ", Delta="Δ", Theta="Θ", Lambda="Λ", Xi="Ξ", Pi="Π", Sigma="Σ"),
    **dict(Upsilon="Υ", Phi="Φ", Psi="Ψ", Omega="Ω", ell="ℓ", hbar="ℏ", partial="∂", nabla="∇"),
    **dict(infty="∞", emptyset="∅", varnothing="∅", top="⊤", bot="⊥", prime="′", Re="ℜ", Im="ℑ"),
}
_OPERATORS = {
    **dict(cdot="⋅", times="×", div="÷", pm="±", mp="∓", ast="∗", star="⋆", circ="∘", odot="⊙"),
    **dict(oplus="⊕", otimes="⊗", sum="∑", prod="∏", int="∫", cap="∩", cup="∪", wedge="∧"),
    **dict(vee="∨", neg="¬", forall="∀", exists="∃", setminus="∖", dots="…", ldots="…"),
    **dict(dotsc="…", cdots="⋯", dotsb="⋯", vdots="⋮", ddots="⋱"),
}
_RELATIONS = {
    **dict(approx="≈", sim="∼", simeq="≃", equiv="≡", cong="≅", propto="∝", ne="≠", neq="≠"),
    **dict(le="≤", leq="≤", ge="≥", geq="≥", lt="<", gt=">", ll="≪", gg="≫", in_="∈"),
    **dict(notin="∉", subset="⊂", subseteq="⊆", to="→", rightarrow="→", leftarrow="←"),
    **dict(gets="←", mapsto="↦", Rightarrow="⇒", implies="⟹", iff="⟺", Leftrightarrow="⇔"),
    **dict(longrightarrow="⟶", mid="∣", vert="∣", lvert="∣", rvert="∣", Vert="∥", lVert="∥"),
    **dict(rVert="∥", langle="⟨", rangle="⟩", lfloor="⌊", rfloor="⌋", lceil="⌈", rceil="⌉"),
}
_WORDS = _words(
    "log ln exp sin cos tan sinh cosh tanh max min sup inf lim arg det dim ker deg gcd Pr"
)
# The sign of each command, with its backslash.
SIGNS = {
    "\\" + name.rstrip("_"): sign
    for table in (_LETTERS, _OPERATORS, _RELATIONS)
    for name, sign in table.items()
}
SIGNS |= {"\\" + word: word for word in _WORDS}
SIGNS |= {r"\{": "{", r"\}": "}", r"\%": "%", r"\|": "∥", r"\$": "$", r"\&": "&", r"\#": "#"}

# Commands that print their arguments only, spaces, and accents (a page puts these behind).
INVISIBLE = frozenset(
    "\\" + name
    for name in (
        *_words("left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr middle limits"),
        *_words("frac tfrac dfrac sqrt text textrm textit textbf mathrm mathbf mathbb mathcal"),
        *_words("mathit mathsf mathscr mathfrak mathtt boldsymbol bm operatorname boxed"),
        *_words("displaystyle textstyle scriptstyle quad qquad overline underline bar hat"),
        *_words("widehat tilde widetilde vec dot ddot"),
        *(",", ";", ":", "!", " ", "\\", ">"),
    )
)
ACCENTS = frozenset("ˉ¯ˆ˜~˙¨⃗^̂̄̃ˇ‾")
# Signs that a page and a source write differently.
ALIKE = {"−": "-", "∗": "*", "′": "'", "’": "'", "∣": "|", "∥": "‖", "·": "⋅", "μ": "µ"}
