"""Tables of errors for docs/accuracy, and the parts of its pages that scripts write.

A part stands on one page of the folder between two comments, "<!-- The figures of
NAME begin here. -->" and "<!-- The figures of NAME end here. -->". Errors are in
percent of what was measured, above 0 where the prediction is too long.
"""

import collections
import math
import pathlib
import re
import statistics

PAGES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "accuracy"


def figures(errors):
    """Number, median, median of the absolute, 90th percentile of it."""
    sizes = sorted(map(abs, errors))
    return (len(errors), statistics.median(errors), statistics.median(sizes),
            sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))])


def line(name, errors):
    number, median, absolute, p90 = figures(errors)
    return (f"| {name} | {number} | {median:+.1f} % | {absolute:.1f} % | "
            f"{p90:.1f} % |\n")


def table(title, groups):
    """A table of (name, errors) with at least one error each."""
    head = (f"| {title} | number | median | median of the absolute | "
            "90th percentile |\n|---|---|---|---|---|\n")
    return head + "".join(line(name, errors) for name, errors in groups
                          if errors) + "\n"


def grouped(rows, name):
    """[(name of the group, its rows)], sorted by name."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[name(row)].append(row)
    return sorted(groups.items())


def medians(text):
    """{title of the table and name of the row: median of the absolute}."""
    found, title = {}, ""
    for row in re.findall(r"^\| (.+) \|$", text, re.M):
        cells = row.split(" | ")
        if cells[1:2] == ["number"]:
            title = cells[0]
        elif re.fullmatch(r"\d+", cells[1]) and len(cells) == 5:
            found[f"{title}: {cells[0]}"] = float(cells[3].removesuffix(" %"))
    return found


def is_worse(old, new):
    """Prints which medians became worse by more than a tenth, or are gone."""
    before, now = medians(old), medians(new)
    worse = [name for name, median in before.items()
             if now.get(name, math.inf) > 1.1 * median + 0.05]
    for name in worse:
        print(f"{name}: {before[name]} % before, {now[name]} % now"
              if name in now else f"{name}: no rows any more")
    return bool(worse)


def part(name):
    """(page, text before, text of the part, text after) of the part `name`."""
    begin = f"<!-- The figures of {name} begin here. -->\n"
    end = f"<!-- The figures of {name} end here. -->\n"
    page, = (path for path in sorted(PAGES.glob("*.md"))
             if begin in path.read_text(encoding="utf-8"))
    head, rest = page.read_text(encoding="utf-8").split(begin)
    text, tail = rest.split(end)
    return page, head + begin, text, end + tail


def publish(name, text, write, check):
    """Writes, checks or prints the part that is called `name`.

    Returns the exit code: 1 where a check fails.
    """
    page, head, old, tail = part(name)
    if write:
        page.write_text(head + text + tail, encoding="utf-8")
    elif not check:
        print(text, end="")
    return 1 if check and is_worse(old, text) else 0
