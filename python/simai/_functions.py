"""Makes a function of each program."""

from __future__ import annotations

import json
import pathlib
import warnings

from simai import _process
from simai._arguments import Writer, operand_word, option_words
from simai._documentation import docstring, signature
from simai._programs import keyword_of
from simai._result import Result

# Flags that make a program print its answer, and refuse a place for files.
_ONLY_PRINT = ("estimate", "list_systems", "objective")


def functions(programs):
    """Returns {name: function} for all programs."""
    return {program.command: _function(program)
            for program in programs.programs}


def _function(program):
    def function(*operands, **options):
        return _call(program, operands, options)

    function.__name__ = function.__qualname__ = program.command
    function.__module__ = "simai"
    function.__doc__ = docstring(program)
    function.__signature__ = signature(program)
    return function


def _call(program, operands, options):
    workspace = _process.Workspace()
    stdin = _stdin_text(options.pop("stdin", ""))
    command = operands[0] if program.commands and operands else None
    table = _by_keyword(program.options_of(command))
    writer = Writer(workspace.folder)
    words = [operand_word(program.command, operand, writer)
             for operand in operands]
    for keyword, value in options.items():
        words += option_words(table.get(keyword), keyword, value, writer)
    path, chosen = _output(program, table, options, workspace)
    words += chosen
    outcome = _process.run(program.name, words, stdin, workspace)
    for message in outcome.warnings:
        warnings.warn(message, _process.InputWarning, stacklevel=3)
    if path is not None and not path.exists():
        path = None
    result = Result(program.name, path, outcome.output, outcome.warnings,
                    workspace)
    if outcome.exit_code != 0:
        has_result = outcome.exit_code == 1 and (result.files or result.output)
        raise _process.failure(program.name, outcome,
                               result if has_result else None)
    return result


def _by_keyword(options):
    """Returns {keyword: option}, with the aliases of options."""
    return {keyword_of(name): option for option in options
            for name in (option.name, *option.aliases)}


def _output(program, table, options, workspace):
    """Returns where a program writes, and the words that make it do so.

    Where the caller names no place, it is one in the workspace. The path is
    None for a command that writes nothing.
    """
    output = table.get("output") or table.get("metrics_config_output_dir")
    if output is None:
        return None, []
    for keyword, value in options.items():
        if table.get(keyword) is output and value is not None:
            return pathlib.Path(value), []
    prints = output.value != "DIR" and program.commands
    if prints or any(options.get(name) for name in _ONLY_PRINT):
        return None, []
    path = workspace.folder / str(options.get("result") or program.command)
    return path, [f"--{output.name}={path}"]


def _stdin_text(stdin):
    """Returns what a program reads: text, or a list of JSON objects."""
    if isinstance(stdin, str):
        return stdin
    return "".join(json.dumps(line) + "\n" for line in stdin)
