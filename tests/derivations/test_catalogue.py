"""Mistakes of those who write a law: each is one error that names the law or its file."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from varlaw.checks.verify import verify
from varlaw.derivations import catalogue
from varlaw.derivations.catalogue import CatalogueError, check, entries, find, known

LAW = """
@law(
    name="mine",
    family="forward",
    title="A law",
    regime="always",
    sources=("he2015",),
)
def mine():
    pass
"""

Write = Callable[..., None]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Puts modules of laws in place of the catalogue's."""

    def write(*texts: str) -> None:
        modules = [(f"module{number}", text) for number, text in enumerate(texts)]
        monkeypatch.setattr(catalogue, "_sources", lambda: iter(modules))
        entries.cache_clear()

    yield write
    monkeypatch.undo()
    entries.cache_clear()


def test_a_law_is_found(written: Write) -> None:
    written(LAW)
    assert list(entries()) == ["mine"]


def test_a_law_is_read_from_the_sources_once(monkeypatch: pytest.MonkeyPatch) -> None:
    law = find("he")
    monkeypatch.setattr(catalogue, "_sources", lambda: pytest.fail("the sources are read again"))
    assert find("he") is law


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"A law"', "TITLE", "title is not literal"),
        ("title=", "titel=", "it has no argument 'titel'; did you mean 'title'?"),
        ('    title="A law",\n', "", "it lacks the argument 'title'"),
        ('("he2015",)', '("he2015")', "sources is a tuple of texts, not 'he2015'"),
        ('"always"', "3", "regime is a text, not 3"),
        ('name="mine"', '"mine"', "its arguments are given by name"),
        ('name="mine"', "**more", "it has no argument '**'"),
    ],
)
def test_a_decorator_written_wrongly(written: Write, old: str, new: str, message: str) -> None:
    assert old in LAW
    written(LAW.replace(old, new))
    with pytest.raises(CatalogueError) as caught:
        known("mine")
    assert str(caught.value) == f"derivations/module0.py: the law above mine(): {message}"


@pytest.mark.parametrize(
    ("texts", "homes"), [((LAW, LAW), "module0.py and module1.py"), ((2 * LAW,), "module0.py")]
)
def test_a_name_used_twice(written: Write, texts: tuple[str, ...], homes: str) -> None:
    written(*texts)
    with pytest.raises(CatalogueError, match=f"two laws are called 'mine', in derivations/{homes}"):
        known("mine")


@pytest.mark.parametrize("entry", entries().values(), ids=lambda entry: entry.name)
def test_what_the_laws_refer_to_is_there(entry: catalogue.Entry) -> None:
    check(entry)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sources": ("nobody1999",)}, r"law 'he': no source 'nobody1999' in sources.bib"),
        ({"usual": ("w: zero meen",)}, "law 'he': usual: .*zero meen"),
        ({"rests_on": ("lecum",)}, "law 'he': .*'lecum'; did you mean 'lecun'"),
    ],
)
def test_verify_finds_what_is_not_there(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, tuple[str, ...]], message: str
) -> None:
    spoilt = {**entries(), "he": replace(entries()["he"], **changed)}  # type: ignore[arg-type]
    monkeypatch.setattr(catalogue, "entries", lambda: spoilt)
    with pytest.raises(CatalogueError, match=message):
        verify(["he"], steps_only=True)


@pytest.mark.parametrize("pitfalls", ['("a", "b", "c")', '(("a", "b"),)', '"a"'])
def test_pitfalls_are_triples_of_texts(pitfalls):
    given = 'name="a", family="b", title="c", regime="d", sources=("e",)'
    with pytest.raises(TypeError, match="telling, right, number"):
        catalogue._entry(f"law({given}, pitfalls={pitfalls})")
