"""Lets a debugger look at the threads of an execution where it fails, while they stand there."""

from collections.abc import Callable
from types import FrameType, TracebackType

from mazurka.engine.event import Event
from mazurka.engine.operation import JOIN
from mazurka.python.program import PythonProgram
from mazurka.python.run_in_words import RunInWords
from mazurka.python.runtime.runtime import NOTHING
from mazurka.python.runtime.thread import Thread
from mazurka.python.source import users_frame, users_traceback

# Shows where a thread is, and says in words what is the matter there.
Look = Callable[[str, TracebackType | FrameType], object]


def stop_at_failure(program: PythonProgram, look: Look) -> None:
    """Have the executions that follow stop where an exception leaves a thread for the first time,
    or where threads wait for what never comes."""
    runtime = program.runtime

    def at_exception(thread: Thread, error: BaseException) -> None:
        where = users_traceback(error)
        if where is not None:
            look(f"{type(error).__name__} in thread {name_of(program, thread.id)}", where)

    def at_end() -> None:
        if runtime.stopped != NOTHING or runtime.first_failed is not None:
            return
        answer = program.conclude()
        if not answer.failed:
            return
        for event in sorted(answer.waiting, key=is_join):  # who joins others waits for these
            thread = runtime.names.threads[event.thread]
            frame = users_frame(thread.greenlet.gr_frame)
            if frame is not None:
                look(f"thread {name_of(program, event.thread)} waits for ever", frame)

    runtime.at_exception = at_exception
    runtime.at_end = at_end


def is_join(event: Event) -> bool:
    return event.kind == JOIN


def name_of(program: PythonProgram, thread: int) -> str:
    program.events = program.runtime.events
    return RunInWords(program).thread(thread)
