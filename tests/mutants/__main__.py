"""Applies each mistake to a copy of the package, and runs the tests that are to notice it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
ENOUGH = 0.9  # so many of all must be noticed
PATIENCE = 1800  # seconds; a mistake that makes a search endless is noticed, too


def main(words: list[str]) -> int:
    chosen = [mutant for mutant in MUTANTS if not words or any(w in mutant.file for w in words)]
    noticed, unexplained = 0, 0
    for mutant in chosen:
        started = time.monotonic()
        test = killer(mutant)
        seconds = time.monotonic() - started
        print(
            f"{mutant.file}: {in_short(mutant)}\n    {told(mutant, test)} ({seconds:.0f} s)",
            flush=True,
        )
        noticed += test is not None
        unexplained += test is None and not mutant.survives
    print(
        f"{noticed} of {len(chosen)} mistakes are noticed; {unexplained} others are not explained"
    )
    return 0 if noticed >= ENOUGH * len(chosen) and not unexplained else 1


def in_short(mutant: Mutant) -> str:
    right, wrong = (" ".join(text.split()) for text in (mutant.right, mutant.wrong))
    return f"{right!r} is {wrong!r}"


def told(mutant: Mutant, test: str | None) -> str:
    if test is not None:
        return f"noticed by {test}"
    return f"NOT NOTICED: {mutant.survives or 'why?'}"


def killer(mutant: Mutant) -> str | None:
    """The first test that notices a mistake; None if all pass."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            ROOT / "src", f"{folder}/src", ignore=shutil.ignore_patterns("*.so", "*.egg-info")
        )
        file = Path(folder, mutant.path)
        file.write_text(mutated(mutant))
        return first_failure(mutant.tests, f"{folder}/src")


def mutated(mutant: Mutant) -> str:
    text = (ROOT / mutant.path).read_text()
    assert text.count(mutant.right) == 1, f"{mutant.path} must say once: {mutant.right}"
    return text.replace(mutant.right, mutant.wrong)


def first_failure(tests: tuple[str, ...], package: str) -> str | None:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", ""]
    command += ["-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"a test that takes more than {PATIENCE} s"
    if run.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    return failed[1] if failed else f"pytest: {(run.stdout + run.stderr).strip()[-300:]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
