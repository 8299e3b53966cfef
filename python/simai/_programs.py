"""The programs and their options, as programs.json of this package has them.

The build writes that file from the option tables that the programs read, so
the functions made of it have the options of the programs.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parent
BIN = PACKAGE / "bin"  # The folder of the programs.


@dataclasses.dataclass(frozen=True)
class Option:
    name: str  # Long name, with hyphens.
    aliases: tuple[str, ...]
    value: str  # Name of the value, as --help has it; empty for a flag.
    group: str  # Heading in --help.
    help: str
    values: tuple[str, ...]  # Values that are known, maybe among others.

    @property
    def keyword(self):
        return keyword_of(self.name)


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of a program that has commands."""

    name: str
    summary: str
    operands: str
    options: tuple[Option, ...]


@dataclasses.dataclass(frozen=True)
class Program:
    name: str  # Of the executable.
    command: str  # Of `simai`, and the name of the function.
    summary: str
    description: str
    operands: str
    options: tuple[Option, ...]  # Empty if it has commands.
    commands: tuple[Command, ...]

    def options_of(self, command):
        """Returns the options behind a command, or those of the program."""
        for candidate in self.commands:
            if candidate.name == command:
                return candidate.options
        return self.options


@dataclasses.dataclass(frozen=True)
class Programs:
    version: str
    programs: tuple[Program, ...]


def keyword_of(name):
    """Returns an option's name as a keyword of Python."""
    return name.lstrip("-").replace("-", "_")


def load(path=PACKAGE / "programs.json"):
    """Returns the programs that a programs.json describes."""
    data = json.loads(pathlib.Path(path).read_text("utf-8"))
    return Programs(data["version"], tuple(map(_program, data["programs"])))


def _program(data):
    return Program(**{**data, "options": _options(data["options"]),
                      "commands": tuple(
                          Command(**{**command, "options": _options(
                              command["options"])})
                          for command in data["commands"])})


def _options(data):
    return tuple(Option(**{**option, "aliases": tuple(option["aliases"]),
                           "values": tuple(option["values"])})
                 for option in data)
