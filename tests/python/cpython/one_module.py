"""Runs tests of one module of CPython's, and writes a line for each: its name, and how it ended.

`python -m tests.python.cpython.one_module FOLDER MODULE WAY [TEST ...]`, where WAY is "plain",
"rewritten" or, if nothing is to be run, "names". FOLDER has CPython's package of tests in it: files
that are not in the folder of the standard library are seen as a user's are.

A test that fails may leave things behind that make others fail, so it is the last one.
"""

import doctest
import faulthandler
import json
import re
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import Any

PASSED = "passed"
SKIPPED = "skipped"


def tests_in(suite: Any) -> Iterator[Any]:
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from tests_in(part)
        else:
            yield part


def outcome_of(test: Any) -> str:
    """Run one test, with what its class and module set up for it."""
    if not isinstance(test, doctest.DocTestCase):
        test = type(test)(test._testMethodName)
    result = unittest.TestResult()
    unittest.TestSuite([test]).run(result)
    for _, text in [*result.errors, *result.failures]:
        return re.sub("0x[0-9a-f]+", "0x", text)  # addresses differ from run to run
    if result.unexpectedSuccesses:
        return "unexpected success"
    return SKIPPED if result.skipped else PASSED


def rewritten_outcome_of(test: Any) -> str:
    """Run one test inside an execution of Mazurka."""
    import mazurka

    result = mazurka.explore(
        lambda: outcome_of(test), max_executions=1, max_events=10_000_000, step_limit=60.0
    )
    for failure in result.failures:
        return failure.message
    (outcome,) = result.outcomes
    return str(outcome)


def name_of(test: Any) -> str:
    return ""


WAYS: dict[str, Callable[[Any], str]] = {
    "plain": outcome_of,
    "rewritten": rewritten_outcome_of,
    "names": name_of,
}


def main(folder: str, module: str, way: str, *names: str) -> None:
    sys.path.insert(0, folder)
    faulthandler.enable()
    suite = unittest.defaultTestLoader.loadTestsFromName(f"test.{module}")
    for test in tests_in(suite):
        name = test.id().removeprefix(f"test.{module}.")
        if names and name not in names:
            continue
        report({"begun": name})
        try:
            outcome = WAYS[way](test)
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        report({"test": name, "outcome": outcome})
        if way != "names" and outcome not in (PASSED, SKIPPED):
            break


def report(line: dict[str, str]) -> None:
    print(json.dumps(line), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
