"""Parsing options with tyro: presets first, so that help shows the defaults of the chosen agent and size."""

import contextlib
import dataclasses
import inspect
import io
import re
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import tyro

from skillplan.errors import UserError, unknown_name

_T = TypeVar("_T")

# How the parser begins a complaint, and how a person is told. A value that a configuration refused explains itself;
# which object it was for is of no interest.
_RETOLD = {
    r"Error parsing [a-z_.-]+: (--.*)": r"\1",
    r"Error parsing (--\S+): (?:no type matching \S*INT\b.* from \[|invalid literal for int.*10: )(['\"])(.*?)\2.*": (
        r"\1 is '\3': give a whole number"
    ),
    r"Error parsing (--\S+): (?:no type matching \S*FLOAT\b.* from \[|.* to float: )(['\"])(.*?)\2.*": (
        r"\1 is '\3': give a number"
    ),
    r"invalid choice '(.*)' for argument '(--.*)'\. Expected one of \((.*)\)\.": r"\2 is '\1': choose from \3",
    r"Missing value for argument '(--.*)'\..*": r"\1 needs a value",
}


def parse(kind: type[_T], arguments: Sequence[str], *, command: str, example: str, default: _T | None = None) -> _T:
    """Read options into the dataclass `kind`; what does not fit becomes a UserError of one sentence.

    Help is `kind`'s docstring and options, with the example at its end.
    """
    _refuse_unknown(kind, arguments)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            options = tyro.cli(
                kind,
                prog=f"skillplan {command}",
                description=inspect.cleandoc(kind.__doc__ or ""),
                args=list(arguments),
                default=default,
                config=(tyro.conf.HelptextFromCommentsOff,),
            )
            return cast(_T, options)
    except SystemExit as stop:
        if stop.code in (0, None):
            print(f"\nExample:\n  {example}")
            raise
        raise UserError(f"{_one_sentence(complaint.getvalue())} `skillplan {command} --help` lists all.") from None


def table(rows: Mapping[str, str]) -> str:
    """Names and what is said of them, in two columns."""
    width = max(map(len, rows), default=0)
    return "\n".join(f"  {name:<{width}}  {text}" for name, text in rows.items())


def option_names(kind: Any, prefix: str = "") -> dict[str, bool]:
    """Every option of a (nested) dataclass, as typed, with whether it takes a value."""
    names: dict[str, bool] = {}
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        hint, annotations = hints[field.name], ()
        if typing.get_origin(hint) is typing.Annotated:
            hint, *annotations = typing.get_args(hint)
        if dataclasses.is_dataclass(hint):
            flat = any(getattr(annotation, "name", None) == "" for annotation in annotations)
            names |= option_names(hint, prefix if flat else f"{prefix}{field.name}.")
        elif not _is_positional(annotations):
            name = f"{prefix}{field.name}".replace("_", "-")
            aliases = [alias for annotation in annotations for alias in getattr(annotation, "aliases", None) or ()]
            names |= dict.fromkeys([f"--{name}", *aliases], hint is not bool)
            if hint is bool:
                head, _, tail = name.rpartition(".")
                names[f"--{head + '.' if head else ''}no-{tail}"] = False
    return names


def positionals_and_values(kind: Any, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The arguments that belong to no option, and the value given to each option; unknown options are refused."""
    _refuse_unknown(kind, arguments)
    takes_value = option_names(kind)
    positionals: list[str] = []
    values: dict[str, str] = {}
    waiting = None
    for argument in arguments:
        if argument.startswith("--"):
            name, equals, value = argument.partition("=")
            name = name.replace("_", "-")
            waiting = name if takes_value.get(name) and not equals else None
            if equals:
                values[name] = value
        elif waiting is not None:
            values[waiting] = argument
            waiting = None
        else:
            positionals.append(argument)
    return positionals, values


def _refuse_unknown(kind: Any, arguments: Sequence[str]) -> None:
    known = option_names(kind)
    for argument in arguments:
        name = argument.partition("=")[0].replace("_", "-")
        if argument.startswith("--") and name not in known and name != "--help":
            raise unknown_name("option", name, known)


def _is_positional(annotations: Sequence[Any]) -> bool:
    return any(annotation is tyro.conf._markers.Positional for annotation in annotations) or any(
        "Positional" in repr(annotation) for annotation in annotations
    )


def _one_sentence(text: str) -> str:
    """The parser's complaint as a sentence, without its frame, which is of lines, of dashes or left out."""
    lines = [line.strip(" │|") for line in text.splitlines() if not re.match(r"\s*[╭╰+]", line)]
    lines = [line for line in lines if line.strip("─-")]
    words = re.sub(r"\s+", " ", " ".join(lines))
    words = words.partition("Argument helptext:")[0].partition("For full helptext")[0].strip()
    words = re.sub(r"^(Parsing error|Value error|Invalid choice|Missing argument) ", "", words)
    words = re.sub("^(Required|Unrecognized) options (?=Missing|Unrecognized)", "", words)
    missing = re.match(r"Missing from (skillplan [a-z-]+):", words)
    if missing:
        names = " and ".join(line for line in lines if re.fullmatch(r"[A-Z|]+", line))
        return f"`{missing[1]}` needs {names}."
    for pattern, told in _RETOLD.items():
        words = re.sub(f"^{pattern}$", told, words)
    return words.rstrip(".") + "."
