"""Files that are none, have no end or change while they are read: one line, at once."""

import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from varlaw.checks.documents.files import find_files, read_bytes
from varlaw.checks.documents.reading import MOST_BYTES, read_document

SECONDS, BYTES = 10, 500_000_000
CLAIM = "$1/3 \\approx 0.333$\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ok.md").write_text(CLAIM)
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "zero.md").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(tmp_path)  # a socket's address is short
        made.bind("socket.md")
        os.chdir(here)
    return tmp_path


def run(folder: Path, *arguments: str, endless: bool = False) -> tuple[int, str, str]:
    """Exit code, standard output and error of `varlaw`, within the time and the memory."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))

    with open("/dev/zero" if endless else os.devnull) as given:
        done = subprocess.run(
            [sys.executable, "-m", "varlaw", *arguments],
            cwd=folder,
            stdin=given,
            capture_output=True,
            text=True,
            timeout=6 * SECONDS,  # the machine may be busy with other tests
            preexec_fn=limited,
            check=False,
        )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["pipe.md", "zero.md", "socket.md"])
def test_what_is_no_file_is_one_line(folder: Path, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: not a regular file"):
        find_files([folder / name])


def test_a_walk_passes_over_what_is_no_file(folder: Path) -> None:
    assert find_files([folder]) == [folder / "ok.md"]


@pytest.mark.parametrize("name", ["pipe.md", "zero.md", "socket.md"])
def test_what_takes_the_place_of_a_file_is_not_waited_for(folder: Path, name: str) -> None:
    (file,) = find_files([folder])
    file.unlink()
    (folder / name).rename(file)
    with pytest.raises(ValueError, match=r"ok\.md: [^\n]+$"):
        read_bytes(file)


def test_what_is_removed_meanwhile_is_one_line(folder: Path) -> None:
    (file,) = find_files([folder])
    file.unlink()
    with pytest.raises(ValueError, match=r"ok\.md: No such file or directory$"):
        read_bytes(file)


def test_a_file_that_grows_is_read_up_to_the_limit(folder: Path) -> None:
    with open(folder / "ok.md", "ab") as file:
        os.truncate(file.fileno(), 20 * MOST_BYTES)  # sparse
        data = read_bytes(folder / "ok.md")
    assert len(data) == MOST_BYTES + 1
    (document,) = read_document("ok.md", data)
    assert [problem.message for problem in document.problems] == ["larger than 10 MB: not read"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("check", "pipe.md"), "pipe.md: not a regular file"),
        (("explain", "zero.md:1"), "zero.md: not a regular file"),
        (("check", "ok.md", "--context", "/dev/zero"), "/dev/zero: larger than 1 MB"),
        (("claim", "1 = 1", "--context", "zero.md"), "zero.md: larger than 1 MB"),
        (("claim", "-"), "-: more than 1000000 characters"),
    ],
)
def test_commands_end_with_one_line(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    code, out, error = run(folder, *arguments, endless=True)
    assert (code, out) == (2, "")
    assert error.splitlines()[-1] == f"varlaw: {told}"


def test_endless_standard_input_is_a_problem(folder: Path) -> None:
    code, out, _ = run(folder, "check", "-", "ok.md", endless=True)
    assert code == 0
    assert out.startswith("-:1:1: problem: larger than 10 MB: not read\n")
    assert "1 verified" in out and "1 problem" in out
