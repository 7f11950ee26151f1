"""`varlaw.verify` from a script: its processes leave the script and Ctrl-C to it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
print("begun", flush=True)
import varlaw as vl
print(vl.verify("lecun", tolerance=0.05, jobs=2).verdict)
"""


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT, encoding="utf-8")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout) == (0, "begun\nverified\n"), run.stderr
    assert not run.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of a process group")
def test_an_interrupt_is_one_line_and_the_json_whole() -> None:
    command = [sys.executable, "-m", "varlaw", "verify", "--json", "--jobs", "2"]
    run = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in background
    )
    try:
        time.sleep(8)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the workers as well
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 130
    assert out.lstrip().startswith("{") and out.rstrip().endswith("}")
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "varlaw: interrupted"
