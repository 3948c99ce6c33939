"""The checks of a file or a folder: finding them, and running one after the other."""

import ast
import json
import os
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import click

from mazurka import api
from mazurka.cli.exits import (
    EXIT_CODES,
    FAILED,
    INCOMPLETE,
    INTERRUPTED,
    VERIFIED,
    WRONG_USE,
    WrongUse,
)
from mazurka.cli.output import annotate, show_result, write_sarif
from mazurka.cli.targets import (
    TARGET_FORMS,
    NeedsRunner,
    Skipped,
    forgetting,
    module_of_file,
    programs_of,
)
from mazurka.engine.result import Result
from mazurka.report.document import result_document
from mazurka.report.text import BY_WEIGHT, message_of, plural

# Folders with code of others, or with none that people wrote.
PASSED_OVER = {"__pycache__", "build", "dist", "node_modules", "site-packages"}
# What can be had of one check only.
FOR_ONE = ("html", "trace_json", "save", "save_test", "checkpoint", "resume")


class View(NamedTuple):
    """What to show of each check."""

    outcomes: bool
    full: bool
    explain: bool
    as_json: bool


# Finding them


def targets_of(target: str) -> list[str]:
    """The checks that a target stands for: itself, if it names one."""
    if os.path.isdir(target):
        files = list(files_of(target))
        found = [name for file in files for name in checks_of(file)]
        if not found:
            raise WrongUse(f"nothing in {target} is marked with @mazurka.check")
        return found
    if not target.endswith(".py"):
        return [target]
    module = imported(target)
    names = marked_in(module)
    if not names and "main" in programs_of(module):
        names = ["main"]
    if not names:
        programs = ", ".join(programs_of(module))
        others = f" (it has: {programs})" if programs else ""
        raise WrongUse(
            f"{target!r} does not name a function to check, and nothing in that file is marked "
            f"with @mazurka.check or called main: write {TARGET_FORMS}{others}"
        )
    return [f"{target}::{name}" for name in names]


