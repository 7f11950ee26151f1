"""Progress is for people who watch: on standard error, on a terminal, and gone afterwards."""

import subprocess
import sys
from io import StringIO

from varlaw.progress import shown_progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_what_is_being_done(monkeypatch, capsys):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with shown_progress() as progress:
        assert progress is not None
        progress("post-norm-decay", 2, 7)
    assert "post-norm-decay" in terminal.getvalue()
    assert "2/7" in terminal.getvalue()
    assert not capsys.readouterr().out


def test_nobody_watches_a_pipe(monkeypatch):
    stream = StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with shown_progress() as progress:
        assert progress is None
    assert not stream.getvalue()


def test_rich_is_imported_only_for_a_terminal():
    code = """
import sys
from varlaw.progress import shown_progress
with shown_progress():
    assert "rich" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.PIPE)
