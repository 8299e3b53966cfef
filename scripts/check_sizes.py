#!/usr/bin/env python3
"""Fails where a function of the sources has more than 50 lines, or a file 500.

A function is counted from the line where its declaration begins to its closing
brace. A lambda within it, or a table within braces, belongs to it; tables
outside of functions do not count. Tests are not checked: many are one table of
cases.

Usage: check_sizes.py ROOT
"""

import pathlib
import re
import sys

FOLDERS = ("astra-core", "benchmarks", "collectives", "network-frontends",
           "topology", "workload")
MAX_FUNCTION_LINES = 50
MAX_FILE_LINES = 500

# Text in which braces mean nothing.
DEAD = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\''
    r"|//[^\n]*|/\*.*?\*/|^#(?:[^\n]*\\\n)*[^\n]*", re.M | re.S)
# What stands before the braces of namespaces, of classes, and of functions.
SCOPE = re.compile(r"(?:inline )?namespace\b|extern\b|(?:template <.*> )?"
                   r"(?:class|struct|union) (?:alignas\(\d+\) )?[^()]*$")
FUNCTION = re.compile(r"([\w:~]+|operator\W+)\s*\(.*[^=,(]$")


def functions(text):
    """Yields (name, first line, last line) of each function of a file."""
    text = DEAD.sub(lambda dead: re.sub(r"[^\n]", " ", dead.group()), text)

    def line_of(at):
        return text.count("\n", 0, at) + 1

    is_scope = []  # Of each open brace: whether functions may stand in it.
    begin = 0      # Of the declaration that is being read.
    name = None    # Of the function that is being read.
    for match in re.finditer(r"[{};]", text):
        if match.group() == "{":
            if all(is_scope):
                head = " ".join(text[begin:match.start()].split())
                is_scope.append(bool(SCOPE.match(head)))
                # That of a value, as in size_t{1}, follows without a blank.
                is_value = text[match.start() - 1 : match.start()].strip()
                function = not is_value and FUNCTION.search(head)
                name = function.group(1) if function else None
                if is_scope[-1]:
                    begin = match.end()
            else:
                is_scope.append(False)
            continue
        if match.group() == "}":
            was_scope = is_scope.pop()
            if not all(is_scope) or not (was_scope or name):
                continue
            if not was_scope:
                indent = re.match(r"\s*", text[begin:]).end()
                yield name, line_of(begin + indent), line_of(match.start())
        if all(is_scope):
            begin = match.end()


def check(file, text):
    """Yields an error for the file and for each function that is too long."""
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{file}: {lines} lines, more than {MAX_FILE_LINES}"
    for name, first, last in functions(text):
        lines = last - first + 1
        if lines > MAX_FUNCTION_LINES:
            yield (f"{file}:{first}: {name} has {lines} lines, more than "
                   f"{MAX_FUNCTION_LINES}")


def main(root):
    files = [path for folder in FOLDERS
             for path in sorted((root / folder).glob("**/*"))
             if path.suffix in (".h", ".cc")]
    errors = [error for path in files
              for error in check(str(path.relative_to(root)), path.read_text())]
    for error in errors:
        print(error)
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
