"""Running the command line in this process, with its two streams kept apart."""

import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import pytest
from reports import Engine

from varlaw import checks
from varlaw.checks.report import LawReport
from varlaw.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def refused(self) -> str:
        """The one line of a command that was refused, after a look at its manners."""
        assert self.code == 2, self
        assert not self.out
        assert self.err.startswith("varlaw: ")
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n")
        return self.err.removeprefix("varlaw: ").rstrip("\n")


Run = Callable[..., Result]


def run(*arguments: str) -> Result:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main(list(arguments), prog_name="varlaw")
    return Result(int(stop.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture
def varlaw(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run `varlaw` with some arguments, in an environment without its own variables and files."""
    monkeypatch.delenv("VARLAW_DEBUG", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    return run


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engine]:
    """Puts an engine that gives these reports in place of the real one."""

    def put(*laws: LawReport, stop: BaseException | None = None) -> Engine:
        made = Engine(*laws, stop=stop)
        monkeypatch.setitem(sys.modules, made.__name__, made)
        monkeypatch.setattr(checks, "verify", made, raising=False)
        return made

    return put
