"""Runs CPython's own tests of the language and its types, plainly and rewritten, and compares.

Each test runs in a process of its module, which Mazurka has nothing to do with, and once more
inside one execution of Mazurka. What passes plainly must pass rewritten, unless differences.txt
says why it does not; and nothing that this lists may pass.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile

import test  # type: ignore[import-not-found]  # isort: skip
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from tests.python.cpython.one_module import PASSED

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
SECONDS = 200.0  # for one test
SLOW = "slow: "  # what the reason for tests begins with that are not run rewritten


# What is run, and what is known to differ


def all_modules() -> list[str]:
    """Those of them that this version of Python has."""
    names = (HERE / "modules.txt").read_text().split()
    return [name for name in names if has_module(name.partition(":")[0])]


def has_module(name: str) -> bool:
    path = Path(test.__path__[0]) / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").exists()


def listed() -> dict[str, str]:
    """The tests that differ in this version of Python, as patterns, and why."""
    found: dict[str, str] = {}
    reason = ""
    for line in (HERE / "differences.txt").read_text().splitlines():
        if not line.startswith(" "):
            reason = line
            continue
        pattern, *versions = line.split()
        if VERSION in versions or not versions:
            found[pattern] = reason
    return found


def is_listed(test: str, patterns: dict[str, str]) -> bool:
    return any(fnmatchcase(test, pattern) for pattern in patterns)


# Processes that run tests


@dataclass
class Outcomes:
    """How the tests of a module end, by their names."""

    module: str
    plain: dict[str, str] = field(default_factory=dict)
    rewritten: dict[str, str] = field(default_factory=dict)

    def differing(self) -> dict[str, str]:
        return {
            f"{self.module}:{name}": outcome
            for name, outcome in self.rewritten.items()
            if outcome != PASSED
        }

    def agreeing(self) -> list[str]:
        return [
            f"{self.module}:{name}" for name, outcome in self.rewritten.items() if outcome == PASSED
        ]


@contextmanager
def folder_of_tests() -> Iterator[str]:
    """A folder with CPython's tests, which is none of the standard library's."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(test.__path__[0], Path(folder) / "test")
        yield folder


def compare(folder: str, module: str, patterns: list[str]) -> Outcomes:
    """Run some tests of a module in both ways; all of them if there are no patterns."""
    found: dict[str, str] = {}
    run_worker(folder, module, "names", [], found)
    names = [
        name
        for name in found
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    plain = outcomes(folder, module, "plain", names)
    slow = {pattern: why for pattern, why in listed().items() if why.startswith(SLOW)}
    wanted = [
        name
        for name, outcome in plain.items()
        if outcome == PASSED and not is_listed(f"{module}:{name}", slow)
    ]
    return Outcomes(module, plain, outcomes(folder, module, "rewritten", wanted))


def outcomes(folder: str, module: str, way: str, names: list[str]) -> dict[str, str]:
    """A process ends with the first test that fails."""
    found: dict[str, str] = {}
    while left := [name for name in names if name not in found]:
        run_worker(folder, module, way, left, found)
        if not any(name in found for name in left):
            found[left[0]] = "it was not found"
    return found


def run_worker(folder: str, module: str, way: str, names: list[str], found: dict[str, str]) -> None:
    """Have a process run tests, as far as it comes."""
    command = [sys.executable, "-m", "tests.python.cpython.one_module", folder, module, way]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*command, *names],
            cwd=scratch,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            errors="replace",
        )
        begun = ""
        for line in lines_of(process):
            if line is None:
                found[begun] = "timed out"
                break
            entry = entry_of(line)
            begun = entry.get("begun", begun)
            if "test" in entry:
                found[entry["test"]] = entry["outcome"]
        process.kill()  # it has ended, or never will
        process.wait()
        if begun and begun not in found:
            errors.seek(0)
            found[begun] = f"the process ended: {errors.read()[-2000:]}"


def entry_of(line: str) -> dict[str, Any]:
    """What a line of a worker says; tests may print other lines."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def lines_of(process: "subprocess.Popen[str]") -> Iterator[str | None]:
    """What a process writes; None if that takes too long."""
    lines: queue.Queue[str] = queue.Queue()
    output = process.stdout
    assert output is not None

    def read() -> None:
        for line in output:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=SECONDS)
        except queue.Empty:
            yield None
            return
        if not line:
            return
        yield line


# What people see


def tell(found: Outcomes) -> bool:
    """Whether all is as it is listed."""
    patterns = listed()
    differing, agreeing = found.differing(), found.agreeing()
    new = [name for name in differing if not is_listed(name, patterns)]
    mended = [name for name in agreeing if is_listed(name, patterns)]
    print(
        f"{found.module}: {len(agreeing)} of {len(found.rewritten)} that pass plainly"
        f" pass rewritten, {len(differing) - len(new)} are listed",
        flush=True,
    )
    for name in new:
        print(f"  DIFFERS {name}\n    {differing[name].strip().rpartition(chr(10))[2]}")
    for name in mended:
        print(f"  LISTED, BUT PASSES {name}")
    return not new and not mended


@click.command(help=__doc__)
@click.argument("tests", nargs=-1, metavar="[MODULE | MODULE:PATTERN]...")
@click.option("--jobs", default=os.cpu_count() or 1, help="How many processes at a time.")
@click.option("--save", type=click.Path(path_type=Path), help="A JSON file for all outcomes.")
def main(tests: tuple[str, ...], jobs: int, save: Path | None) -> None:
    wanted: dict[str, list[str]] = {}
    for argument in tests or all_modules():
        module, _, name = argument.partition(":")
        wanted.setdefault(module, []).extend([name] if name else [])
    results: list[Outcomes] = []
    is_good = True
    with folder_of_tests() as folder, ThreadPoolExecutor(jobs) as executor:
        futures = [executor.submit(compare, folder, *item) for item in wanted.items()]
        for future in as_completed(futures):
            results.append(future.result())
            is_good = tell(results[-1]) and is_good
            if save is not None:
                save.write_text(json.dumps([vars(result) for result in results]))
    passing = sum(len(result.agreeing()) for result in results)
    total = sum(len(result.rewritten) for result in results)
    print(f"Python {VERSION}, {len(results)} modules: {passing} of {total} pass rewritten")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
