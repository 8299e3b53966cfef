#!/usr/bin/env python3
"""Tests scripts/check_sizes.py."""

import contextlib
import io
import pathlib
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts")
)

import check_sizes  # noqa: E402  (needs the path above)


class CheckSizesTest(unittest.TestCase):
    def functions(self, text):
        return list(check_sizes.functions(textwrap.dedent(text)))

    def test_finds_functions_of_namespaces_and_classes(self):
        self.assertEqual(self.functions("""\
            #define BRACE {
            namespace astra {
            namespace {

            // A comment with a brace: {
            template <class Item>
            int Sum(const Item& item,
                    Options options = {}) {
              const auto twice = [](int x) { return 2 * x; };
              if (item.text == "}" || item.first == '{') {
                return twice(1'000'000);
              }
              return 0;
            }

            }  // namespace

            struct alignas(64) Port {
              int left = 0;
              bool operator<(const Port& other) const {
                return left < other.left;
              }
              class Inner : public Base {
                Inner() : a_(1) {}
              };
            };

            Port::Port()
                : left{1}, right(size_t{2} + 1) {
            }

            }  // namespace astra
            """), [("Sum", 6, 14), ("operator<", 20, 22), ("Inner", 24, 24),
                   ("Port::Port", 28, 30)])

    def test_passes_over_tables_and_enumerations(self):
        self.assertEqual(self.functions("""\
            enum class Kind : uint8_t { kOne, kTwo };
            constexpr Row kRows[] = {
                {"one", [](int x) { return x; }},
                {"two", &Two},
            };
            int kNumber{2};
            void Last() {}
            """), [("Last", 7, 7)])

    def test_counts_lines(self):
        def function(lines):
            return "int F() {\n" + "  ++n;\n" * (lines - 2) + "}\n"

        self.assertEqual(list(check_sizes.check("a.cc", function(50))), [])
        self.assertEqual(list(check_sizes.check("a.cc", "\n" + function(51))),
                         ["a.cc:2: F has 51 lines, more than 50"])
        self.assertEqual(list(check_sizes.check("a.cc", "\n" * 500)), [])
        self.assertEqual(list(check_sizes.check("a.cc", "\n" * 501)),
                         ["a.cc: 501 lines, more than 500"])

    def test_reads_the_folders_of_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("topology/templates/a.cc", "tests/a.cc"):
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True)
                path.write_text("\n" * 501)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                status = check_sizes.main(pathlib.Path(folder))
            self.assertEqual(status, 1)
            self.assertEqual(said.getvalue(), "topology/templates/a.cc: 501 "
                                              "lines, more than 500\n")


if __name__ == "__main__":
    unittest.main()
