"""Workers: hostile formulas are answered within their limits, and the others are still judged."""

from time import monotonic, process_time

import pytest

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.workers import Task, judge
from varlaw.symbolic.formulas.reader import read_formula
from varlaw.symbolic.formulas.tree import Chain, Head, Node

# Formulas that fill memory or time, and the only verdicts that they may have.
HOSTILE = {
    r"9^{9^{9^9}} = 1 + 1": {"undecided", "refuted"},
    r"10^{10^{10}} = 1 + 1": {"refuted", "undecided"},
    r"(10^9)! = 1 + 1": {"refuted", "undecided"},
    r"((9!)!)! = 1 + 1": {"refuted", "undecided"},
    r"\sum_{k=1}^{10^{12}} k^2 = 1 + 1": {"undecided"},
    r"\sum_{j=1}^{10000} \sum_{k=1}^{10000} \sin(jk) = 1 + 1": {"undecided"},
    r"\prod_{k=1}^{10^{12}} k = 1 + 1": {"undecided"},
    r"\int_0^{10^9} \sin(x^2) dx = 1 + 1": {"undecided"},
    r"\int_0^1 \sin(1/x) dx = 1 + 1": {"undecided"},
    r"\int_0^{10^{10^{10}}} e^{x} dx = 1 + 1": {"undecided", "refuted"},
    r"(a + b + c + f + g)^{400} = (a + b + c + g + f)^{400}": {"undecided", "verified"},
    r"(a + b)^{10^9} = (b + a)^{10^9}": {"undecided", "verified"},
    r"\sqrt{a + \sqrt{b + \sqrt{c + \sqrt{f}}}} = \sqrt{a + \sqrt{b + \sqrt{c + 1 \sqrt{f}}}}": {
        "undecided",
        "verified",
    },
}


def chains(*texts: str) -> tuple[Chain, ...]:
    return tuple(chain for text in texts for chain in read_formula(text).chains)


def test_hostile_formulas_between_true_ones() -> None:
    true = r"1/\sqrt{768} \approx 0.0361"
    texts = [text for hostile in HOSTILE for text in (hostile, true)]
    (found,) = judge([Task(chains(*texts))], jobs=2, seconds=1)
    verdicts = [str(judgements[-1].verdict) for judgements in found]
    assert set(verdicts[1::2]) == {"verified"}
    for text, verdict in zip(HOSTILE, verdicts[::2], strict=True):
        assert verdict in HOSTILE[text], text


def test_what_is_killed_says_why() -> None:
    slow = Node(Head.NUMBER, (), "1")
    for name in "abcdef":
        index, high = Node(Head.NAME, (), name), Node(Head.NUMBER, (), "9999")
        slow = Node(Head.SUM, (slow, index, Node(Head.NUMBER, (), "1"), high))
    chain = Chain((slow, Node(Head.ADD, (high, high))), ("=",))
    start = monotonic()
    (found,) = judge([Task((chain, *chains("1/2 = 0.5")))], jobs=1, seconds=0.2)
    assert found[0][0].reason == "took longer than 0.2 s"
    assert str(found[1][0].verdict) == "verified"
    assert monotonic() - start < 30


def test_each_document_has_its_own_context_and_definitions() -> None:
    link = r"E[z^2] = 4"
    tasks = [
        Task(chains(link), (read_context(["z ~ N(0, 4)"]),)),
        Task(chains(link), (read_context(["z ~ N(0, 2)"]),)),
        Task(chains(r"s = \sqrt{2}", r"3s = 4.24")),
        Task(chains(r"s = \sqrt{3}", r"3s = 4.24")),
        Task(()),
    ]
    found = judge(tasks, jobs=2)
    verdicts = [str(task[-1][-1].verdict) if task else "" for task in found]
    assert verdicts == ["verified", "refuted", "verified", "refuted", ""]


@pytest.mark.slow
def test_two_thousand_formulas() -> None:
    texts = [rf"\sqrt{{{k}}}/7 \approx {k**0.5 / 7:.5f}" for k in range(2, 2002)]
    start = monotonic()
    (found,) = judge([Task(chains(*texts))], jobs=2)
    assert {str(judgements[0].verdict) for judgements in found} == {"verified"}
    assert monotonic() - start < 20


def test_links_that_are_slow_together_keep_to_the_time_of_their_document() -> None:
    def sums(terms: int, count: int) -> Task:
        texts = (rf"\sum_{{k=1}}^{{{terms}}} \sin(k + {j}) = 1 + 1" for j in range(count))
        return Task(chains(*texts), seconds=0.4)

    begin = process_time()
    judge_chain(sums(2000, 1).chains[0])
    terms = int(2000 * 0.02 / (process_time() - begin))  # 0.02 s each, 2 s together
    (found,) = judge([sums(min(terms, 19_000), 100)], jobs=1)
    late = sum(judgements[0].rule == "stopped" for judgements in found)
    assert 40 < late < 100


def test_cheap_links_are_judged_behind_many_slow_ones() -> None:
    slow = [
        rf"\sum_{{j=1}}^{{9999}} \sum_{{k=1}}^{{9999}} \sin(jk + {c}) = 1 + 1" for c in range(99)
    ]
    cheap = [rf"1/\sqrt{{{k}}} = {1 / k**0.5:.5f}" for k in range(700, 720)]
    (found,) = judge([Task(chains(*slow, *cheap), seconds=1)], jobs=1)
    assert {str(judgements[0].verdict) for judgements in found[99:]} == {"verified"}
    assert {str(judgements[0].verdict) for judgements in found[:99]} == {"undecided"}
