"""Pages in a browser: Debian's Chromium, steered by Playwright. Skipped where either is missing.

MAZURKA_PICTURES=write pytest tests/report/test_browser.py    makes the pictures of the docs anew:
the same ones, unless the pages look otherwise
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka.engine.result import Result
from mazurka.report.page import page_of
from tests.report.test_bugs import program_called
from tests.report.test_page import EVIL, hostile, long_failure

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no chromium on this machine")

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
DESKTOP, PHONE = (1280, 660), (390, 844)
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a result; at the end nothing must have been complained of."""
    said: list[str] = []
    pages = []

    def opened(
        title: str, result: Result, size: tuple[int, int] = DESKTOP, dark: bool = False
    ) -> Any:
        file = tmp_path / "page.html"
        file.write_text(page_of(title, result), encoding="utf-8")
        scheme = "dark" if dark else "light"
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on(
            "request",
            lambda request: said.append(request.url) if "page.html" not in request.url else None,
        )
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert said == []


def result_of(name: str) -> Result:
    return timeless(mazurka.explore(program_called(name), record=True))


def timeless(result: Result) -> Result:
    """A result without what differs from run to run."""
    return replace(result, seconds=0.01, preparation=0.0, explaining=0.0, memory_mb=None)


def picture(page: Any, name: str) -> None:
    """A picture for the docs, if these are to be made."""
    if os.environ.get("MAZURKA_PICTURES") == "write":
        page.screenshot(path=PICTURES / f"{name}.png")
    assert (PICTURES / f"{name}.png").stat().st_size < 150_000


def current(page: Any) -> str:
    text: str = page.locator(".row.current .what").inner_text()
    return text


def fits(page: Any) -> bool:
    """Whether nothing is wider than the window."""
    found: bool = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    return found


def test_stepping_forward_and_back(show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = show("examples/bugs/races.py::lost_update", result_of("races.lost_update"))
    assert page.locator("#verdict").inner_text() == "failed"
    assert page.locator("#sentence").inner_text().startswith("lost update: Thread-1 (hit) read")
    assert current(page) == "read stats['hits']: 0"
    page.click("#forward")
    page.keyboard.press("ArrowRight")
    assert current(page) == "set stats['hits'] to 1"
    changed = page.locator("#values tr.changed td")
    assert changed.all_inner_texts() == ["stats['hits']", "1", "by Thread-2 (hit)"]
    picture(page, "lost_update")
    page.click("#back")
    assert current(page) == "read stats['hits']: 0"
    assert page.locator("#values tr.found td").all_inner_texts()[:2] == ["stats['hits']", "0"]
    assert page.locator(".code.here").inner_text().split()[:2] == ["26", 'stats["hits"]']
    page.keyboard.press("Home")
    assert current(page) == "spawn Thread-1 (hit)" and page.locator("#back").is_disabled()
    page.keyboard.press("End")
    assert current(page).startswith("raises AssertionError")
    page.keyboard.press("n")
    assert current(page) == "read stats['hits']: 0"
    page.locator(".row.folded").first.click()
    assert current(page) == "end Thread-2 (hit)"
    page.keyboard.press("a")
    assert page.locator("#all").is_checked() and page.locator(".row.folded").count() == 0
    assert page.locator(".edge.pair").count() == 2
    page.keyboard.press("e")
    assert page.locator(".edge").count() == 0
    assert fits(page)


def test_all_executions_of_a_page(show: Open) -> None:
    result = mazurka.explore(
        program_called("races.lost_update"), stop_on_failure=False, record=True
    )
    page = show("lost_update", result)
    names = page.locator("#execution option").all_inner_texts()
    assert len(names) >= 4 and names[0].startswith("1. lost update")
    for number in range(len(names)):
        page.select_option("#execution", index=number)
        assert page.locator(".row").count() > 3
    page.click("#tab-outcomes")
    assert page.locator("#outcomes td.value").all_inner_texts() == ["None"]
    page.click("#outcomes button")
    assert page.locator("#sentence").inner_text() == "Returns None (2 executions)"
    address = page.evaluate("location.hash")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") != address
    page.reload()
    assert page.locator("#place").inner_text().startswith("2 of ")


def appending() -> tuple[int, ...]:
    seen: list[int] = []
    handles = [mazurka.spawn(seen.append, number) for number in range(4)]
    for handle in handles:
        handle.join()
    return tuple(seen)


def test_the_tree_and_the_search(show: Open) -> None:
    result = timeless(mazurka.explore(appending, record=True))
    page = show("appending", result)
    page.click("#tab-tree")
    assert page.locator("#treenote").inner_text() == f"{result.executions} executions"
    opened = page.locator("g.node").count()
    page.click("#unfold")
    assert page.locator("g.node", has_text="complete").count() == result.executions
    page.click("#closer")
    picture(page, "tree")
    page.click("#fold")
    assert page.locator("g.node").count() == 1
    page.locator("g.node").first.focus()
    page.keyboard.press("Enter")
    assert 1 < page.locator("g.node").count() < opened
    page.click("#unfold")
    page.locator("g.node", has_text="complete").first.click()
    page.click("#leaf button")
    assert page.locator("#steps").is_visible() and page.locator(".row").count() > 4
    page.click("#tab-search")
    assert page.locator("#chart polyline").count() == 3
    assert f"{result.executions}" in page.locator("#search table").inner_text()
    assert fits(page)


@pytest.mark.parametrize(
    ("name", "shown", "size", "dark"),
    [
        ("waits.lost_wake_up", "lost_wake_up", DESKTOP, False),
        ("waits.abba", "abba", DESKTOP, True),
        ("races.aba", "phone", PHONE, False),
        ("tasks.cancelled_await", "cancelled_await", DESKTOP, False),
    ],
)
def test_pictures(
    show: Open,
    name: str,
    shown: str,
    size: tuple[int, int],
    dark: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    page = show(f"examples/bugs/{name.replace('.', '.py::')}", result_of(name), size, dark)
    picture(page, shown)
    chosen = page.locator("#execution option").first.inner_text()
    assert chosen.count("deadlock") <= 1 and chosen.startswith("1. ")
    assert fits(page)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (not dark)
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != background
    for tab in ("outcomes", "tree", "search"):
        page.click(f"#tab-{tab}")
        assert fits(page)


def test_hostile_texts_are_only_texts(show: Open) -> None:
    page = show(f"<b>{EVIL}", mazurka.explore(hostile, stop_on_failure=False, record=True))
    assert page.title().startswith("<b></script>")
    assert page.locator("#target").inner_text().startswith("<b></script><script>")
    assert page.locator("img").count() == 0 and page.locator("script").count() == 2
    for key in ("n", "a", "2", "3", "4"):
        page.keyboard.press(key)
    assert page.locator("img").count() == 0


def test_ten_thousand_steps_open_at_once(show: Open) -> None:
    page = show("long", Result("failed", failures=[long_failure(10_000)]))
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert ready < 5_000  # milliseconds; a quarter of a second where nobody else is at work
    page.keyboard.press("a")
    page.keyboard.press("End")
    assert page.locator("#place").inner_text() == "10,001 of 10,001"
    assert page.locator(".row").count() < 100
    page.keyboard.press("ArrowLeft")
    assert current(page) == "write 9999 to x"
    page.locator("#slider").fill("5000")
    assert current(page) == "write 5000 to x"
    assert page.locator("#values td.value").first.inner_text() == "5000"
