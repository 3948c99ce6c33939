"""The table of options, and what goes by it: signatures, files, schedules, the documentation."""

import ast
import inspect
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import mazurka
from mazurka.cli.check import check
from mazurka.engine.search import DEFAULT_DEPTH, DEFAULT_K
from mazurka.explore.algorithms import ALGORITHMS, SAMPLERS, SAMPLES
from mazurka.options import NAMES, OPTIONS, PYTHON, SAVED, SWITCH, GivenOptions, Option, Options
from mazurka.pyproject import KNOWN, project_options
from mazurka.python.program import LEARNT

ROOT = Path(__file__).parents[1]


# The table


def test_type_checkers_see_the_table() -> None:
    names = {"Result": mazurka.Result, "Schedule": mazurka.Schedule}
    rows = get_type_hints(Options, localns=names)
    assert get_type_hints(GivenOptions, localns=names) == rows
    assert list(rows) == list(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=list(OPTIONS))
def test_a_row(option: Option) -> None:
    assert option.meaning.endswith(".") and option.meaning[0].isupper()
    assert set(option.of) <= {*ALGORITHMS, PYTHON}
    assert bool(option.flag) == (option.kind is SWITCH)
    assert not option.in_pytest or option.kind is not None
    if option.kind is not None and option.default is not None:
        option.check(option.default)


def test_defaults_are_those_of_a_search() -> None:
    assert OPTIONS["depth"].default == DEFAULT_DEPTH
    assert OPTIONS["k"].default == DEFAULT_K
    assert OPTIONS["seed"].of == SAMPLERS


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("algorithm", "pct", "pct"),
        ("seed", "-3", -3),
        ("max_executions", "10", 10),
        ("time_limit", "0.5", 0.5),
        ("k", "2", 2),
        ("k", "optimal", "optimal"),
        ("preemptions", "0..", "0.."),
        ("preemptions", "2", "2"),
    ],
)
def test_reading_a_text(name: str, text: str, value: object) -> None:
    assert OPTIONS[name].read(text) == value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("algorithm", "best", "there is no algorithm 'best'; choose one of pop, optimal, "),
        ("seed", "x", "'x' is not a whole number"),
        ("max_executions", "0", "'0' is not a whole number, at least 1"),
        ("time_limit", "nan", "'nan' is not a number of seconds, more than 0"),
        ("k", "best", "'best' is not a whole number, at least 1, or 'optimal'"),
        ("preemptions", "..", "'..' is not a whole number, or one with two dots like '0..'"),
    ],
)
def test_a_text_that_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        OPTIONS[name].read(text)


def test_a_limit_that_nobody_asked_for_changes_nothing_else() -> None:
    limited = Options(algorithm="random").limited_to(5.0)
    assert (limited.time_limit, limited.max_executions) == (5.0, SAMPLES)
    assert limited.checked() == limited
    assert Options(time_limit=math.inf).checked() == Options()


# Calls


def test_unknown_options_are_refused() -> None:
    options: Any = {"time_limt": 3}
    for function in (mazurka.explore, mazurka.check):
        with pytest.raises(mazurka.MazurkaError, match="has no option 'time_limt'; it has algorit"):
            function(lambda: None, **options)


def test_help_shows_all_options() -> None:
    program, *options = inspect.signature(mazurka.explore).parameters.values()
    assert program.name == "program"
    assert {option.name: option.default for option in options} == {
        name: option.default for name, option in OPTIONS.items()
    }
    assert mazurka.explore.__doc__ is not None
    without_words = {"progress"}  # its name says it
    for name in OPTIONS.keys() - without_words:
        assert re.search(rf"`{name}[`=]", mazurka.explore.__doc__), name


TYPED_USES = str(ROOT / "tests" / "typed_uses.py")


