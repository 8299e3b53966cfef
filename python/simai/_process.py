"""Runs a program, and says what came of it."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from typing import TYPE_CHECKING

from simai._programs import BIN

if TYPE_CHECKING:
    from simai._result import Result

_PREFIX = "simai-"  # Of temporary folders.
_STOP_SECONDS = 5  # For a program to end after SIGTERM.


class Error(Exception):
    """What a program says of input that it refuses, or of a run that failed.

    `program` is its name and `exit_code` how it ended: 2 for input that can be
    mended, 1 for a run that did not finish, 129, 130 or 143 for SIGHUP, SIGINT
    or SIGTERM, negative for another signal. `result` holds what a run had
    written until then, or is None.
    """

    __module__ = "simai"  # For tracebacks.

    def __init__(self, message: str, program: str, exit_code: int,
                 result: Result | None = None) -> None:
        super().__init__(message)
        self.program = program
        self.exit_code = exit_code
        self.result = result


class InputWarning(UserWarning):
    """A warning of a program: something odd in its input."""

    __module__ = "simai"


class Workspace:
    """A temporary folder that lasts as long as this object."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._remove = weakref.finalize(
            self, shutil.rmtree, self.folder, ignore_errors=True)


class KeptPath(type(pathlib.Path())):
    """A path in a workspace, which lasts as long as the path, too."""

    workspace = None

    @classmethod
    def of(cls, path, workspace):
        kept = cls(path)
        kept.workspace = workspace
        return kept


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a process ended, and what it printed."""

    exit_code: int
    output: str
    errors: list[str]
    warnings: list[str]


def without_workspaces(text):
    """Returns `text` with paths in temporary folders as names in them.

    The names of these folders are random, and say nothing to a reader.
    """
    folder = re.escape(os.path.join(tempfile.gettempdir(), _PREFIX))
    return re.sub(folder + r"\w+/", "", text)


def run(program, words, stdin, workspace):
    """Runs `program` with the arguments `words` until it ends.

    It is a process of its own, which ends with this call: also when an
    exception such as KeyboardInterrupt ends it. What it prints about its
    progress goes to sys.stderr.
    """
    given, printed = workspace.folder / "stdin", workspace.folder / "stdout"
    given.write_text(stdin, encoding="utf-8")
    with open(given, "rb") as source, open(printed, "wb") as target:
        process = subprocess.Popen(
            [str(BIN / program), *words], stdin=source, stdout=target,
            stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        try:
            messages = _read_messages(program, process.stderr)
            process.wait()
        except BaseException:
            _stop(process)
            raise
        finally:
            process.stderr.close()
    output = printed.read_text(encoding="utf-8", errors="replace")
    given.unlink()
    printed.unlink()
    return Outcome(process.returncode, without_workspaces(output), **messages)


def failure(program, outcome, result=None):
    """Returns the exception for a process that did not end with 0."""
    message = "\n".join(outcome.errors)
    if not message and outcome.exit_code < 0:
        name = signal.Signals(-outcome.exit_code).name
        message = f"{program} was ended by {name}"
    elif not message:
        message = f"{program} ended with exit code {outcome.exit_code}"
    return Error(message, program, outcome.exit_code, result)


def _read_messages(program, stream):
    """Returns the errors and warnings in a stream; shows all other lines."""
    found = {"errors": [], "warnings": []}
    line_of = re.compile(rf"{re.escape(program)}: (error|warning): (.*)\n?")
    for line in stream:
        match = line_of.fullmatch(line)
        if match:
            found[match[1] + "s"].append(without_workspaces(match[2]))
        else:
            sys.stderr.write(line)
    return found


def _stop(process):
    """Ends a process, which may first remove its unfinished files."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
