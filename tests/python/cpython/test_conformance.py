"""A sample of CPython's own tests: rewritten, they pass as they do plainly."""

import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("test.support", reason="Python came without its tests")

from mazurka.api import COMPILED
from tests.python.cpython.run import compare, folder_of_tests, listed, tell

QUICK = [
    "test_augassign",
    "test_dictviews:DictSetTest.test_dict*",
    "test_dict:DictTest.test_[a-c]*",
]
SLOW = [
    "test_bisect", "test_class", "test_copy", "test_defaultdict", "test_deque", "test_descr",
    "test_dict", "test_iter", "test_iterlen", "test_list", "test_patma", "test_property",
    "test_scope", "test_sort", "test_unpack", "test_with",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    with folder_of_tests() as folder:
        yield folder


def run(folder: str, tests: str, capsys: pytest.CaptureFixture[str]) -> None:
    module, _, pattern = tests.partition(":")
    found = compare(folder, module, [pattern] if pattern else [])
    assert found.rewritten, "no test has passed plainly"
    is_good = tell(found)
    assert is_good, capsys.readouterr().out


@pytest.mark.parametrize("tests", QUICK)
def test_quick_ones(folder: str, tests: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, tests, capsys)


IS_LISTED = sys.version_info[:2] == (3, 11) and not COMPILED


@pytest.mark.slow
@pytest.mark.skipif(not IS_LISTED, reason="the list of differences is that of plain Python 3.11")
@pytest.mark.parametrize("tests", SLOW)
def test_slow_ones(folder: str, tests: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, tests, capsys)


def test_every_difference_has_a_reason() -> None:
    for pattern, reason in listed().items():
        word, _, text = reason.partition(": ")
        assert word and text, f"{pattern} is listed without a reason"
