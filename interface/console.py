"""The manners of the command line: one-line errors, exit codes, output that is whole or absent."""

import io
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import IntEnum
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

import click

from varlaw.derivations.catalogue import CatalogueError, entries
from varlaw.symbolic.names import suggestion

if TYPE_CHECKING:
    from pathlib import Path


Command = Callable[..., Any]


class Exit(IntEnum):
    """What the command's exit code says."""

    WELL = 0
    REFUTED = 1
    ERROR = 2
    UNDECIDED = 3
    INTERRUPTED = 130


class Manners(click.Group):
    """A group of commands whose every failure is one line on standard error.

    Usage errors and internal ones end with exit code 2, Ctrl-C with 130. With VARLAW_DEBUG set in
    the environment the traceback is shown as well.
    """

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*args, **kwargs | {"standalone_mode": False})
        except (click.Abort, KeyboardInterrupt):
            complain("interrupted")
            code = Exit.INTERRUPTED
        except click.ClickException as error:
            complain(_message(error))
            code = Exit.ERROR
        except CatalogueError as error:
            complain(str(error))
            code = Exit.ERROR
        except OSError as error:
            complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            code = Exit.ERROR
        except Exception as error:
            kind = type(error).__name__
            hint = "set VARLAW_DEBUG=1 for the traceback"
            complain(f"internal error: {kind}: {one_line(str(error))} ({hint})")
            code = Exit.ERROR
        sys.exit(int(code or 0))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            near = suggestion(args[0], self.commands)
            if args[0] in entries():
                near = f", but a law: varlaw show {args[0]}"
            raise click.UsageError(f"unknown command {args[0]!r}{near}", ctx)
        return super().resolve_command(ctx, args)


class Mathematics(click.Command):
    """A command whose argument is an expression, which may begin with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = {
            name
            for option in self.params
            if isinstance(option, click.Option) and not option.is_flag
            for name in option.opts
        }
        known = {"-h", *(name for option in self.params for name in option.opts)}
        before = ["", *args]
        minus = [
            place
            for place, text in enumerate(args)
            if text[:1] == "-" != text[1:2] and text not in known and before[place] not in valued
        ]
        if len(minus) == 1 and "--" not in args:
            text = args[minus[0]]
            args = [*args[: minus[0]], *args[minus[0] + 1 :], "--", text]
        return super().parse_args(ctx, args)


def complain(message: str) -> None:
    """Print one line about what went wrong; within an exception also its traceback, if asked."""
    if os.environ.get("VARLAW_DEBUG") and sys.exc_info()[1] is not None:
        import traceback

        traceback.print_exc()
    with suppress(BrokenPipeError):
        click.echo(f"varlaw: {message}", err=True)


def one_line(text: str) -> str:
    return " ".join(text.split())


def _message(error: click.ClickException) -> str:
    """Click's message in the words and the form of this project's other messages."""
    if isinstance(error, click.NoSuchOption):
        name, known = error.option_name, error.possibilities or ()
        return f"unknown option {name!r}{suggestion(name, known)}"
    text = one_line(error.format_message()).removesuffix(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def say(text: str, colour: bool | None = None) -> None:
    """Print to standard output; that the reader has gone away is no error."""
    try:
        click.echo(text, color=colour)
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        raise click.ClickException(f"cannot write to standard output: {error.strerror}") from error


def _discard_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush is silent."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def say_json(content: Any) -> None:
    say(json_text(content))


def json_text(content: Any, indent: int | None = 2) -> str:
    """JSON in ASCII, so that it survives any encoding; numbers that are not finite are null."""
    import json

    return json.dumps(_finite(content), indent=indent, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def write_file(path: "Path", content: str | bytes) -> None:
    """Write a whole file or nothing: beside its place first, then renamed into it."""
    try:
        _write(path, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise click.ClickException(f"cannot write {str(path)!r}: {error.strerror}") from error


def _write(path: "Path", content: bytes) -> None:
    import tempfile

    if path.is_dir():
        raise IsADirectoryError(0, "it is a directory")
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        path.write_bytes(content)  # a device, a pipe, or an error
        return
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(draft, mode)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


Callback = Callable[[click.Context, click.Parameter, Any], Any]


def between(low: float, high: float) -> Callback:
    """The check of an option: a number strictly between two others; nan is none."""

    def check(context: click.Context, parameter: click.Parameter, number: float) -> float:
        if not low < number < high:
            raise click.BadParameter(f"{number:g} is not between {low:g} and {high:g}")
        return number

    return check


def pairs(
    context: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> dict[str, str]:
    """The values NAME=VALUE of a repeated option as a dictionary, each name once."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            raise click.BadParameter(f"{text!r} is not of the form {parameter.metavar}")
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice")
        found[name] = value
    return found


def formats(
    *names: str, default: str | None = "text", json: str = "json"
) -> Callable[[Command], Command]:
    """The option --format, whose value goes to `form`, and --json for its value `json`."""
    choice = click.option(
        "--format",
        "form",
        type=click.Choice(names),
        show_default=default,
        help="Form of the output.",
    )
    alias = click.option("--json", "as_json", is_flag=True, help=f"The same as --format {json}.")

    def decorate(command: Command) -> Command:
        @choice
        @alias
        @wraps(command)
        def merged(*args: Any, form: str | None, as_json: bool, **options: Any) -> Any:
            if as_json and form not in (None, json):
                raise click.UsageError(f"'--json' and '--format {form}' exclude one another")
            return command(*args, form=json if as_json else form or default, **options)

        return merged

    return decorate


def width() -> int | None:
    """The width of the terminal; None where standard output is none."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if sys.stdout.isatty() else None


def colour() -> bool:
    """Whether standard output takes colours."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
