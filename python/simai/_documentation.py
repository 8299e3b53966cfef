"""Describes the functions to people and to editors, from the option tables."""

from __future__ import annotations

import inspect
import textwrap

_WIDTH = 79
_STDIN = "what the program reads from stdin: text, or objects for JSON lines"

# Types of values by their names in --help. A name that is absent is text.
_TYPES = {
    "": "bool",
    "[0|1]": "bool",
    "DIR": "_Path",
    "FILE": "_File",
    "GBps": "float",
    "GiB": "float",
    "KEY=VALUE": "str | Mapping[str, object]",
    "LIST": "int | str",
    "LOG": "_Path",
    "MS": "float",
    "N": "int",
    "P": "float",
    "PERCENT": "float",
    "PREFIX": "_Path",
    "RANK": "int",
    "SECONDS": "float",
    "SIZE": "int | str",
    "TOKENS": "int",
    "X": "float",
}
_LISTS = ("FILES", "LIST")  # Names of lists without a comma.


def docstring(program):
    """Returns the documentation of a program's function."""
    parts = [program.summary[0].upper() + program.summary[1:] + ".", "",
             *textwrap.wrap(program.description, _WIDTH - 4)]
    if program.operands:
        parts += ["", f"Positional arguments: {program.operands}"]
    for command in program.commands:
        parts += ["", f"{program.command}({command.name!r}, "
                      f"{command.operands}): {command.summary}",
                  *_option_lines(command.options)]
    parts += _option_lines(program.options)
    parts += ["", f"stdin: {_STDIN}", "",
              "Returns a simai.Result; raises simai.Error."]
    return "\n".join(parts)


def signature(program):
    """Returns the signature that help() and notebooks show."""
    kind = inspect.Parameter
    operands = kind("operands", kind.VAR_POSITIONAL)
    keywords = [kind(option.keyword, kind.KEYWORD_ONLY, default=None)
                for option in all_options(program)]
    return inspect.Signature(
        [operands, *keywords, kind("stdin", kind.KEYWORD_ONLY, default="")])


def all_options(program):
    """Returns the options of a program or of all its commands, each once."""
    options = {option.name: option for option in program.options}
    for command in program.commands:
        for option in command.options:
            options.setdefault(option.name, option)
    return list(options.values())


def annotation(option):
    """Returns the type of an option's value, as a stub has it."""
    value = option.value.split("[,")[0]
    first = value.split(",")[0]
    names = [first] if first in _TYPES else first.split("|")
    types = [_TYPES.get(name, "str") for name in names]
    if option.values:
        literals = ", ".join(f'"{value}"' for value in option.values)
        types.insert(0, f"Literal[{literals}]")
    is_list = "," in option.value or option.value in _LISTS
    if is_list:
        types.append("Sequence[object]")
    unique = dict.fromkeys(" | ".join(types).split(" | "))
    return " | ".join([*unique, "None"])


def _option_lines(options):
    lines = []
    group = None
    for option in options:
        if option.group != group:
            group = option.group
            lines += ["", f"{group}:"]
        value = f" {option.value}" if option.value else ""
        names = ", ".join([option.keyword, *map(_alias, option.aliases)])
        lines += textwrap.wrap(
            f"{names}{value}: {option.help}", _WIDTH - 4,
            initial_indent=" " * 4, subsequent_indent=" " * 8)
    return lines


def _alias(name):
    return name.replace("-", "_")
