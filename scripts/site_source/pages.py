"""Which files of the repository the site has, where, and with which links.

The site has every Markdown file that links lead to from docs/README.md, and
every other file that one of these names. A link of the site leads to where the
site has the file.
"""

import json
import os
import pathlib
import re

import check_links

FRONT = "docs/README.md"
# Pages of the root, and what they are called in the site.
ROOT_PAGES = {"README.md": "tour.md", "CONTRIBUTING.md": "contributing.md",
              "CHANGELOG.md": "changelog.md"}
# Titles of the sidebar where that of the page would puzzle.
SHORT_TITLES = {"README.md": "Tour"}
# Captions of the sidebar, each with the pages of the front page below it.
CAPTIONS = {
    "Start": lambda page: page == "README.md",
    "Guide": lambda page: page.startswith("docs/guide/"),
    "Reference": lambda page: page.startswith("docs/"),
    "Source": lambda page: True,
}
LANGUAGES = {".cc": "cpp", ".conf": "text", ".h": "cpp", ".hpp": "cpp",
             ".js": "js", ".py": "python", ".sh": "bash", ".yaml": "yaml"}
PICTURES = {".png", ".svg"}


def linked(source, text):
    """The files of the repository that a Markdown file links, in order."""
    targets = [match[1].partition("#")[0]
               for match in check_links.links_of(text)
               if not check_links.EXTERNAL.match(match[1])]
    folder = os.path.dirname(source)
    return [os.path.normpath(os.path.join(folder, target))
            for target in targets if target]


def read(root):
    """{path: text, or None of a picture} of all files of the site."""
    texts, pending = {}, [FRONT]
    while pending:
        path = pending.pop()
        if path in texts:
            continue
        if pathlib.Path(path).suffix in PICTURES:
            texts[path] = None
            continue
        texts[path] = (root / path).read_text(encoding="utf-8")
        if path.endswith(".md"):
            pending += linked(path, texts[path])
    return {path: texts[path] for path in sorted(texts)}


def place_of(path):
    """Where the site has a file of the repository, as a source of Sphinx."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    place = (path.removeprefix("docs/") if path.startswith("docs/")
             else f"source/{path}")
    folder, name = os.path.split(place)
    if name == "README.md":
        return os.path.join(folder, "index.md")
    is_itself = name.endswith(".md") or pathlib.Path(name).suffix in PICTURES
    return place if is_itself else f"{place}.md"


def relinked(source, text):
    """A Markdown file with the links that it has in the site."""
    here = os.path.dirname(place_of(source))
    parts, end = [], 0
    for match in check_links.links_of(text):
        name, hash_sign, anchor = match[1].partition("#")
        if name and not check_links.EXTERNAL.match(match[1]):
            path = os.path.normpath(os.path.join(os.path.dirname(source), name))
            target = os.path.relpath(place_of(path), here or ".")
            parts += [text[end:match.start(1)], target, hash_sign, anchor]
            end = match.end(1)
    return "".join(parts) + text[end:]


def parent_of(path, pages):
    """The page below which the sidebar has another: the README.md next to it or
    of the nearest folder above that has one, else the front page."""
    folder = os.path.dirname(path)
    if path.endswith("README.md"):
        folder = os.path.dirname(folder)
    while folder and f"{folder}/README.md" not in pages:
        folder = os.path.dirname(folder)
    return f"{folder}/README.md" if folder else FRONT


def entry(source, page):
    """A line of the toctree of `source`."""
    here = os.path.dirname(place_of(source))
    target = os.path.relpath(place_of(page), here or ".")
    title = SHORT_TITLES.get(page)
    return f"{title} <{target}>" if title else target


def sidebar(source, texts):
    """The directives that put the pages below `source` into the sidebar, in the
    order of the last link to each: lists stand at the end of a page."""
    pages = [path for path in texts if path.endswith(".md")]
    order = {path: i for i, path in enumerate(linked(source, texts[source]))}
    below = sorted((page for page in pages if page not in (source, FRONT)
                    and parent_of(page, pages) == source),
                   key=lambda page: (order.get(page, len(order)), page))
    blocks = []
    captions = CAPTIONS if source == FRONT else {"": lambda page: True}
    for caption, is_below in captions.items():
        chosen = [page for page in below if is_below(page)]
        below = [page for page in below if page not in chosen]
        if chosen:
            blocks += ["", "```{toctree}", ":hidden:",
                       *([f":caption: {caption}"] if caption else []), "",
                       *(entry(source, page) for page in chosen), "```"]
    return "\n".join(blocks) + "\n" if blocks else ""


def listing(path, text):
    """The page of a file that is not Markdown, which the search leaves out."""
    language = LANGUAGES.get(pathlib.Path(path).suffix, "text")
    if text.startswith("#!"):
        language = "python" if "python" in text.partition("\n")[0] else "bash"
    fence = max(re.findall("~{3,}", text), default="~~") + "~"
    return (f"---\norphan: true\nnosearch: true\n---\n\n# `{path}`\n\n"
            f"{fence}{language}\n{text.rstrip()}\n{fence}\n")


def notebook_page(text):
    """The page of a notebook: its text, and its code with what it prints."""
    parts = ["---\norphan: true\n---"]
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [f"```text\n{''.join(output['text']).rstrip()}\n```"
                  for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def page_of(path, text, texts):
    """The source of Sphinx for a file of the repository."""
    if path.endswith(".md"):
        return relinked(path, text) + sidebar(path, texts)
    if path.endswith(".ipynb"):
        return notebook_page(text)
    return listing(path, text)


def write(root, folder):
    """Writes the sources of the site; returns {file: path in the repository}."""
    texts = read(root)
    places = {}
    for path, text in texts.items():
        place = folder / place_of(path)
        places[place] = path
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            place.write_bytes((root / path).read_bytes())
            continue
        place.write_text(page_of(path, text, texts), encoding="utf-8")
    return places
