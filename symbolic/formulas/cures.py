r"""What an author can write instead of what is not read.

>>> cured("a % without its backslash")
'a % without its backslash; write \\%'
"""

# A part of the reason, and what to write instead; the first that fits counts.
CURES = (
    ("an unknown command", r"define it by \newcommand, or under macros in varlaw.toml"),
    ("an unknown sign", "write what LaTeX has for it"),
    ("a hidden character", "delete it"),
    ("a digit that is not ASCII", "write 0 to 9"),
    ("a % without its backslash", r"write \%"),
    ("of which only some members hold a relation", "write each formula between dollars of its own"),
    ("a relation in brackets", "write it behind the formula"),
    ("a list or a relation inside arithmetic", "write each formula between dollars of its own"),
    ("words inside a formula", "end the formula before the words"),
    ("words in a case", r"write \text{if} or \text{otherwise} and a formula"),
    ("a condition in words", "write it as a formula, x > 0, or in a comment for varlaw"),
    (": a word or a product", r"write \mathrm{..} around a word, \cdot between factors"),
    (": a call or a product", r"write \cdot for a product, or say that the name is a number"),
    (": a number or a list", "write {,} in a number, a blank behind the comma of a list"),
    ("scientific or e?", r"write \cdot 10^{..} or \cdot e"),
    ("a number behind a factor", r"write \cdot or ^ before the number"),
    ("a mixed number or a product?", r"write + or \cdot"),
    ("a number with a comma and a point", "write {,} for a comma inside a number"),
    ("without braces", "write {..} around what is meant"),
    ("below the slash?", "write what is meant in brackets"),
    ("how far does", "write what is meant in brackets"),
    ("does the sum go on", "write what is meant in brackets"),
    ("a fraction,", r"write \frac"),
    ("a binomial coefficient,", r"write \binom"),
    ("a subscript of max", r"write what is largest: \max(a, b)"),
    ("an elementwise or tensor product", "write its entries, x_i y_i"),
    ("an inner product", r"write its entries, \sum_{i=1}^{n} x_i y_i"),
    ("that nobody sees", r"write \left( .. \right)"),
    ("a full stop inside a formula", "write each formula between dollars of its own"),
    ("a colon", "write := for a definition, / for a ratio, words outside the dollars"),
    ("an ellipsis", r"write a sum as \sum_{i=1}^{n}, a product as \prod"),
    ("plus or minus", r"write the two ends, or |x - a| \le b"),
    ("an expectation without brackets", r"write \mathbb{E}[..]"),
    ("an expectation with a subscript", r"write a law: \mathbb{E}_{z \sim N(0,1)}"),
    ("over some of its names", "say in a comment for varlaw what is random"),
    ("a relation inside an expectation", "write the condition behind a bar"),
    ("a subscript of something that is not a name", "write the index on the names inside"),
    ("a subscript in brackets", "write it without the brackets"),
    ("a relation with a text above", "write the reason beside it, or as (a) above"),
    ("an inverse function or a power?", r"write \arctan x, or (\tan x)^{-1}"),
    ("a power of a function or of a factor?", "write the power behind the call: f(x)^2"),
    ("a power of the logarithm or inside it?", r"write (\log x)^2 or \log(x^2)"),
    ("percent of something", r"write 0.5\% or \frac{..}{100}"),
    ("an integral without its differential", "write dx at its end"),
    ("an integral with one end", "write both ends, or none"),
    ("a factor behind the differential", "write it before dx"),
    ("without its index", "write it with its ends, _{i=1}^{n}"),
    ("over a condition", "write it with its ends, _{i=1}^{n}"),
    ("over something that is not an index", "write it with its ends, _{i=1}^{n}"),
    ("a double superscript", "write (x^a)^b or x^{ab}"),
    ("a script of a script", "write {..} around the script"),
    ("a double subscript", "write braces: x_{i,j}"),
    ("a factorial or an inequality?", "write a blank: n! = 6 or n != 6"),
    ("a row that begins with minus", "write = before it, or the minus at the end of the row above"),
    ("a relation without its left side", "write the left side in the same formula"),
    ("a function without its argument", "write the argument in brackets"),
    ("a call in an exponent without brackets", "write braces around the exponent"),
    ("as a name", r"write a letter, or \mathrm{..} around a word"),
    ("a word as a superscript", "write it as a subscript, or in brackets"),
    ("the imaginary unit or an index?", "only real numbers are read"),
    ("a label or a power in brackets?", "write {..} without brackets for a power"),
    ("is defined in two ways", "give the second one another name"),
    ("nested deeper", "give names to the parts"),
)


def cured(reason: str) -> str:
    """The reason, and behind it what to write instead, if that is known."""
    cure = next((cure for part, cure in CURES if part in reason), "")
    return f"{reason}; {cure}" if cure else reason
