"""The documentation is right: its programs run, and its commands print what it says.

A block of code with a title is a file, beside those that come before it on its page. A block of the
language `console` has commands, which are run in the folder of these files, and what they print: a
line with nothing but three dots stands for any lines. Other blocks of Python are run as they are,
but for those of the language `py`: they are shortened, or a test of their own has them.
MAZURKA_SNAPSHOTS=write pytest tests/test_docs_run.py    takes what commands print for right, and
writes it, but for blocks in which lines are left out: these are mended by hand
"""

import contextlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

import mazurka
from mazurka.cli.main import Commands, main
from mazurka.pyproject import checked_table

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)  # a command, what it prints
TITLE = re.compile(r'title="([^"]+)"')
# What differs from run to run.
VARYING = [
    (re.compile(r"\d+\.\d\d ?s\b"), "0.00 s"),
    (re.compile(r", of these (\d+\.\d s to prepare it)?( and )?(\d+\.\d s to explain it)?"), ""),
    (re.compile(r"=+ (.*?) =+"), r"= \1 ="),
]
OPTIONAL = {"structlog"}  # what a block may need that need not be installed


class Block(NamedTuple):
    line: int
    language: str
    title: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(
            text[: found.start()].count("\n") + 1,
            found[2].partition(" ")[0],
            title[1] if (title := TITLE.search(found[2])) else "",
            re.sub(f"^{found[1]}", "", found[3], flags=re.MULTILINE),
        )
        for found in BLOCK.finditer(text)
    ]


BLOCKS = {page: blocks_of(page) for page in PAGES}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in; modules that come from it are forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


# Pages with files and commands

TOLD = [page for page in PAGES if any(block.language == "console" for block in BLOCKS[page])]


@pytest.mark.parametrize("page", TOLD, ids=name_of)
def test_commands_print_what_a_page_says(page: Path, folder: Path) -> None:
    for block in BLOCKS[page]:
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text)
        elif block.language == "console":
            run_block(page, block)


def run_block(page: Path, block: Block) -> None:
    code, told, is_right = 0, "", True
    writes = os.environ.get("MAZURKA_SNAPSHOTS") == "write"
    for command, expected in PROMPT.findall(block.text):
        if command == "echo $?":
            printed = f"{code}\n"
        else:
            code, printed = ran(shlex.split(command))
        told += f"$ {command}\n{printed}"
        if not matches(expected, printed):
            where = f"{name_of(page)}:{block.line}"
            assert writes and "\n...\n" not in block.text, f"{where}: {command} printed\n{printed}"
            is_right = False
    if not is_right:
        page.write_text(page.read_text().replace(block.text, told.rstrip() + "\n"))


def ran(words: list[str]) -> tuple[int, str]:
    program, *arguments = words
    if program == "mazurka":
        result = CliRunner().invoke(main, arguments)
        return result.exit_code, result.output
    if program == "pytest":
        arguments = ["-p", "no:hypothesispytest", "-p", "no:cacheprovider", *arguments]
    elif program != "python":
        raise AssertionError(f"{program} is not known here")
    command = [sys.executable, *(["-m", "pytest"] if program == "pytest" else []), *arguments]
    ended = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return ended.returncode, ended.stdout


def plain(text: str) -> list[str]:
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return [line.rstrip() for line in text.strip().splitlines()]


def matches(expected: str, got: str) -> bool:
    """Whether a text is as expected, in which a line of three dots stands for any lines, and three
    dots in a line for anything."""
    parts = [
        r"(.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in plain(expected)
    ]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in plain(got))) is not None


def test_matching() -> None:
    assert matches("a\n...\nd\n", "a\nb\nc\nd")
    assert matches("a 0.31 s\n...\n", "a 0.02 s\n")
    assert matches("3 ... s\n", "3 executions in 0.02 s\n")
    assert not matches("a\n...\nd\n", "a\nb")
    assert not matches("a\n", "a\nb")


# Other blocks of Python


def needed(page: Path, block: Block) -> str:
    """What a block takes for granted."""
    given = [
        text
        for (name, begin), text in GIVEN.items()
        if name == name_of(page) and block.text.startswith(begin)
    ]
    return given[0] if given else ""


