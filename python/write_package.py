#!/usr/bin/env python3
"""Writes the Python package simai into a folder, for scripts/wheel and tests.

That is the sources beside this script, the option tables of the programs as
programs.json, the types of all functions as __init__.pyi, and bin/, a link to
the programs.

Usage: write_package.py --tables programs.json --bin DIR --out DIR
"""

import argparse
import pathlib
import shutil
import sys
import textwrap

SOURCES = pathlib.Path(__file__).resolve().parent / "simai"
STUB = '''\
"""Made of the option tables of the programs: see write_package.py."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from simai._process import Error as Error
from simai._process import InputWarning as InputWarning
from simai._result import Result as Result
from simai._result import Table as Table
from simai._result import read as read

_Path = str | PathLike[str]
# A path, a result, a dictionary or a data frame: see simai._arguments.
_File = str | PathLike[str] | Mapping[str, Any] | Any

__version__: str
'''


def stub(documentation, program):
    """Returns the declaration of a program's function."""
    lines = [f"def {program.command}(", "    *operands: _File,"]
    for option in documentation.all_options(program):
        lines.append(f"    {option.keyword}: "
                     f"{documentation.annotation(option)} = None,")
    lines += ['    stdin: str | Sequence[Mapping[str, Any]] = "",',
              ") -> Result:"]
    text = documentation.docstring(program).replace("\\", "\\\\")
    document = textwrap.indent(f'"""{text}\n"""', "    ")
    return "\n".join([*lines, document]) + "\n"


def stubs(package):
    """Returns the stub of the package in a folder, which it imports."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(package.parent))
    from simai import _documentation, _programs
    return "\n".join([STUB, *(stub(_documentation, program)
                              for program in _programs.load().programs)])


def main():
    parser = argparse.ArgumentParser()
    for name in "--tables", "--bin", "--out":
        parser.add_argument(name, type=pathlib.Path, required=True)
    options = parser.parse_args()
    package = options.out.resolve()
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for path in sorted(SOURCES.iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            shutil.copy(path, package)
    shutil.copy(options.tables, package / "programs.json")
    (package / "bin").symlink_to(options.bin.resolve())
    (package / "__init__.pyi").write_text(stubs(package), "utf-8")


if __name__ == "__main__":
    main()
