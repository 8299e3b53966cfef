"""What a program wrote, as values of Python."""

from __future__ import annotations

import contextlib
import csv
import html
import json
import os
import pathlib
import re
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Dict, List

from simai import _plots
from simai._process import KeptPath, Workspace, without_workspaces
from simai._summary import summary_of

# The table that a run is about: the first of these that it has.
_MAIN_TABLES = ("plans", "curve", "capacity", "solutions", "collective",
                "comparison", "results", "goodput", "jobs", "breakdown",
                "iteration", "requests")
_INTEGER = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def read(folder: str | os.PathLike[str]) -> Result:
    """Returns the result in a folder that a program wrote before."""
    path = pathlib.Path(folder)
    if not path.is_dir():
        raise NotADirectoryError(f"{path}: expected the folder of a run")
    return Result("", path, "", [], None)


class Table(List[Dict[str, Any]]):
    """The rows of a result file, each a dictionary by column.

    Whole numbers are int, other numbers float, true and false bool, and empty
    fields None. The names of columns end in their units.
    """

    def __init__(self, name: str, columns: list[str],
                 rows: Iterable[dict[str, Any]]) -> None:
        super().__init__(rows)
        self.name = name
        self.columns = columns

    def frame(self) -> Any:
        """Returns a data frame of pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("data frames need pandas: pip install pandas",
                              name="pandas") from error
        return pandas.DataFrame(list(self), columns=self.columns)

    def __repr__(self) -> str:
        return (f"<Table {self.name}: {len(self)} rows of "
                f"{', '.join(self.columns)}>")


class Result:
    """What came of a run.

    As an argument of another function, a result stands for the file or folder
    that was written. Without `output` that is a temporary one, which lasts as
    long as the result, its tables and its paths.
    """

    def __init__(self, program: str, path: pathlib.Path | None, output: str,
                 warnings: list[str], workspace: Workspace | None) -> None:
        self.program = program  # Its name; empty for read().
        # The file or folder that was written, or None.
        self.path = path and KeptPath.of(path, workspace)
        self.output = output  # What the program printed.
        self.warnings = warnings  # Its warnings, one text each.
        self._workspace = workspace  # Keeps the folder.
        self._tables: Mapping[str, Table] | None = None

    @property
    def files(self) -> dict[str, pathlib.Path]:
        """The files that were written, as {name: path}."""
        if self.path is None:
            return {}
        if self.path.is_dir():
            return {path.relative_to(self.path).as_posix():
                    KeptPath.of(path, self._workspace)
                    for path in sorted(self.path.rglob("*"))
                    if path.is_file()}
        return {self.path.name: self.path} if self.path.exists() else {}

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables that were written, as {name: Table}; read when used."""
        if self._tables is None:
            self._tables = _Lazy(self._readers(), "table")
        return self._tables

    @property
    def json(self) -> Mapping[str, Any]:
        """The JSON files that were written, as {name: contents}."""
        return _Lazy({name[:-5]: (_read_json, path)
                      for name, path in self.files.items()
                      if name.endswith(".json")}, "JSON file")

    @property
    def summary(self) -> dict[str, float]:
        """The numbers that the run came to, as {name: number}.

        The names end in their units, and are those of simai_sweep. What
        simai.serve returns begins with the deployment.
        """
        return summary_of(self.json)

    @property
    def main_table(self) -> str:
        """The name of the table that the run is about."""
        names = [name for name in _MAIN_TABLES if name in self.tables]
        if not names:
            names = list(self.tables)
        if not names:
            raise KeyError("the run has no tables")
        return names[0]

    def frame(self, table: str | None = None) -> Any:
        """Returns a table, or else the main one, as a data frame of pandas."""
        return self.tables[table or self.main_table].frame()

    def plot(self, ax: Any = None) -> Any:
        """Draws what the run is about, and returns the axes of matplotlib.

        That is where the time of an iteration goes, plans by time and memory,
        latencies or deployments under load, bus bandwidth by size, or goodput
        by the time between checkpoints.
        """
        return _plots.plot(self, ax)

    def _readers(self):
        readers = {}
        for name, path in self.files.items():
            # SimAI's file holds two tables of different columns.
            if name.endswith(".csv") and name != "EndToEnd.csv":
                readers[name[:-4]] = (_read_csv, path)
            if name == "sweep.db":
                readers["results"] = (_read_database, path)
        return readers

    def prefix(self) -> str:
        """The begin of the paths of a trace of Chakra: PREFIX.0.et, ..."""
        end = ".0.et"
        found = [path for name, path in self.files.items()
                 if name.endswith(end)]
        if len(found) != 1:
            raise TypeError("the run wrote no trace of Chakra")
        return os.fspath(found[0])[:-len(end)]

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError("the run wrote no file")
        return os.fspath(self.path)

    def __str__(self) -> str:
        return self.output

    def _repr_html_(self) -> str:  # What a notebook shows of a cell's value.
        return f"<pre>{html.escape(self.output or repr(self))}</pre>"

    def __repr__(self) -> str:
        wrote = ", ".join(self.files) or "no files"
        return f"<Result of {self.program or self.path}: {wrote}>"


class _Lazy(Mapping):
    """Contents of files, read when they are asked for."""

    def __init__(self, readers, kind):
        self._readers = readers  # {name: (function, path)}
        self._kind = kind
        self._values = {}

    def __getitem__(self, name):
        if name not in self._readers:
            known = ", ".join(self._readers) or "none"
            raise KeyError(f"no {self._kind} {name!r} (there are: {known})")
        if name not in self._values:
            function, path = self._readers[name]
            self._values[name] = function(name, path)
        return self._values[name]

    def __iter__(self):
        return iter(self._readers)

    def __len__(self):
        return len(self._readers)

    def __repr__(self) -> str:
        return f"<{self._kind}s: {', '.join(self._readers) or 'none'}>"


def _read_json(_, path):
    return json.loads(without_workspaces(path.read_text("utf-8")))


def _read_csv(name, path):
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader(line for line in file if not line.startswith("#"))
        header = next(lines, [])
        columns = [_values(column) for column in zip(*lines)]
    return Table(name, header, _rows(header, columns))


def _read_database(name, path):
    # Opened for reading only: a sweep may be writing.
    address = f"{path.resolve().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
        cursor = database.execute("SELECT * FROM results")
        header = [column[0] for column in cursor.description]
        rows = [dict(zip(header, row)) for row in cursor]
    return Table(name, header, rows)


def _rows(header, columns):
    return [dict(zip(header, row)) for row in zip(*columns)]


def _values(column):
    """Returns the fields of a column as values of one type."""
    filled = [field for field in column if field]
    if all(map(_INTEGER.fullmatch, filled)):
        convert = int
    elif all(map(_NUMBER.fullmatch, filled)):
        convert = float
    elif all(field in ("true", "false") for field in filled):
        convert = "true".__eq__
    else:
        convert = str
    return [convert(field) if field else None for field in column]