def files_of(folder: str) -> Iterator[str]:
    """The Python files of a folder that may have checks."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if is_looked_into(os.path.join(place, name)))
        for name in sorted(files):
            file = os.path.join(place, name)
            if name.endswith(".py") and may_have_checks(Path(file)):
                yield os.path.normpath(file)


def is_looked_into(folder: str) -> bool:
    name = os.path.basename(folder)
    is_environment = os.path.exists(os.path.join(folder, "pyvenv.cfg"))
    return not name.startswith(".") and name not in PASSED_OVER and not is_environment


def may_have_checks(file: Path) -> bool:
    """Whether a file imports Mazurka and decorates anything: others are not imported."""
    try:
        text = file.read_bytes()
    except OSError as error:
        raise WrongUse(f"cannot read {file}: {error.strerror}") from error
    if b"mazurka" not in text:
        return False
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return True  # importing it will tell what is wrong
    return any(imports_mazurka(node) for node in nodes) and any(
        getattr(node, "decorator_list", []) for node in nodes
    )


def imports_mazurka(node: ast.AST) -> bool:
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    return any(name.partition(".")[0] == "mazurka" for name in names)


def checks_of(file: str) -> list[str]:
    """The targets of the checks of a file; the file itself if it cannot be imported."""
    try:
        return [f"{file}::{name}" for name in marked_in(imported(file))]
    except WrongUse:
        return [file]


def imported(file: str) -> ModuleType:
    with forgetting(os.path.dirname(os.path.abspath(file))):
        return module_of_file(file)


def marked_in(space: ModuleType | type, prefix: str = "") -> list[str]:
    """The names of what is marked in a module or a class, in their order there."""
    home = space.__name__ if isinstance(space, ModuleType) else space.__module__
    names = []
    for name, value in members_of(space).items():
        # By their types: objects that stand for others may raise when they are looked at.
        function = value.__func__ if type(value) in (staticmethod, classmethod) else value
        if issubclass(type(value), type) and value.__module__ == home and value is not space:
            names += marked_in(value, f"{prefix}{name}::")
        elif type(function) is FunctionType and api.is_checked(function):
            is_imported = isinstance(space, ModuleType) and function.__module__ != home
            names += [] if is_imported else [f"{prefix}{name}"]
    return names


def members_of(space: ModuleType | type) -> dict[str, Any]:
    if isinstance(space, ModuleType):
        return dict(vars(space))
    return {name: value for base in reversed(space.__mro__) for name, value in vars(base).items()}


def refuse_for_several(target: str, targets: Collection[str], given: dict[str, Any]) -> None:
    for name in FOR_ONE:
        if given.get(name) is not None:
            raise WrongUse(
                f"--{name.replace('_', '-')} is for one check, and {target} has {len(targets)}: "
                f"name one, such as {next(iter(targets))}"
            )


# Running them


class Unchecked(NamedTuple):
    """Why a check was not made."""

    target: str
    why: str
    code: int  # what the command ends with, if nothing is worse


def check_each(
    targets: list[str],
    checked: Callable[[str], tuple[Result, bool]],
    view: View,
    sarif: Path | None,
) -> int:
    """Make one check after the other, and show each; gives the exit code for all of them."""
    results: list[tuple[str, Result]] = []
    unchecked: list[Unchecked] = []
    interrupted = False
    for target in targets:
        if interrupted:
            unchecked.append(Unchecked(target, "interrupted", INTERRUPTED))
            continue
        found = attempted(target, checked)
        if isinstance(found, Unchecked):
            unchecked.append(found)
            continue
        result, interrupted = found
        results.append((target, result))
        if not view.as_json:
            show_result(target, result, view.outcomes, view.full, view.explain)
            click.echo()
    if view.as_json:
        click.echo(json.dumps(document_of(results, unchecked)))
    else:
        click.echo(summary_of(results, unchecked))
    annotate(results, view.as_json)
    if sarif is not None:
        reasons = [(each.target, each.why) for each in unchecked if each.code != VERIFIED]
        click.echo(f"\n{write_sarif(sarif, results, reasons)}", err=view.as_json)
    return INTERRUPTED if interrupted else exit_code_of(results, unchecked)


def attempted(
    target: str, checked: Callable[[str], tuple[Result, bool]]
) -> tuple[Result, bool] | Unchecked:
    folder = os.path.dirname(os.path.abspath(target.partition("::")[0]))
    try:
        with forgetting(folder):
            if "::" not in target:
                module_of_file(target)  # which says why it cannot be imported
            return checked(target)
    except Skipped as skipped:
        return Unchecked(target, skipped.message, VERIFIED)
    except NeedsRunner as needs:
        return Unchecked(target, needs.message, INCOMPLETE)
    except WrongUse as error:
        return Unchecked(target, error.message, WRONG_USE)


def exit_code_of(results: list[tuple[str, Result]], unchecked: list[Unchecked]) -> int:
    """The worst of them: a failure, then what could not be checked, then what is incomplete."""
    codes = {EXIT_CODES[result.verdict] for _, result in results}
    codes |= {each.code for each in unchecked}
    return next(code for code in (FAILED, WRONG_USE, INCOMPLETE, VERIFIED) if code in codes)


def document_of(results: list[tuple[str, Result]], unchecked: list[Unchecked]) -> dict[str, Any]:
    verdicts = [result.verdict for _, result in results]
    return {
        "verdict": max(verdicts, key=BY_WEIGHT.index, default="incomplete"),
        "checks": [result_document(target, result) for target, result in results],
        "not_checked": [{"program": each.target, "why": each.why} for each in unchecked],
    }


def summary_of(results: list[tuple[str, Result]], unchecked: list[Unchecked]) -> str:
    """How many checks ended how, then those that are not as they should be."""
    found: Counter[str] = Counter(result.verdict for _, result in results)
    counts = [f"{found[verdict]:,} {verdict}" for verdict in reversed(BY_WEIGHT) if found[verdict]]
    if unchecked:
        counts.append(f"{len(unchecked):,} not checked")
    executions = plural(sum(result.executions for _, result in results), "execution")
    seconds = sum(result.waited for _, result in results)
    checks = plural(len(results) + len(unchecked), "check")
    lines = [f"{checks}, {executions} in {seconds:.2f} s: {', '.join(counts)}"]
    for target, result in results:
        if result.verdict == "failed":
            lines.append(f"  failed: {target}: {message_of(result)}")
        elif result.verdict == "incomplete":
            lines.append(f"  incomplete: {target}: {result.reason}")
    for each in unchecked:
        why = textwrap.indent(each.why, "    ").lstrip()
        lines.append(f"  not checked: {each.target}: {why}")
    return "\n".join(lines)
