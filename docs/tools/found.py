"""Writes docs/found.md: the bugs that were found in packages, as Mazurka tells them.

python docs/tools/found.py     with the packages of the extra `libraries`
"""

import importlib
import inspect
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import mazurka
from mazurka.engine.result import Result
from mazurka.report.text import LINE_WIDTH, failure_text

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "found.md"
BEGIN = """# Bugs that were found

Each of these is in a release of a package that many people use, and breaks a promise of its
documentation. The test says in a few lines what threads do; the sentence and the columns are what
Mazurka prints. This page is written by `docs/tools/found.py`. [libraries](libraries.md) has all
packages that were checked, how often each of these happens with real threads, and seven more bugs
of older releases.
"""


class Found(NamedTuple):
    package: str
    module: str  # in examples/libraries
    program: str
    promise: str  # what was to hold


OPAQUE = {"zict": ["zict.common.ZictBase.__del__"]}  # as in its test
FOUND = [
    Found(
        "blinker",
        "test_blinker",
        "same_name",
        "`Namespace.signal(name)` gives the same signal for the same name.",
    ),
    Found(
        "limits",
        "test_limits",
        "two_hits",
        "Of two hits within a limit of one, one is let through.",
    ),
    Found(
        "pybreaker",
        "test_pybreaker",
        "trials_in_blocks",
        "When the breaker is half-open, one trial call goes through at a time.",
    ),
    Found(
        "pykka",
        "test_pykka",
        "asking_while_stopping",
        "Messages that come after an actor was asked to stop are replied to with `ActorDeadError`.",
    ),
    Found(
        "SQLAlchemy",
        "test_sqlalchemy",
        "first_requests",
        "`StaticPool` has exactly one connection.",
    ),
    Found(
        "structlog",
        "test_structlog",
        "two_requests",
        "What a thread binds to its context, it can unbind.",
    ),
    Found(
        "tenacity",
        "test_tenacity",
        "shared_function",
        "The statistics of a function with `@retry` are local to the thread.",
    ),
    Found("zict", "test_zict", "two_pops", "`LRU.pop(key, default)` does not raise `KeyError`."),
]


def page() -> str:
    return "\n".join([BEGIN, *("\n".join(section_of(found)) for found in FOUND)])


def program_of(found: Found) -> Callable[[], object]:
    module = importlib.import_module(f"examples.libraries.{found.module}")
    program: Callable[[], object] = getattr(module, found.program)
    return program


def result_of(found: Found) -> Result:
    return mazurka.explore(program_of(found), opaque=OPAQUE.get(found.package, ()))


def sentence_of(result: Result) -> str:
    told = result.failures[0].explanation if result.failures else None
    return told.sentence if told is not None else ""


def section_of(found: Found) -> list[str]:
    result = result_of(found)
    assert result.failures, f"{found.package} {version(found.package)}: no failure"
    text = failure_text(result.failures[0], LINE_WIDTH)
    flags = "".join(f" --opaque {name}" for name in OPAQUE.get(found.package, ()))
    return [
        f"## {found.package} {version(found.package)}",
        "",
        found.promise,
        "",
        "```py",
        inspect.getsource(program_of(found)).rstrip(),
        "```",
        "",
        f"Execution {result.executions:,} of "
        f"`mazurka check examples/libraries/{found.module}.py::{found.program}{flags}`:",
        "",
        "```text",
        text.replace(f"{sys.prefix}/", "").replace(f"{ROOT}/", ""),
        "```",
        "",
    ]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(page())