def test_mypy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every error of typed_uses.py is expected there, and met."""
    api = pytest.importorskip("mypy.api")
    monkeypatch.chdir(ROOT)
    recursion_limit = sys.getrecursionlimit()
    output, errors, status = api.run([f"--cache-dir={tmp_path}", TYPED_USES])
    sys.setrecursionlimit(recursion_limit)  # mypy has another one
    assert status == 0, output + errors


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright() -> None:
    command = ["pyright", "--pythonpath", sys.executable, TYPED_USES]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout


# Names of the package


def run_python(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_package_loads_the_engine_when_it_is_needed() -> None:
    loaded = "'mazurka.engine.search' in sys.modules"
    code = f"import sys, mazurka; print({loaded}); mazurka.Atomic; print({loaded})"
    assert run_python(code).split() == ["False", "True"]
    listed = "set(mazurka.__all__) <= set(dir(mazurka))"
    assert run_python(f"import mazurka; print({listed})") == "True"
    assert run_python("from mazurka import *; print(explore.__module__)") == "mazurka.api"


@pytest.mark.parametrize(
    "first", ["mazurka.explore.pop", "mazurka.explore", "mazurka.api", "mazurka.cli.main"]
)
def test_explore_is_the_function(first: str) -> None:
    code = f"import {first}, mazurka; print(mazurka.explore(lambda: None).complete)"
    assert run_python(code) == "1"
    code = f"import {first}\nfrom mazurka import explore; print(explore(lambda: None).complete)"
    assert run_python(code) == "1"


def test_nothing_is_imported_while_a_program_is_explored() -> None:
    """A command line that has the engine has all names that a program can use."""
    code = "import mazurka.api; print(*sorted(set(mazurka.__all__) - set(vars(mazurka))))"
    assert run_python(code) == " ".join(sorted(" ".join(mazurka.LATE.values()).split()))


def test_type_checkers_see_the_names_that_there_are() -> None:
    tree = ast.parse(Path(mazurka.__file__).read_text())
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = [
        alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted([*seen, "__version__"]) == sorted(mazurka.__all__)
    with pytest.raises(AttributeError, match="module 'mazurka' has no attribute 'Atmic'"):
        getattr(mazurka, "Atm" + "ic")


# [tool.mazurka]


def project(folder: Path, text: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text(text)
    return file


def test_options_of_a_project(tmp_path: Path) -> None:
    project(
        tmp_path,
        """
        [tool.mazurka]
        algorithm = "trust"
        preemptions = 2
        time_limit = 60
        k = "optimal"
        awaits = false
        instrument = ["pykka", "queue"]
        """,
    )
    folder = tmp_path / "tests" / "unit"
    folder.mkdir(parents=True)
    assert project_options(folder) == {
        "algorithm": "trust",
        "preemptions": 2,
        "time_limit": 60,
        "k": "optimal",
        "awaits": False,
        "instrument": ["pykka", "queue"],
    }


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    project(tmp_path, "[tool.mazurka]\nseed = 1\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    project(inner, "[project]\nname = 'inner'\n")
    assert project_options(inner) == {}
    assert project_options(tmp_path) == {"seed": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sede = 1", ": [tool.mazurka] has no option 'sede'; it has algorithm, seed, "),
        ("setup = 'f'", ": [tool.mazurka] has no option 'setup'; it has algorithm, seed, "),
        ("max-events = 1", ": [tool.mazurka] has no option 'max-events'; it has algorithm, seed, "),
        ("seed = '1'", ": [tool.mazurka] seed: '1' is not a whole number"),
        ("seed = true", ": [tool.mazurka] seed: True is not a whole number"),
        ("time_limit = 0", ": [tool.mazurka] time_limit: 0 is not a number of seconds, more than"),
        ("awaits = 0", ": [tool.mazurka] awaits: 0 is not true or false"),
        ("instrument = 'pykka'", ": [tool.mazurka] instrument: 'pykka' is not a list of names"),
        ("preemptions = -1", ": [tool.mazurka] preemptions: -1 is not a whole number, or one with"),
        ("algorithm = 3", ": [tool.mazurka] algorithm: there is no algorithm 3; choose one of pop"),
        ("seed = ", " is not TOML: "),
        ("profiles = 3", ": [tool.mazurka] profiles is not a table, but 3"),
        ("profiles.ci = 3", ": [tool.mazurka.profiles.ci] is not a table, but 3"),
        ("profiles.ci.sede = 3", ": [tool.mazurka.profiles.ci] has no option 'sede'; it has alg"),
        ("profiles.ci.seed = 'x'", ": [tool.mazurka.profiles.ci] seed: 'x' is not a whole number"),
    ],
)
def test_a_mistake_in_a_project(tmp_path: Path, text: str, message: str) -> None:
    file = project(tmp_path, f"[tool.mazurka]\n{text}\n")
    with pytest.raises(ValueError, match=re.escape(f"{file}{message}")):
        project_options(tmp_path)


def test_what_is_no_table(tmp_path: Path) -> None:
    file = project(tmp_path, "tool.mazurka = 3\n")
    with pytest.raises(ValueError, match=re.escape(f"{file}: mazurka is not a table, but 3")):
        project_options(tmp_path)


def test_files_that_say_nothing_of_mazurka_need_not_be_right(tmp_path: Path) -> None:
    project(tmp_path, "this is not TOML")
    assert project_options(tmp_path) == {}


# Schedules


def fails() -> None:
    assert mazurka.choose([1, 2]) == 1


def test_schedules_keep_the_options_of_the_table() -> None:
    names = {option.name for option in SAVED}
    saved = Options().with_granularity(is_c=False).saved()
    (failure,) = mazurka.explore(fails).failures
    assert failure.schedule.options.keys() - set(LEARNT) == names
    assert {name: failure.schedule.options[name] for name in names} == saved


def test_a_replay_takes_the_options_of_its_schedule() -> None:
    given: Any = {
        "independent_adds": False,
        "max_events": 50,
        "loop_purity": False,
        "awaits": False,
        "leaks": False,
        "unroll": 7,
        "instrument": ["pykka"],
        "opaque": ["attrs"],
        "granularity": "sync",
        "equivalence": "mazurkiewicz",
        "timeouts": "last",
        "asyncio_order": "fifo",
    }
    assert given.keys() == {option.name for option in SAVED}
    (failure,) = mazurka.explore(fails, **given).failures
    read = mazurka.Schedule.from_json(failure.schedule.to_json())
    assert Options.of_schedule(read.options) == Options(**given)
    assert Options.of_schedule({}) == Options(instrument=None)


# The documentation


def rows_of(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading."""
    text = (ROOT / "docs" / page).read_text().split(f"## {heading}\n", 1)[1]
    rows = text[text.index("|---") :].split("\n\n", 1)[0].splitlines()[1:]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]


