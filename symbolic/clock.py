"""A clock for computations of SymPy that may take for ever, such as limits and series."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.1  # seconds until the clock rings again, where a ring was swallowed


class OutOfTime(Exception):
    """The clock rang."""


@contextmanager
def clock(seconds: float) -> Iterator[None]:
    """Raise OutOfTime inside after so many seconds of the processor's time.

    A clock within another one is not wound up: the outer one rings. Signals reach the main thread
    only, so that in others, and where the system has no such timer, there is no clock.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGVTALRM) is _ring:
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _ring(number: int, frame: FrameType | None) -> None:
    raise OutOfTime
