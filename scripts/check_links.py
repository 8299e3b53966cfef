#!/usr/bin/env python3
"""Fails where a link or a mention of a page leads nowhere.

Checked are, in every Markdown file below ROOT,

- the files and pictures that links name, and
- the headings that anchors name, as GitHub spells them;

in every other text file, pages such as docs/limits.md that a comment or a
message mentions, with their anchors; and that each page of docs can be reached
by links from docs/README.md. What lies outside of ROOT is not looked at.

Usage: check_links.py ROOT
"""

import collections
import os
import pathlib
import re
import sys

# Folders of what is built or written, not of the source.
SKIPPED = {".git", "build", "results"}
TEXT = {".cc", ".cmake", ".conf", ".h", ".html", ".in", ".js", ".md", ".py", ".sh",
        ".txt", ".yaml", ".yml", ""}
# Pages of other projects' docs folders that sources cite.
CITED = {
    "docs/FULL_RESULTS.md": "SimuMax",
    "docs/_pages/config-json.md": "DeepSpeed",
    "docs/metrics.md": "Vidur",
    "docs/release_v1.2.md": "SimuMax",
}

FENCE = re.compile(r"^ *(`{3,}|~{3,})")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1")
LINK = re.compile(r"\]\(([^()\s]+)\)")
# Those of links are checked as links.
MENTION = re.compile(r"(?<!\]\()(?<![\w./-])docs/[\w./-]+\.md(?:#[\w-]+)?")
EXTERNAL = re.compile(r"[a-z][a-z+.-]*:")


def slug_of(heading):
    """The anchor that GitHub gives to a heading, before it is numbered."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def blanked(text):
    """A Markdown text with blanks in place of its blocks of code."""
    lines, fence = [], None
    for line in text.split("\n"):
        match = FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence):
                fence = None
            line = " " * len(line)
        elif match and "`" not in line[match.end():]:
            fence, line = match[1], " " * len(line)
        lines.append(line)
    return "\n".join(lines)


def links_of(text):
    """The matches of LINK in a Markdown text, but for those in code."""
    # Code may stand in the text of a link, so it is not blanked.
    return list(LINK.finditer(CODE.sub(lambda code: "`" * len(code[0]),
                                       blanked(text))))


def anchors_of(text):
    """The anchors of the headings of a Markdown text."""
    anchors, seen = set(), collections.Counter()
    for line in blanked(text).split("\n"):
        heading = HEADING.match(line)
        if heading:
            slug = slug_of(heading[1])
            anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return anchors


class Page:
    """The anchors of a Markdown file, and its links as (line, target)."""

    def __init__(self, text):
        self.anchors = anchors_of(text)
        self.links = [(text.count("\n", 0, match.start()) + 1, match[1])
                      for match in links_of(text)]


def read_texts(root):
    """{path relative to the root: text} of all text files."""
    texts = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path.suffix in TEXT and path.is_file():
                try:
                    texts[str(path.relative_to(root))] = path.read_text("utf-8")
                except UnicodeDecodeError:
                    pass  # The seeds of fuzzers are any bytes.
    return texts


def check_target(root, pages, source, target):
    """(path of the target, what is wrong with it or None)."""
    name, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(source), name)
                            if name else source)
    if not (root / path).exists():
        return path, f"no file {path}"
    if (root / path).is_dir():
        return path, f"{path} is a folder; name its README.md or another file"
    if anchor and path not in pages:
        return path, f"{path} has no headings"
    if anchor and anchor not in pages[path].anchors:
        return path, f"{path} has no heading #{anchor}"
    return path, None


def check_pages(root, pages):
    """Yields an error for each link of a Markdown file that leads nowhere."""
    for source, page in pages.items():
        for line, target in page.links:
            if not EXTERNAL.match(target):
                error = check_target(root, pages, source, target)[1]
                if error:
                    yield f"{source}:{line}: {error}"


def check_mentions(root, pages, texts):
    """Yields an error for each page that a text names and that is not there."""
    for source, text in texts.items():
        if source.startswith("tests/scripts/"):
            continue  # Tests of scripts make pages of their own.
        for match in MENTION.finditer(text):
            if match[0] in CITED:
                continue
            error = check_target(root, pages, "", match[0])[1]
            if error:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{source}:{line}: {error}"


def check_reached(root, pages):
    """Yields an error for each page of docs that no link leads to."""
    reached, pending = set(), ["docs/README.md"]
    while pending:
        source = pending.pop()
        if source in pages and source not in reached:
            reached.add(source)
            pending += [check_target(root, pages, source, target)[0]
                        for _, target in pages[source].links
                        if not EXTERNAL.match(target)]
    for source in pages:
        if source.startswith("docs/") and source not in reached:
            yield f"{source}: no link leads to this page from docs/README.md"


def main(root):
    texts = read_texts(root)
    pages = {path: Page(text) for path, text in texts.items()
             if path.endswith(".md")}
    errors = [*check_pages(root, pages), *check_mentions(root, pages, texts),
              *check_reached(root, pages)]
    for error in errors:
        print(error)
    return 1 if errors or not pages else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
