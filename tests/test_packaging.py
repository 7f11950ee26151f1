"""The wheel holds exactly what the four folders hold, and the package list says so.

The wheel is built from a copy, so nothing is left in the working tree. Where the environment
variable ``VARLAW_WHEEL`` names a wheel, that one is examined instead.
"""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
FOLDERS: dict[str, str] = SETUPTOOLS["package-dir"]  # package -> folder


def source_files(root: Path) -> list[tuple[str, Path]]:
    """Return every file of the four folders with the place that it has inside the package tree."""
    found = []
    for package, folder in FOLDERS.items():
        for path in sorted((root / folder).rglob("*")):
            inside = path.relative_to(root / folder)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
            if path.is_file() and not hidden:
                found.append((f"{package.replace('.', '/')}/{inside.as_posix()}", path))
    return found


def packages_on_disk(root: Path) -> set[str]:
    """Return the dotted names of all folders that hold Python files."""
    return {
        place.rpartition("/")[0].replace("/", ".")
        for place, path in source_files(root)
        if path.suffix == ".py"
    }


def package_list_problems(listed: list[str], on_disk: set[str]) -> list[str]:
    """Compare pyproject's ``packages`` with the folders."""
    return [
        *(f"add {name!r} to packages in pyproject.toml" for name in sorted(on_disk - set(listed))),
        *(f"{name!r} is listed but has no .py" for name in sorted(set(listed) - on_disk)),
        *(f"{name!r} is listed twice" for name in sorted(set(listed)) if listed.count(name) > 1),
    ]


def wheel_problems(shipped: list[str], root: Path) -> list[str]:
    """Compare a wheel's file names with the folders under ``root``."""
    expected = {place for place, _ in source_files(root)}
    inside = {name for name in shipped if not re.match(r"varlaw-[^/]+\.dist-info/", name)}
    remedy = {True: "packages", False: "package-data"}
    return [
        *(
            f"missing from the wheel: {name}"
            f" (see tool.setuptools {remedy[name.endswith('.py')]} in pyproject.toml)"
            for name in sorted(expected - inside)
        ),
        *(f"shipped, but not in a source folder: {name}" for name in sorted(inside - expected)),
    ]


def copy_sources(target: Path) -> Path:
    """Copy what a build needs, and nothing that an earlier build left, to ``target``."""
    target.mkdir()
    for name in ("pyproject.toml", PROJECT["project"]["readme"], "LICENSE"):
        shutil.copy(ROOT / name, target)
    for folder in FOLDERS.values():
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / folder, target / folder, ignore=ignored)
    return target


def build(source: Path, target: Path) -> list[str]:
    """Build the wheel of ``source``, without the network, and return its file names."""
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("setuptools is not installed here: pip install -e '.[dev]'")
    if int(version.partition(".")[0]) < 77:
        pytest.skip(f"setuptools {version} is too old to build this project: 77 is needed")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(target), str(source)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, f"the wheel does not build:\n{run.stdout}{run.stderr}"
    return names_in(next(target.glob("*.whl")))


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """File names of the wheel."""
    if given := os.environ.get("VARLAW_WHEEL"):
        return names_in(Path(given))
    folder = tmp_path_factory.mktemp("wheel")
    return build(copy_sources(folder / "source"), folder / "built")


def test_package_list_matches_the_folders() -> None:
    problems = package_list_problems(SETUPTOOLS["packages"], packages_on_disk(ROOT))
    assert not problems, "\n".join(problems)


def test_package_list_problems_are_noticed() -> None:
    problems = package_list_problems(["varlaw", "varlaw", "varlaw.gone"], {"varlaw", "varlaw.new"})
    assert [problem.split("'")[1] for problem in problems] == [
        "varlaw.new",
        "varlaw.gone",
        "varlaw",
    ]


def test_wheel_holds_the_folders_and_nothing_else(shipped: list[str]) -> None:
    assert any(name.endswith(".py") for name in shipped)
    problems = wheel_problems(shipped, ROOT)
    assert not problems, "\n".join(problems)


def test_wheel_carries_licence_types_and_command(shipped: list[str]) -> None:
    version = PROJECT["project"]["version"]
    wanted = {"licenses/LICENSE", "entry_points.txt", "METADATA"}
    assert {f"varlaw-{version}.dist-info/{name}" for name in wanted} <= set(shipped)
    assert {"varlaw/__init__.py", "varlaw/cli.py", "varlaw/py.typed"} <= set(shipped)


def test_what_a_wheel_lacks_or_has_too_much_is_noticed(tmp_path: Path) -> None:
    """Build a copy with an unlisted package, and data that no pattern names: both are left out."""
    source = copy_sources(tmp_path / "source")
    for name in ("symbolic/unlisted/__init__.py", "derivations/table.unknown"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).touch()
    names = build(source, tmp_path / "built")
    problems = wheel_problems([*names, "symbolic/__init__.py"], source)
    assert {problem.split(" (")[0] for problem in problems} >= {
        "missing from the wheel: varlaw/derivations/table.unknown",
        "missing from the wheel: varlaw/symbolic/unlisted/__init__.py",
        "shipped, but not in a source folder: symbolic/__init__.py",
    }


def imported_roots(sources: list[str]) -> set[str]:
    """Return the first names of all modules that the sources import from outside."""
    names = set()
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {"varlaw"}


def dependency_problems(roots: set[str], required: list[str], optional: list[str]) -> list[str]:
    """Compare imported names with requirements: a dependency comes with its first import."""
    by_import = importlib.metadata.packages_distributions()
    imported = {canonical(name) for root in roots for name in by_import.get(root, [root])}
    runtime, extra = ({canonical(entry) for entry in group} for group in (required, optional))
    return [
        *(f"imported, not declared: {name}" for name in sorted(imported - runtime - extra)),
        *(f"declared, never imported: {name}" for name in sorted(runtime - imported)),
    ]


def canonical(requirement: str) -> str:
    """Return the normalised distribution name at the start of a requirement."""
    name = re.match(r"[\w.-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name.group()).lower()


def test_dependencies_are_the_imports() -> None:
    files = [path for _, path in source_files(ROOT) if path.suffix == ".py"]
    roots = imported_roots([path.read_text(encoding="utf-8") for path in files])
    groups = PROJECT["project"].get("optional-dependencies", {})
    optional = [entry for name, group in groups.items() if name != "dev" for entry in group]
    problems = dependency_problems(roots, PROJECT["project"]["dependencies"], optional)
    assert not problems, "\n".join(problems)


def test_wrong_dependencies_are_noticed() -> None:
    roots = imported_roots(
        ["import os, pytest", "from pluggy.x import y", "import varlaw.symbolic"]
    )
    assert roots == {"pytest", "pluggy"}
    problems = dependency_problems(roots, ["pluggy>=1", "Absent_One>=2"], ["unused-extra"])
    assert problems == ["imported, not declared: pytest", "declared, never imported: absent-one"]
