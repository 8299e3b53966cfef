"""Turns the arguments of a function into words for a program.

    tp=8                     --tp=8
    tp=[1, 2, 4]             --tp=1,2,4
    sp=True                  --sp; False and None leave an option out
    nccl={"NCCL_ALGO": "Ring"}   --nccl=NCCL_ALGO=Ring
    topology=result          --topology=FILE, which an earlier call wrote
    chakra=result            --chakra=PREFIX of the files that trace() wrote
    events={...}             --events=FILE, which holds the dictionary
    trace=frame              --trace=FILE, a CSV file of the data frame
    trace=[{...}, {...}]     --trace=FILE, a CSV file with a row for each

A file is written for a dictionary where the option takes a file. It is JSON,
and thus also YAML, which the programs read; a path in it that is no text
becomes absolute.
"""

from __future__ import annotations

import collections.abc
import csv
import io
import json
import numbers
import os

from simai._result import Result, Table


class Writer:
    """Writes the input files of one call into `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0  # Files so far.

    def write(self, stem, suffix, text):
        """Returns the path of a new file that holds `text`."""
        self.count += 1
        path = self.folder / f"{stem}{suffix}"
        if path.exists():
            path = self.folder / f"{stem}-{self.count}{suffix}"
        path.write_text(text, encoding="utf-8")
        return str(path)


def option_words(option, keyword, value, writer):
    """Returns the words for one keyword of a function.

    `option` is None for a keyword that the program does not know, which it
    will say. Brackets around the name of a value, as in "[0|1]", make it
    optional.
    """
    name = "--" + keyword.replace("_", "-")
    if value is None:
        return []
    if option is None:
        return [name]
    if isinstance(value, bool) and option.value.startswith("["):
        return [f"{name}={int(value)}"]
    if value is False or (value is True and not option.value):
        return [name] if value else []
    return [f"{name}={_text(keyword, value, option.value, writer)}"]


def operand_word(name, value, writer):
    """Returns the word for a positional argument."""
    return _text(name, value, "FILE", writer)


def _text(name, value, takes, writer):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, numbers.Real)):
        return str(value)
    if takes == "PREFIX" and isinstance(value, Result):
        return value.prefix()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "to_csv"):
        return writer.write(name, ".csv", value.to_csv(index=False))
    if isinstance(value, Table) or (takes == "FILE" and _is_rows(value)):
        return writer.write(name, ".csv", _csv(value))
    if isinstance(value, collections.abc.Mapping):
        if "FILE" in takes:
            return writer.write(name, _suffix(value), _json(value))
        return ",".join(f"{key}={_text(name, item, takes, writer)}"
                        for key, item in value.items())
    if isinstance(value, collections.abc.Iterable):
        return ",".join(_text(name, item, takes, writer) for item in value)
    raise TypeError(
        f"{name} is of type {type(value).__name__}: expected a number, text, "
        "a path, a result, a dictionary, a data frame, or a list of these")


def _is_rows(value):
    return bool(value) and isinstance(value, (list, tuple)) and all(
        isinstance(row, collections.abc.Mapping) for row in value)


def _csv(rows):
    """Returns a CSV table with the keys of all rows as its columns."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(columns)
    for row in rows:
        fields = [row.get(column) for column in columns]
        lines.writerow([str(field).lower() if isinstance(field, bool)
                        else field for field in fields])
    return text.getvalue()


def _suffix(value):
    """Returns the ending of the file that holds a dictionary.

    The programs take a model in a .json file for one of Hugging Face, which
    has the key model_type.
    """
    return ".json" if "model_type" in value else ".yaml"


def _json(value):
    return json.dumps(value, indent=1, default=_plain) + "\n"


def _plain(value):
    """Returns a value of a dictionary that JSON does not know."""
    if isinstance(value, os.PathLike):
        return os.path.abspath(value)
    if isinstance(value, numbers.Integral):  # Of numpy.
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError(f"a value of type {type(value).__name__} in a dictionary: "
                    "expected a number, text, a path or a list")