GIVEN = {
    ("docs/architecture.md", "from mazurka.api import explore_tasks"): """
        import mazurka
        def program(): mazurka.choose(range(110))
    """,
    ("docs/linearizability.md", "class Items:"): """
        import mazurka, queue
    """,
    ("docs/linearizability.md", "right = mazurka.scenario(Stack"): """
        import mazurka
        class Stack:
            def __init__(self): self.items = []
            def push(self, item): self.items.append(item)
            def pop(self): return self.items.pop() if self.items else None
        TreiberStack = Stack
    """,
    ("docs/loops.md", "while not box.ready:"): """
        import time
        from types import SimpleNamespace
        box = SimpleNamespace(ready=True)
    """,
    ("docs/pytest.md", "@pytest.fixture"): """
        import pytest, mazurka
        class Names: pass
    """,
    ("docs/programs.md", "import mazurka"): """
        import mazurka
        def program(): return mazurka.choose([1, 2])
        def broken(): assert mazurka.choose([1, 2]) == 1
    """,
    ("docs/python-code.md", "with mazurka.atomic:"): """
        import mazurka
        from types import SimpleNamespace
        account, amount = SimpleNamespace(balance=1, history=[]), 1
    """,
}
# What becomes of the tests in a block; others are not to fail.
FAILING = {("README.md", "test_transfer"), ("docs/pytest.md", "test_deposits")}
FAILING |= {("docs/symbolic.md", "test_transfer")}
# Blocks that need more than there is here: a test of their own runs what they show.
ELSEWHERE = {
    "docs/c-programs.md": "tests/native/test_doors.py",
}
PYTHON = [
    pytest.param(page, block, id=f"{name_of(page)}:{block.line}")
    for page in PAGES
    for block in BLOCKS[page]
    if block.language == "python" and not block.title and name_of(page) not in ELSEWHERE
]


@pytest.mark.parametrize(("page", "block"), PYTHON)
def test_a_block_of_python_runs(page: Path, block: Block, folder: Path) -> None:
    for name in OPTIONAL:
        if name in block.text:
            pytest.importorskip(name)
    (folder / "given.py").write_text(
        "\n".join(line.removeprefix(" " * 8) for line in needed(page, block).splitlines())
    )
    file = folder / "block.py"
    file.write_text((folder / "given.py").read_text() + "\n" + block.text)
    module = imported(file)
    for name, function in list(vars(module).items()):
        if hasattr(function, "mazurka_options") and not takes_fixtures(function):
            verdict = mazurka.explore(function).verdict
            assert (verdict == "failed") == ((name_of(page), name) in FAILING), name


def takes_fixtures(function: Callable[..., object]) -> bool:
    return bool(function.__wrapped__.__code__.co_argcount)  # type: ignore[attr-defined]


def imported(file: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def test_blocks_that_are_elsewhere() -> None:
    for page, test in ELSEWHERE.items():
        assert (ROOT / page).exists() and (ROOT / test).exists()


# Configuration, and commands that are only shown


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_configuration_is_right(page: Path, tmp_path: Path) -> None:
    for block in BLOCKS[page]:
        if block.language == "toml":
            file = tmp_path / "pyproject.toml"
            file.write_text(block.text)
            checked_table(file)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_have_the_options_that_they_use(page: Path) -> None:
    for block in BLOCKS[page]:
        if block.language in ("", "yaml", "console"):
            for words in commands_in(block.text):
                parse(words)


MAZURKA = re.compile(
    r"^\s*(?:- )?(?:run: |\$ )?(?:[\w./]*/)?mazurka ((?:check|replay|estimate) .*)"
)


def commands_in(text: str) -> Iterator[list[str]]:
    """What a block calls `mazurka` with; comments behind two spaces are left out."""
    for line in text.splitlines():
        found = re.match(
            r"^\s*(?:- )?(?:run: |\$ )?(?:[\w./]*/)?mazurka ((?:check|replay|estimate) .*)", line
        )
        if found and "[" not in found[1] and " or " not in found[1]:
            yield shlex.split(re.split(r"\s{2,}|\s#|\s>", found[1])[0])


def parse(words: list[str]) -> None:
    command = Commands().get_command(click.Context(main), words[0])
    assert command is not None, words
    with contextlib.suppress(click.exceptions.Exit):
        command.make_context(words[0], words[1:])
