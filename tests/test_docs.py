"""The documentation: its links lead somewhere, and the files that it names are there."""

import re
from functools import cache
from pathlib import Path

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
