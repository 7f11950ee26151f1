"""The clock rings in endless work, once for nested clocks, and leaves no timer behind."""

import signal
from threading import Thread
from time import process_time

import pytest

from varlaw.symbolic.blocks import asymptotics
from varlaw.symbolic.clock import OutOfTime, clock
from varlaw.symbolic.language import read


def endless(*_):
    while True:
        try:
            sum(range(1000))
        except ArithmeticError:
            continue


def test_it_rings_and_is_put_away():
    before, began = signal.getsignal(signal.SIGVTALRM), process_time()
    with pytest.raises(OutOfTime), clock(0.05):
        endless()
    assert process_time() - began < 2
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_the_outer_clock_rings():
    with pytest.raises(OutOfTime), clock(0.05), clock(1000):
        endless()


def test_a_ring_that_is_swallowed_comes_again():
    with pytest.raises(OutOfTime), clock(0.02):
        try:
            endless()
        except Exception:
            endless()


def test_in_another_thread_there_is_none():
    found = []

    def work():
        with clock(1e-6):
            found.append(sum(range(10**5)))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert found


def test_an_expansion_that_takes_too_long_is_not_known(monkeypatch):
    q = read("q")
    assert asymptotics.Ends(q + 1, q).far_out.power == 1
    monkeypatch.setattr(asymptotics, "limit", endless)
    monkeypatch.setattr(asymptotics, "SECONDS", 0.05)
    assert asymptotics.Ends(q + 1, q).far_out is None
