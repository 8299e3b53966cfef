#!/usr/bin/env python3
"""Fails where a source uses a header without including it, and still compiles.

Two things hide a missing #include from the compiler. The headers that CMakeLists.txt
precompiles are there for every source: for each name in USES, a source or header
must include the header of that name itself, or the header of its own name must. And
where several sources are compiled as one, an earlier one may have included what a
later one needs: whatever a header of ours is the only one to declare can be used
only where that header is included, directly or by another one.

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
# What a header declares for others, besides macros: types, aliases, constants and
# functions at the beginning of a line. Members are indented.
DECLARED = re.compile(
    r"^(?:class|struct|enum class|enum)(?: alignas\(\w+\))? (\w+)(?: final)? ?[:{]"
    r"|^using (\w+) ="
    r"|^(?:inline |extern )?(?:constexpr|const) [\w:<>, ]+?\b(k[A-Z]\w*)"
    r"|^(?!using|namespace|class|struct|enum|return)[\w:<>,*&\[\] ]*?"
    r"\b([A-Z][a-z]\w*)\(", re.M)
# What a file names itself, at whatever depth: types, template parameters, aliases,
# functions, and constants with those of enumerations.
OWN = re.compile(
    r"\b(?:enum class|class|struct|enum|using|namespace) (\w+)"
    r"|^[^ \n][^\n]* ([A-Z]\w*)\("
    r"|[\w>][*&]? (?<!return )(?<!else )([A-Z]\w*)\("
    r"|\b(k[A-Z]\w*)(?: =|,|>|\[|\s*\})", re.M)


def includes(text):
    return set(re.findall(r'^#include [<"]([^>"]+)[>"]', text, re.M))


def code_of(text):
    """The text without comments, strings and lines for the preprocessor."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|^#[^\n]*', "",
                  text, flags=re.M | re.S)


def names(pattern, code):
    """Returns the group that matched, for each match of the pattern."""
    return {next(filter(None, match.groups()))
            for match in pattern.finditer(code)}


class Sources:
    """The sources and headers of ours, by their paths relative to the root."""

    def __init__(self, texts):
        self.code = {path: code_of(text) for path, text in texts.items()}
        self.includes = {path: includes(text) for path, text in texts.items()}
        self.words = {path: set(re.findall(r"\w+", code))
                      for path, code in self.code.items()}
        self._reached = {}
        declared = {}
        for path, code in self.code.items():
            if path.endswith(".h"):
                macros = set(re.findall(r"^#define (\w+)", texts[path], re.M))
                for name in names(DECLARED, code) | macros:
                    declared.setdefault(name, []).append(path)
        self.header_of = {name: paths[0] for name, paths in declared.items()
                          if len(paths) == 1}

    def reached(self, path):
        """The headers of ours that come with a file."""
        if path not in self._reached:
            self._reached[path] = set()
            for header in self.includes[path] & self.code.keys():
                self._reached[path] |= {header} | self.reached(header)
        return self._reached[path]

    def lacking(self, path):
        """Yields (name, header) for what a file uses without the header."""
        reached = self.reached(path)
        far = {name for name in self.words[path] & self.header_of.keys()
               if self.header_of[name] not in reached | {path}}
        if not far:
            return
        far -= set().union(*(self.words[header] for header in reached))
        for name in sorted(far - names(OWN, self.code[path])):
            # Not a member of something, nor of another namespace.
            if re.search(rf"(?<![.>:\w]){name}\b", self.code[path]):
                yield name, self.header_of[name]


def check_precompiled(root, texts):
    """Returns how many #includes of precompiled headers are missing."""
    precompiled = re.search(r"target_precompile_headers\(\$\{target\} PRIVATE"
                            r"(.*?)\)", (root / "CMakeLists.txt").read_text(),
                            re.S).group(1)
    unknown = set(re.findall(r"<([^>]+)>", precompiled)) - set(USES) - {"utility"}
    for header in sorted(unknown):
        print(f"check_includes.py: add {header} to USES")
    missing = len(unknown)
    for path, text in texts.items():
        have = includes(text) | includes(texts.get(
            str(pathlib.Path(path).with_suffix(".h")), ""))
        code = code_of(text)
        for header, use in USES.items():
            if (re.search(use, code) and header not in have
                    and not have & GIVES.get(header, set())):
                print(f"{path} lacks #include of {header}")
                missing += 1
    return missing


def check_own(texts):
    """Returns how many #includes of headers of ours are missing."""
    sources = Sources(texts)
    missing = 0
    for path in texts:
        for name, header in sources.lacking(path):
            print(f"{path} lacks #include of {header}, which declares {name}")
            missing += 1
    return missing


def main(root):
    texts = {str(path.relative_to(root)): path.read_text()
             for folder in FOLDERS
             for path in sorted((root / folder).glob("**/*.[ch]*"))
             if path.suffix in (".h", ".cc")}
    missing = check_precompiled(root, texts) + check_own(texts)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
