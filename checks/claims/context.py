"""What is declared about a document's names: values, signs, random variables and arrays."""

from dataclasses import dataclass

from varlaw.symbolic.formulas.tree import Node


@dataclass(frozen=True)
class Context:
    """Declarations, as plain data that can be sent to another process."""

    values: tuple[tuple[str, Node], ...] = ()
    signs: tuple[tuple[str, bool], ...] = ()
    log_base: int | None = None

    def value(self, name: str) -> Node | None:
        return dict(self.values).get(name)

    def knows(self, function: str) -> bool:
        return False


EMPTY = Context()
