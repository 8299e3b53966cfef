#!/usr/bin/env python3
"""Tests scripts/check_examples.py."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # The source folders stay as they are.
sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts")
)

import check_examples  # noqa: E402  (needs the path above)


class CheckExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_main(self, *arguments):
        """Returns (exit status, what it printed)."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            with contextlib.redirect_stderr(said):
                try:
                    status = check_examples.main(
                        [str(a) for a in arguments], self.root
                    )
                except SystemExit as end:
                    status = end.code
        return status, said.getvalue()

    def check(self, text, language="console"):
        """Checks one file with one block."""
        return self.run_main(
            self.write("page.md", f"# Page\n\n```{language}\n{text}\n```\n")
        )

    def assert_passes(self, text, language="console"):
        status, said = self.check(text, language)
        self.assertEqual(status, 0, said)

    def assert_fails(self, text, part, language="console"):
        status, said = self.check(text, language)
        self.assertEqual(status, 1, said)
        self.assertIn(part, said)

    def test_passes_where_output_is_as_written(self):
        status, said = self.check("$ echo one; echo two\none\ntwo")
        self.assertEqual(status, 0)
        self.assertEqual(said, "ran 1 commands in 1 files; 0 errors\n")

    def test_names_the_line_and_shows_the_difference(self):
        status, said = self.check("$ true\n$ echo one\ntwo")
        self.assertEqual(status, 1)
        self.assertIn("page.md:5: echo one\n", said)
        self.assertIn("\n-two\n+one\n", said)
        self.assertIn("ran 2 commands in 1 files; 1 errors\n", said)

    def test_fails_where_output_is_missing_or_in_excess(self):
        self.assert_fails("$ echo one\none\ntwo", "-two")
        self.assert_fails("$ echo one", "+one")

    def test_compares_stderr_in_its_place(self):
        self.assert_passes("$ echo a; echo b >&2; echo c\na\nb\nc")

    def test_ignores_blanks_at_ends(self):
        self.assert_passes("$ printf 'a  \\n\\n'\na\n\n$ echo b\nb")
        self.assert_fails("$ printf '  a\\n'\na", "+  a")

    def test_needs_the_exit_status_that_is_written(self):
        self.assert_passes("$ echo bad; exit 2\nbad\n[exit 2]")
        self.assert_fails("$ echo bad; exit 2\nbad", "+[exit 2]")
        self.assert_fails("$ exit 2\n[exit 1]", "+[exit 2]")
        self.assert_fails("$ true\n[exit 1]", "-[exit 1]")
        self.assert_passes("$ kill -TERM $$\n[exit 143]")

    def test_dots_do_not_hide_the_exit_status(self):
        self.assert_fails("$ echo a; exit 3\n...", "+[exit 3]")
        self.assert_passes("$ echo a; exit 3\n...\n[exit 3]")

    def test_dots_stand_for_any_number_of_lines(self):
        cases = [
            ("...", True),
            ("1\n...\n9", True),
            ("...\n4\n5\n...", True),
            ("...\n4\n...\n4\n...", False),
            ("...\n5\n...\n4\n...", False),
            ("1\n2\n...\n3\n4\n5\n6\n7\n8\n9\n...", True),
            ("1\n2\n3\n4\n5\n...\n5\n6\n7\n8\n9", False),
            ("1\n...\n8", False),
            ("2\n...\n9", False),
        ]
        for output, same in cases:
            with self.subTest(output=output):
                status, said = self.check("$ seq 9\n" + output)
                self.assertEqual(status, 0 if same else 1, said)

    def test_dots_of_no_output(self):
        self.assert_passes("$ true\n...")
        self.assert_passes("$ true\n...\n...")

    def test_continues_a_command_after_a_backslash(self):
        self.assert_passes("$ echo a \\\n>   b \\\n> c\na b c")
        self.assert_fails("$ echo a \\\nb", "page.md:5: a line after")
        self.assert_passes("$ echo '> a'\n> a")

    def test_commands_of_a_file_share_a_fresh_folder(self):
        text = (
            "```console\n$ ls\n$ touch mine\n```\n"
            "```console\n$ ls\nmine\n```\n"
        )
        first = self.write("first.md", text)
        second = self.write("second.md", text)
        status, said = self.run_main(first, second)
        self.assertEqual(status, 0, said)
        self.assertIn("ran 6 commands in 2 files; 0 errors", said)

    def test_gives_a_copy_of_the_inputs(self):
        self.write("inputs/topologies/x.txt", "1 2\n")
        self.assert_passes(
            "$ cat inputs/topologies/x.txt\n1 2\n"
            "$ echo more >> inputs/topologies/x.txt"
        )
        original = self.root / "inputs/topologies/x.txt"
        self.assertEqual(original.read_text(), "1 2\n")

    def test_finds_programs_in_bin_first(self):
        program = self.write("bin/seq", "#!/bin/sh\necho mine\n")
        program.chmod(0o755)
        page = self.write("page.md", "```console\n$ seq 2\nmine\n```\n")
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.root)  # A relative folder must do.
        status, said = self.run_main("--bin", "bin", page)
        self.assertEqual(status, 0, said)
        self.assertEqual(self.run_main(page)[0], 1)

    def test_stops_a_command_that_does_not_end(self):
        before = check_examples.TIME_LIMIT
        self.addCleanup(setattr, check_examples, "TIME_LIMIT", before)
        check_examples.TIME_LIMIT = "0.2"
        self.assert_fails("$ sleep 60 | cat", "+[exit 124]")

    def test_gives_no_input(self):
        self.assert_passes("$ cat; readlink /proc/self/fd/0\n/dev/null")

    def test_survives_output_that_is_not_text(self):
        self.assert_passes("$ printf '\\xff\\n'\n\ufffd")

    def test_takes_a_dollar_without_a_blank_for_output(self):
        self.assert_passes("$ echo '$5'\n$5")

    def test_refuses_output_before_a_command(self):
        self.assert_fails("out\n$ true", "page.md:4: output before")

    def test_reads_only_the_blocks_that_are_fenced(self):
        page = self.write(
            "page.md",
            "$ false\n"
            "\n"
            "````markdown\n```console\n$ false\n```\n````\n"
            "```text\n$ false\n```\n"
            "```console``` is inline\n"
            "- in a list\n\n"
            "  ```console\n  $ printf 'a\\n  b\\n'\n  a\n    b\n  ```\n"
            "~~~console\n$ echo '```'\n```\n~~~\n"
            "```text\n```console\n$ false\n```\n",
        )
        status, said = self.run_main(page)
        self.assertEqual(status, 0, said)
        self.assertIn("ran 2 commands", said)

    def test_refuses_a_block_without_end(self):
        page = self.write("page.md", "\n```console\n$ true\n")
        status, said = self.run_main(page)
        self.assertEqual(status, 1)
        self.assertIn("page.md:2: this block has no end", said)

    def test_lets_sh_blocks_only_set_up_and_build(self):
        self.assert_passes(
            "# Any comment; really\n"
            "git clone <address>  # and one\n"
            "cd simai-cpp && scripts/quickstart\n"
            "\n"
            "./scripts/test --quick\n"
            "cmake --preset release \\\n  -DBUILD_TESTING=OFF\n"
            "cmake --build --preset release -j $(nproc)\n"
            "ctest --preset release",
            "sh",
        )
        for command in (
            "$ scripts/test",
            "build/release/bin/gen_topo",
            "cmake --version; ls",
            "cd x && ls",
            "cd x#; ls",
            "cd x & ls",
            "cd x | ls",
            "cd $(ls)",
            "cd `ls`",
            "git push",
            "cmakes",
            "scripts/../x",
            "cmake --preset \\\n  release; ls",
        ):
            with self.subTest(command=command):
                self.assert_fails(command, "may not stand", "sh")

    def test_refuses_an_sh_block_that_is_cut_off(self):
        self.assert_fails("cmake \\", "ends with a backslash", "sh")

    def test_refuses_other_names_for_a_shell(self):
        self.assert_fails("ls", "page.md:3: mark a block", "bash")

    def test_needs_an_example_in_the_readme(self):
        self.write("README.md", "# Nothing\n")
        self.write("docs/a.md", "```console\n$ true\n```\n")
        status, said = self.run_main()
        self.assertEqual(status, 1)
        self.assertIn("README.md:1: holds no example", said)

    def test_reads_every_page_by_default(self):
        pages = ("README.md", "docs/a.md", "docs/guide/a.md",
                 "docs/formats/README.md", "b/README.md", "c/d/README.md")
        for page in pages:
            self.write(page, "```console\n$ true\n```\n")
        status, said = self.run_main()
        self.assertEqual(status, 0, said)
        self.assertIn("ran 6 commands in 6 files", said)

    def test_goes_on_after_a_bad_file(self):
        bad = self.write("bad.md", "```console\nx\n```\n")
        good = self.write("good.md", "```console\n$ true\n```\n")
        status, said = self.run_main(bad, good)
        self.assertEqual(status, 1)
        self.assertIn("ran 1 commands in 1 files; 1 errors", said)

    def test_refuses_files_and_folders_that_are_not_there(self):
        for arguments in (["no.md"], ["--bin", self.root / "no"], []):
            with self.subTest(arguments=arguments):
                status, said = self.run_main(*arguments)
                self.assertEqual(status, 2)
                self.assertIn("no f", said)


if __name__ == "__main__":
    unittest.main()
