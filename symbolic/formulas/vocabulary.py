"""The words of formulas: relations, Greek letters, functions, accents, and what is only layout."""

from functools import cache


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


RELATIONS = {
    "=": "=", "<": "<", ">": ">", ":=": ":=", "<=": "<=", ">=": ">=", "!=": "!=", "~=": "~=",
    "~": "~", "->": "->", "=>": "=>", "<=>": "<=>", "<<": "<<", ">>": ">>", "==": "=", "===": "eqq",
    r"\approx": "~=", r"\simeq": "~=", r"\cong": "~=", r"\thickapprox": "~=",
    r"\ne": "!=", r"\neq": "!=", r"\lt": "<", r"\gt": ">",
    r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\leqq": "<=",
    r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=", r"\geqq": ">=",
    r"\ll": "<<", r"\gg": ">>", r"\sim": "~", r"\propto": "prop", r"\varpropto": "prop",
    r"\to": "->", r"\rightarrow": "->", r"\longrightarrow": "->",
    r"\Rightarrow": "=>", r"\implies": "=>", r"\Longrightarrow": "=>",
    r"\iff": "<=>", r"\Leftrightarrow": "<=>", r"\Longleftrightarrow": "<=>",
    r"\in": "in", r"\equiv": "eqq", r"\coloneqq": ":=", r"\triangleq": ":=",
}  # fmt: skip

# One character that stands for a command, or for what people type instead.
UNICODE = {
    "≈": r"\approx", "≃": r"\simeq", "≅": r"\cong", "≠": r"\ne", "≤": r"\le", "≥": r"\ge",
    "⩽": r"\le", "⩾": r"\ge", "≪": r"\ll", "≫": r"\gg", "∼": r"\sim", "∝": r"\propto",
    "→": r"\to", "⟶": r"\to", "⇒": r"\implies", "⟹": r"\implies", "⇔": r"\iff", "∈": r"\in",
    "&lt;": "<", "&gt;": ">",
    "≡": r"\equiv", "≔": r"\coloneqq", "×": r"\times", "·": r"\cdot", "⋅": r"\cdot", "∗": "*",
    "−": "-", "–": "-", "‐": "-", "‒": "-", "⁄": "/", "°": r"\circ",
    "÷": "/", "∕": "/", "√": r"\sqrt", "∞": r"\infty", "…": r"\dots",
    "⋯": r"\cdots", "ℓ": r"\ell", "∫": r"\int", "∑": r"\sum", "∏": r"\prod", "∣": "|",
    "‖": r"\|", "∥": r"\|", "′": "'", "″": "''", "∂": r"\partial", "∇": r"\nabla", "±": r"\pm",
    "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil",
    "⊤": r"\top", "⟨": r"\langle", "⟩": r"\rangle", "𝔼": r"\E", "ℙ": r"\Pr",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\epsilon",
    "ϵ": r"\epsilon", "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "ι": r"\iota",
    "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "µ": r"\mu", "ν": r"\nu", "ξ": r"\xi",
    "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "υ": r"\upsilon", "φ": r"\phi",
    "ϕ": r"\phi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta",
    "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi", "Σ": r"\Sigma", "Φ": r"\Phi",
    "Ψ": r"\Psi", "Ω": r"\Omega", "，": ",", "、": ",", "；": ";", "。": ".",
    "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "\N{THIN SPACE}": " ",
}  # fmt: skip
WIDE = str.maketrans("＝＜＞＋－／＊（）［］｛｝｜", "=<>+-/*()[]{}|")  # of East Asian writing
ROOTS = {"√": "2", "∛": "3", "∜": "4"}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ", "0123456789-n", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₙₘₜ", "0123456789ijklnmt", strict=True))

GREEK = words(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "pi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Theta Lambda Xi Pi "
    "Sigma Upsilon Phi Psi Omega Delta ell hbar"
)

# Functions whose name alone makes f(x), and f x, a call; other spellings of some.
ELEMENTARY = words(
    "log ln exp sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth arsinh arcosh "
    "artanh erf erfc erfinv max min sqrt root abs sign floor ceil"
)
ACTIVATIONS = words(
    "relu gelu silu swish selu elu celu sigmoid softplus softsign mish leaky_relu hardtanh relu6 "
    "softmax step"
)
SPELLINGS = {
    "lrelu": "leaky_relu", "leakyrelu": "leaky_relu", "logistic": "sigmoid", "heaviside": "step",
    "sgn": "sign", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "tanh": "tanh",
}  # fmt: skip
# As they are written in many countries; only as commands, operators and before brackets.
CONTINENTAL = {
    "sh": "sinh", "ch": "cosh", "th": "tanh", "cth": "coth", "tg": "tan", "ctg": "cot",
    "arctg": "arctan", "arsh": "arsinh", "arch": "arcosh", "arth": "artanh", "lg": "lg",
}  # fmt: skip


@cache
def function(word: str) -> str:
    """The function that a word names, "" if none: ReLU is relu, but LN is not ln."""
    lower = word.lower().replace("-", "_")
    lower = SPELLINGS.get(lower, lower)
    if lower in ACTIVATIONS or word in ELEMENTARY or (word in SPELLINGS and lower in ELEMENTARY):
        return lower
    return ""


LETTERS_OF_FUNCTIONS = words("f g h F G H phi varphi psi Phi Psi Theta Omega O o Gamma")

MAX_OVER = "largest"  # \max_i x_i, with the arguments x_i and i

