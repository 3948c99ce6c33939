"""What a worker process runs: it is started by others, never by hand."""

import contextlib
import importlib
import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from mazurka.api import (
    check_program,
    estimator_of,
    explorer_of,
    remembering,
    runnable,
    session_of,
    undecorated,
)
from mazurka.engine.errors import MazurkaError
from mazurka.engine.event import Event, copy_of
from mazurka.engine.program import Program
from mazurka.engine.search import Explorer
from mazurka.engine.task import Outdated, Task
from mazurka.in_jobs import Setup
from mazurka.native.c_program import CProgram
from mazurka.options import Options
from mazurka.scale.estimate import Estimator, Looks
from mazurka.scale.messages import Anew, Channel, Closed, Raised
from mazurka.scale.processes import PipeChannel
from mazurka.scale.programs import NamedProgram, find
from mazurka.scale.worker import Worker


def main(handle: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever gives tasks knows what to do
    channel = PipeChannel(Connection(handle))
    with contextlib.suppress(EOFError, OSError):  # nobody is there any more
        channel.send(work_for(channel))
    os._exit(0)  # threads that the program has left behind must not keep it


def work_for(channel: Channel) -> object:
    """Explore what comes along a channel; gives the last word."""
    try:
        name: NamedProgram = channel.receive()
        program = undecorated(find(name)) if name.module else as_c_program(name)
        setup: Setup = channel.receive()
        return explore_tasks_of(channel, program, setup)
    except Outdated as outdated:
        return Anew(outdated.learnt)
    except EOFError:
        raise
    except MazurkaError as error:
        return Raised(error)
    except Exception as error:
        return Raised(RuntimeError("".join(traceback.format_exception(error))))


def as_c_program(name: NamedProgram) -> CProgram:
    return CProgram(Path(name.file), list(name.flags), list(name.args))


def whole_estimator(program: Program, options: Options) -> Estimator:
    """Looks at the tree of the whole search."""
    bound = -1 if options.preemptions is None else int(options.preemptions)
    return estimator_of(program, options, options.algorithm, bound)


def explore_tasks_of(channel: Channel, function: object, setup: Setup) -> Closed:
    for module in setup.imports:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    assert callable(function)
    program = runnable(function)
    check_program(program)
    session = session_of(program, setup.options)
    modules = len(sys.modules)
    worker = Worker(channel, None, session.warned, lambda: session.look(modules))

    def work(program: Program) -> None:
        """Called again if something about the program was not known."""
        nonlocal modules
        modules = len(sys.modules)
        if worker.has_reported:
            raise Outdated(program.learnt())
        first: list[list[Event]] = []
        if program.sees_all():  # else it may turn out that what was counted is wrong
            program = remembering(program, setup.options)  # the same threads in all tasks

        def explorer(task: Task) -> Explorer:
            known = [copy_of(event) for event in first[0]] if first else None
            made = explorer_of(program, setup.options, task, known)
            if not first:
                session.look(modules)
                first.append([copy_of(event) for event in made.search.first])
            return made

        looks = Looks(lambda: whole_estimator(program, setup.options))
        worker.explorer_of = explorer
        if not setup.options.remember:
            worker.estimate = looks.look
        worker.serve()

    session.run(work, setup.learnt, begins_anew=False)
    return Closed(session.warned(), session.threads[-1])
