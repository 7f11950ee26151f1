"""LALR parsers from tables that are shipped, as making them from a grammar takes a while.

A table is a JSON file beside its grammar. It says which grammar, options and version of Lark it
was made of; for any others the parser is made from the grammar.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

Table = dict[str, Any]


@dataclass(frozen=True)
class Grammar:
    """The grammar `name`.lark of a package, with `more` rules after it.

    `options` are those of Lark that JSON can hold, `objects` the others, such as `postlex`.
    """

    package: str
    name: str
    more: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    objects: Mapping[str, Any] = field(default_factory=dict)

    def parser(self) -> Lark:
        """The parser, of the shipped table where that is of this grammar."""
        if self.shipped.is_file():
            table = json.loads(self.shipped.read_text(encoding="utf-8"))
            if table["of"] == self._origin:
                return self.loaded(table)
        return self.made()

    def made(self) -> Lark:
        """The parser, made from the grammar."""
        return Lark(self._text, parser="lalr", **self.options, **self.objects)

    def table(self) -> Table:
        """What is shipped of the parser."""
        data, memo = self.made().memo_serialize([TerminalDef, Rule])
        data["options"] = {k: v for k, v in data["options"].items() if k not in self.objects}
        data["parser"]["lexer_conf"].pop("lexer_type")
        found: Table = json.loads(json.dumps({"of": self._origin, "data": data, "memo": memo}))
        return found

    def loaded(self, table: Table) -> Lark:
        """The parser of a table; JSON has made texts of the numbers of states and rules."""
        data = table["data"]
        data["options"] |= self.objects
        data["parser"]["lexer_conf"]["lexer_type"] = data["options"]["lexer"]
        automaton = data["parser"]["parser"]
        automaton["states"] = {int(state): row for state, row in automaton["states"].items()}
        memo = {int(number): entry for number, entry in table["memo"].items()}
        return Lark.load({"data": data, "memo": memo})

    @property
    def shipped(self) -> Traversable:
        """The file of the table."""
        return files(self.package).joinpath(f"{self.name}.table.json")

    @property
    def _text(self) -> str:
        place = files(self.package).joinpath(f"{self.name}.lark")
        return place.read_text(encoding="utf-8") + self.more

    @property
    def _origin(self) -> Table:
        return {"lark": lark.__version__, "grammar": self._text, "options": dict(self.options)}
