#!/usr/bin/env python3
"""Builds the site of the documentation and reads it as a browser without
network would.

Sphinx must not warn; every page of docs must be there; every link within the
site must lead to a file, and its anchor to an element; nothing may be loaded
from elsewhere; and the search must find words. Skips where Sphinx or MyST is
not installed, and leaves out the browser where Chromium is not.

Usage: site_test.py [--screenshots FOLDER]

  --screenshots FOLDER  writes NAME-light.png and NAME-dark.png of some pages
"""

import argparse
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import browser as browsers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "site_source")]

import pages  # noqa: E402  (needs the path above)

SCREENSHOTS = None
SHOWN = {"front": "index.html", "guide": "guide/estimate.html",
         "figures": "accuracy/training.html", "reference": "formats/results.html",
         "source": "source/workload/operators/roofline.h.html"}
# Attributes of elements that a browser loads without being asked.
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src",
          "source": "src", "embed": "src", "object": "data"}
REMOTE = re.compile(r"""(?:@import|url\()\s*["']?(?:[a-z]+:)?//""")


def missing():
    """Returns the packages that are not installed."""
    packages = {"python3-sphinx": "sphinx", "python3-myst-parser": "myst_parser"}
    program = shutil.which("sphinx-build")
    if not program:
        return list(packages)
    # Sphinx may be of another Python than the one that runs this test.
    python = pathlib.Path(program).read_text("utf-8").partition("\n")[0][2:]
    return [package for package, module in packages.items()
            if subprocess.run([*python.split(), "-c", f"import {module}"],
                              stderr=subprocess.DEVNULL, check=False).returncode]


class Elements(html.parser.HTMLParser):
    """What a page loads, where its links lead, and the ids of its elements."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif values.get(LOADED.get(tag)):
            self.loads.append(values[LOADED[tag]])


class Site(unittest.TestCase):
    """Builds the site once."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name) / "site"
        done = subprocess.run([ROOT / "scripts" / "site", "--out", cls.site],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout)
        cls.pages = {path: Elements(path.read_text(encoding="utf-8"))
                     for path in sorted(cls.site.rglob("*.html"))}

    def test_has_every_page_of_the_documentation(self):
        for path in sorted((ROOT / "docs").rglob("*.md")):
            place = pages.place_of(str(path.relative_to(ROOT)))
            self.assertIn((self.site / place).with_suffix(".html"), self.pages)

    def test_every_link_leads_somewhere(self):
        for page, elements in self.pages.items():
            for link in elements.links:
                address = urllib.parse.urlsplit(link)
                if address.scheme:
                    continue
                target = (page.parent / urllib.parse.unquote(
                    address.path)).resolve() if address.path else page
                where = f"{page.relative_to(self.site)}: {link}"
                self.assertTrue(target.is_file(), where)
                if address.fragment:
                    self.assertIn(urllib.parse.unquote(address.fragment),
                                  self.pages[target].ids, where)

    def test_loads_nothing_from_elsewhere(self):
        for page, elements in self.pages.items():
            for name in elements.loads:
                address = urllib.parse.urlsplit(name)
                where = f"{page.relative_to(self.site)}: {name}"
                self.assertFalse(address.scheme or address.netloc, where)
                self.assertTrue((page.parent / address.path).is_file(), where)
        for style in sorted(self.site.rglob("*.css")):
            self.assertNotRegex(style.read_text(encoding="utf-8"), REMOTE)

    def test_can_search_the_pages_and_not_the_sources(self):
        index = (self.site / "searchindex.js").read_text(encoding="utf-8")
        self.assertRegex(index, r'\bdcqcn"?:')
        text = (self.site / SHOWN["source"]).read_text(encoding="utf-8")
        self.assertIn("kSoftmaxDims", text)
        self.assertNotRegex(index, r"(?i)kSoftmaxDim")

    def test_finds_words_without_a_server(self):
        if browsers.missing():
            self.skipTest(f"not installed: {', '.join(browsers.missing())} "
                          "(scripts/setup --dev)")
        with browsers.Browser() as browser:
            browser.open(self.site / "search.html")
            browser.run("location.search = '?q=dcqcn'")
            for _ in range(100):  # Results come one by one.
                found = browser.run(
                    "return [...document.querySelectorAll("
                    "'#search-results li a')].map((link) => link.pathname)")
                if str(self.site / "formats/networks.html") in found:
                    break
                time.sleep(0.1)
            self.assertIn(str(self.site / "formats/networks.html"), found)
            self.assertEqual([address for address in browser.requests()
                              if address.startswith("http")], [])
            self.assertEqual([entry["message"] for entry in browser.log("browser")
                              if entry["level"] == "SEVERE"], [])
            for name, page in SHOWN.items() if SCREENSHOTS else ():
                for scheme in ("light", "dark"):
                    browser.prefer(scheme)
                    browser.open(self.site / page)
                    (SCREENSHOTS / f"{name}-{scheme}.png").write_bytes(
                        browser.picture(bottom=1800))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--screenshots", type=pathlib.Path)
    options, rest = parser.parse_known_args()
    SCREENSHOTS = options.screenshots
    if missing():
        print(f"skipped: not installed: {', '.join(missing())} "
              "(scripts/setup --dev)")
        sys.exit()
    if SCREENSHOTS:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + rest)
