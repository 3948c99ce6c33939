"""A failing execution as a test for pytest, which replays it."""

import os
import re
from pathlib import Path

from mazurka.engine.schedule import Schedule

TEXT = '''\
"""Replays an execution of {program} that has failed: {what}.

It fails as long as that execution does. That it passes says nothing of other executions: only a
check does.
"""
{imports}
import mazurka
{program_lines}
SCHEDULE = (
{schedule_lines}
)


def test_{name}() -> None:
    mazurka.check_replay({call}, SCHEDULE)
'''

LINE = 80  # characters of the schedule


def saved_test(schedule: Schedule, file: Path) -> str:
    """The text of a test that lies in a file, for the program that a schedule names."""
    target, _, function = schedule.program.partition("::")
    is_module = not function
    if is_module and ":" in target:
        target, _, function = target.partition(":")
    of_c = "flags" in schedule.options
    imports, program_lines, call = (
        c_program(schedule, target, file)
        if of_c
        else python_program(target, function, file, is_module)
    )
    text = schedule.to_text()
    parts = [text[at : at + LINE] for at in range(0, len(text), LINE)]
    return TEXT.format(
        program=schedule.program,
        what=schedule.bug or schedule.failure,
        imports=imports,
        program_lines=program_lines,
        schedule_lines="\n".join(f'    "{part}"' for part in parts),
        name=name_of(function or Path(target).stem),
        call=call,
    )


def name_of(text: str) -> str:
    name = re.sub(r"\W+", "_", text).strip("_")
    return f"{name.removeprefix('test_')}_again"


def from_test(path: str, file: Path) -> str:
    """A path as it is found from the folder of the test."""
    relative = os.path.relpath(path, file.absolute().parent)
    return Path(relative).as_posix()


def python_program(target: str, function: str, file: Path, is_module: bool) -> tuple[str, str, str]:
    """How a test comes to a function: it imports the module, as 'mazurka check' does."""
    path = "." if is_module else os.path.dirname(target) or "."
    module = target if is_module else Path(target).stem
    *classes, last = [module, *function.split("::")]
    folder = f"(Path(__file__).parent / {from_test(path, file)!r}).resolve()"
    # The module, and not what is in it: pytest would run a test that it finds here, too.
    lines = f"\nsys.path.insert(0, str({folder}))\nimport {module}  # noqa: E402\n"
    made = ".".join(classes) + "()" * (len(classes) > 1)
    return "import sys\nfrom pathlib import Path\n", lines, f"{made}.{last}"


def c_program(schedule: Schedule, target: str, file: Path) -> tuple[str, str, str]:
    path = from_test(target, file)
    made = f"Path(__file__).parent / {path!r}"
    rest = [f", {schedule.options.get(name, [])!r}" for name in ("flags", "args")]
    line = f"\nPROGRAM = mazurka.c_program({made}{''.join(rest)})\n"
    return "from pathlib import Path\n", line, "PROGRAM"
