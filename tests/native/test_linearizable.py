"""C programs against specifications in Python."""

from pathlib import Path
from typing import Any

import pytest

import mazurka
from examples.linearizable import in_c
from mazurka.native.c_program import CProgram
from tests.linearizability.oracle import Specified, all_linearizable
from tests.linearizability.test_oracle import Case, drawn
from tests.oracles.generated import PROGRAMS

OBJECTS = Path(__file__).parents[1] / "linearizability" / "objects.c"
COUNT = max(8, PROGRAMS // 20)
LETTERS = {"copy": "p", "await": "w"}  # of steps; else the first one


def in_words(case: Case) -> list[str]:
    """What each thread calls, and what that is, for objects.c."""
    words = []
    for calls in case.threads:
        words.append("/")
        for name in calls:
            steps = [
                f"{LETTERS.get(step.kind, step.kind[0])}{step.variable}{step.value}"
                for step in case.bodies[name]
            ]
            words += [name, "".join(steps)]
    return words


def test_verdicts_are_those_of_brute_force() -> None:
    cases = [drawn(seed) for seed in range(10 * COUNT)]
    right = [case for case in cases if all_linearizable(*case)]
    wrong = [case for case in cases if case not in right]
    for verdict, chosen in (("verified", right), ("failed", wrong)):
        for case in chosen[: COUNT // 2]:
            program = mazurka.scenario(
                lambda case=case: Specified(case.specified),  # type: ignore[misc]
                mazurka.c_program(OBJECTS, args=in_words(case)),
            )
            assert mazurka.explore(program).verdict == verdict, case


@pytest.mark.parametrize(("name", "executions"), [("stack", 40), ("queue", 100)])
def test_objects_that_are_right_are_verified(name: str, executions: int) -> None:
    result = mazurka.explore(getattr(in_c, name))
    assert (result.verdict, result.executions) == ("verified", executions)


@pytest.mark.parametrize("name", ["broken_stack", "broken_queue"])
def test_objects_that_are_broken_fail(name: str) -> None:
    program = getattr(in_c, name)
    failure = mazurka.explore(program).failures[0]
    assert failure.kind == "not linearizable"
    assert sum(line.endswith("None   <--") for line in failure.details) == 1
    assert mazurka.replay(program, failure.schedule.to_json()).details == failure.details


def test_a_search_in_several_processes_finds_the_same() -> None:
    one = mazurka.explore(in_c.broken_queue)
    two = mazurka.explore(in_c.broken_queue, jobs=2)
    assert (one.executions, one.failures[0].details) == (two.executions, two.failures[0].details)


class Anything:
    def call(self, value: object = None) -> object:
        return value


def program_of(folder: Path, body: str) -> CProgram:
    file = folder / "program.c"
    file.write_text(
        "void mazurka_call(const char *, ...);\nvoid mazurka_return(const char *, ...);\n"
        f"void __VERIFIER_atomic_begin(void);\nint main(void) {{ {body} }}\n"
    )
    return mazurka.c_program(file)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('mazurka_call("call 1"); mazurka_return("1");', "which is no operation"),
        ('mazurka_call("call()"); mazurka_return("NULL");', "which is no value"),
        ('mazurka_return("1");', "without a mazurka_call"),
        ('mazurka_call("call()"); mazurka_call("call()");', "within a call"),
        ('mazurka_call("other()"); mazurka_return("1");', "has no method other"),
        ('mazurka_call("call(%0200d)", 1);', "too long"),
    ],
)
def test_what_cannot_be_understood_is_refused(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(mazurka.MazurkaError, match=message):
        mazurka.linearizable(Anything, program_of(tmp_path, body))


def test_calls_may_have_any_values(tmp_path: Path) -> None:
    body = "mazurka_call(\"call((%d, 'a'))\", 1); mazurka_return(\"(%d, 'a')\", 1);"
    result = mazurka.linearizable(Anything, program_of(tmp_path, body))
    assert result.verdict == "verified"


def test_a_c_program_says_itself_what_it_calls(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"threads": 2, "operations": 2}
    with pytest.raises(mazurka.MazurkaError, match="says itself what its threads call"):
        mazurka.linearizable(Anything, program_of(tmp_path, ""), **arguments)
