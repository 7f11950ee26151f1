"""Names that a document defines: once, twice, anew, or for another place."""

from judging import GAMMA, HE, XAVIER, judged, verdict


def test_a_chain_without_its_first_side() -> None:
    found = judged(r"\approx 3/2 = 1.5 = 1.6")
    assert [str(one.verdict) for one in found] == ["verified", "refuted"]
    assert not judged(r"\approx \log K")


def test_of_two_definitions_of_a_name_only_the_nearest_makes_a_link_true() -> None:
    link = r"a^2/3 = 6/(3(n_{in}+n_{out}))"
    assert verdict(HE, XAVIER, link) == "verified"
    assert verdict(XAVIER, HE, link) == "undecided"
    wrong = r"a^2/3 = 1/n_{out}"
    assert verdict(XAVIER, HE, wrong) == "refuted"
    far = ["b_{1} = 3"] * 9
    assert verdict(XAVIER, HE, *far, wrong) == "undecided"


def test_names_said_to_be_equal_are_so_only_nearby() -> None:
    link, wrong = r"6/(3(m+n)) = 2/(m+n)", r"6/(3(m+m)) = 2/(m+n)"
    far = ["b_{1} = 3"] * 9
    assert verdict("m = n", wrong) == "verified"
    assert verdict("m = n", *far, link) == "verified"
    assert verdict("m = n", *far, wrong) == "undecided"
    assert verdict("m = n", *far, r"6/(3(m+n)) = 4/(m+n)") == "refuted"


def test_a_definition_that_is_meant_refutes_beside_others_that_may_not_be() -> None:
    width, gain = r"a = g\sqrt{3/n}", r"g = \sqrt{2}"
    far = ["b_{1} = 3"] * 9
    assert verdict(gain, *far, width, r"a^2/3 = g^2/n") == "verified"
    assert verdict(gain, *far, width, r"a/3 = g^2/n") == "refuted"


def test_a_number_given_anew_makes_no_earlier_statement_true() -> None:
    link = r"1/\sqrt{n} = 0.0442"
    assert verdict("n = 512", link) == "verified"
    assert verdict("n = 512", "n = 768", link) == "undecided"
    assert verdict("n = 768", "n = 512", link) == "verified"


def test_a_decimal_given_anew_is_no_other_value() -> None:
    link = r"\frac{\sigma}{\sqrt{\gamma}} = 1.1368472\dots\sigma"
    assert verdict(GAMMA, r"\gamma = 0.77374", link) == "verified"


def test_names_in_definitions_have_their_values_too() -> None:
    heads = "d = 768", "h = 12", "d_k = d/h"
    assert verdict(*heads, r"1/\sqrt{d_k} = 0.125") == "verified"
    assert verdict(*heads, r"1/d_k = 0.125") == "refuted"


def test_a_number_for_a_name_with_a_formula_is_its_value_and_no_other_definition() -> None:
    energy = "m = 4", "v = 3", r"E_k = \frac12 m v^2"  # 18
    assert verdict(*energy, "E_k = 18") == "verified"
    assert verdict(*energy, "E_k = 19") == "None"  # for other m and v, it may be
    assert verdict(*energy, "E_k = 18", "2 E_k = m v^2") == "verified"
    assert verdict(*energy, "E_k = 18", "2 E_k = 36") == "verified"
    assert verdict(*energy, "E_k = 18", "2 E_k = 37") == "refuted"
    assert verdict(*energy, "E_k = 18", "E_k/m = v^2/3") == "refuted"
    assert verdict(*energy, "E_k = 18", "m = 8", "E_k = 36") == "verified"
    assert verdict(r"E_k = \frac12 m v^2", "E_k = 18") == "None"
