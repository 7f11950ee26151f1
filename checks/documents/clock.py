"""How long one document may take to read, by the processor's time of this process."""

from math import inf
from time import process_time

LATE = "takes too long"  # in the report of what there is no time for


class Clock:
    """Runs from when it is made; the mathematics that is not read when it is over is reported."""

    def __init__(self, seconds: float = inf) -> None:
        self.seconds = seconds
        self.begin = process_time()

    @property
    def spent(self) -> float:
        return process_time() - self.begin

    def over(self, part: float = 1.0) -> bool:
        """Whether so much of the time is spent."""
        return self.spent > part * self.seconds
