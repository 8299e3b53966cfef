#!/usr/bin/env python3
"""Fails where a source uses a precompiled header without including it.

The headers that CMakeLists.txt precompiles are there for every source, so the
compiler does not notice a missing #include. This script does: for each name in
USES, a source or header must include the header of that name itself, or the
header of its own name must.

Usage: check_includes.py ROOT
"""

import pathlib
import re
import sys

FOLDERS = ("astra-core", "collectives", "network-frontends", "topology",
           "workload")
# What a source that uses the header says. Algorithms and std::pair come with too
# many headers of the standard library to be looked for.
USES = {
    "absl/status/statusor.h": r"\babsl::StatusOr\b",
    "absl/types/span.h": r"\babsl::(?:Make(?:Const)?)?Span\b",
    "algorithm": r"\bstd::(?:sort|stable_sort|find_if|any_of|all_of|none_of"
                 r"|lower_bound|upper_bound|max_element|min_element)\(",
    "fmt/core.h": r"\bfmt::(?:format|print|arg)\b",
    "map": r"\bstd::map<",
    "optional": r"\bstd::(?:optional<|nullopt\b)",
    "string": r"\bstd::(?:string\b|to_string\()",
    "string_view": r"\bstd::string_view\b",
    "vector": r"\bstd::vector<",
}
# A header that promises another.
GIVES = {
    "fmt/core.h": {"fmt/format.h", "fmt/ranges.h", "fmt/compile.h",
                   "astra-core/base/append_format.h"},
    "absl/status/statusor.h": {"astra-core/base/status_macros.h"},
}


def includes(text):
    return set(re.findall(r'^#include [<"]([^>"]+)[>"]', text, re.M))


def code_of(text):
    """The text without comments, strings and #include lines."""
    return re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|^#include.*$', "", text,
                  flags=re.M)


def main(root):
    precompiled = re.search(r"target_precompile_headers\(\$\{target\} PRIVATE"
                            r"(.*?)\)", (root / "CMakeLists.txt").read_text(),
                            re.S).group(1)
    unknown = set(re.findall(r"<([^>]+)>", precompiled)) - set(USES) - {"utility"}
    for header in sorted(unknown):
        print(f"check_includes.py: add {header} to USES")
    missing = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("**/*.[ch]*")):
            if path.suffix not in (".h", ".cc"):
                continue
            text = path.read_text()
            have = includes(text)
            own = path.with_suffix(".h")
            if own != path and own.exists():
                have |= includes(own.read_text())
            code = code_of(text)
            for header, use in USES.items():
                if (re.search(use, code) and header not in have
                        and not have & GIVES.get(header, set())):
                    print(f"{path.relative_to(root)} lacks #include of {header}")
                    missing += 1
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