MOMENTS = {
    "E": "E", "Var": "Var", "var": "Var", "Cov": "Cov", "cov": "Cov", "Std": "Std", "std": "Std",
    "Corr": "Corr", "SD": "Std", "sd": "Std", "Pr": "P", "Prob": "P", "P": "P", "V": "Var",
    "median": "median", "Median": "median", "quantile": "quantile",
}  # fmt: skip

ACCENTS = {
    r"\bar": "bar", r"\overline": "bar", r"\hat": "hat", r"\widehat": "hat", r"\tilde": "tilde",
    r"\widetilde": "tilde", r"\vec": "vec", r"\dot": "dot", r"\ddot": "ddot", r"\check": "check",
    r"\breve": "breve", r"\mathring": "ring", r"\underline": "underline", r"\Delta": "Delta",
}  # fmt: skip
UPRIGHT = words(
    r"\mathrm \operatorname \operatorname* \mathsf \mathtt \mathit \text \textrm \textsf \texttt "
    r"\textit \mbox \mathop \textnormal"
)
# What an accent or a font puts before the letter: bar_x, bold_W.
STYLES = frozenset({*ACCENTS.values(), "bold", "cal", "frak", "bb", "star"})
PROSE = words(r"\text \textrm \textsf \textit \textbf \mbox \textnormal")
FONTS = {
    r"\mathbf": "bold_", r"\boldsymbol": "bold_", r"\bm": "bold_", r"\textbf": "bold_",
    r"\mathcal": "cal_", r"\mathscr": "cal_", r"\mathfrak": "frak_", r"\mathbb": "bb_",
    r"\mathds": "bb_",
}  # fmt: skip

SPACES = words(
    r"\, \; \: \! \> \/ \displaystyle \textstyle \scriptstyle \scriptscriptstyle \limits \nolimits "
    r"\nonumber \notag \thinspace \medspace \thickspace \negthinspace \allowbreak \bigl \bigr "
    r"\Bigl \Bigr \biggl \biggr \Biggl \Biggr \big \Big \bigg \Bigg \bigm \Bigm \enspace \relax "
    r"\mathbin \mathrel \mathord \strut \mathstrut \allowdisplaybreaks \qedhere \IEEEyesnumber "
    r"\IEEEnonumber "
    r"\IEEEyessubnumber \IEEEeqnarraynumspace"
) | {"\\ ", "\\\n", "~", "&"}
# Commands that show nothing, with the number of their arguments.
UNSEEN = dict.fromkeys(
    words(r"\label \tag \hspace \vspace \mspace \phantom \hphantom \vphantom \stepcounter"), 1
) | {r"\addtocounter": 2}
QUADS = frozenset({r"\quad", r"\qquad"})
DOTS = frozenset({r"\dots", r"\ldots", r"\cdots", r"\dotsc", r"\dotsb", "..."})
TIMES = {r"\cdot": "·", r"\times": "·", "*": "·", r"\ast": "·"}
ROWS = words(
    "equation align aligned alignat gather gathered split multline flalign eqnarray displaymath "
    "alignedat math dmath"
)
CONNECTIVES = words(
    "and where with since so then else thus hence therefore because also while i.e."
)
CONDITIONS_IN_WORDS = words(
    "if unless when whenever for provided as given assuming except only not no never large small "
    "otherwise or near limit isn't aren't false wrong"
)

BARS = words(r"| \| \vert \Vert \lvert \rvert \lVert \rVert")

# What formulas of this project's kind do not need, with the name to refuse it by.
REFUSED = {
    r"\partial": "a partial derivative", r"\nabla": "a gradient", r"\langle": "an inner product",
    r"\otimes": "an elementwise or tensor product", r"\odot": "an elementwise product",
    r"\circ": "degrees or a composition", r"\mp": "plus or minus",
    r"\iint": "a double integral", r"\iiint": "a triple integral", r"\oint": "a contour integral",
    r"\top": "a transpose", r"\intercal": "a transpose", r"\dagger": "an adjoint",
    r"\eqref": "a cross-reference", r"\ref": "a cross-reference", r"\cite": "a citation",
    r"\argmax": "an argument of the maximum", r"\argmin": "an argument of the minimum",
    r"\overset": "a relation with a text above", r"\stackrel": "a relation with a text above",
    r"\over": "a fraction", r"\choose": "a binomial coefficient", r"\bmod": "a remainder",
    r"\pmod": "a remainder", r"\mod": "a remainder", r"\arg": "an argument",
    r"\gcd": "a greatest common divisor", r"\det": "a determinant",
    r"\forall": "a quantifier", r"\exists": "a quantifier",
    r"\sup": "a supremum", r"\inf": "an infimum",
    r"\vdots": "an ellipsis", r"\ddots": "an ellipsis",
    r"\SI": "a quantity with its unit", r"\qty": "a quantity with its unit",
    r"\substack": "a sum over conditions in rows", r"\qtyrange": "a range of quantities",
    r"\unit": "a unit", r"\si": "a unit", r"\ang": "an angle in degrees",
    r"\input": "a file", r"\include": "a file", r"\lesssim": "a relation up to a constant",
    r"\doteq": "a relation of two meanings", r"\cancel": "a part that is crossed out",
    r"\bcancel": "a part that is crossed out", r"\xcancel": "a part that is crossed out",
    r"\gtrsim": "a relation up to a constant", r"\asymp": "a relation up to constants",
}  # fmt: skip
