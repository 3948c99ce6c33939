"""The documentation: its links lead somewhere, and the files that it names are there."""

import importlib.util
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "mazurka"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# A path in one of our folders: explore/pop.py, python/loops/, src/mazurka/engine/order.py.
PARTS = sorted(folder.parent.name for folder in PACKAGE.glob("*/__init__.py"))
FOLDERS = "|".join(["src/mazurka", "tests", "benchmarks", "examples", "docs", *PARTS])
NAMED = re.compile(rf"`((?:{FOLDERS})/[\w./-]*)`")

by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@cache
def prose(page: Path) -> str:
    """The text of a page without the blocks of code."""
    return FENCED.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """What links can have after the #, as GitHub makes it from headings."""
    headings = HEADING.findall(prose(page).lower())
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in headings}


@by_page
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{link}: there is no such file"
        assert not anchor or anchor in anchors(target), f"{link}: there is no such heading"


@by_page
def test_files_that_are_named_exist(page: Path) -> None:
    for path in NAMED.findall(prose(page)):
        assert (ROOT / path).exists() or (PACKAGE / path).exists(), f"there is no {path}"


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    listed = {(index.parent / link).resolve() for link in LINK.findall(prose(index))}
    assert {page for page in PAGES if page.parent != ROOT} - {index} <= listed


def test_documents_that_the_source_names_exist() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text()):
            assert (ROOT / page).exists(), f"{path} names {page}"


# What is written by programs, and the site


def tool(name: str) -> ModuleType:
    """A program of docs/tools."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_that_of_the_table_of_options() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    assert text == tool("reference").page(), "run: python docs/tools/reference.py"


def test_pictures_are_made_by_tests_and_shown() -> None:
    made = (ROOT / "tests" / "report" / "test_browser.py").read_text()
    pages = "".join(page.read_text() for page in PAGES)
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert f'"{picture.stem}"' in made and f"pictures/{picture.name})" in pages


def test_the_page_of_bugs_has_them_all() -> None:
    text = (ROOT / "docs" / "found.md").read_text()
    for found in tool("found").FOUND:
        assert re.search(rf"^## {found.package} [\d.]+$", text, re.MULTILINE)
        assert f"examples/libraries/{found.module}.py::{found.program}" in text


def test_every_page_is_in_the_site() -> None:
    listed = re.findall(r"- ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in PAGES if page.parent != ROOT}
    assert set(listed) == pages
    assert len(listed) == len(pages)


@pytest.mark.slow
def test_the_site_is_built(tmp_path: Path) -> None:
    """Every link leads somewhere there, too: this is strict."""
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "From a first race" in (tmp_path / "tutorial.html").read_text().replace("from", "From")
    assert "../src" not in (tmp_path / "architecture.html").read_text()