def written(option: Option, prefix: str = "--") -> str:
    """How the documentation writes an option of the command line."""
    if option.flag:
        return f"{prefix}{option.flag}"
    assert option.kind is not None
    return f"{prefix}{option.name.replace('_', '-')} {option.kind.metavar}"


def choices_of(option: Option) -> list[str]:
    return list(option.kind.choices()) if option.kind and option.kind.choices else []


def test_the_page_of_the_command_line() -> None:
    """An option that takes names has a row for each of them, or for some that say the others."""
    rows = rows_of("command-line.md", "mazurka check")
    meanings = {option.strip("`"): meaning for option, meaning in rows}
    options = [option for option in KNOWN.values() if not choices_of(option)]
    described = {written(option) for option in options}
    for option in KNOWN.values():
        named = {f"--{option.name.replace('_', '-')} {choice}" for choice in choices_of(option)}
        assert not named or named & meanings.keys()
        described |= named & meanings.keys()
    shown = {"--profile NAME", "--args TEXT", "--outcomes", "--full", "--explain", "--json"}
    shown |= {"--quiet", "--html FILE", "--trace-json FILE", "--sarif FILE", "--save FILE"}
    shown |= {"--save-test FILE"}
    shown |= {"--save-outcomes FOLDER"}
    assert meanings.keys() == described | shown
    assert meanings.keys() >= {f"--algorithm {name}" for name in ALGORITHMS}
    for option in options:
        (told,) = re.findall(r"Default: ([\d.]+\d|\d)", meanings[written(option)]) or [None]
        has_default = option.default is not None and not option.flag and option.kind is not NAMES
        assert (told is not None) == has_default, option.name
        assert told is None or float(told) == option.default


def test_the_command_has_the_options_of_the_table() -> None:
    given = [parameter.opts[0] for parameter in check.params[2:]]
    options = [written(option).split()[0] for option in KNOWN.values()]
    shown = [
        "--profile",
        "--args",
        "--outcomes",
        "--save-outcomes",
        "--full",
        "--explain",
        "--json",
    ]
    files = ["--html", "--trace-json", "--sarif", "--save", "--save-test"]
    assert given == [*options, *shown, "--quiet", *files]


def test_the_page_of_pytest() -> None:
    rows = [cells[:2] for cells in rows_of("pytest.md", "Options")]
    expected = [
        [f"`{written(option, '--mazurka-')}`", "" if option.flag else f"`mazurka_{option.name}`"]
        for option in OPTIONS.values()
        if option.in_pytest
    ]
    names = ("profile NAME", "full", "explain", "html DIR", "save DIR", "replay FILE")
    shown = [[f"`--mazurka-{name}`", ""] for name in names]
    assert rows == [*expected, *shown]


def test_the_page_of_project_files() -> None:
    rows = [cells[:2] for cells in rows_of("command-line.md", "Options of a project")]
    expected = [
        [f"`{option.name}`", option.kind.what]
        for option in KNOWN.values()
        if option.kind is not None
    ]
    assert rows == expected


def test_the_page_of_programs() -> None:
    text = (ROOT / "docs" / "programs.md").read_text().split("## Checking\n")[1]
    sentence = text[text.index("take `") : text.index("`.")]
    assert re.findall(r"`(\w+)", sentence) == list(OPTIONS)
