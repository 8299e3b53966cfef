#!/usr/bin/env python3
"""Fails where two headers define a type of the same name.

All are in one namespace, and a program that links two of them would take the
functions of either for both: the compiler does not see it, and the linker says
nothing.

Usage: check_type_names.py ROOT
"""

import collections
import pathlib
import re
import sys

TYPE = re.compile(
    r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;{]*)? ?\{", re.M
)
FOLDERS = ("astra-core", "collectives", "network-frontends", "topology",
           "workload")


def main(root):
    headers = collections.defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("**/*.h")):
            for name in TYPE.findall(path.read_text()):
                headers[name].append(str(path.relative_to(root)))
    twice = {name: paths for name, paths in headers.items() if len(paths) > 1}
    for name, paths in sorted(twice.items()):
        print(f"{name} is defined in {' and in '.join(paths)}")
    return 1 if twice or not headers else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
