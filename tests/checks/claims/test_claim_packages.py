"""The packages of claims import one another in one direction."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ORDER = ("values", "declarations", "equations", "expectations", "links")
FOLDER = Path(__file__).resolve().parents[3] / "checks" / "claims"


def backward(package: str, text: str) -> Iterator[str]:
    """Imports in a module of a package that go to later ones, or to what stands beside them."""
    allowed = ORDER[: ORDER.index(package) + 1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            root, _, rest = name.partition("varlaw.checks.claims.")
            if not root and rest.partition(".")[0] not in allowed:
                yield name


@pytest.mark.parametrize("package", ORDER)
def test_packages_import_what_comes_before_them(package: str) -> None:
    modules = sorted((FOLDER / package).glob("*.py"))
    assert len(modules) > 1
    found = {module.name: list(backward(package, module.read_text())) for module in modules}
    assert not any(found.values()), found


def test_every_package_has_its_place() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/__init__.py")} == set(ORDER)


@pytest.mark.parametrize(
    "text",
    [
        "from varlaw.checks.claims.links.verdict import Link",
        "def f():\n    from varlaw.checks.claims.links import decide",
        "import varlaw.checks.claims.expectations.means",
        "from varlaw.checks.claims.workers import judge",
        "from varlaw.checks.claims import guarded",
    ],
)
def test_imports_of_what_comes_after_are_seen(text: str) -> None:
    assert list(backward("equations", text))


def test_imports_of_what_comes_before_are_let_through() -> None:
    text = "import sympy\nfrom varlaw.checks.claims.values import numbers\nimport varlaw.symbolic"
    assert not list(backward("equations", text))
