"""Rules of the house, checked on the syntax trees of the four folders.

Each rule is a function from a parsed file to its problems, has a wrong twin below that it must
report, and a right one that it must let through.
"""

import ast
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# What each folder may import of the project: imports go one way, and the root is the front door.
MAY_IMPORT = {
    "symbolic": ("varlaw.symbolic",),
    "derivations": ("varlaw.symbolic", "varlaw.derivations"),
    "checks": ("varlaw.symbolic", "varlaw.derivations", "varlaw.checks"),
    "interface": ("varlaw",),
}
MOST_LINES = 350
EVALUATORS = {"eval", "exec", "compile"}
# Absolute paths of somebody's machine have no place in a file; spelt apart for this file's sake.
LOCAL_PATHS = ("/" + "work/", "../" + "shared")


@dataclass(frozen=True)
class Source:
    """One Python file: its folder, the text and the syntax tree."""

    folder: str
    name: str
    text: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse(self.text, self.name)))


Problems = Iterator[tuple[int, str]]  # line, what is wrong there
Rule = Callable[[Source], Problems]


@cache
def sources() -> list[Source]:
    return [
        Source(folder, str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
        for folder in MAY_IMPORT
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def mentions(source: Source, names: set[str]) -> Iterator[tuple[ast.expr | ast.alias, str]]:
    """Yield every mention of a name: bare, as an attribute, or in an import whatever its alias."""
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id in names:
            yield node, node.id
        elif isinstance(node, ast.Attribute) and node.attr in names:
            yield node, node.attr
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if names & set(alias.name.split(".")):
                    yield alias, alias.name


def imports(source: Source) -> Iterator[tuple[ast.stmt | ast.Call, str]]:
    """Yield the absolute dotted name of every import, ``from a import b`` as ``a.b``."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            first = node.args[0]
            by_name = last_name(node.func) in {"import_module", "__import__"}
            if by_name and isinstance(first, ast.Constant):
                yield node, str(first.value)


def last_name(node: ast.AST) -> str:
    """Return ``c`` for ``c`` and for ``a.b.c``, nothing for any other expression."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def holds_text(node: ast.AST) -> bool:
    """Say whether an argument is a string, or a display of pairs that holds one."""
    if isinstance(node, ast.Dict | ast.List | ast.Set | ast.Tuple):
        return any(map(holds_text, ast.iter_child_nodes(node)))
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def no_evaluation(source: Source) -> Problems:
    """Builtin ``eval``, ``exec``, ``compile`` are nowhere; ``re.compile`` and methods are fine."""
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id in EVALUATORS:
            yield node.lineno, f"builtin {node.id}"
        elif isinstance(node, ast.Attribute) and node.attr in EVALUATORS:
            if isinstance(node.value, ast.Name) and "builtins" in node.value.id:
                yield node.lineno, f"builtin {node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module == "builtins":
            yield node.lineno, "import from builtins"


def no_sympy_parser(source: Source) -> Problems:
    """SymPy's parser executes what it is given: text goes through the project's own grammar."""
    for mention, name in mentions(source, {"parse_expr", "sympy_parser"}):
        yield mention.lineno, name
    for node, name in imports(source):
        if name.startswith("sympy.parsing"):
            yield node.lineno, name


def no_conversion_of_unknowns(source: Source) -> Problems:
    """``sympify`` and ``S`` evaluate strings, so they take literals only (``S.Half`` is fine).

    SymPy's own ``_sympify`` refuses strings, and is allowed.
    """
    harmless: set[ast.expr] = set()  # mentions that call it with a literal, or look into S
    imported_s = False  # otherwise a bare S is a local variable
    for node in source.nodes:
        if isinstance(node, ast.Call):
            if len(node.args) == 1 and is_literal(node.args[0]):
                harmless.add(node.func)
            if last_name(node.func) == "subs" and any(map(holds_text, node.args)):
                yield node.lineno, "text in subs"
        elif isinstance(node, ast.Attribute) and last_name(node.value) == "S":
            harmless.add(node.value)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("sympy"):
            imported_s |= any(alias.name == "S" for alias in node.names)
    for mention, name in mentions(source, {"sympify", "S"}):
        if isinstance(mention, ast.alias):
            if mention.asname and name in {"sympify", "S"}:
                yield mention.lineno, f"{name} under another name"
        elif isinstance(mention, ast.Name) and name == "S" and not imported_s:
            continue
        elif mention not in harmless:
            yield mention.lineno, f"{name} of something else than a literal"


def absolute_imports(source: Source) -> Problems:
    """No relative imports, and none by a folder's name: so loaded, a module is there twice."""
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "relative import"
    for node, name in imports(source):
        if name.partition(".")[0] in MAY_IMPORT:
            yield node.lineno, f"import of the folder: {name}"


def one_way_imports(source: Source) -> Problems:
    """symbolic <- derivations <- checks <- front door, and never back."""
    allowed = MAY_IMPORT[source.folder]
    for node, name in imports(source):
        ours = name.partition(".")[0] == "varlaw"
        if ours and not any(f"{name}.".startswith(f"{package}.") for package in allowed):
            yield node.lineno, f"{source.folder} imports {name}"


def short_files(source: Source) -> Problems:
    """A file of that length is two files."""
    if (lines := len(source.text.splitlines())) >= MOST_LINES:
        yield lines, f"{lines} lines, {MOST_LINES - 1} at most"


RULES = [
    no_evaluation,
    no_sympy_parser,
    no_conversion_of_unknowns,
    absolute_imports,
    one_way_imports,
    short_files,
]

WRONG = [
    (no_evaluation, "symbolic", "eval('1')"),
    (no_evaluation, "symbolic", "exec('x = 1')"),
    (no_evaluation, "symbolic", "run = compile"),
    (no_evaluation, "interface", "import builtins\nbuiltins.eval('1')"),
    (no_evaluation, "checks", "from builtins import eval as e"),
    (no_sympy_parser, "symbolic", "from sympy import parse_expr"),
    (no_sympy_parser, "symbolic", "import sympy\nsympy.parse_expr(text)"),
    (no_sympy_parser, "checks", "from sympy.parsing.latex import parse_latex"),
    (no_sympy_parser, "checks", "import sympy.parsing.sympy_parser as p"),
    (no_conversion_of_unknowns, "symbolic", "from sympy import S\nS(x)"),
    (no_conversion_of_unknowns, "symbolic", "import sympy\nsympy.S(x)"),
    (no_conversion_of_unknowns, "symbolic", "import sympy as sp\nsp.sympify(x)"),
    (no_conversion_of_unknowns, "symbolic", "from sympy import sympify\nsympify(x + 1)"),
    (no_conversion_of_unknowns, "symbolic", "from sympy import sympify\nsympify(f'{x}')"),
    (no_conversion_of_unknowns, "symbolic", "from sympy import sympify\nmap(sympify, parts)"),
    (no_conversion_of_unknowns, "symbolic", "from sympy import S\nmap(S, parts)"),
    (no_conversion_of_unknowns, "symbolic", "from sympy import sympify as convert\nconvert(x)"),
    (no_conversion_of_unknowns, "symbolic", "expression.subs(x, 'text')"),
    (no_conversion_of_unknowns, "symbolic", "expression.subs({x: 'text'})"),
    (absolute_imports, "symbolic", "from . import moments"),
    (absolute_imports, "symbolic", "from .moments import moment"),
    (absolute_imports, "checks", "import symbolic.moments"),
    (absolute_imports, "checks", "from interface import cli"),
    (one_way_imports, "symbolic", "from varlaw.derivations import law"),
    (one_way_imports, "symbolic", "import varlaw.checks.audit"),
    (one_way_imports, "symbolic", "from varlaw import checks"),
    (one_way_imports, "symbolic", "import varlaw"),
    (one_way_imports, "derivations", "from varlaw.checks.audit import audit"),
    (one_way_imports, "derivations", "def f():\n    from varlaw.checks import audit"),
    (one_way_imports, "derivations", "import_module('varlaw.checks')"),
    (one_way_imports, "checks", "from varlaw import moment"),
    (one_way_imports, "checks", "from varlaw.cli import main"),
    (short_files, "symbolic", "x = 1\n" * MOST_LINES),
]

RIGHT = [
    (no_evaluation, "symbolic", "import re\nre.compile('x')\nclass F:\n    def eval(cls): ...\n"),
    (no_sympy_parser, "symbolic", "from sympy import Symbol\nSymbol('x')"),
    (no_conversion_of_unknowns, "symbolic", "from sympy import S\nS(1)\nS(-2)\nS.Half"),
    (no_conversion_of_unknowns, "symbolic", "import sympy\nsympy.S.Half\nsympy.sympify(1)"),
    (no_conversion_of_unknowns, "symbolic", "S = total(x)\nuse(S)\ny.subs(Symbol('x'), 2)"),
    (absolute_imports, "checks", "import sympy\nfrom varlaw.symbolic import moments"),
    (one_way_imports, "symbolic", "import numpy\nfrom varlaw.symbolic.moments import moment"),
    (one_way_imports, "derivations", "from varlaw import symbolic, derivations"),
    (one_way_imports, "checks", "import varlaw.derivations\nimport varlaw.symbolic\n"),
    (one_way_imports, "interface", "import varlaw.checks\nfrom varlaw import moment"),
    (short_files, "symbolic", "x = 1\n" * (MOST_LINES - 1)),
]


def name_of(value: object) -> str:
    return getattr(value, "__name__", str(value).replace("\n", "; ")[:40])


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_there_is_something_to_check(folder: str) -> None:
    assert [source for source in sources() if source.folder == folder]


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_rule_holds(rule: Rule) -> None:
    found = [
        f"{source.name}:{line}: {problem}" for source in sources() for line, problem in rule(source)
    ]
    assert not found, f"{rule.__doc__}\n" + "\n".join(found)


@pytest.mark.parametrize(("rule", "folder", "text"), WRONG, ids=name_of)
def test_wrong_source_is_reported(rule: Rule, folder: str, text: str) -> None:
    assert list(rule(Source(folder, "wrong.py", text)))


@pytest.mark.parametrize(("rule", "folder", "text"), RIGHT, ids=name_of)
def test_right_source_passes(rule: Rule, folder: str, text: str) -> None:
    assert not list(rule(Source(folder, "right.py", text)))


def test_every_rule_has_a_wrong_and_a_right_twin() -> None:
    for cases in (WRONG, RIGHT):
        assert {rule for rule, _, _ in cases} == set(RULES)


def modules_with_lambdify(files: list[Source]) -> list[str]:
    return [source.name for source in files if any(mentions(source, {"lambdify"}))]


def test_one_module_at_most_calls_lambdify() -> None:
    """``lambdify`` executes the names of symbols: one module makes them harmless first."""
    assert len(modules_with_lambdify(sources())) <= 1


def test_a_second_lambdify_is_noticed() -> None:
    texts = ["import sympy\nsympy.lambdify(x, y)", "from sympy import lambdify as f", "x = 1"]
    files = [Source("symbolic", f"{number}.py", text) for number, text in enumerate(texts)]
    assert modules_with_lambdify(files) == ["0.py", "1.py"]


def local_paths(text: str) -> list[int]:
    """Return the numbers of the lines that name a place on somebody's machine."""
    return [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if any(path in line for path in LOCAL_PATHS)
    ]


def project_files() -> list[Path]:
    """Return the files that git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_local_path() -> None:
    files = project_files()
    assert files
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files
        for line in local_paths(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not found


@pytest.mark.parametrize("path", LOCAL_PATHS)
def test_a_local_path_is_noticed(path: str) -> None:
    assert local_paths(f"fine\nsee {path}notes.txt\n") == [2]
